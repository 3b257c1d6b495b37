"""Put the figures of `make soak` into the repository and onto the page on reliability.

    python -m tools.soak soak.json

Copies the file to `results/soak.json` and writes the table between the marks in
`docs/reliability.md`. A test checks that the two agree.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["main", "rows", "with_table"]

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PAGE = ROOT / "results" / "soak.json", ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- make soak -->\n", "<!-- end -->"


# What is told of a run, if it has done it: the name of a figure, and the two cells of the row.
_ROWS = (
    ("hours", "hours of all parts", "{hours:.1f}, {dates} ({names})"),
    ("studio", "changed requests to the studio", "{studio:,} ({studio_told}); no 500"),
    ("service", "changed requests to the service", "{service:,} ({service_told}); no 500"),
    ("schemathesis_studio", "requests of Schemathesis to the studio, `/import` included",
     "{schemathesis_studio:,}; no 500"),
    ("schemathesis_service", "requests of Schemathesis to the service",
     "{schemathesis_service:,}; no 500"),
    ("imports", "changed files that are imported",
     "{imports[changed]:,}: {imports[records]:,} records read, {imports[lines refused]:,} lines "
     "refused"),
    ("project_files", "changed project files",
     "{projects:,}: {project_files[refused]:,} refused, {project_files[opened]:,} opened and used"),
    ("formats", "changed files of {formats} formats",
     "{changed:,}: {read:,} are read, all others refused in one sentence; {seconds:g} s and "
     "{megabytes} MB more at most"),
    ("mutated models", "changed models with fitting sums, asked to follow",
     "{mutated models:,}: {mutated models that load:,} load; "
     "{longest load and follow of a mutated model, seconds:g} s at most"),
    ("faults", "faults in saves: a kill, an I/O error or a full disk at every call", "{faults:,}"),
    ("kills of saves at random moments", "kills of saves at random moments",
     "{kills of saves at random moments:,}"),
    ("kills of saves, one at every system call", "kills of saves, one at every system call",
     "{kills of saves, one at every system call:,}"),
    ("trainings killed and resumed to the same bytes", "trainings killed and resumed",
     "{trainings killed and resumed to the same bytes:,}, to the same bytes, and "
     "{trainings over frozen sets killed and resumed:,} over frozen sets with other hash seeds"),
    ("kitchens killed at random moments and resumed", "kitchens of the documentation likewise",
     "{kitchens killed at random moments and resumed:,}"),
    ("studio_kills", "kills of the studio while people teach, edit, import and undo",
     "{studio_kills:,}, after {changes_before_kills:,} acknowledged changes; none lost"),
    ("cluster_kills", "workers of a cluster killed at random moments",
     "{cluster_kills:,} in {cluster_minutes:g} minutes; {cluster_trainings:,} trainings, all to "
     "the same bytes"),
    ("commands_stopped", "commands told to stop at random moments",
     "{commands_stopped:,}; {commands_slowest_stop:g} s at most"),
    ("stops", "studios and services told to stop", "{stops:,}; {slowest_stop:g} s at most"),
    ("service_requests", "memory of the service over {service_requests:,} requests",
     "{service_sizes[0]} MB after a twentieth, {service_sizes[1]} MB in the middle, "
     "{service_sizes[2]} MB at the end"),
    ("different requests", "memory of a follower over {different requests:,} different requests",
     "{memory at the start, MB} MB at first, {memory in the middle, MB} MB in the middle, "
     "{memory at the end, MB} MB at the end"),
    ("unfinished", "not in this run", "{lacks}"),
    ("requests from eight threads that agree", "requests from eight threads at once",
     "{requests from eight threads that agree:,}, equal to the last bit"),
)  # fmt: skip


def rows(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what was done and its figure.

    >>> list(rows({"stops": 1200, "slowest_stop": 1.5}))
    [('studios and services told to stop', '1,200; 1.5 s at most')]
    """
    figures = _figures(found)
    for name, what, told in _ROWS:
        if name in figures:
            yield what.format(**figures), told.format(**figures)


def _figures(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a run by names, with their sums."""
    # Colons would end a name in a template.
    figures = {name: each for name, each in found.items() if ":" not in name}
    for name, each in found.items():
        if name.startswith("cluster: "):
            short = {"workers killed": "kills", "trainings to the same bytes": "trainings"}
            figures[f"cluster_{short.get(name[9:], name[9:])}"] = each
    if parts := found.get("parts"):
        dates = sorted(each["date"] for each in parts.values())
        figures["dates"] = " to ".join(dict.fromkeys((dates[0], dates[-1])))
        figures["hours"] = sum(each["hours"] for each in parts.values())
        figures["names"] = ", ".join(sorted(parts))
    for place in ("studio", "service"):
        if counts := found.get(f"requests_to_the_{place}"):
            figures[place] = sum(counts.values())
            told = (f"{status}: {count:,}" for status, count in sorted(counts.items()))
            figures[f"{place}_told"] = ", ".join(told)
    if files := found.get("project_files"):
        figures["projects"] = files["refused"] + files["opened"]
    if formats := [each for name, each in found.items() if name.startswith("files: ")]:
        figures["formats"] = len(formats)
        figures |= {name: sum(each[name] for each in formats) for name in ("changed", "read")}
        figures["seconds"] = max(each["seconds_at_most"] for each in formats)
        figures["megabytes"] = max(each["megabytes"] for each in formats)
    faults = [each for name, each in found.items() if name.startswith("faults in saves")]
    if faults:
        figures["faults"] = sum(
            sum(each.values()) if isinstance(each, dict) else each for each in faults
        )
    if "unfinished" in found:
        figures["lacks"] = ", ".join(found["unfinished"])
    if sizes := found.get("service_megabytes"):
        figures["service_sizes"] = (sizes[1], sizes[len(sizes) // 2], sizes[-1])
    return figures


def with_table(page: str, found: Mapping[str, Any]) -> str:
    """Return a page with the table of a run between its marks.

    >>> print(with_table(f"{BEGIN}old{END}", {"stops": 3, "slowest_stop": 1}))
    <!-- make soak -->
    | what | figure |
    |---|---|
    | studios and services told to stop | 3; 1 s at most |
    <!-- end -->
    """
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    table = "".join(f"| {what} | {figure} |\n" for what, figure in rows(found))
    return f"{before}{BEGIN}| what | figure |\n|---|---|\n{table}{END}{after}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write results and page; exit with 1 if a part has failed."""
    reader = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    reader.add_argument("file", type=Path, help="What `make soak` wrote.")
    found = json.loads(reader.parse_args(arguments).file.read_text(encoding="utf-8"))
    failed = [name for name, each in found.get("parts", {}).items() if each["failed"]]
    if failed:
        sys.exit(f"Parts that failed: {', '.join(failed)}. Nothing was written.")
    text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
    RESULTS.write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
