"""Limits on input sizes for the library, its files, the studio and the service."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sized
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from groundling.errors import GroundlingError, SettingError

T = TypeVar("T")
_VARIABLE = "GROUNDLING_LIMIT_"

LIMITS: dict[str, Limit] = {}
"""All limits by name; `docs/reliability.md` lists them."""


@dataclass(frozen=True)
class Limit:
    """An upper limit on a count; an environment variable can override it.

    Parameters
    ----------
    name
        Name of the limit; its variable is `GROUNDLING_LIMIT_` plus the name in capitals.
    default
        Limit used if the variable is not set.
    what
        Plural noun for what is counted, used in messages.
    least
        Lowest value that the variable may set. Smaller counts pass without reading the
        variable, so that frequent checks are cheap.

    Examples
    --------
    >>> words = Limit("words", 10_000, "words")
    >>> words.check(10_000, SettingError)
    >>> words.check(10_001, SettingError, "The text 'go, go, …'")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: The text 'go, go, …' must have at most 10,000 words; got
    10,001. Set GROUNDLING_LIMIT_WORDS to raise the limit.
    """

    name: str
    default: int
    what: str
    least: int = 1

    @property
    def variable(self) -> str:
        """The environment variable that overrides this limit."""
        return _VARIABLE + self.name.upper()

    @property
    def most(self) -> int:
        """The limit in force: the environment variable, or else the default."""
        given = os.environ.get(self.variable)
        if given is None:
            return self.default
        try:
            found = int(given.replace("_", ""))
        except ValueError:
            found = 0
        if found < self.least:
            raise SettingError(
                f"{self.variable} must be a whole number >= {self.least:,}; got {given!r}."
            )
        return found

    @property
    def advice(self) -> str:
        """The sentence in error messages that explains how to raise the limit."""
        return f"Set {self.variable} to raise the limit."

    def check(self, count: int, error: type[GroundlingError], thing: str = "It") -> None:
        """Raise `error` if `count` exceeds the limit."""
        if count > self.least and count > self.most:
            raise self.exceeded(f"{count:,}", error, thing)

    def exceeded(
        self, got: str, error: type[GroundlingError], thing: str = "It"
    ) -> GroundlingError:
        """Return the error for an exceeded limit; `got` is the count to show."""
        return error(
            f"{thing} must have at most {self.most:,} {self.what}; got {got}. {self.advice}"
        )

    def bounded(
        self, items: Iterable[T], error: type[GroundlingError], thing: str = "It"
    ) -> Iterable[T]:
        """Return the items, which may be infinite; raise `error` if they exceed the limit.

        >>> from itertools import count
        >>> Limit("steps", 3, "steps").bounded(count(), SettingError, "The way")
        Traceback (most recent call last):
            ...
        groundling.errors.SettingError: The way must have at most 3 steps; got more. Set
        GROUNDLING_LIMIT_STEPS to raise the limit.
        """
        if isinstance(items, Sized):
            self.check(len(items), error, thing)
            return items
        most = self.most
        listed = tuple(islice(items, most + 1))
        if len(listed) > most:
            raise self.exceeded("more", error, thing)
        return listed


def _limit(name: str, default: int, what: str, least: int = 1) -> Limit:
    LIMITS[name] = Limit(name, default, what, least)
    return LIMITS[name]


# Texts and plans, from any source.
TEXT_CHARACTERS = _limit("text_characters", 100_000, "characters")
TEXT_WORDS = _limit("text_words", 10_000, "words")
PLAN_ACTIONS = _limit("plan_actions", 8_000, "actions")
# JSON values. Items with equal hashes are compared pairwise, at quadratic cost.
EQUAL_HASHES = _limit("equal_hashes", 256, "different values with the same hash")
# Demonstration files.
LINE_BYTES = _limit("line_bytes", 16 * 2**20, "bytes")
EMPTY_LINES = _limit("empty_lines", 100_000, "empty lines")
EXPANSION = _limit("expansion", 250, "bytes for each compressed byte")
FOOTER_BYTES = _limit("footer_bytes", 4_000_000, "bytes in its footer")
PAGE_BYTES = _limit("page_bytes", 64 * 2**20, "bytes in a page")
GROUP_VALUES = _limit("group_values", 10_000_000, "values in a row group")
# Worlds and their grounding graphs.
SCENE_ACTIONS = _limit("scene_actions", 5_000, "actions in all its states")
WORLD_ACTIONS = _limit("world_actions", 100_000, "actions in a state", 100)
EXTRA_LENGTH = _limit("extra_length", 1_000, "actions beyond the usual limit")
GRAPH_NODES = _limit("graph_nodes", 10_000, "nodes", 100)
GRAPH_EDGES = _limit("graph_edges", 100_000, "edges", 1_000)
GRAPH_LABELS = _limit("graph_labels", 10_000, "labels", 100)
LABEL_CHARACTERS = _limit("label_characters", 10_000, "characters", 100)
# Model folders and checkpoints.
MANIFEST_BYTES = _limit("manifest_bytes", 1_000_000, "bytes")
TABLES_BYTES = _limit("tables_bytes", 64_000_000, "bytes")
TABLES_VALUES = _limit("tables_values", 4_000_000, "values")  # each takes 50 bytes or more
WEIGHTS_BYTES = _limit("weights_bytes", 2_000_000_000, "bytes")
HEADER_BYTES = _limit("header_bytes", 1_000_000, "bytes of names of arrays")
SETTING_CHARACTERS = _limit("setting_characters", 2_000, "characters")
SETTING_ENTRIES = _limit("setting_entries", 20_000, "entries")
CHECKPOINT_BYTES = _limit("checkpoint_bytes", 2**31, "bytes")
# Corpus files; known ones have less than a million bytes each.
CORPUS_BYTES = _limit("corpus_bytes", 8_000_000, "bytes")
XML_ELEMENTS = _limit("xml_elements", 50_000, "elements", 100)
XML_ATTRIBUTES = _limit("xml_attributes", 100_000, "attributes")
XML_DEPTH = _limit("xml_depth", 100, "levels of nested elements", 10)
SCAN_PIXELS = _limit("scan_pixels", 50_000_000, "pixels")
BOARD_LINES = _limit("board_lines", 200, "rows or columns")
ARCHIVE_BYTES = _limit("archive_bytes", 1_000_000_000, "bytes when it is unpacked")
ARCHIVE_FILES = _limit("archive_files", 100_000, "files")
DOWNLOAD_BYTES = _limit("download_bytes", 300_000_000, "bytes")
TREEBANK_BYTES = _limit("treebank_bytes", 1_000_000_000, "bytes")
# Lexicon, language, home and result files.
LEXICON_BYTES = _limit("lexicon_bytes", 16_000_000, "bytes")
VECTOR_WORDS = _limit("vector_words", 500_000, "words")
VECTOR_SIZE = _limit("vector_size", 4_096, "numbers")
LANGUAGE_BYTES = _limit("language_bytes", 1_000_000, "bytes")
RESULT_BYTES = _limit("result_bytes", 64_000_000, "bytes")
NOTE_BYTES = _limit("note_bytes", 10_000, "bytes")
YAML_BYTES = _limit("yaml_bytes", 16_000_000, "bytes")
YAML_VALUES = _limit("yaml_values", 500_000, "values")
YAML_DEPTH = _limit("yaml_depth", 50, "levels of nested values")
TEMPLATE_CHARACTERS = _limit("template_characters", 20_000, "characters")
TEMPLATE_PARTS = _limit("template_parts", 10_000, "parts", 1_000)
HOME_ENTITIES = _limit("home_entities", 10_000, "entities")
NAME_CHARACTERS = _limit("name_characters", 2_000, "characters")
HOME_NAMES = _limit("home_names", 50_000, "names and aliases")
PHRASE_TEXTS = _limit("phrase_texts", 20, "texts")
# Studio projects and connections.
STORED_BYTES = _limit("stored_bytes", 100_000_000, "bytes in one value of the file")
CONNECTIONS = _limit("connections", 800, "connections")  # many systems allow 1,024 open files
IDLE_CONNECTIONS = _limit("idle_connections", 256, "connections without a request")
BODY_BYTES = _limit("body_bytes", 256_000, "bytes")
# Single imports into the studio.
WORLD_BYTES = _limit("world_bytes", 1_000_000, "bytes")
IMPORT_BYTES = _limit("import_bytes", 20_000_000, "bytes")
IMPORT_RECORDS = _limit("import_records", 20_000, "demonstrations")
# Single requests to the studio and the service.
SAID_CHARACTERS = _limit("said_characters", 4_000, "characters")
SAID_SENTENCES = _limit("said_sentences", 30, "sentences")
SAID_ACTIONS = _limit("said_actions", 100, "actions")
# Service sessions.
SESSIONS = _limit("sessions", 1_000, "sessions")
SESSION_MINUTES = _limit("session_minutes", 30, "minutes without a request")
SESSION_TURNS = _limit("session_turns", 1_000, "turns in a session")
