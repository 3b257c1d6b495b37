"""What pages and programs send, checked before anything is done with it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from groundling.studio.problems import plain_json

__all__ = ["Change", "Demonstrated", "Question", "Said", "Way", "Wish"]

Json = Annotated[JsonValue, AfterValidator(plain_json)]
Words = Annotated[str, Field(max_length=20_000), AfterValidator(plain_json)]
Name = Annotated[str, Field(max_length=200), AfterValidator(plain_json)]
Actions = Annotated[list[Json], Field(max_length=100)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Said(_Form):
    """Something said, nowhere in particular."""

    text: Words


class Wish(_Form):
    """Something said in a scene, from its own start or from another state."""

    scene: Name
    text: Words
    start: Json = None


class Question(Wish):
    """Something said whose answer is not kept, perhaps to an earlier model."""

    model: int | None = Field(None, ge=0, le=2**53)


class Way(_Form):
    """Actions in a scene, one after another."""

    scene: Name
    start: Json = None
    actions: Actions = []


class Demonstrated(Wish):
    """Something said, and what was meant."""

    actions: Actions
    origin: Annotated[str, Field(pattern="^(shown|picked)$")] = "shown"


class Change(_Form):
    """What is changed in a demonstration; the rest stays."""

    text: Words | None = None
    start: Json = None
    actions: Actions | None = None
    weight: float | None = Field(None, ge=0, le=1000)
    apart: bool | None = None

    def fields(self) -> dict[str, Any]:
        """Return the fields that were given."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        found = {name: value for name, value in given.items() if value is not None}
        return {**found, "actions": tuple(found["actions"])} if "actions" in found else found
