"""The map corpus: maps, routes and dialogues, read from and written to the HCRC layout.

::

    correspondences.txt      talk7,3             which dialogue is about which map
    landmarks/3g.xml         the giver's map: the drawn route, landmarks, start and finish
    transcripts/talk7.txt    g⇥words, f⇥words    what the giver and the follower said
    images/map3g.gif         the scanned map (optional)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from groundling.corpora.markup import read_lines
from groundling.errors import CorpusError, did_you_mean
from groundling.tasks.maps.landscape import MapStep
from groundling.tasks.maps.mapfile import MapSheet, map_number, read_map, write_map

GIVER, FOLLOWER = "g", "f"

_DIALOGUE_NAME = re.compile(r"[\w-]+")


class Utterance(NamedTuple):
    """What one speaker said in one breath.

    >>> Utterance(GIVER, "go round the mill").words
    ('go', 'round', 'the', 'mill')
    """

    speaker: str
    text: str

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the utterance."""
        return tuple(self.text.split())


@dataclass(frozen=True)
class Dialogue:
    """A giver describes the route on a map to a follower, who cannot see it.

    >>> talk = Dialogue("talk", 3, (Utterance(GIVER, "go south"), Utterance(FOLLOWER, "okay")))
    >>> talk.giver
    (Utterance(speaker='g', text='go south'),)
    """

    name: str
    map: int
    utterances: tuple[Utterance, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "utterances", tuple(self.utterances))

    @property
    def giver(self) -> tuple[Utterance, ...]:
        """The giver's utterances only, which is all that the paper's model reads."""
        return tuple(each for each in self.utterances if each.speaker == GIVER)


@dataclass(frozen=True)
class MapCorpus:
    """Maps by number, and the dialogues about them.

    Parameters
    ----------
    maps
        The giver's maps by their numbers.
    dialogues
        The dialogues, in the order of the correspondences.
    folder
        Where the corpus was read from, for the scanned images; None for a corpus that
        was generated.
    """

    maps: Mapping[int, MapSheet]
    dialogues: tuple[Dialogue, ...]
    folder: Path | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dialogues", tuple(self.dialogues))
        for dialogue in self.dialogues:
            self.sheet(dialogue)

    def sheet(self, dialogue: Dialogue) -> MapSheet:
        """Return the map that a dialogue is about; an unknown number is an error."""
        if dialogue.map not in self.maps:
            raise CorpusError(
                f"The dialogue {dialogue.name!r} is about map {dialogue.map}, which does not "
                f"exist.{did_you_mean(dialogue.map, self.maps)}"
            )
        return self.maps[dialogue.map]

    def steps(self, dialogue: Dialogue) -> tuple[MapStep, ...]:
        """Return the reference path of a dialogue."""
        return self.sheet(dialogue).steps

    def image(self, number: int) -> Path | None:
        """Return the scanned image of a giver's map, if there is one."""
        if self.folder is None:
            return None
        path = self.folder / "images" / f"map{number}g.gif"
        return path if path.is_file() else None

    def split(
        self, test_maps: Collection[int] | None = None
    ) -> tuple[tuple[Dialogue, ...], tuple[Dialogue, ...]]:
        """Return the dialogues for training and for test, which share no map.

        By default the last quarter of the maps is for test: maps 12 to 15 of the 16 of
        the HCRC corpus, as Vogel and Jurafsky split it.
        """
        if test_maps is None:
            numbers = sorted(self.maps)
            test_maps = numbers[len(numbers) - len(numbers) // 4 :]
        unknown = [number for number in test_maps if number not in self.maps]
        if unknown:
            raise CorpusError(
                f"The test maps include {unknown[0]}, which does not exist."
                f"{did_you_mean(unknown[0], self.maps)}"
            )
        return (
            tuple(each for each in self.dialogues if each.map not in test_maps),
            tuple(each for each in self.dialogues if each.map in test_maps),
        )


def load_corpus(folder: str | Path) -> MapCorpus:
    """Read a corpus from its folder; `write_corpus` shows a round trip."""
    folder = Path(folder)
    about = read_correspondences(folder / "correspondences.txt")
    files = {map_number(path): path for path in sorted((folder / "landmarks").glob("*g.xml"))}
    if not files:
        raise CorpusError(
            f"{folder / 'landmarks'} holds no maps. Point to the folder that contains "
            "correspondences.txt, landmarks and transcripts."
        )
    for line, (name, number) in enumerate(about.items(), 1):
        if number not in files:
            known = ", ".join(map(str, sorted(files)))
            raise CorpusError(
                f"{folder / 'correspondences.txt'}, entry {line}: the dialogue {name!r} is about "
                f"map {number}, but there is no landmarks/{number}g.xml. Known maps: {known}."
            )
    return MapCorpus(
        maps={number: read_map(files[number]) for number in sorted(files)},
        dialogues=tuple(
            Dialogue(name, number, read_transcript(folder / "transcripts" / f"{name}.txt"))
            for name, number in about.items()
        ),
        folder=folder,
    )


def write_corpus(folder: str | Path, corpus: MapCorpus) -> None:
    """Write a corpus so that `load_corpus` reads back an equal one.

    >>> import tempfile
    >>> from groundling.tasks.maps.generator import generate_corpus
    >>> corpus = generate_corpus(maps=2, dialogues=1, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_corpus(folder, corpus)
    ...     load_corpus(folder) == corpus
    True
    """
    folder = Path(folder)
    for name in ("landmarks", "transcripts"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number, sheet in corpus.maps.items():
        write_map(folder / "landmarks" / f"{number}g.xml", sheet)
    for dialogue in corpus.dialogues:
        write_transcript(folder / "transcripts" / f"{dialogue.name}.txt", dialogue.utterances)
    (folder / "correspondences.txt").write_text(
        "".join(f"{each.name},{each.map}\n" for each in corpus.dialogues), encoding="utf-8"
    )


def read_correspondences(path: str | Path) -> dict[str, int]:
    """Read which dialogue is about which map: lines such as `talk7,3`."""
    path = Path(path)
    about: dict[str, int] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        name, comma, written = (part.strip() for part in line.partition(","))
        # a name becomes part of a file's path, so it may not leave the folder
        if not comma or not _DIALOGUE_NAME.fullmatch(name) or not written.isdecimal():
            raise CorpusError(
                f"{path}, line {number}: found {line.strip()[:60]!r}. "
                "Write a dialogue's name, a comma and a map's number, such as talk7,3."
            )
        if name in about:
            raise CorpusError(
                f"{path}, line {number}: the dialogue {name!r} is listed twice. Remove one line."
            )
        about[name] = int(written)
    if not about:
        raise CorpusError(f"{path} lists no dialogues. Add lines such as talk7,3.")
    return about


def read_transcript(path: str | Path) -> tuple[Utterance, ...]:
    """Read who said what: lines of `g` or `f`, a tab, and the words.

    Lines before the heading `who⇥…` are skipped; a file without one starts with its
    first utterance. Utterances without words are dropped.
    """
    path = Path(path)
    lines = read_lines(path)
    heading = next((i for i, line in enumerate(lines[:20]) if line.startswith("who\t")), -1)
    utterances: list[Utterance] = []
    for number, line in enumerate(lines[heading + 1 :], heading + 2):
        if not line.strip():
            continue
        speaker, tab, words = line.partition("\t")
        if not tab or speaker.strip() not in (GIVER, FOLLOWER):
            raise CorpusError(
                f"{path}, line {number}: found {line.strip()[:60]!r}. Every line says who speaks, "
                "g for the giver or f for the follower, then a tab and the words."
            )
        if words.strip():
            utterances.append(Utterance(speaker.strip(), " ".join(words.split())))
    if not any(each.speaker == GIVER for each in utterances):
        raise CorpusError(
            f"{path} has no giver lines among its {len(utterances)} utterances, so nobody says "
            "where to go. The giver's lines start with g and a tab."
        )
    return tuple(utterances)


def write_transcript(path: str | Path, utterances: Collection[Utterance]) -> None:
    """Write a transcript that `read_transcript` reads back.

    >>> import tempfile
    >>> said = (Utterance(GIVER, "go south"), Utterance(FOLLOWER, "okay"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_transcript(Path(folder, "talk.txt"), said)
    ...     read_transcript(Path(folder, "talk.txt")) == said
    True
    """
    path = Path(path)
    heading = f"Found 2 args.\nObservation: {path.stem}; Result size: {len(utterances)}; atts: 2\n"
    lines = "".join(f"{each.speaker}\t{' '.join(each.words)} \t\n" for each in utterances)
    path.write_text(f"{heading}who\t$m\t\n{lines}", encoding="utf-8")
