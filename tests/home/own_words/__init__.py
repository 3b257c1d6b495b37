"""Sentences of our own in homes of our own, which no model is trained on, and their judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundling.errors import GroundlingError
from groundling.home.agent import HomeAgent, HomeReply
from groundling.home.effects import States
from groundling.home.home import read_home
from groundling.home.model import HomeModel
from groundling.home.plain_yaml import load_yaml

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """A sentence in a home, and what is expected of the reply."""

    home: str
    row: Mapping[str, Any]

    @property
    def text(self) -> str:
        """What is said."""
        return str(self.row["say"])

    def is_right(self, before: States, reply: HomeReply) -> bool:
        """Tell whether the reply changes exactly what is expected, and is of the right kind."""
        row = self.row
        kind = str(row.get("kind", "act"))
        if reply.kind not in kind.split("_or_") or str(row.get("told", "")) not in reply.text:
            return False
        if "loosely" in row:
            untouched = set(row.get("untouched", ()))
            return set(row["loosely"]) <= set(reply.changes) and not untouched & set(reply.changes)
        expected = row.get("does", {})
        return set(expected) == set(reply.changes) and all(
            _has(before[id_], reply.changes[id_], wanted) for id_, wanted in expected.items()
        )


def _has(before: Mapping[str, Any], new: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    state = new.get("state", before["state"])
    after = {**before["attributes"], **new.get("attributes", {}), "state": state}
    return all(name in after and _is(after[name], value) for name, value in wanted.items())


def _is(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, str) and wanted[:1] in "<>" and wanted[1:]:
        limit = float(wanted[1:])
        return float(found) > limit if wanted[0] == ">" else float(found) < limit
    return bool(found == wanted)


def cases() -> list[Case]:
    """Return all sentences."""
    data = load_yaml(FOLDER / "sentences.yaml", GroundlingError)
    return [Case(home, row) for home, rows in data.items() for row in rows]


def replies(model: HomeModel | None = None) -> Iterator[tuple[Case, HomeReply, bool]]:
    """Yield each sentence with its reply, and whether that is right."""
    homes = {
        each.stem: read_home(each) for each in FOLDER.glob("*.yaml") if each.stem != "sentences"
    }
    agents = {name: HomeAgent(home, model) for name, home in homes.items()}
    for case in cases():
        agent = agents[case.home]
        agent.forget()
        for text in case.row.get("after", ()):
            agent.reply(text, area=case.row.get("area"))
        before = agent.states
        reply = agent.reply(case.text, area=case.row.get("area"))
        yield case, reply, case.is_right(before, reply)
