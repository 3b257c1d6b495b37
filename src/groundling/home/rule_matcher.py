"""Rule-based baseline: hassil with its package of intents."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from groundling.errors import GroundlingError
from groundling.home.corpus import HomeExample, Sentence, label
from groundling.home.environment import Command, HomeWorld


class RuleMatcher:
    """Rule-based recogniser of sentences about a home, which uses hassil."""

    def __init__(self, world: HomeWorld, language: str) -> None:
        self.world = world
        self._hassil = _imported("hassil")
        data = _imported("home_assistant_intents").get_intents(language)
        if not data:
            raise GroundlingError(
                "`language` must be the code of a language that the package home_assistant_intents "
                f"supports, such as 'en'; got {language!r}."
            )
        self._intents = self._hassil.Intents.from_dict(data)
        self._lists = self._slot_lists()

    def _slot_lists(self) -> dict[str, Any]:
        home, make = self.world.home, self._hassil.TextSlotList.from_tuples
        names = [
            (name, name, {"domain": each.domain, **dict(each.attributes)})
            for each in home.entities
            for name in (each.name, *each.aliases)
        ]
        areas = [(name, name) for each in home.areas for name in (each.name, *each.aliases)]
        floors = [(name, name) for each in home.floors for name in (each.name, *each.aliases)]
        return {
            "name": make(names, name="name", allow_template=False),
            "area": make(areas, name="area", allow_template=False),
            "floor": make(floors, name="floor", allow_template=False),
        }

    def recognise(self, example: HomeExample) -> Command | None:
        """Return the command that the rules recognise in a sentence, or None."""
        area = self.world.home.area_of.get(example.situation.here)
        context = {"area": area.name} if area else None
        found = self._hassil.recognize_best(
            example.text, self._intents, slot_lists=self._lists, intent_context=context,
            best_slot_name="name", best_metadata_key="hass_custom_sentence",
        )  # fmt: skip
        if found is None:
            return None
        slots = {each.name: each.value for each in found.entities_list}
        domain = str(found.context.get("domain") or "") if "name" in slots else ""
        told = Sentence(
            example.text, found.intent.name, slots, area.name if area else "", domain,
            response=found.response or "",
        )  # fmt: skip
        made = label(self.world, told)
        return made.command if isinstance(made, HomeExample) else None


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise GroundlingError(
            f"The rule-based baseline requires {name}, which is not installed. Run "
            "`pip install 'groundling[home]'`."
        ) from error
