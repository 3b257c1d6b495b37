"""The sample of texts to read is repeatable and finds what people read."""

from pathlib import Path

from tools.prose_sample import messages, paragraphs, sample

ROOT = Path(__file__).parents[2]


def test_a_seed_draws_the_same_texts_and_another_seed_others():
    first = sample(ROOT, 1)
    assert first == sample(ROOT, 1)
    assert first != sample(ROOT, 2)
    kinds = [each.kind for each in first]
    assert [kinds.count(kind) for kind in ("docstring", "message", "paragraph")] == [40, 40, 10]


def test_messages_are_those_that_are_raised_or_warned_with():
    source = (
        'raise SettingError("l2 must be >= 0; " + f"got {l2}.")\n'
        'warnings.warn("No demonstration was used.", UserWarning)\n'
        'print("This is only printed text.")\n'
    )
    assert [each.text for each in messages(source, "a.py")] == [
        "l2 must be >= 0; got {l2}.",
        "No demonstration was used.",
    ]


def test_code_and_tables_of_a_page_are_no_paragraphs():
    prose = "word " * 20
    page = f"{prose}\n\n```\n{prose}\n\n{prose}\n```\n\n| {prose} |\n\n{prose}\n"
    assert [each.place for each in paragraphs(page, "a.md")] == ["a.md:1", "a.md:11"]
