"""What pages and programs send and are told, checked before anything is done with it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from groundling.errors import InstructionError
from groundling.limits import PLAN_ACTIONS
from groundling.studio.texts import plain_json

__all__ = [
    "AnswerForm",
    "ChangeForm",
    "Demonstrated",
    "Health",
    "JoinForm",
    "Problem",
    "QuestionForm",
    "RequestForm",
    "Said",
    "SayForm",
    "Spoken",
    "Teaching",
    "UtteranceForm",
    "Way",
    "Wish",
    "WorldForm",
]

MOST_WEIGHT = 1000
MOST_BEFORE = 8  # texts of one exchange of questions and replies


def _few(actions: list[Any]) -> list[Any]:
    PLAN_ACTIONS.check(len(actions), InstructionError, "`actions`")
    return actions


Json = Annotated[JsonValue, AfterValidator(plain_json)]
Words = Annotated[str, AfterValidator(plain_json)]
Name = Annotated[str, Field(max_length=200), AfterValidator(plain_json)]
Actions = Annotated[list[Json], AfterValidator(_few)]
Weight = Annotated[float, Field(ge=0, le=MOST_WEIGHT, allow_inf_nan=False)]
Revision = Annotated[int | None, Field(ge=0, lt=2**53)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


# ---- the studio -----------------------------------------------------------------------------


class Said(_Form):
    """Something said, nowhere in particular."""

    text: Words


class Wish(Said):
    """Something said in a scene, from its own start or from another state."""

    scene: Name
    start: Json = None


class UtteranceForm(Wish):
    """Something said to the agent: a command, a question, or a reply.

    `before` are the texts since the question that waits for a reply, and `choice` the option that
    was clicked. `language` is that of the page, for an agent whose demonstrations tell none.
    """

    before: Annotated[list[Words], Field(max_length=MOST_BEFORE)] = []
    choice: Annotated[int | None, Field(ge=0, lt=100)] = None
    language: Annotated[str, Field(max_length=20)] = ""


class QuestionForm(Wish):
    """Something said whose answer is not kept, perhaps to an earlier model."""

    model: Revision = None


class Way(_Form):
    """Actions in a scene, one after another."""

    scene: Name
    start: Json = None
    actions: Actions = []


class Demonstrated(Wish):
    """Something said, and what was meant."""

    actions: Actions
    origin: Annotated[str, Field(pattern="^(shown|picked)$")] = "shown"


class JoinForm(_Form):
    """The name under which a pupil joins a class."""

    name: Annotated[str, Field(min_length=1, max_length=40), AfterValidator(plain_json)]


class WorldForm(_Form):
    """A world to open: one of the gallery by its name, or one made in the editor."""

    gallery: Name | None = None
    scene: Annotated[dict[str, JsonValue] | None, AfterValidator(plain_json)] = None

    def source(self) -> dict[str, Any]:
        """Return what a project is made from."""
        if (self.gallery is None) == (self.scene is None):
            raise InstructionError("Name a world of the gallery, or give a scene.")
        if self.scene is None:
            return {"kind": "gallery", "name": self.gallery}
        return {"kind": "scene", "scene": self.scene}


class ChangeForm(_Form):
    """What is changed in a demonstration; the rest stays."""

    text: Words | None = None
    start: Json = None
    actions: Actions | None = None
    weight: Weight | None = None
    apart: bool | None = None

    def fields(self) -> dict[str, Any]:
        """Return the fields that were given."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        found = {name: value for name, value in given.items() if value is not None}
        return {**found, "actions": tuple(found["actions"])} if "actions" in found else found


# ---- the service ----------------------------------------------------------------------------


class RequestForm(Said):
    """What to do, and where: the state in the environment's own JSON."""

    text: Annotated[Words, Field(description="One or several sentences.")]
    state: Annotated[Json, Field(description="The state it begins in; else the world's start.")] = (
        None
    )
    length: Annotated[
        int | None, Field(ge=1, le=100, description="The number of actions, if it is known.")
    ] = None


class SayForm(Said):
    """What a user says to an agent: a command, a question, or a reply."""

    text: Annotated[Words, Field(description="A command, a question, or a reply.")]
    session: Annotated[
        str | None, Field(max_length=64, description="The session; without one, another begins.")
    ] = None
    state: Annotated[Json, Field(description="The state that a new session begins in.")] = None


class Taught(Said):
    """A text, where it was said, and what was meant."""

    state: Json = None
    actions: Annotated[Actions, Field(min_length=1)]
    weight: Weight = 1.0


class Teaching(_Form):
    """Demonstrations to learn from."""

    demonstrations: Annotated[list[Taught], Field(min_length=1, max_length=1000)]


class Alternative(BaseModel):
    """A plan that was considered."""

    actions: list[Any]
    probability: float
    log_probability: float


class AnswerForm(Alternative):
    """The plan, as the library gives it."""

    states: list[Any]
    confidence: float
    understood: bool
    alternatives: list[Alternative]


class OfferedOption(BaseModel):
    """An option of a question: what it is called, and what would be done."""

    text: str
    probability: float
    actions: list[Any]


class Spoken(BaseModel):
    """A turn of an agent; `state` is the state after it."""

    session: str
    kind: str
    text: str
    confidence: float
    actions: list[Any]
    options: list[OfferedOption]
    answer: Any
    reason: str
    state: Any


class Health(BaseModel):
    """Whether the server works, and how much it has to do."""

    status: str = "ok"
    waiting: int
    learning: bool


class Problem(BaseModel):
    """What went wrong, in one sentence (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
