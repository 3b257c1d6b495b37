"""The corpora of the tasks: finding, verifying and downloading them."""

from groundling.corpora.checksums import CORPORA, FileCheck, check, manifest
from groundling.corpora.download import SOURCE, fetch
from groundling.corpora.places import Place, data_folder, find_corpora

__all__ = [
    "CORPORA",
    "SOURCE",
    "FileCheck",
    "Place",
    "check",
    "data_folder",
    "fetch",
    "find_corpora",
    "manifest",
]
