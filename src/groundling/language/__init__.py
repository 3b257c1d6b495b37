"""Linguistic structure: instructions as dependency trees, parsers and languages."""

from groundling.language.conllu import parse_conllu, read_conllu, to_conllu, write_conllu
from groundling.language.instruction import Instruction, SentenceLabel, promote_function_words
from groundling.language.languages import ENGLISH, LANGUAGES, NEUTRAL, Language, load_language
from groundling.language.parse_cache import ParseCache, cache_folder
from groundling.language.parser import (
    CachedParser,
    ChainParser,
    ConlluParser,
    Parser,
    language_of,
    load_parser,
)
from groundling.language.sentences import split_sentences, split_words
from groundling.language.spacy_parser import ShippedParser, SpacyParser
from groundling.language.text_limits import Limits
from groundling.language.units import UNITS, split_commands, split_units

__all__ = [
    "ENGLISH",
    "LANGUAGES",
    "NEUTRAL",
    "UNITS",
    "CachedParser",
    "ChainParser",
    "ConlluParser",
    "Instruction",
    "Language",
    "Limits",
    "ParseCache",
    "Parser",
    "SentenceLabel",
    "ShippedParser",
    "SpacyParser",
    "cache_folder",
    "language_of",
    "load_language",
    "load_parser",
    "parse_conllu",
    "promote_function_words",
    "read_conllu",
    "split_commands",
    "split_sentences",
    "split_units",
    "split_words",
    "to_conllu",
    "write_conllu",
]
