"""The errors and warnings of Groundling.

::

    GroundlingError
    ├── InstructionError      text that cannot be read as an instruction
    │   ├── LimitError        text that exceeds a limit
    │   └── ParseError        malformed CoNLL-U or an invalid dependency tree
    ├── GraphError            an invalid grounding graph
    ├── WorldError            an environment that does not follow the protocol
    │   └── SearchError       no plan: a dead end, or the search budget ran out
    ├── DemonstrationError    training data that cannot be used
    ├── LexiconError          an invalid lexicon, or unusable word vectors
    ├── CorpusError           a corpus file that is missing or malformed
    ├── ModelFileError        a saved model that is damaged or cannot be read
    ├── NotFittedError        a follower that has not been trained yet
    ├── PluginError           an installed package whose task cannot be used
    ├── ProjectError          a studio project that cannot be read or written
    ├── SettingError          a setting that does not exist or has an invalid value
    ├── StorageError          a full disk, or a folder that cannot be written to
    └── WorkerError           a worker process that died

    GroundlingWarning
    ├── AugmentWarning        mirror images that would teach contradictions
    ├── ConvergenceWarning    training stopped before it converged
    ├── LearningWarning       a problem in the demonstrations or settings
    ├── ModelWarning          a model saved by another version, which may answer differently
    └── StorageWarning        checkpoints that cannot be written; training continues

Messages have the form “<thing> must be <rule>; got <value>.”, then where, then what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable


class GroundlingError(Exception):
    """The root of all errors raised by this package.

    Messages may quote user input, so very long lines are shortened.

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
    """Text with more characters or words than the limits allow."""


class ParseError(InstructionError):
    """A malformed CoNLL-U file or an invalid dependency tree."""


class GraphError(GroundlingError, ValueError):
    """An invalid grounding graph: no nodes, edges to unknown nodes, or NaN labels."""


class WorldError(GroundlingError, RuntimeError):
    """An environment that raises errors or does not follow the protocol."""


class SearchError(WorldError):
    """No plan was found: a dead end, or the search budget ran out."""


class DemonstrationError(GroundlingError, ValueError):
    """A demonstration that cannot be used for training."""


class LexiconError(GroundlingError, ValueError):
    """An invalid lexicon, or a source of synonyms that cannot be used."""


class CorpusError(GroundlingError, ValueError):
    """A corpus file that is missing or malformed."""


class ModelFileError(GroundlingError, ValueError):
    """A saved model that is damaged, from another program, or too new."""


class NotFittedError(GroundlingError, ValueError, AttributeError):
    """An attempt to use a follower before it is fitted or loaded."""


class PluginError(GroundlingError, ImportError):
    """An installed package whose task cannot be loaded."""


class ProjectError(GroundlingError, ValueError):
    """A studio project that cannot be read or written."""


class SettingError(GroundlingError, ValueError):
    """A setting that does not exist or has an invalid value."""


class IdleSettingError(SettingError):
    """A setting that has no effect in combination with others; `name` is its name."""

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class StorageError(GroundlingError, OSError):
    """A disk that is full, or a folder that cannot be written to."""


class WorkerError(GroundlingError, RuntimeError):
    """A worker process that died or cannot be reached."""


class GroundlingWarning(UserWarning):
    """The root of all warnings raised by this package."""


class AugmentWarning(GroundlingWarning):
    """Mirror images that change actions but not words, and so contradict each other."""


class ConvergenceWarning(GroundlingWarning):
    """Training that stopped at its iteration limit before it converged."""


class LearningWarning(GroundlingWarning):
    """A problem in the demonstrations or settings; the message suggests a fix."""


class ModelWarning(GroundlingWarning):
    """A saved model whose features or parses this version computes differently."""


class StorageWarning(GroundlingWarning):
    """Checkpoints that cannot be written; training continues without them."""


def check_known(
    name: object, known: Collection[object], where: str, error: type[Exception] = SettingError
) -> None:
    """Raise an error with a hint if a name is unknown.

    >>> check_known("tre", ["tree", "chain"], "There is no skeleton")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: There is no skeleton 'tre'. Did you mean 'tree'?
    """
    if name not in known:
        raise error(f"{where} {name!r}.{did_you_mean(name, known)}")


_MOST_KNOWN = 12


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return a hint with the closest known names, to append to an error message.

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
