"""Training of the shipped pipeline: data, network, and a loop that can be resumed."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundling.errors import ModelFileError, SettingError
from groundling.language.instruction import Instruction
from groundling.language.spacy_parser import one_sentence

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.training import Example
    from thinc.api import Optimizer

__all__ = ["TrainingSettings", "build_pipeline", "train", "without_case"]


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of the training of a pipeline.

    Parameters
    ----------
    general_epochs
        Passes over the general treebank at the full learning rate.
    mixed_epochs
        Further passes over the general treebank and the instructions together, while the
        learning rate falls to zero.
    width, depth, rows
        Size of the network that embeds the words.
    templates
        Number of generated sentences in each epoch of the second stage.
    copies
        How often each of our own sentences occurs in such an epoch.

    Examples
    --------
    >>> TrainingSettings(seed=3).width
    112
    """

    seed: int = 0
    general_epochs: int = 3
    mixed_epochs: int = 7
    learning_rate: float = 0.001
    dropout: float = 0.2
    words_per_batch: int = 800
    width: int = 112
    depth: int = 4
    rows: tuple[int, ...] = (4000, 300, 2000, 1500)
    hidden: int = 64
    templates: int = 4000
    copies: int = 4
    save_every: int = 250


def without_case(instruction: Instruction) -> Instruction:
    """Return a sentence as people type commands: in lower case, without final punctuation.

    The final punctuation is kept if the other words are no tree without it.

    >>> go = Instruction(("Go", "!"), (-1, 0), ("root", "punct"), ("VERB", "PUNCT"))
    >>> without_case(go).tokens
    ('go',)
    """
    end = len(instruction)
    while end and instruction.relations[end - 1] == "punct":
        end -= 1
    if end == 0 or any(head >= end for head in instruction.heads[:end]):
        end = len(instruction)
    return Instruction(
        tokens=tuple(token.lower() for token in instruction.tokens[:end]),
        heads=instruction.heads[:end],
        relations=instruction.relations[:end],
        tags=instruction.tags[:end],
    )


def build_pipeline(settings: TrainingSettings, labelled: Sequence[Instruction]) -> Language:
    """Return an untrained pipeline with the labels that occur in the sentences.

    >>> go = Instruction(("go", "left"), (-1, 0), ("root", "advmod"), ("VERB", "ADV"))
    >>> build_pipeline(TrainingSettings(width=8, rows=(10, 10, 10, 10)), [go]).pipe_names
    ['tok2vec', 'tagger', 'parser']
    """
    import spacy
    from thinc.api import fix_random_seed

    fix_random_seed(settings.seed)
    language = spacy.blank("en")
    width = settings.width
    language.add_pipe(
        "tok2vec",
        config={
            "model": {
                "@architectures": "spacy.Tok2Vec.v2",
                "embed": {
                    "@architectures": "spacy.MultiHashEmbed.v2",
                    "width": width,
                    "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
                    "rows": list(settings.rows),
                    "include_static_vectors": False,
                },
                "encode": {
                    "@architectures": "spacy.MaxoutWindowEncoder.v2",
                    "width": width,
                    "depth": settings.depth,
                    "window_size": 1,
                    "maxout_pieces": 3,
                },
            }
        },
    )
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": width, "upstream": "*"}
    language.add_pipe(
        "tagger",
        config={
            "model": {"@architectures": "spacy.Tagger.v2", "nO": None, "tok2vec": listener},
        },
    )
    language.add_pipe(
        "parser",
        config={
            "min_action_freq": 20,
            "model": {
                "@architectures": "spacy.TransitionBasedParser.v2",
                "state_type": "parser",
                "extra_state_tokens": True,
                "hidden_width": settings.hidden,
                "maxout_pieces": 2,
                "use_upper": True,
                "nO": None,
                "tok2vec": listener,
            },
        },
    )
    examples = to_examples(language, labelled)
    language.initialize(lambda: examples)
    return language


def to_examples(language: Language, instructions: Sequence[Instruction]) -> list[Example]:
    """Return sentences as spaCy's training examples, one sentence each."""
    from spacy.tokens import Doc
    from spacy.training import Example

    examples = []
    for each in instructions:
        starts: list[bool | int | None] = [False] * len(each)
        starts[0] = True
        gold = Doc(
            language.vocab,
            words=list(each.tokens),
            tags=list(each.tags),
            heads=[i if head == -1 else head for i, head in enumerate(each.heads)],
            deps=["ROOT" if i == each.root else each.relations[i] for i in range(len(each))],
            sent_starts=starts,
        )
        examples.append(Example(one_sentence(language, each.tokens), gold))
    return examples


def train(
    settings: TrainingSettings,
    general: Sequence[Instruction],
    mixed: Callable[[int], Sequence[Instruction]],
    folder: Path,
    *,
    score: Callable[[Language], dict[str, float]],
    report: Callable[[str], None] = print,
) -> Language:
    """Train a pipeline; return it with the best weights of the last stage.

    Parameters
    ----------
    settings
        Settings of the training.
    general
        Sentences of the general treebank.
    mixed
        Function of the number of an epoch of the second stage; returns its sentences.
    folder
        Folder of the checkpoint, from which an interrupted run resumes.
    score
        Function that scores a pipeline on development data. The weights with the highest
        `"total"` among the evaluations of the second stage are returned.
    report
        Function that is called with a line of progress.
    """
    from thinc.api import Adam, fix_random_seed

    language = build_pipeline(settings, general)
    optimizer = Adam(
        settings.learning_rate, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0, use_averages=True
    )
    progress: dict[str, Any] = {"step": 0, "best": -1.0, "settings": _plain(settings)}
    if (folder / "state.json").is_file():
        progress = _restore(language, optimizer, folder, settings)
        report(f"resuming after step {progress['step']}")
    folder.mkdir(parents=True, exist_ok=True)
    done, step = int(progress["step"]), 0
    total = settings.general_epochs + settings.mixed_epochs
    for epoch in range(total):
        second = epoch >= settings.general_epochs
        sentences = mixed(epoch) if second else general
        batches = list(_batches(sentences, settings, epoch))
        if step + len(batches) <= done:
            step += len(batches)
            continue
        for number, batch in enumerate(batches):
            step += 1
            if step <= done:
                continue
            if second:
                passed = epoch - settings.general_epochs + number / len(batches)
                fall = 1.0 - passed / settings.mixed_epochs
                optimizer.learn_rate = settings.learning_rate * fall
            # Seeded by step, so that a resumed run draws the same numbers as an uninterrupted one.
            fix_random_seed(settings.seed * 1_000_003 + step)
            _update(language, to_examples(language, batch), settings.dropout, optimizer)
            last = number == len(batches) - 1
            if last or (second and step % (2 * settings.save_every) == 0):
                with language.use_params(optimizer.averages):
                    scores = score(language)
                    report(f"epoch {epoch} step {step} " + _show(scores))
                    if second and scores["total"] > progress["best"]:
                        progress["best"] = scores["total"]
                        _replace(folder / "best", language.to_disk)
            if last or step % settings.save_every == 0:
                progress["step"] = step
                _save(language, optimizer, folder, progress)
    if not (folder / "best").is_dir():
        raise SettingError("The second stage must have at least one epoch; got none.")
    import spacy

    return spacy.load(folder / "best")


def _batches(
    sentences: Sequence[Instruction], settings: TrainingSettings, epoch: int
) -> Iterator[list[Instruction]]:
    """Yield batches of the sentences, in an order that depends only on the seed and epoch."""
    order = list(range(len(sentences)))
    random.Random(f"{settings.seed}/{epoch}").shuffle(order)
    batch: list[Instruction] = []
    words = 0
    for place in order:
        batch.append(sentences[place])
        words += len(sentences[place])
        if words >= settings.words_per_batch:
            yield batch
            batch, words = [], 0
    if batch:
        yield batch


def _update(
    language: Language, examples: list[Example], dropout: float, optimizer: Optimizer
) -> None:
    """Make one training step.

    With the optimiser as argument, spaCy's own `update` would change the shared layer before it has
    the gradients of the tagger and the parser, and apply these in the next step.
    """
    language.update(examples, drop=dropout, sgd=False)  # type: ignore[arg-type]
    for _, component in language.pipeline:
        component.finish_update(optimizer)  # type: ignore[attr-defined]


def _plain(settings: TrainingSettings) -> dict[str, Any]:
    return {**asdict(settings), "rows": list(settings.rows)}


def _show(scores: dict[str, float]) -> str:
    return " ".join(f"{name} {100 * value:.2f}" for name, value in scores.items())


def _replace(target: Path, write: Callable[[Path], object]) -> None:
    """Replace a folder: write the new one beside it, then rename."""
    fresh = target.with_name(target.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.parent.mkdir(parents=True, exist_ok=True)
    write(fresh)
    shutil.rmtree(target, ignore_errors=True)
    os.replace(fresh, target)


def _parameters(language: Language) -> Iterator[tuple[tuple[int, str], Any]]:
    """Yield the key of each parameter in the optimiser and its layer, in a fixed order."""
    for _, component in language.pipeline:
        for layer in component.model.walk():  # type: ignore[attr-defined]
            for name in layer.param_names:
                yield (layer.id, name), layer


_MOMENTS = ("mom1", "mom2", "averages")


def _save(language: Language, optimizer: Optimizer, folder: Path, progress: dict[str, Any]) -> None:
    """Write a checkpoint; the state file is renamed last, so an interruption keeps the old one."""
    arrays: dict[str, Any] = {}
    for number, ((identity, name), layer) in enumerate(_parameters(language)):
        arrays[f"weights.{number}"] = layer.get_param(name)
        for moment in _MOMENTS:
            value = getattr(optimizer, moment).get((identity, name))
            if value is not None:
                arrays[f"{moment}.{number}"] = value
        arrays[f"updates.{number}"] = np.asarray(optimizer.nr_update[identity, name])
    target = folder / f"step-{progress['step']}.npz"
    np.savez(target, **arrays)
    fresh = folder / "state.json.new"
    fresh.write_text(json.dumps({**progress, "arrays": target.name}), encoding="utf-8")
    os.replace(fresh, folder / "state.json")
    for older in folder.glob("step-*.npz"):
        if older != target:
            older.unlink()


def _restore(
    language: Language, optimizer: Optimizer, folder: Path, settings: TrainingSettings
) -> dict[str, Any]:
    """Load a checkpoint into the pipeline and the optimiser; return its state."""
    try:
        progress: dict[str, Any] = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        with np.load(folder / progress["arrays"], allow_pickle=False) as arrays:
            stored = dict(arrays)
    except (OSError, ValueError, KeyError) as error:
        raise ModelFileError(
            f"The checkpoint in {str(folder)!r} cannot be read ({error}). "
            "Remove the folder to start over."
        ) from error
    changed = [
        name for name, value in _plain(settings).items() if progress["settings"].get(name) != value
    ]
    if changed:
        raise SettingError(
            f"The checkpoint in {str(folder)!r} was made with other settings "
            f"({', '.join(changed)}). Use the same ones, or another folder."
        )
    for number, ((identity, name), layer) in enumerate(_parameters(language)):
        layer.set_param(name, stored[f"weights.{number}"])
        for moment in _MOMENTS:
            if f"{moment}.{number}" in stored:
                getattr(optimizer, moment)[identity, name] = stored[f"{moment}.{number}"]
        optimizer.nr_update[identity, name] = int(stored[f"updates.{number}"])
    return progress
