"""What a service serves: a follower, its world, and what it was taught while it ran."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from groundling import __version__
from groundling.agent import Agent, Turn
from groundling.data.codec import Codec
from groundling.errors import InstructionError, WorldError
from groundling.explain.explanation import Plan
from groundling.follower import Follower
from groundling.studio.scenes import Setting
from groundling.studio.sessions import Sessions
from groundling.studio.teacher import learn
from groundling.world.environment import Demonstration, State, class_name

__all__ = ["Served"]


class Served:
    """A follower in a world; answers come one at a time, and are those of the library.

    Parameters
    ----------
    setting
        A model in its world (see `open_setting`).

    Examples
    --------
    >>> from groundling.studio.scenes import lesson_setting
    >>> served = Served(lesson_setting())
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: There is no trained model to serve.
    """

    def __init__(self, setting: Setting) -> None:
        if setting.trained is None:
            raise WorldError("There is no trained model to serve.")
        self.setting = setting
        self.follower: Follower = setting.trained
        self.scene = setting.scenes[0]
        self.environment = self.scene.environment
        self.codec = Codec(self.environment)
        self.answering = threading.Lock()
        self.sessions = Sessions()
        self.learning = False
        self._writing = threading.Lock()
        self._shown: dict[str, Demonstration] = {}

    def state(self, data: Any) -> State:
        """Return the state that JSON describes; without any, where the world begins."""
        if data is None:
            return self.scene.start
        found: State = self.codec.state_from_json(data)
        return found

    def follow(self, text: str, state: State, length: int | None = None) -> Plan:
        """Follow a text, exactly as the library does."""
        with self.answering:
            read = self.setting.read(self.scene, text)
            return self.follower.follow(read, self.environment, state, length=length)

    def say(self, text: str, session: str | None, state: Any) -> tuple[str, Agent, Turn]:
        """Say something to the agent of a session; without one, another begins in a state."""
        with self.answering:
            name = session
            if name is None:
                start = self.state(state)
                name = self.sessions.begin(lambda: Agent(self.follower, self.environment, start))
            agent = self.sessions.get(name)
            agent.follower = self.follower  # it may have been taught since
            read = None if agent.asking else self.setting.read(self.scene, text)
            turn = agent.say(text, read)
            _ = turn.text  # said by the same follower
            return name, agent, turn

    def teach(self, demonstrations: Sequence[Demonstration]) -> dict[str, Any]:
        """Learn from demonstrations too; what was known before is kept."""
        if not self._writing.acquire(blocking=False):
            raise InstructionError("It is learning already. Try again when it has learnt.")
        try:
            self.learning = True
            added = {
                f"taught {len(self._shown) + number}": each
                for number, each in enumerate(demonstrations, 1)
            }
            shown = {**self._shown, **added}
            follower = learn(self.setting.make, self.setting.base(), shown, known=self.follower)
            if follower is not None:
                with self.answering:
                    self.follower = follower
                    self._shown = shown
            return {"taught": len(added), "loss": self.follower.loss_}
        finally:
            self.learning = False
            self._writing.release()

    def about(self) -> dict[str, Any]:
        """Return what the model is."""
        settings = {
            name: asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
            for name, value in self.follower.get_params(deep=False).items()
        }
        return {
            "groundling": __version__,
            "world": self.setting.title,
            "environment": class_name(self.environment),
            "start": self.codec.state_to_json(self.scene.start),
            "weights": len(self.follower.theta_),
            "loss": self.follower.loss_,
            "temperature": self.follower.temperature_,
            "taught": len(self._shown),
            "settings": {name: _plain(value) for name, value in settings.items()},
        }


def _plain(value: Any) -> Any:
    """Return a setting as JSON; what has none is shown as text."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)
