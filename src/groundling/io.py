"""Conversion between learnt models and the files of a model folder.

- `tables`: label names, label profile, lexicon, values and word counts, as JSON;
- `weights`: θ and its feature keys, for each member, as safetensors.

`groundling.modelfolder` describes the layout on disk. The files contain no code, and loading
them runs none.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from groundling.errors import LearningWarning, ModelFileError, ModelWarning, SettingError
from groundling.features.connectives import Connective
from groundling.features.feature_settings import Features
from groundling.features.lexicon import Lexicon
from groundling.features.space import JoiningFunction, name_of
from groundling.inference.search import Search
from groundling.language.languages import LANGUAGES, Language
from groundling.language.parser import ChainParser, Parser, language_of, load_parser
from groundling.learning.settings import Learning
from groundling.learning.trainer import Trainer
from groundling.limits import HEADER_BYTES
from groundling.modelfolder import read_folder, read_json, write_folder
from groundling.models.base import FittedModel, Member, Model
from groundling.models.ensemble import Ensemble
from groundling.models.every import MODELS
from groundling.models.learnt import Learnt
from groundling.models.lengths import LengthModel
from groundling.models.memory import DemonstrationMemory
from groundling.models.probe import probe_features
from groundling.overlay.batch import Reals
from groundling.overlay.settings import Overlay
from groundling.selection.choices import Choice, Choices, check_open
from groundling.selection.label_profile import usual_labels
from groundling.trust import check_settings

VECTORS = "GROUNDLING_VECTORS"
"""Environment variable that lists the word-vector files that models may open."""
_MODELS = {name: kind for name, kind in MODELS.items() if kind is not Ensemble}
_OWN_PARSERS = re.compile(
    r"((default|chain)(:neutral|:english)?)(@[^/]*)?"
)  # neither paths nor packages
_MOST_WEIGHT = 1e30  # sums of larger weights could overflow
# Errors that malformed files can cause while they are decoded.
_BROKEN = (
    LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError,
    SafetensorError,
)  # fmt: skip


# ---- writing ------------------------------------------------------------------------------


def save_learnt(folder: Path, learnt: Learnt, note: Mapping[str, Any] | None = None) -> Path:
    """Write a model to a folder; an existing model is replaced atomically."""
    from groundling import __version__

    settings, members = learnt.settings, learnt.fitted.members
    model = settings.model.member_model
    if type(model) not in _MODELS.values():
        raise SettingError(
            f"Only {', '.join(_MODELS)} and ensembles of these can be saved; got "
            f"{type(model).__name__}. Use one of these models."
        )
    lexicon, lengths = members[0].encoder.reader.lexicon, learnt.fitted.lengths
    tables: dict[str, Any] = {
        "members": [_member_tables(each) for each in members],
        "lexicon": {
            "given": {word: list(pairs) for word, pairs in lexicon.given.items()},
            "learnt": {
                word: [[kind, value, extent] for (kind, value), extent in pairs.items()]
                for word, pairs in lexicon.learnt.items()
            },
            "string_match": lexicon.string_match,
        },
        "lengths": {
            "counts": {
                str(k): {str(n): c for n, c in v.items()} for k, v in lengths.counts.items()
            },
            "longest": lengths.longest,
        },
    }
    if learnt.memory.strength:
        tables["memory"] = learnt.memory.to_dict()
    usual = usual_labels(learnt)
    tables["usual"] = [list(usual.values), list(usual.indicators)]
    tables["answers"], tables["speech"] = learnt.answers, learnt.speech
    language = _own_language(members[0].encoder.reader.parser)
    if language:
        tables["language"] = language
    arrays: dict[str, NDArray[Any]] = {}
    for number, each in enumerate(members):
        arrays |= {f"theta{number}": each.theta, f"keys{number}": each.space.keys}
    files = {
        "tables.json": json.dumps(tables, ensure_ascii=False).encode("utf-8", "surrogatepass"),
        "weights.safetensors": save(arrays),
    }
    manifest = {
        "groundling": __version__,
        "settings": {
            "model": {"kind": type(model).__name__, **model.to_dict()},
            "learning": settings.learning.to_dict(),
            "search": settings.search.to_dict(),
            "seed": int(settings.seed),
            "threads": int(settings.threads),
            "parser": "chain" if language else _named(settings.parser),
            "parser_name": members[0].encoder.reader.parser.name,
        },
        "features": probe_features(learnt.fitted),
        "loss": learnt.loss,
        "temperature": learnt.temperature,
        "sets": learnt.sets,
        "choices": [[each.what, each.chosen, each.why, each.change] for each in learnt.choices],
        "left_open": list(getattr(learnt.choices, "left_open", ())),
    }
    write_folder(folder, manifest, files, note)
    return folder


def _named(parser: str | Parser) -> str:
    return parser if isinstance(parser, str) else ""


def _own_language(parser: Parser) -> dict[str, Any]:
    """Return the custom language of a chain parser as data; {} if it has none to save."""
    spoken = language_of(parser)
    own = type(parser) is ChainParser and spoken not in LANGUAGES.values()
    return spoken.to_dict() if own and spoken.segment is None else {}


def _member_tables(fitted: FittedModel) -> dict[str, Any]:
    features, space, encoder = fitted.features, fitted.space, fitted.encoder
    plain = replace(features, joins=(), lexicon="strings", synonyms="").to_dict()
    plain["joins"] = [j if isinstance(j, str) else f"own:{name_of(j)}" for j in features.joins]
    del plain["lexicon"]  # the learnt lexicon is stored instead
    if not (synonyms := features.synonym_source()):
        del plain["synonyms"]
    else:
        plain["synonyms"] = synonyms.source or "?"
    return {
        "overlay": encoder.overlay.to_dict(),
        "features": plain,
        "word_names": list(space.word_names),
        "node_names": list(space.node_names),
        "values": {kind: sorted(known) for kind, known in encoder.values.items()},
        "counts": dict(encoder.reader.counts),
        "context_words": sorted(encoder.reader.labeller.context_words),
        "connectives": sorted(map(list, encoder.reader.connectives)),
    }


# ---- reading ------------------------------------------------------------------------------


def load_learnt(
    folder: Path, parser: str | Parser | None = None, joins: tuple[JoiningFunction, ...] = ()
) -> Learnt:
    """Read a model; raise `ModelFileError` if it is damaged or incompatible.

    Emits a `ModelWarning` if the model was trained with features or parses that this version of
    Groundling no longer computes.
    """
    learnt, outdated = _load(folder, parser, joins)
    if outdated:
        warnings.warn(
            f"The model in {folder} may answer differently now, because {outdated}. Train it "
            "again.",
            ModelWarning,
            stacklevel=3,
        )
    return learnt


def is_outdated(folder: Path) -> bool:
    """Return whether `load_learnt` would warn that a model should be trained again."""
    return bool(_load(folder, None, ())[1])


def _load(
    folder: Path, parser: str | Parser | None, joins: tuple[JoiningFunction, ...]
) -> tuple[Learnt, str]:
    manifest, data = read_folder(folder, ("tables.json", "weights.safetensors"))
    tables = read_json(data["tables.json"], folder / "tables.json")
    try:
        arrays = _arrays(data["weights.safetensors"])
        check_settings(manifest["settings"])
        check_settings({"temperature": manifest["temperature"], "loss": manifest["loss"]})
        chosen: str | Parser = parser if parser is not None else str(manifest["settings"]["parser"])
        # A model file must not make us read files or run pipelines of its choice.
        if parser is None and not _OWN_PARSERS.fullmatch(str(chosen)):
            trained_with = str(manifest["settings"]["parser_name"])
            raise SettingError(
                f"The follower in {folder} was trained with the parser {trained_with[:80]!r}, "
                "which is not part of the model. Pass it to Follower.load(…, parser=…)."
            )
        load_parser(chosen)
        if parser is None and chosen == "chain" and "language" in tables:
            chosen = ChainParser(language=Language.from_dict(tables["language"]))
        learnt = _build(manifest, tables, arrays, chosen, joins)
        return learnt, _outdated(manifest, learnt, parser)
    except ModelFileError:
        raise
    except SettingError as error:
        if "Follower.load(" in str(error) or parser is not None:
            raise
        raise _broken(folder, error) from error
    except _BROKEN as error:
        raise _broken(folder, error) from error


def _outdated(manifest: dict[str, Any], learnt: Learnt, given: str | Parser | None) -> str:
    """Return why features or parses may differ from those in training, or else ""."""
    then, now = str(manifest["settings"]["parser_name"]), learnt.fitted.encoder.reader.parser.name
    if given is not None and then != now:
        return ""  # the caller chose another parser
    made_by = str(manifest.get("groundling"))[:40]
    told = f"it was saved by Groundling {made_by} and"
    if "features" not in manifest:
        return f"{told} does not record the features it was trained with"
    if manifest["features"] != probe_features(learnt.fitted):
        return f"{told} was trained with features that this version no longer extracts"
    if _without_spacy(then) != _without_spacy(now):
        return f"{told} was trained with the parser {then[:60]!r}; the current one is {now!r}"
    return ""


def _without_spacy(name: str) -> str:
    """Return a parser name without the spaCy version, which does not affect parses."""
    return re.sub(r"^(default[^@]*@[0-9a-f]+)-[^-]+-", r"\1-", name)


def _broken(folder: Path, error: Exception) -> ModelFileError:
    return ModelFileError(
        f"The model in {folder} cannot be read ({type(error).__name__}: "
        f"{str(error)[:200].rstrip('.')}). Save the follower again."
    )


def _arrays(data: bytes) -> dict[str, Any]:
    """Return the weight arrays, after checking the size of their header."""
    HEADER_BYTES.check(int.from_bytes(data[:8], "little"), ModelFileError, "The weights")
    found: dict[str, Any] = load(data)
    for name, array in found.items():
        if array.ndim != 1 or array.dtype not in (np.float64, np.int64):
            raise ValueError(
                f"The array {name[:40]!r} must be one-dimensional, of type float64 or int64; got "
                f"the shape {array.shape} and the type {array.dtype}."
            )
    return found


@dataclass(frozen=True)
class _KnownMember:
    """An ensemble member, as stored in a model file."""

    member: Member
    tables: dict[str, Any]
    theta: Reals
    keys: NDArray[np.int64]


def _build(
    manifest: dict[str, Any],
    tables: dict[str, Any],
    arrays: dict[str, Any],
    parser: str | Parser,
    joins: tuple[JoiningFunction, ...],
) -> Learnt:
    own = {f"own:{name_of(function)}": function for function in joins}
    lexicon = _lexicon(tables["lexicon"])
    for each in tables["members"]:
        check_settings(each["overlay"])
    listed = range(len(tables["members"]))
    if arrays.keys() != {f"{name}{number}" for name in ("theta", "keys") for number in listed}:
        raise ValueError(
            "The file of weights must have one pair of arrays for each member; got "
            f"{', '.join(sorted(arrays))[:80]}."
        )
    members = [
        _KnownMember(
            Member(Overlay.from_dict(each["overlay"]), _features(each["features"], own, lexicon)),
            each, arrays[f"theta{number}"], arrays[f"keys{number}"],
        )
        for number, each in enumerate(tables["members"])
    ]  # fmt: skip
    settings = manifest["settings"]
    kept = dict(settings["model"])
    kind = _MODELS[kept.pop("kind")]
    model: Model = kind.from_dict(kept)
    if len(members) > 1:
        model = Ensemble(tuple(each.member for each in members[1:]), model)
    trainer = Trainer(
        model=model,
        overlay=members[0].member.overlay,
        features=members[0].member.features,
        learning=Learning.from_dict(settings["learning"]),
        search=Search.from_dict(settings["search"]),
        parser=parser,
        seed=int(settings["seed"]),
        threads=int(settings["threads"]),
    )
    lengths = LengthModel(
        {
            _count(units): {_count(n): _count(c) for n, c in counts.items()}
            for units, counts in tables["lengths"]["counts"].items()
        },
        _count(tables["lengths"]["longest"]),
    )
    first, *others = [_fitted(trainer, each, lexicon, lengths) for each in members]
    return Learnt(
        trainer,
        replace(first, others=tuple(others)),
        float(manifest["loss"]),
        float(manifest["temperature"]),
        choices=Choices(
            (Choice(*map(_text, each)) for each in manifest["choices"]),
            check_open(map(_text, manifest["left_open"])),
        ),
        usual=(tuple(map(_text, tables["usual"][0])), tuple(map(_text, tables["usual"][1]))),
        memory=DemonstrationMemory.from_dict(tables["memory"])
        if "memory" in tables
        else DemonstrationMemory(),
        sets=manifest.get("sets"),
        answers=tables.get("answers"),
        speech=tables.get("speech"),
    )


def _lexicon(kept: dict[str, Any]) -> Lexicon:
    return Lexicon(
        given={word: [tuple(pair) for pair in pairs] for word, pairs in kept["given"].items()},
        learnt={
            word: {
                (_text(kind), value if isinstance(value, float) else _text(value)): float(extent)
                for kind, value, extent in pairs
            }
            for word, pairs in kept["learnt"].items()
        },
        string_match=bool(kept["string_match"]),
    )


def _features(
    tables: dict[str, Any], own: dict[str, JoiningFunction], lexicon: Lexicon
) -> Features:
    kept, chosen = dict(tables), []
    check_settings(kept)
    for name in kept.pop("joins"):
        if name.startswith("own:") and name not in own:
            raise SettingError(
                f"The follower was trained with the custom joining function {name[4:]!r}. "
                "Pass it to Follower.load(…, joins=[…])."
            )
        chosen.append(own.get(name, name))
    synonyms = str(kept.get("synonyms", ""))
    # A model file must not make us open files of its choice: the user lists the allowed ones.
    allowed = os.environ.get(VECTORS, "").split(os.pathsep)
    if synonyms not in ("", "wordnet") and not (synonyms in allowed and Path(synonyms).is_file()):
        kept["synonyms"] = ""
        warnings.warn(
            "The follower was trained with a file of word vectors "
            f"{f'({synonyms[:200]}) ' if synonyms != '?' else ''}and finds no synonyms without "
            f"it. Set the environment variable {VECTORS} to the path of the file, or set "
            "`features__synonyms` and fit again.",
            LearningWarning,
            stacklevel=2,
        )
    if lexicon != Lexicon() and (kept["slots"] or "equal" in kept["numbers"]):
        kept["lexicon"] = lexicon
    return Features.from_dict({**kept, "joins": tuple(chosen)})


def _fitted(
    trainer: Trainer, known: _KnownMember, lexicon: Lexicon, lengths: LengthModel
) -> FittedModel:
    tables, features = known.tables, known.member.features
    space = features.space()
    space.word_names = {str(name): place for place, name in enumerate(tables["word_names"])}
    space.node_names = {str(name): place for place, name in enumerate(tables["node_names"])}
    space.keys = np.ascontiguousarray(known.keys, dtype=np.int64)
    theta = np.ascontiguousarray(known.theta, dtype=np.float64)
    if (
        theta.shape != space.keys.shape
        or not (np.abs(theta) <= _MOST_WEIGHT).all()
        or not (np.diff(space.keys) > 0).all()
        or len(space.word_names) != len(tables["word_names"])
        or len(space.node_names) != len(tables["node_names"])
    ):
        raise ValueError(
            f"A model must have one weight within ±{_MOST_WEIGHT:g} for each feature, with "
            "features in ascending order and distinct names of labels."
        )
    space.names()  # every key must name known labels
    encoder = trainer.encoder(known.member, lexicon)
    encoder.values = {kind: set(map(_text, each)) for kind, each in tables["values"].items()}
    reader = encoder.reader
    reader.counts = {word: _count(count) for word, count in tables["counts"].items()}
    reader.connectives = frozenset(
        Connective(_text(word), _text(place)) for word, place in tables["connectives"]
    )
    context = frozenset(map(str, tables["context_words"]))
    reader.labeller = replace(reader.labeller, context_words=context)
    return FittedModel(features, encoder, space, theta, lengths, trainer.seed)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"A value must be a string; got {str(value)[:60]!r}.")
    return value


def _count(value: Any) -> int:
    number = int(value)
    if not 0 <= number <= 10**9:
        raise ValueError(f"A count must be between 0 and 1e9; got {number}.")
    return number
