"""Synonyms: known words that replace unknown ones."""

from __future__ import annotations

import mmap
import os
import stat
import struct
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundling.errors import LexiconError
from groundling.limits import VECTOR_SIZE, VECTOR_WORDS

__all__ = ["Synonyms", "WordNet", "WordVectors", "load_synonyms"]

Vector = NDArray[np.float32]

_FASTTEXT = 793_712_314  # magic number of binary fastText files
_LONGEST_WORD = 1_000  # bytes
_MOST_LINES = 20  # maximum lines (or entries) that are read, for each word allowed
_MOST_TABLES = 64  # maximum cached vector tables
_WORDNET = "wordnet"


class Synonyms(ABC):
    """Base class of synonym sources, which find the known word nearest in meaning.

    For a custom source, define a subclass and pass an instance as `Features(synonyms=…)`.

    >>> class Mine(Synonyms):
    ...     def nearest(self, word, among):
    ...         return ("sofa", 1.0) if word == "couch" and "sofa" in among else ("", 0.0)
    >>> Mine().nearest("couch", {"sofa", "lamp"})
    ('sofa', 1.0)
    """

    source: str = ""
    """The value stored in model files: a path or `"wordnet"`; empty if it cannot be stored."""

    @abstractmethod
    def nearest(self, word: str, among: Collection[str]) -> tuple[str, float]:
        """Return the nearest synonym and its similarity, or `("", 0.0)` if there is none.

        `among` may be cached by identity, so pass the same collection object for the same words.
        """


class WordVectors(Synonyms):
    r"""Synonyms by word vectors, from a file or a spaCy pipeline.

    The file is opened at the first unknown word, and memory-mapped. It may be text (GloVe, or
    fastText and word2vec with a header line) or binary (word2vec, or fastText with subwords).
    Only the first `GROUNDLING_LIMIT_VECTOR_WORDS` words are used, which are usually the most
    frequent ones.

    Parameters
    ----------
    path
        The file.
    least
        Minimum cosine similarity of synonyms.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "small.vec"
    ...     _ = path.write_text("3 2\nsofa 1 0\ncouch 0.9 0.1\nlamp 0 1\n")
    ...     found, cosine = WordVectors(path).nearest("couch", {"sofa", "lamp"})
    >>> found, round(cosine, 2)
    ('sofa', 0.99)
    """

    def __init__(self, path: str | Path, *, least: float = 0.6) -> None:
        if not 0 < least < 1:
            raise LexiconError(f"`WordVectors.least` must be between 0 and 1; got {least}.")
        self.source, self.least = str(path), float(least)
        self._find: Callable[[str], Vector | None] | None = None
        self._tables: dict[int, tuple[Collection[str], list[str], Vector]] = {}
        self._lock = threading.Lock()

    @classmethod
    def from_spacy(cls, pipeline: Any, *, least: float = 0.6) -> WordVectors:
        """Create a source from the vectors of a spaCy pipeline.

        Such a source is not stored in model files.
        """
        vocabulary = pipeline.vocab
        if not vocabulary.vectors.shape[0]:
            raise LexiconError(
                f"The spaCy pipeline {pipeline.meta.get('name')!r} must have word vectors; got "
                "none. Load another one, such as a `_md` or `_lg` package."
            )
        made = cls("", least=least)
        made._find = lambda word: (
            vocabulary.get_vector(word) if vocabulary.has_vector(word) else None
        )
        return made

    def __getstate__(self) -> dict[str, Any]:
        if not self.source:
            raise TypeError(
                "Word vectors of a spaCy pipeline cannot be sent to other processes. Use a file "
                "of word vectors, or train in one process."
            )
        return {"source": self.source, "least": self.least}

    def __setstate__(self, state: dict[str, Any]) -> None:
        WordVectors.__init__(self, state["source"], least=state["least"])

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, WordVectors) and bool(self.source)
        return self is other or (same and self.__getstate__() == other.__getstate__())

    def __hash__(self) -> int:
        return hash(self.source)

    def vector(self, word: str) -> Vector | None:
        """Return the normalised vector of a word, or None if it has none."""
        with self._lock:
            if self._find is None:
                self._find = _open(Path(self.source))
            find = self._find
        with np.errstate(over="ignore", invalid="ignore"):
            found = find(word)
        if found is None or not np.isfinite(found).all():
            return None
        length = float(np.linalg.norm(found.astype(np.float64)))
        if not length:
            return None
        return np.asarray(found / length, np.float32)

    def nearest(self, word: str, among: Collection[str]) -> tuple[str, float]:
        """Return the word with the highest cosine similarity, and this similarity.

        Returns `("", 0.0)` if no similarity is at least `least`.
        """
        mine = self.vector(word)
        words, matrix = self._table(among)
        if mine is None or not words or matrix.shape[1] != len(mine):
            return "", 0.0
        cosines = matrix @ mine
        best = int(np.argmax(cosines))
        return (words[best], float(cosines[best])) if cosines[best] >= self.least else ("", 0.0)

    def _table(self, among: Collection[str]) -> tuple[list[str], Vector]:
        known = self._tables.get(id(among))
        if known is None or known[0] is not among:
            found = [(word, vector) for word in sorted(among)
                     if (vector := self.vector(word)) is not None]  # fmt: skip
            rows = [vector for _, vector in found]
            matrix = np.array(rows, np.float32) if rows else np.zeros((0, 0), np.float32)
            known = (among, [word for word, _ in found], matrix)
            if len(self._tables) >= _MOST_TABLES:
                self._tables.clear()
            self._tables[id(among)] = known
        return known[1], known[2]


class WordNet(Synonyms):
    """Synonyms from an installed wordnet, read with the package `wn` or NLTK.

    Two words are synonyms if they share a synset. More frequent senses give a higher similarity.
    """

    source = _WORDNET

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WordNet)

    def __hash__(self) -> int:
        return hash(_WORDNET)

    def nearest(self, word: str, among: Collection[str]) -> tuple[str, float]:
        """Return a known word that shares a sense of `word`, and its similarity.

        The most frequent shared sense decides. Returns `("", 0.0)` if no known word shares a sense.
        """
        for rank, lemmas in enumerate(_synsets(word)):
            common = sorted(lemma for lemma in lemmas if lemma in among and lemma != word)
            if common:
                return common[0], 1.0 / (1 + rank)
        return "", 0.0


def load_synonyms(source: Synonyms | str | Path | None) -> Synonyms | None:
    """Load a source of synonyms: `"wordnet"`, or the path of a file with word vectors.

    >>> load_synonyms("wordnet").source
    'wordnet'
    """
    if source is None or source == "":
        return None
    if isinstance(source, Synonyms):
        return source
    return WordNet() if source == _WORDNET else WordVectors(source)


@lru_cache(maxsize=10_000)
def _synsets(word: str) -> tuple[frozenset[str], ...]:
    """Return the lemmas of each sense of a word, the most frequent sense first."""
    return tuple(frozenset(str(lemma).lower() for lemma in lemmas) for lemmas in _wordnet_of(word))


def _wordnet_of(word: str) -> Iterator[list[str]]:
    try:
        import wn
    except ImportError:
        pass
    else:
        if wn.lexicons():
            yield from (synset.lemmas() for synset in wn.synsets(word))
            return
    try:
        senses = import_module("nltk.corpus").wordnet.synsets(word)
    except (ImportError, LookupError):
        raise LexiconError(
            "Features.synonyms='wordnet' requires a wordnet for the package `wn` or NLTK; found "
            "none. Install one, for instance by `pip install wn` and `python -m wn download "
            "oewn:2024`."
        ) from None
    yield from (sense.lemma_names() for sense in senses)


# ---- files of vectors -----------------------------------------------------------------------


def _open(path: Path) -> Callable[[str], Vector | None]:
    """Memory-map a file of vectors, and return a function that looks up a word."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as problem:
        raise LexiconError(f"{path} cannot be read: {problem.strerror}. Check the path.") from None
    except ValueError:
        raise LexiconError(
            f"{str(path)!r:.200} is not a valid file name. Check the path."
        ) from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode) or not os.fstat(handle).st_size:
            raise LexiconError(
                f"{path} must be a regular, non-empty file of word vectors. Use another file."
            )
        data = mmap.mmap(handle, 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        raise LexiconError(
            f"{path} must be a regular file that can be memory-mapped. Use another file."
        ) from None
    finally:
        os.close(handle)
    try:
        is_fasttext = len(data) >= 8 and struct.unpack_from("<i", data)[0] == _FASTTEXT
        find = _fasttext(data) if is_fasttext else _listed(data)
    except (ValueError, struct.error, IndexError) as problem:
        raise LexiconError(
            f"{path} must contain word vectors in a text or binary format of GloVe, word2vec or "
            f"fastText ({str(problem).rstrip('.')}). Use another file."
        ) from None

    def checked(word: str) -> Vector | None:
        if data.size() < len(data):  # reading beyond the end would end the process
            raise LexiconError(
                f"{path} became shorter while it was in use. Restore the file, and start again."
            )
        return find(word)

    return checked


def _size(size: int) -> int:
    if size < 1:
        raise ValueError(f"A word vector must have at least one number; got {size}.")
    VECTOR_SIZE.check(size, LexiconError, "A word vector")
    return size


def _listed(data: mmap.mmap) -> Callable[[str], Vector | None]:
    """Return a lookup function for a text or binary file of words with vectors."""
    start, size = 0, 0
    first = _line(data, 0).split()
    if len(first) == 2 and all(part.isdigit() and len(part) < 10 for part in first):
        start, size = data.find(b"\n") + 1, _size(int(first[1]))
        if not _is_text(data, start, size):
            return _binary(data, start, size)
    elif not _is_text(data, 0, _size(len(first) - 1)):
        raise ValueError(f"The first line must be a word followed by numbers; got {data[:40]!r}.")
    size = size or len(first) - 1
    places: dict[bytes, tuple[int, int]] = {}
    for _ in range(_MOST_LINES * VECTOR_WORDS.most):
        if start >= len(data) or len(places) >= VECTOR_WORDS.most:
            break
        end = start + len(_line(data, start))
        space = data.find(b" ", start, min(end, start + _LONGEST_WORD))
        if space > start:
            places.setdefault(data[start:space], (space, end))
        start = end + 1
    if not places:
        raise ValueError("The file must contain at least one word with a vector; got none.")

    def find(word: str) -> Vector | None:
        place = places.get(_encode(word))
        if place is None or place[1] - place[0] > 40 * (size + 1):
            return None
        try:
            found = np.array(data[place[0] : place[1]].split(), np.float32)
        except ValueError:
            return None
        return found if len(found) == size else None

    return find


def _line(data: mmap.mmap, start: int) -> bytes:
    """Return a line without its line break; raise `ValueError` if it is too long."""
    end = data.find(b"\n", start, start + 40 * VECTOR_SIZE.most)
    if end < 0 and len(data) - start > 40 * VECTOR_SIZE.most:
        raise ValueError(f"A line must have at most {40 * VECTOR_SIZE.most:,} bytes; got more.")
    return data[start : len(data) if end < 0 else end]


def _is_text(data: mmap.mmap, start: int, size: int) -> bool:
    try:
        numbers = [float(part) for part in _line(data, start).split()[-size:]]
    except ValueError:
        return False
    return len(numbers) == size


def _binary(data: mmap.mmap, start: int, size: int) -> Callable[[str], Vector | None]:
    """Return a lookup function for a binary word2vec file: word, space, numbers."""
    places: dict[bytes, int] = {}
    while start < len(data) and len(places) < VECTOR_WORDS.most:
        space = data.find(b" ", start, start + _LONGEST_WORD)
        if space < 0 or space + 1 + 4 * size > len(data):
            break
        places.setdefault(data[start:space].lstrip(b"\n"), space + 1)
        start = space + 1 + 4 * size
    if not places:
        raise ValueError("The file must contain at least one complete vector; got none.")

    def find(word: str) -> Vector | None:
        place = places.get(_encode(word))
        return None if place is None else np.frombuffer(data, "<f4", size, place)

    return find


def _fasttext(data: mmap.mmap) -> Callable[[str], Vector | None]:
    """Return a lookup function for a binary fastText model, with subwords."""
    _, version, size, *_, buckets, shortest, longest, _ = struct.unpack_from("<14i", data)
    entries, words, _, _, pruned = struct.unpack_from("<3i2q", data, 64)
    most = _MOST_LINES * VECTOR_WORDS.most
    if version != 12 or not 0 < words <= entries <= most or buckets < 0 or pruned > 0:
        raise ValueError("A fastText model must be complete, not pruned, and in format version 12.")
    _size(size)
    place, places = 64 + 28, dict[bytes, int]()
    for number in range(entries):
        end = data.find(b"\0", place, place + _LONGEST_WORD)
        if end < 0 or end + 10 > len(data):
            raise ValueError(
                "The dictionary of a fastText model must be complete; got only part of it."
            )
        if number < min(words, VECTOR_WORDS.most):
            places.setdefault(data[place:end], number)
        place = end + 10
    quantised, rows, columns = struct.unpack_from("<?2q", data, place)
    place += 17
    if quantised or columns != size or rows < words or rows * size * 4 > len(data) - place:
        raise ValueError("The matrix of a fastText model must be complete and not quantised.")
    matrix = np.frombuffer(data, "<f4", rows * size, place).reshape(rows, size)
    buckets = min(buckets, rows - words)

    def find(word: str) -> Vector | None:
        known = places.get(_encode(word))
        chosen = [] if known is None else [known]
        if buckets and 0 < shortest <= longest:
            chosen += [words + _hash(part) % buckets for part in _subwords(word, shortest, longest)]
        return matrix[chosen].mean(axis=0) if chosen else None

    return find


def _subwords(word: str, shortest: int, longest: int) -> Iterator[bytes]:
    """Yield the character n-grams of a word with boundary marks, as in fastText."""
    padded = f"<{word[:100]}>"
    for start in range(len(padded)):
        for end in range(start + shortest, min(start + longest, len(padded)) + 1):
            if end - start > 1 or 0 < start < len(padded) - 1:
                yield _encode(padded[start:end])


def _encode(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")  # a lone surrogate cannot be encoded otherwise


def _hash(part: bytes) -> int:
    """Return the hash of an n-gram as fastText computes it: FNV-1a over signed bytes."""
    found = 2_166_136_261
    for byte in part:
        found ^= byte if byte < 128 else byte | 0xFFFFFF00
        found = found * 16_777_619 & 0xFFFFFFFF
    return found
