"""Models and projects that the HTTP service serves."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass, replace
from typing import Any

from groundling import __version__
from groundling.agent import Agent, Turn
from groundling.data.codec import Codec
from groundling.errors import WorldError
from groundling.follower import Follower
from groundling.plan import Plan
from groundling.studio.problems import BusyError
from groundling.studio.project import Project
from groundling.studio.scenes import Setting
from groundling.studio.sessions import Sessions
from groundling.studio.store import Record
from groundling.studio.teacher import learn
from groundling.world.environment import Demonstration, State, class_name


class Served:
    """A trained follower in its world, which handles one request at a time.

    Parameters
    ----------
    setting
        A model in its world (see `open_setting`).

    Examples
    --------
    >>> from groundling.studio.gallery import open_gallery
    >>> setting = open_gallery("kitchen")
    >>> follower = setting.make().fit([each for _, each in setting.given()], check=False)
    >>> served = Served(replace(setting, trained=follower))
    >>> served.follow("walk to the table", served.state(None)).actions
    ('go to the table',)
    """

    def __init__(self, setting: Setting) -> None:
        if setting.trained is None:
            raise WorldError("There is no trained model to serve. Train one first.")
        self.setting = setting
        self._follower: Follower = setting.trained
        self.scene = setting.scenes[0]
        self.environment = self.scene.environment
        self.codec = Codec(self.environment)
        self.answering = threading.Lock()
        self.sessions = Sessions()
        self._busy = False
        self._writing = threading.Lock()
        self._shown: dict[str, Demonstration] = {}

    @property
    def follower(self) -> Follower:
        """Current follower."""
        return self._follower

    @property
    def learning(self) -> bool:
        """Whether training is running."""
        return self._busy

    @property
    def taught(self) -> int:
        """Number of demonstrations taught since the server started."""
        return len(self._shown)

    def begin(self) -> None:
        """Do nothing: a model needs no preparation."""

    def close(self) -> None:
        """Do nothing, because a served model opens no files."""

    def state(self, data: Any) -> State:
        """Return a state from JSON, or the world's initial state if `data` is None."""
        if data is None:
            return self.scene.start
        found: State = self.codec.state_from_json(data)
        return found

    def follow(self, text: str, state: State, length: int | None = None) -> Plan:
        """Return the follower's plan for a text."""
        with self.answering:
            read = self.setting.read(self.scene, text)
            return self.follower.follow(read, self.environment, state, length=length)

    def say(self, text: str, session: str | None, state: Any) -> tuple[str, Agent, Turn]:
        """Return the agent's turn after a text, with the session id and the agent.

        Without a session id, a new session is started.
        """
        with self.answering:
            name = session
            if name is None:
                start = self.state(state)
                name = self.sessions.begin(lambda: Agent(self.follower, self.environment, start))
            agent = self.sessions.get(name)
            agent.follower = self.follower  # let the agent use the newest model
            try:
                read = None if agent.asking else self.setting.read(self.scene, text)
                turn = agent.say(text, read)
                _ = turn.text  # computed and cached while the lock is held
            except BaseException:
                if session is None:  # the client never received the session id
                    self.sessions.end(name)
                raise
            return name, agent, turn

    def teach(self, demonstrations: Sequence[Demonstration]) -> dict[str, Any]:
        """Train on additional demonstrations; return their number and the final loss."""
        if not self._writing.acquire(blocking=False):
            raise BusyError(409, "The model is being trained. Try again after training.")
        try:
            self._busy = True
            added = {
                f"taught {len(self._shown) + number}": each
                for number, each in enumerate(demonstrations, 1)
            }
            shown = {**self._shown, **added}
            follower = learn(self.setting.make, self.setting.base(), shown, known=self.follower)
            if follower is not None:
                with self.answering:
                    self._follower = follower
                    self._shown = shown
            return {"taught": len(added), "loss": self.follower.learnt_.loss}
        finally:
            self._busy = False
            self._writing.release()

    def about(self) -> dict[str, Any]:
        """Return the settings, the number of weights and the world of the model."""
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
            "loss": self.follower.learnt_.loss,
            "temperature": self.follower.temperature_,
            "taught": self.taught,
            "settings": {name: _plain(value) for name, value in settings.items()},
        }


class ServedProject(Served):
    """A studio project that the service serves, and that stores taught demonstrations.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     project = Project(Path(folder), {"kind": "lesson"})
    ...     start = project.write_state("Kitchen 1", project.setting.scenes[0].start)
    ...     shown = Record("Kitchen 1", "zum Tisch", start, ("go to the table",))
    ...     _ = project.store.add([shown], "taught")
    ...     served = ServedProject(project)
    ...     print(served.taught, served.follow("zum Tisch", served.state(None)).actions)
    ...     served.close()
    1 ('go to the table',)
    """

    def __init__(self, project: Project) -> None:
        if project.follower is None and project.store.counts()[0] and project.writes:
            project.learn_now()
        if project.follower is None:
            raise WorldError("This project has no trained model yet. Teach it in the studio.")
        super().__init__(replace(project.setting, trained=project.follower))
        self.project = project

    @property
    def follower(self) -> Follower:
        """Follower from the latest training."""
        return self.project.follower or self._follower

    @property
    def learning(self) -> bool:
        """Whether demonstrations have changed since the last training."""
        return self.project.is_behind

    @property
    def taught(self) -> int:
        """Number of training demonstrations."""
        return self.project.store.counts()[0]

    def begin(self) -> None:
        """Start training in the background if demonstrations have changed."""
        self.project.wake()

    def close(self) -> None:
        """Close the project; unfinished training resumes when it is reopened."""
        self.project.close()

    def teach(self, demonstrations: Sequence[Demonstration]) -> dict[str, Any]:
        """Store demonstrations and start training; return the path of the training status."""
        project, scene = self.project, self.scene.name
        records = [
            project.check(
                Record(
                    scene,
                    str(each.instructions),
                    project.write_state(scene, each.start),
                    tuple(project.write_actions(scene, each.actions)),
                    weight=each.weight,
                )
            )
            for each in demonstrations
        ]
        taught = project.take_in(records)
        revision = project.store.revision
        return {"taught": taught, "revision": revision, "status": f"/v1/teach/{revision}"}

    def progress(self, revision: int) -> dict[str, Any]:
        """Return whether training has reached a revision, and its problem if it failed."""
        learnt = self.project.learnt_revision >= revision
        return {"revision": revision, "learnt": learnt, "problem": self.project.problem}


def _plain(value: Any) -> Any:
    """Return a setting as data for JSON; values without a JSON form become strings."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)
