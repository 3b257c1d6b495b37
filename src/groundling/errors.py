"""Every error and warning that Groundling raises on purpose.

::

    GroundlingError
    ├── InstructionError      text that cannot be read as an instruction
    │   ├── LimitError        text that is longer than was agreed
    │   └── ParseError        CoNLL-U or a dependency tree that is broken
    ├── GraphError            a grounding graph that is broken
    ├── WorldError            an environment that breaks its contract
    │   └── SearchError       planning ran into a dead end or out of budget
    ├── DemonstrationError    training data that cannot be used
    ├── LexiconError          a lexicon file that cannot be read
    ├── CorpusError           a corpus file that is missing or malformed
    ├── ModelFileError        a saved model that cannot be trusted or read
    ├── NotFittedError        a follower that has not been trained yet
    ├── PluginError           an installed package whose task cannot be used
    ├── ProjectError          a project of the studio that cannot be read or written
    ├── SettingError          a setting that does not exist or does not fit
    ├── StorageError          a disk that is full, or cannot be written to
    └── WorkerError           a process that worked for this one has died

    GroundlingWarning
    ├── AugmentWarning        mirror images that would teach contradictions
    ├── ConvergenceWarning    training stopped before it converged
    ├── LearningWarning       something in the demonstrations or settings cannot work
    ├── ModelWarning          a saved model of another version that may answer differently
    └── StorageWarning        checkpoints that cannot be written; training goes on without

Messages say what was found, where, and what to do about it.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable


class GroundlingError(Exception):
    """The root of all errors raised by this package.

    A message may quote what somebody else has written; lines that are far too long are cut.

    >>> len(str(GroundlingError("x" * 1_000_000))) < 1000
    True
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(_cut(each) if isinstance(each, str) else each for each in arguments))


def _cut(message: str) -> str:
    if len(message) <= _LONGEST:
        return message
    return "\n".join(
        line if len(line) <= _LONGEST else f"{line[: _LONGEST - 300]} … {line[-200:]}"
        for line in message.split("\n")
    )


_LONGEST = 900


class InstructionError(GroundlingError, ValueError):
    """Text that cannot be read as an instruction."""


class LimitError(InstructionError):
    """Text with more characters or words than a parser was told to take."""


class ParseError(InstructionError):
    """A dependency tree or a CoNLL-U file that is broken."""


class GraphError(GroundlingError, ValueError):
    """A grounding graph that is broken: no nodes, unknown ends of edges, NaN labels."""


class WorldError(GroundlingError, RuntimeError):
    """An environment that raises, or that breaks its contract."""


class SearchError(WorldError):
    """Planning found no plan: a dead end, or the search budget ran out."""


class DemonstrationError(GroundlingError, ValueError):
    """A demonstration that cannot be used for training."""


class LexiconError(GroundlingError, ValueError):
    """A lexicon file that cannot be read."""


class CorpusError(GroundlingError, ValueError):
    """A corpus file that is missing or malformed."""


class ModelFileError(GroundlingError, ValueError):
    """A saved model that is broken, foreign or too new."""


class NotFittedError(GroundlingError, ValueError, AttributeError):
    """A follower is used before it has been fitted or loaded."""


class PluginError(GroundlingError, ImportError):
    """An installed package offers a task that cannot be loaded."""


class ProjectError(GroundlingError, ValueError):
    """A project of the studio that cannot be read or written."""


class SettingError(GroundlingError, ValueError):
    """A setting that does not exist, or a value it cannot take."""


class IdleSettingError(SettingError):
    """A setting that would do nothing beside the others; `name` is which."""

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class StorageError(GroundlingError, OSError):
    """A disk that is full, or a folder that cannot be written to."""


class WorkerError(GroundlingError, RuntimeError):
    """A process that worked for this one has died."""


class GroundlingWarning(UserWarning):
    """The root of all warnings raised by this package."""


class AugmentWarning(GroundlingWarning):
    """Mirror images change actions but no words, so that they would teach contradictions."""


class ConvergenceWarning(GroundlingWarning):
    """Training stopped at its iteration limit before it converged."""


class LearningWarning(GroundlingWarning):
    """Something in the demonstrations or the settings cannot work; the message says what to do."""


class ModelWarning(GroundlingWarning):
    """A saved model was trained with features or parses that are computed differently now."""


class StorageWarning(GroundlingWarning):
    """Checkpoints cannot be written, so that training goes on without them."""


def check_known(
    name: object, known: Collection[object], where: str, error: type[Exception] = SettingError
) -> None:
    """Raise an error with a hint if a name is not among those that are known.

    >>> check_known("tre", ["tree", "chain"], "There is no skeleton")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: There is no skeleton 'tre'. Did you mean 'tree'?
    """
    if name not in known:
        raise error(f"{where} {name!r}.{did_you_mean(name, known)}")


_MOST_KNOWN = 12


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return a hint naming the closest known names, to append to an error message.

    >>> did_you_mean("sentense", ["sentence", "clause", "word"])
    " Did you mean 'sentence'?"
    >>> did_you_mean("xyz", ["tree", "chain"])
    " Known: 'chain', 'tree'."
    """
    names = sorted(str(each) for each in known)
    close = difflib.get_close_matches(str(name)[:_LONGEST], names, n=2)
    if close:
        return " Did you mean " + " or ".join(f"{each!r}" for each in close) + "?"
    more = ", …" if len(names) > _MOST_KNOWN else ""
    listed = ", ".join(f"{each!r}" for each in names[:_MOST_KNOWN])
    return f" Known: {listed}{more}." if names else ""
