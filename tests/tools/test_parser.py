"""Training of the parser: the data, the loop that survives being killed, and the command."""

import json

import numpy as np
import pytest

from groundling.errors import CorpusError, ModelFileError, SettingError
from groundling.language import Instruction, ShippedParser
from tools.parser.scoring import parse_words, score_parses
from tools.parser.templates import template_instructions
from tools.parser.train import evaluate, main, own_treebank
from tools.parser.training import TrainingSettings, build_pipeline, train, without_case

SMALL = TrainingSettings(
    general_epochs=1,
    mixed_epochs=2,
    width=16,
    depth=1,
    rows=(60, 20, 40, 20),
    hidden=8,
    words_per_batch=60,
    save_every=2,
)


def weights(language):
    return [
        layer.get_param(name)
        for _, component in language.pipeline
        for layer in component.model.walk()
        for name in layer.param_names
    ]


def run(folder, settings=SMALL, report=lambda line: None):
    sentences = template_instructions(40, seed=7)
    return train(
        settings,
        sentences[:30],
        lambda epoch: sentences,
        folder,
        score=lambda language: {"total": 0.5},
        report=report,
    )


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    return weights(run(tmp_path_factory.mktemp("unbroken")))


class KilledError(Exception):
    pass


@pytest.mark.parametrize("kill_at", [1, 2])
def test_training_that_was_killed_resumes_to_the_same_weights(tmp_path, unbroken, kill_at):
    seen = []

    def kill(line):
        seen.append(line)
        if len(seen) == kill_at:
            raise KilledError

    with pytest.raises(KilledError):
        run(tmp_path, report=kill)
    lines = []
    resumed = weights(run(tmp_path, report=lines.append))
    assert lines[0].startswith("resuming after step")
    assert all(map(np.array_equal, resumed, unbroken))


def test_training_with_another_seed_gives_other_weights(tmp_path, unbroken):
    other = weights(run(tmp_path, TrainingSettings(**{**vars(SMALL), "seed": 1})))
    assert not all(map(np.array_equal, other, unbroken))


def test_training_refuses_a_checkpoint_of_other_settings_or_a_broken_one(tmp_path):
    run(tmp_path)
    with pytest.raises(SettingError, match="other settings \\(dropout\\)"):
        run(tmp_path, TrainingSettings(**{**vars(SMALL), "dropout": 0.5}))
    (tmp_path / "state.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelFileError, match="cannot be read"):
        run(tmp_path)


def test_training_learns(tmp_path):
    sentences = template_instructions(40, seed=7)
    changed = {"general_epochs": 3, "mixed_epochs": 3, "learning_rate": 0.01, "dropout": 0.0}
    settings = TrainingSettings(**{**vars(SMALL), **changed})

    def score(language):
        return {"total": score_parses(sentences, parse_words(language, sentences)).heads}

    language = train(
        settings,
        sentences,
        lambda epoch: sentences,
        tmp_path,
        score=score,
        report=lambda line: None,
    )
    assert score(language)["total"] > score(build_pipeline(settings, sentences))["total"] + 0.1


def test_without_case_drops_final_punctuation_only():
    go = Instruction(("Go", ",", "Bob", "!"), (-1, 2, 0, 0), ("root", "punct", "vocative", "punct"))
    assert without_case(go).tokens == ("go", ",", "bob")
    assert without_case(Instruction(("Go",), (-1,), ("root",))).tokens == ("go",)
    odd = Instruction(("A", "!"), (1, -1), ("dep", "punct"))
    assert without_case(odd).tokens == ("a", "!")


@pytest.mark.parametrize(("part", "least"), [("train", 90), ("dev", 40), ("test", 60)])
def test_own_treebank_is_large_and_sound(part, least):
    sentences = own_treebank(part)
    assert len(sentences) >= least
    for sentence in sentences:
        assert all(sentence.tags)
        assert "dep" not in sentence.relations
        assert sentence.relations[sentence.root] == "root"
        assert sentence.relations.count("root") == 1


def test_own_treebank_parts_do_not_overlap():
    parts = [{" ".join(each).lower() for each in own_treebank(p)} for p in ("train", "dev", "test")]
    assert sum(map(len, parts)) == len(set.union(*parts))
    assert sum(map(len, parts)) >= 150


def test_templates_are_seeded_trees_with_words_and_tags():
    first = template_instructions(200, seed=1)
    assert first == template_instructions(200, seed=1)
    assert first != template_instructions(200, seed=2)
    assert all(all(each.tags) and all(each.tokens) for each in first)
    held_back = {" ".join(each).lower() for each in own_treebank("test")}
    assert not held_back & {" ".join(each).lower() for each in first}


def treebank(folder):
    folder.mkdir(exist_ok=True)
    from groundling.language import write_conllu

    for part in ("train", "dev", "test"):
        sentences = template_instructions(30, seed=3)
        write_conllu(sentences, folder / f"en_ewt-ud-{part}.conllu")
    return folder


def test_command_trains_writes_a_card_and_evaluates(tmp_path, capsys):
    folder = treebank(tmp_path / "treebanks")
    small = ["--general-epochs", "1", "--mixed-epochs", "1", "--width", "16", "--depth", "1"]
    small += ["--hidden", "8", "--words-per-batch", "800", "--templates", "20"]
    out = tmp_path / "model"
    assert main(["--treebanks", str(folder), "--out", str(out), *small]) == 0
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "CC BY-SA 4.0" in card
    assert "| instructions |" in card
    assert "UD_English-EWT" in (out / "NOTICE").read_text(encoding="utf-8")
    assert "hall" not in json.loads((out / "vocab" / "strings.json").read_text(encoding="utf-8"))
    target = tmp_path / "scores.json"
    assert main(["--treebanks", str(folder), "--evaluate", str(out), "--json", str(target)]) == 0
    scores = json.loads(target.read_text(encoding="utf-8"))
    assert {"ewt", "ewt lower-cased", "instructions", "spacy", "megabytes"} < set(scores)
    assert scores["sentences per processor second"] > 0
    assert "UAS" in capsys.readouterr().out


def test_command_does_not_replace_other_folders(tmp_path, capsys):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    folder = treebank(tmp_path / "treebanks")
    assert main(["--treebanks", str(folder), "--out", str(tmp_path / "precious")]) == 1
    assert "holds no pipeline" in capsys.readouterr().err
    assert (tmp_path / "precious" / "file").read_text() == "x"


def test_command_explains_what_is_missing(tmp_path, capsys):
    assert main(["--treebanks", str(tmp_path), "--out", str(tmp_path / "model")]) == 1
    assert "en_ewt-ud-train.conllu" in capsys.readouterr().err
    assert main(["--treebanks", str(tmp_path), "--evaluate", str(tmp_path / "none")]) == 1
    assert "no pipeline" in capsys.readouterr().err
    with pytest.raises(CorpusError):
        evaluate(None, tmp_path)


def test_shipped_parser_reaches_its_scores_on_held_back_instructions():
    gold = own_treebank("test")
    scores = score_parses(gold, parse_words(ShippedParser().language, gold))
    assert scores.heads > 0.9
    assert scores.roots > 0.95
