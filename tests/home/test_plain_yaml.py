"""YAML of strangers: refused soon, by name, in little room, and nothing of it is run."""

import time

import pytest

from groundling.errors import CorpusError
from groundling.home import HomeError, read_home
from groundling.home.corpus import TemplateError, _spellings, parse_template
from groundling.home.plain_yaml import load_yaml

pytest.importorskip("yaml", reason="needs groundling[home]")
LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 12)
)


@pytest.fixture(autouse=True)
def _soon():
    began = time.process_time()
    yield
    assert time.process_time() - began < 5


def write(folder, text):
    path = folder / "home.yaml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


BAD = {
    "laughs": (LAUGHS, "at most 500,000 values; got more. Set GROUNDLING_LIMIT_YAML_VALUES"),
    "inside itself": ("a: &a [*a]", "must not have aliases to enclosing or unknown values"),
    "unknown alias": ("a: *b", "must not have aliases to enclosing or unknown values"),
    "deep lists": ("[" * 100_000, "at most 50 levels of nested values; got more"),
    "deep mappings": ("{a: " * 100_000, "at most 50 levels of nested values; got more"),
    "deep blocks": ("\n".join(" " * n + "-" for n in range(60)) + " x", "at most 50 levels"),
    "key twice": ("a: 1\nb: 2\na: 3", "Keys must be unique; got 'a' twice"),
    "key twice inside": ("a: {x: 1, x: 2}", "Keys must be unique; got 'x' twice"),
    "one and true": ("1: a\n1.0: b", "Keys must be unique"),
    "key of lists": ("? [a]\n: b", "must be valid YAML of plain values"),
    "merge": ("a: {<<: {b: 1}}", "must be valid YAML of plain values"),
    "object": ("!!python/object/apply:os.system [id]", "could not determine a constructor"),
    "set": ("!!set {a, b}", "could not determine a constructor"),
    "bytes": ("!!binary aGk=", "could not determine a constructor"),
    "own tag": ("!home {a: b}", "could not determine a constructor"),
    "no number": ("!!int x", "must be valid YAML"),
    "empty number": ("!!int ''", "must be valid YAML"),
    "no truth": ("!!bool perhaps", "must be valid YAML"),
    "long number": ("a: " + "9" * 5000, "Numbers must have at most"),
    "large number": ("a: " + "9" * 50, "Numbers must be within"),
    "long time": ("a: 1" + ":59" * 100_000, "Numbers must have at most"),
    "two documents": ("a: 1\n---\nb: 2", "must be valid YAML"),
    "half of a character": ("a: \udcff", "must be valid YAML"),
    "control character": ("a: \x00", "must be valid YAML"),
    "many values": ("a: [" + "1," * 600_000 + "]", "at most 500,000 values; got more"),
    "many bytes": ("#" * 16_000_001, "at most 16,000,000 bytes; got 16,000,001"),
}


@pytest.mark.parametrize("name", BAD)
def test_yaml_refuses_in_one_sentence(tmp_path, name):
    text, told = BAD[name]
    with pytest.raises(CorpusError) as caught:
        load_yaml(write(tmp_path, text), CorpusError, aliases=True)
    assert told in str(caught.value)
    assert "home.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_yaml_reads_plain_values_as_they_are(tmp_path):
    text = "\ufeffa: [1, -2.5, on, ~, 2020-01-01, 'x', 1:30, 0x1f]\nb: &b {c: d}\ne: *b"
    assert load_yaml(write(tmp_path, text), aliases=True) == {
        "a": [1, -2.5, True, None, "2020-01-01", "x", 90, 31], "b": {"c": "d"}, "e": {"c": "d"},
    }  # fmt: skip


def test_yaml_of_homes_has_no_aliases_and_is_a_plain_file(tmp_path):
    with pytest.raises(HomeError, match="must not use YAML aliases"):
        read_home(write(tmp_path, "entities: &e []\nareas: *e"))
    with pytest.raises(HomeError, match="must be a regular file"):
        read_home("/dev/zero")


def test_yaml_attributes_of_any_kind_are_kept_in_order(tmp_path):
    text = "entities: [{id: a.b, name: c, attributes: {'2': x, 1: y, a: [z], b: ~}}]"
    names = [name for name, _ in read_home(write(tmp_path, text)).entities[0].attributes]
    assert names == ["1", "2", "a", "b"]


@pytest.mark.parametrize("template", ["(", "()", "[" * 5_000, "a" * 30_000, "<", "{a", "[a"])
def test_templates_that_cannot_be_read_are_told(template):
    pytest.importorskip("hassil", reason="needs groundling[home]")
    with pytest.raises(TemplateError) as caught:
        parse_template(template)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "template",
    ["".join(f"(([a{n}][b{n}][c{n}]))" for n in range(40)), "(" + ";".join("abcdefghijkl") + ")",
     "((" + "[x]" * 60 + "))" + "[y]" * 60],
)  # fmt: skip
def test_templates_of_names_that_stand_for_very_many_give_a_few(template):
    pytest.importorskip("hassil", reason="needs groundling[home]")
    assert 1 <= len(_spellings(template)) <= 20


def test_templates_of_names_are_those_of_hassil():
    pytest.importorskip("hassil", reason="needs groundling[home]")
    from hassil.parse_expression import parse_sentence
    from hassil.sample import sample_sentence

    for template in ("[Big ](Lamp|Light)", "(a|b[c]|(d|e) f) [g] (h;i)", "x", "[a][b][c][d]"):
        every = [" ".join(each.split()) for each in sample_sentence(parse_sentence(template))]
        assert _spellings(template) == list(dict.fromkeys(every[:20]))


@pytest.mark.parametrize("name", ["\0", "a\0b.yaml", "\ud800", "x" * 5000, "/dev/zero", "/", "."])
def test_yaml_names_of_no_file_are_refused_in_one_sentence(name):
    with pytest.raises(HomeError) as told:
        read_home(name)
    assert len(str(told.value)) < 400 or len(name) > 400
    assert "\n" not in str(told.value)
