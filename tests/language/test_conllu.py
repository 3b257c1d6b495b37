import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.errors import ParseError
from groundling.language import Instruction, parse_conllu, read_conllu, to_conllu, write_conllu


def row(number, word="word", head="0", relation="root", tag="NOUN"):
    return f"{number}\t{word}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_"


def test_conllu_keeps_the_parts_of_contractions_and_drops_empty_nodes():
    content = "\n".join(
        [
            "# sent_id = one",
            "# text = don't stop",
            "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_",
            row(1, "do", "3", "aux", "AUX"),
            row(2, "n't", "3", "advmod", "PART"),
            row(3, "stop", "0", "root", "VERB"),
            "3.1\tit\t_\tPRON\t_\t_\t_\t_\t3:obj\t_",
            "",
        ]
    )
    [sentence] = parse_conllu(content)
    assert sentence.tokens == ("do", "n't", "stop")
    assert sentence.heads == (2, 2, -1)
    assert sentence.tags == ("AUX", "PART", "VERB")
    assert sentence.text == "don't stop"


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["1 turn 0"], "10 columns; got 1"),
        ([row(2)], "word number must be 1; got '2'"),
        ([row(1, head="x")], "got 'x'"),
        ([row(1, head="_")], "got '_'"),
        ([row(1, head="5", relation="obj")], "0 roots"),
        ([row(1), row(2)], "2 roots"),
        ([row(1), row(2, head="3"), row(3, head="2")], "cycle"),
        (["1-2\ta\t_\t_\t_\t_\t_\t_\t_\t_"], "at least one word"),
    ],
)
def test_conllu_error_names_file_line_and_sentence(tmp_path, lines, complaint):
    path = tmp_path / "bad.conllu"
    path.write_text("\n".join([row(1), "", "# sent_id = s2", *lines, ""]), encoding="utf-8")
    with pytest.raises(ParseError, match=complaint) as caught:
        read_conllu(path)
    message = str(caught.value)
    assert "bad.conllu" in message
    assert "sentence s2" in message
    assert "line 4" in message or "line 5" in message


def test_conllu_missing_file_is_a_clear_error(tmp_path):
    with pytest.raises(ParseError, match=r"none\.conllu.*Check the path"):
        read_conllu(tmp_path / "none.conllu")


def test_conllu_other_encoding_is_a_clear_error(tmp_path):
    (tmp_path / "latin.conllu").write_bytes(row(1, "caf\xe9").encode("latin-1"))
    with pytest.raises(ParseError, match="must be UTF-8"):
        read_conllu(tmp_path / "latin.conllu")


def test_conllu_reads_windows_line_ends_and_a_missing_last_line(tmp_path):
    (tmp_path / "a.conllu").write_bytes(
        b"\xef\xbb\xbf" + f"{row(1, 'go')}\r\n\r\n{row(1)}".encode()
    )
    assert [each.tokens for each in read_conllu(tmp_path / "a.conllu")] == [("go",), ("word",)]


def test_conllu_refuses_words_that_would_break_the_file():
    with pytest.raises(ParseError, match="tabs or line breaks"):
        to_conllu([Instruction(("a\tb",), (-1,), ("root",))])


words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=5)


@given(st.lists(st.lists(words, min_size=1, max_size=6), max_size=3), st.randoms())
def test_conllu_round_trip(sentences, draw):
    instructions = []
    for tokens in sentences:
        heads = [-1] + [draw.randrange(i) for i in range(1, len(tokens))]
        relations = ["root"] + ["dep"] * (len(tokens) - 1)
        instructions.append(Instruction(tokens, heads, relations, ["X"] * len(tokens)))
    assert list(parse_conllu(to_conllu(instructions))) == instructions


def test_conllu_file_round_trip(tmp_path):
    chain = Instruction.chain("walk to the sofa")
    write_conllu([chain, chain], tmp_path / "a.conllu")
    assert read_conllu(tmp_path / "a.conllu") == [chain, chain]
