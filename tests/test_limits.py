from pathlib import Path

import pytest

from groundling.errors import LimitError, SettingError
from groundling.language import load_parser
from groundling.limits import LIMITS, TEXT_WORDS, Limit


def test_limits_are_raised_and_lowered_by_a_variable(monkeypatch):
    assert LIMITS["text_words"] is TEXT_WORDS
    monkeypatch.setenv(TEXT_WORDS.variable, "12_000")
    TEXT_WORDS.check(12_000, SettingError)
    monkeypatch.setenv(TEXT_WORDS.variable, "3")
    with pytest.raises(SettingError, match=r"at most 3 words; got 4. Set GROUNDLING_LIMIT_TEXT_W"):
        TEXT_WORDS.check(4, SettingError)
    with pytest.raises(LimitError, match=r"or set GROUNDLING_LIMIT_TEXT_WORDS"):
        load_parser("chain").parse("one two three four")


@pytest.mark.parametrize("given", ["", "many", "0", "-3", "1e6"])
def test_limits_refuse_what_is_no_number(monkeypatch, given):
    limit = Limit("shoes", 2, "shoes")
    monkeypatch.setenv("GROUNDLING_LIMIT_SHOES", given)
    with pytest.raises(SettingError, match="GROUNDLING_LIMIT_SHOES must be a whole number above 0"):
        limit.check(1, SettingError)


@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
def test_limits_name_themselves_and_how_to_raise_them(limit):
    with pytest.raises(SettingError, match=rf"at most .* {limit.what}.*{limit.variable}"):
        limit.check(limit.default + 1, SettingError, "The file")


def test_limits_are_all_on_the_page():
    page = (Path(__file__).parents[1] / "docs" / "reliability.md").read_text(encoding="utf-8")
    for limit in LIMITS.values():
        row = f"| `{limit.name}` | {limit.default:,} {limit.what} | `{limit.variable}` |"
        assert row in page
