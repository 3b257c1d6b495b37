import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.errors import SettingError
from groundling.language import (
    ENGLISH,
    Instruction,
    parse_conllu,
    split_commands,
    split_units,
)
from groundling.language.units import UNITS


def tree(text):
    """Read ``word/TAG/relation/head`` items; a head is a word's number from 1, 0 for the root."""
    cells = [item.split("/") for item in text.split()]
    rows = [
        f"{number}\t{word}\t_\t{tag or '_'}\t_\t_\t{head}\t{relation}\t_\t_"
        for number, (word, tag, relation, head) in enumerate(cells, start=1)
    ]
    return next(iter(parse_conllu("\n".join(rows))))


TWO = tree(
    "turn/VERB/root/0 left/ADV/advmod/1 ,/PUNCT/punct/6 and/CCONJ/cc/6 then/ADV/advmod/6 "
    "walk/VERB/conj/1 to/ADP/case/9 the/DET/det/9 sofa/NOUN/obl/6 ./PUNCT/punct/1"
)
UNTIL = tree(
    "go/VERB/root/0 until/SCONJ/mark/4 you/PRON/nsubj/4 see/VERB/advcl/1 the/DET/det/7 "
    "red/ADJ/amod/7 lamp/NOUN/obj/4 and/CCONJ/cc/10 a/DET/det/10 chair/NOUN/conj/7"
)


def texts(instruction):
    return [str(command) for command in split_commands(instruction, ENGLISH)]


def test_split_commands_cuts_at_the_conjunct_verb():
    assert texts(TWO) == ["turn left", "then walk to the sofa"]
    first, second = split_commands(TWO, ENGLISH)
    assert first.relations == ("root", "advmod")
    assert second.relations[second.root] == "root"
    assert second.tokens[second.root] == "walk"
    assert second.tags[-1] == "NOUN"


def test_split_commands_keeps_the_text_as_written():
    written = Instruction(
        TWO.tokens, TWO.heads, TWO.relations, TWO.tags, "turn left,and then walk to the sofa."
    )
    assert texts(written) == ["turn left", "then walk to the sofa"]


def test_split_commands_leaves_nouns_and_clauses_together():
    assert split_commands(UNTIL, ENGLISH) == [UNTIL]


def test_split_commands_leaves_verbs_inside_a_clause_together():
    inside = tree(
        "wait/VERB/root/0 until/SCONJ/mark/4 you/PRON/nsubj/4 see/VERB/advcl/1 and/CCONJ/cc/6 "
        "hear/VERB/conj/4 it/PRON/obj/6"
    )
    assert split_commands(inside, ENGLISH) == [inside]


def test_split_commands_cuts_three_and_run_on_commands():
    three = tree(
        "go/VERB/root/0 up/ADV/advmod/1 ,/PUNCT/punct/4 turn/VERB/conj/1 and/CCONJ/cc/6 "
        "stop/VERB/conj/1 wait/VERB/parataxis/1 there/ADV/advmod/7"
    )
    assert texts(three) == ["go up", "turn", "stop", "wait there"]


def test_split_commands_follows_a_conjunct_of_a_conjunct():
    nested = tree("go/VERB/root/0 turn/VERB/conj/1 and/CCONJ/cc/4 stop/VERB/conj/2")
    assert texts(nested) == ["go", "turn", "stop"]


def test_split_commands_leaves_statements_with_their_command():
    statement = tree(
        "go/VERB/root/0 and/CCONJ/cc/5 the/DET/det/4 door/NOUN/nsubj/5 opens/VERB/conj/1"
    )
    assert split_commands(statement, ENGLISH) == [statement]
    addressed = tree("go/VERB/root/0 and/CCONJ/cc/4 you/PRON/nsubj/4 stop/VERB/conj/1")
    assert texts(addressed) == ["go", "you stop"]
    forecast = tree(
        "go/VERB/root/0 and/CCONJ/cc/5 you/PRON/nsubj/5 will/AUX/aux/5 see/VERB/conj/1 "
        "it/PRON/obj/5"
    )
    assert split_commands(forecast, ENGLISH) == [forecast]


def test_split_commands_works_without_tags():
    bare = Instruction(TWO.tokens, TWO.heads, TWO.relations)
    assert texts(bare) == ["turn left", "then walk to the sofa"]
    chain = Instruction.chain("turn left and walk")
    assert split_commands(chain, ENGLISH) == [chain]


def test_split_units_of_each_kind():
    assert split_units(UNTIL, "sentence") == (tuple(range(10)),)
    assert split_units(UNTIL, "clause") == ((0,), tuple(range(1, 10)))
    assert split_units(UNTIL, "mention") == ((0,), (1, 3), (2,), (4, 5, 6), (7, 8, 9))
    assert split_units(UNTIL, "word") == tuple((i,) for i in range(10))


def test_split_units_clause_cuts_conjunct_verbs():
    assert split_units(TWO, "clause") == ((0, 1, 9), (2, 3, 4, 5, 6, 7, 8))
    assert split_units(TWO, "mention") == ((0, 1, 9), (2, 3, 4, 5), (6, 7, 8))


def test_split_units_keeps_compounds_possessors_and_relative_clauses_apart():
    phrase = tree(
        "the/DET/det/3 desk/NOUN/compound/3 lamp/NOUN/root/0 on/ADP/case/6 your/PRON/nmod:poss/6 "
        "left/NOUN/nmod/3 that/PRON/nsubj/8 shines/VERB/acl:relcl/3 brightly/ADV/advmod/8"
    )
    assert split_units(phrase, "mention") == ((0, 1, 2), (3, 4, 5), (6,), (7, 8))
    assert split_units(phrase, "clause") == ((0, 1, 2, 3, 4, 5), (6, 7, 8))


def test_split_units_copula_belongs_to_the_clause():
    copula = tree("the/DET/det/2 sofa/NOUN/nsubj/5 is/AUX/cop/5 a/DET/det/5 bed/NOUN/root/0")
    assert split_units(copula, "mention") == ((0, 1), (2,), (3, 4))


def test_split_units_without_tags_or_tree():
    bare = Instruction(UNTIL.tokens, UNTIL.heads, UNTIL.relations)
    assert split_units(bare, "clause") == split_units(UNTIL, "clause")
    assert (4, 5, 6) in split_units(bare, "mention")
    chain = Instruction.chain("turn left and walk")
    assert split_units(chain, "clause") == split_units(chain, "mention") == ((0, 1, 2, 3),)


def test_split_units_unknown_name_is_an_error():
    with pytest.raises(SettingError, match=r"'clauses'.*Did you mean 'clause'"):
        split_units(TWO, "clauses")


# fmt: off
RELATIONS = [
    "conj", "cc", "parataxis", "advcl", "acl:relcl", "ccomp", "xcomp", "obj", "obl", "nsubj",
    "nmod", "det", "case", "amod", "compound", "cop", "punct", "advmod", "mark", "next",
    "nmod:poss", "list",
]
# fmt: on
TAGS = ["", "VERB", "NOUN", "PRON", "ADJ", "PUNCT", "AUX", "CCONJ"]


@st.composite
def trees(draw):
    size = draw(st.integers(1, 9))
    order = draw(st.permutations(range(size)))
    heads = [-1] * size
    for place in range(1, size):
        heads[order[place]] = order[draw(st.integers(0, place - 1))]
    relations = ["root" if head == -1 else draw(st.sampled_from(RELATIONS)) for head in heads]
    tags = [draw(st.sampled_from(TAGS)) for _ in heads]
    return Instruction([f"w{i}" for i in range(size)], heads, relations, tags)


@given(trees(), st.sampled_from(UNITS))
def test_split_units_is_a_partition_in_text_order(instruction, unit):
    units = split_units(instruction, unit)
    assert sorted(position for each in units for position in each) == list(range(len(instruction)))
    assert all(each and list(each) == sorted(each) for each in units)
    assert [each[0] for each in units] == sorted(each[0] for each in units)


@given(trees())
def test_split_commands_keeps_every_word_but_joints(instruction):
    commands = split_commands(instruction, ENGLISH)
    kept = [word for command in commands for word in command.tokens]
    assert len(kept) == len(set(kept))
    lost = set(instruction.tokens) - set(kept)
    joints = {
        instruction.tokens[i]
        for i, name in enumerate(instruction.relations)
        if name in ("cc", "punct")
    }
    assert lost <= joints
    assert [command.tokens[0] for command in commands] == sorted(c.tokens[0] for c in commands)


def test_split_commands_takes_ten_thousand_words():
    size = 10_000
    many = Instruction(
        [f"w{i}" for i in range(size)],
        [-1] + [0] * (size - 1),
        ["root"] + ["conj"] * (size - 1),
        ["VERB"] * size,
    )
    assert [str(each) for each in split_commands(many, ENGLISH)] == list(many.tokens)
    assert len(split_units(many, "clause")) == size
