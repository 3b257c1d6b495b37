"""Request and response bodies of the studio and the service."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from groundling.errors import InstructionError
from groundling.limits import PLAN_ACTIONS
from groundling.studio.texts import plain_json

MOST_WEIGHT = 1000
MOST_BEFORE = 8  # maximum number of texts in a sequence of questions and replies


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
    """Request body with a text."""

    text: Words


class Wish(Said):
    """Request body with a text, a scene and an optional initial state."""

    scene: Name
    start: Json = None


class UtteranceForm(Wish):
    """An utterance to the agent: a command, a question, or a reply to its question.

    `before` is the list of texts that led to the open question, and `choice` the index of the
    clicked option. `language` is the language of the page, in which the agent answers.
    """

    before: Annotated[list[Words], Field(max_length=MOST_BEFORE)] = []
    choice: Annotated[int | None, Field(ge=0, lt=100)] = None
    language: Annotated[str, Field(max_length=20)] = ""


class QuestionForm(Wish):
    """Request body with a text to be followed by a saved model; nothing is stored.

    `model` is the revision of the model, by default the newest.
    """

    model: Revision = None


class Way(_Form):
    """Request body with a sequence of actions in a scene."""

    scene: Name
    start: Json = None
    actions: Actions = []


class Demonstrated(Wish):
    """Request body with a demonstration: a text and its actions."""

    actions: Actions
    origin: Annotated[str, Field(pattern="^(shown|picked)$")] = "shown"


class JoinForm(_Form):
    """Request body with the name of a pupil who joins a class."""

    name: Annotated[str, Field(min_length=1, max_length=40), AfterValidator(plain_json)]


class WorldForm(_Form):
    """Request body with the world to open: a gallery world's name, or a scene world."""

    gallery: Name | None = None
    scene: Annotated[dict[str, JsonValue] | None, AfterValidator(plain_json)] = None

    def source(self) -> dict[str, Any]:
        """Return the source of the project to create."""
        if (self.gallery is None) == (self.scene is None):
            given = "neither" if self.scene is None else "both"
            raise InstructionError(
                f"The request must have either `gallery` or `scene`; got {given}. Pass one of them."
            )
        if self.scene is None:
            return {"kind": "gallery", "name": self.gallery}
        return {"kind": "scene", "scene": self.scene}


class ChangeForm(_Form):
    """Request body with changes to a demonstration; omitted fields are not changed."""

    text: Words | None = None
    start: Json = None
    actions: Actions | None = None
    weight: Weight | None = None
    apart: bool | None = None

    def fields(self) -> dict[str, Any]:
        """Return the given fields with their new values."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        found = {name: value for name, value in given.items() if value is not None}
        return {**found, "actions": tuple(found["actions"])} if "actions" in found else found


# ---- the service ----------------------------------------------------------------------------


class RequestForm(Said):
    """Request body with instructions and an initial state.

    The state has the JSON format of the environment.
    """

    text: Annotated[Words, Field(description="One or more sentences.")]
    state: Annotated[
        Json, Field(description="Initial state; defaults to the world's initial state.")
    ] = None
    length: Annotated[
        int | None,
        Field(ge=1, le=100, description="Number of actions of the plan, if known."),
    ] = None


class SayForm(Said):
    """An utterance to the agent: a command, a question, or a reply to its question."""

    text: Annotated[Words, Field(description="A command, a question or a reply to a question.")]
    session: Annotated[
        str | None, Field(max_length=64, description="Session id; omit it to start a session.")
    ] = None
    state: Annotated[Json, Field(description="Initial state of a new session.")] = None


class Taught(Said):
    """A demonstration: a text, its initial state and its actions."""

    state: Json = None
    actions: Annotated[Actions, Field(min_length=1)]
    weight: Weight = 1.0


class Teaching(_Form):
    """Request body with demonstrations to learn."""

    demonstrations: Annotated[list[Taught], Field(min_length=1, max_length=1000)]


class Alternative(BaseModel):
    """An alternative plan and its probability."""

    actions: list[Any]
    probability: float
    log_probability: float


class AnswerForm(Alternative):
    """Response with a plan: actions, states, confidence and alternatives."""

    states: list[Any]
    confidence: float
    understood: bool
    alternatives: list[Alternative]


class OfferedOption(BaseModel):
    """An option of a clarification question: its text, probability and actions."""

    text: str
    probability: float
    actions: list[Any]


class Spoken(BaseModel):
    """Response of the agent to an utterance; `state` is the state afterwards."""

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
    """Status of the server, with the number of unfinished requests.

    `learning` is true while training is running.
    """

    status: str = "ok"
    waiting: int
    learning: bool


class Problem(BaseModel):
    """Response that reports an error as problem details (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
