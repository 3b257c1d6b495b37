"""Copy the figures of `make soak` to the results and to the page on reliability.

    python -m tools.soak soak.json

Copies the file to `results/soak.json` and writes the table between the markers in
`docs/reliability.md`. A test checks that the two agree.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["PARTS", "main", "noted", "rows", "with_table"]

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PAGE = ROOT / "results" / "soak.json", ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- make soak -->\n", "<!-- end -->"
PARTS = (
    "requests", "imports", "files", "homes", "models", "kills", "stops", "clusters", "memory",
)  # fmt: skip


# Rows of the table: the figure that must be present, and the two cells.
_ROWS = (
    ("hours", "total hours", "{hours:.1f}, {dates}{commit} ({names})"),
    ("studio", "fuzzed requests to the studio", "{studio:,} ({studio_told}); no 500"),
    ("service", "fuzzed requests to the service", "{service:,} ({service_told}); no 500"),
    ("home", "fuzzed requests to a served home", "{home:,} ({home_told}); no 500"),
    ("schemathesis_studio", "Schemathesis requests to the studio, including `/import`",
     "{schemathesis_studio:,}; no 500"),
    ("schemathesis_service", "Schemathesis requests to the service",
     "{schemathesis_service:,}; no 500"),
    ("schemathesis_home", "Schemathesis requests to a served home",
     "{schemathesis_home:,}; no 500"),
    ("requests_to_a_served_project", "fuzzed requests to a served project",
     "{served_project:,}; no 500"),
    ("models_with_changed_dialogue", "fuzzed models with questions, speech and prediction sets",
     "{models_with_changed_dialogue[used]:,} used, {models_with_changed_dialogue[refused]:,} "
     "refused"),
    ("imports", "fuzzed imports",
     "{imports[changed]:,}: {imports[records]:,} records read, {imports[lines refused]:,} lines "
     "refused"),
    ("project_files", "fuzzed project files",
     "{projects:,}: {project_files[refused]:,} refused, {project_files[opened]:,} opened and used"),
    ("formats", "fuzzed files of {formats} formats",
     "{changed:,}: {read:,} were read, all others refused in one sentence; at most {seconds:g} s "
     "and {megabytes} MB more"),
    ("mutated models", "fuzzed models with valid checksums, asked to follow",
     "{mutated models:,}: {mutated models that load:,} load; at most "
     "{longest load and follow of a mutated model, seconds:g} s"),
    ("faults", "faults in saves: a kill, an I/O error or a full disk at every call", "{faults:,}"),
    ("kills of saves at random moments", "kills of saves at random moments",
     "{kills of saves at random moments:,}"),
    ("kills of saves, one at every system call", "kills of saves, one at every system call",
     "{kills of saves, one at every system call:,}"),
    ("trainings killed and resumed to the same bytes", "trainings killed and resumed",
     "{trainings killed and resumed to the same bytes:,}, to the same bytes, and "
     "{trainings over frozen sets killed and resumed:,} over frozen sets with other hash seeds"),
    ("kitchens killed at random moments and resumed",
     "trainings of the documentation's kitchen, likewise",
     "{kitchens killed at random moments and resumed:,}"),
    ("studio_kills", "kills of the studio while people teach, edit, import and undo",
     "{studio_kills:,}, after {changes_before_kills:,} acknowledged changes; none lost"),
    ("cluster_kills", "workers of a cluster killed at random moments",
     "{cluster_kills:,} in {cluster_minutes:g} minutes; {cluster_trainings:,} trainings, all to "
     "the same bytes"),
    ("commands_stopped", "commands stopped at random moments",
     "{commands_stopped:,}; at most {commands_slowest_stop:g} s"),
    ("stops", "studios and services stopped", "{stops:,}; at most {slowest_stop:g} s"),
    ("service_requests", "memory of the service over {service_requests:,} requests",
     "{service_sizes[0]} MB after 5 %, {service_sizes[1]} MB after 50 %, {service_sizes[2]} MB at "
     "the end"),
    ("different requests", "memory of a follower over {different requests:,} different requests",
     "{different[0]:g} MB after {warm requests:,} others, {different[1]:g} MB at the end"),
    ("missing", "parts that were not run", "{missing}"),
    ("requests from eight threads that agree", "requests from eight threads at once",
     "{requests from eight threads that agree:,}, equal to the last bit"),
)  # fmt: skip


def rows(run: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the label and the figure of each row; `run` is the content of `soak.json`.

    >>> list(rows({"parts": {"stops": {"figures": {"stops": 1200, "slowest_stop": 1.5}}}}))
    [('studios and services stopped', '1,200; at most 1.5 s')]
    """
    figures = _figures(run)
    for name, what, told in _ROWS:
        if name in figures:
            yield what.format(**figures), told.format(**figures)


def noted(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of all parts by name."""
    parts = run["parts"].values()
    return {name: each for part in parts for name, each in part["figures"].items()}


def _figures(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a run by name, with totals."""
    found = noted(run)
    # Colons would end a name in a template.
    figures = {name: each for name, each in found.items() if ":" not in name}
    for name, each in found.items():
        if name.startswith("cluster: "):
            short = {"workers killed": "kills", "trainings to the same bytes": "trainings"}
            figures[f"cluster_{short.get(name[9:], name[9:])}"] = each
    parts = run["parts"]
    if dates := sorted(each["date"] for each in parts.values() if "date" in each):
        figures["dates"] = " to ".join(dict.fromkeys((dates[0], dates[-1])))
        commits = sorted({each["commit"] for each in parts.values() if "commit" in each})
        figures["commit"] = f", at commit {', '.join(commits)}" if commits else ""
        figures["hours"] = sum(each["hours"] for each in parts.values())
        figures["names"] = ", ".join(sorted(parts))
        if missing := [each for each in PARTS if each not in parts]:
            figures["missing"] = ", ".join(missing)
    for place in ("studio", "service", "home"):
        if counts := found.get(f"requests_to_{'a' if place == 'home' else 'the'}_{place}"):
            figures[place] = sum(counts.values())
            told = (f"{status}: {count:,}" for status, count in sorted(counts.items()))
            figures[f"{place}_told"] = ", ".join(told)
    if counts := found.get("requests_to_a_served_project"):
        figures["served_project"] = sum(counts.values())
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
    if sizes := found.get("different requests, MB"):
        figures["different"] = (sizes[0], sizes[-1])
    if sizes := found.get("service_megabytes"):
        figures["service_sizes"] = (sizes[1], sizes[len(sizes) // 2], sizes[-1])
    return figures


def with_table(page: str, run: Mapping[str, Any]) -> str:
    """Return a page with the table of a run between its markers.

    >>> run = {"parts": {"stops": {"figures": {"stops": 3, "slowest_stop": 1}}}}
    >>> print(with_table(f"{BEGIN}old{END}", run))
    <!-- make soak -->
    | what | figure |
    |---|---|
    | studios and services stopped | 3; at most 1 s |
    <!-- end -->
    """
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    table = "".join(f"| {what} | {figure} |\n" for what, figure in rows(run))
    return f"{before}{BEGIN}| what | figure |\n|---|---|\n{table}{END}{after}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write results and page; exit with 1 if a part has failed."""
    reader = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    reader.add_argument("file", type=Path, help="Output of `make soak`.")
    run = json.loads(reader.parse_args(arguments).file.read_text(encoding="utf-8"))
    if failed := [name for name, each in run["parts"].items() if each["failed"]]:
        sys.exit(f"Parts that failed: {', '.join(failed)}. Nothing was written.")
    commits = sorted({each.get("commit", "unknown") for each in run["parts"].values()})
    if len(commits) > 1:
        sys.exit(f"Parts of different commits: {', '.join(commits)}. Nothing was written.")
    text = json.dumps(run, indent=1, sort_keys=True, ensure_ascii=False)
    RESULTS.write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), run), encoding="utf-8")


if __name__ == "__main__":
    main()
