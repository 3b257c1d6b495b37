"""Studio projects: scenes, demonstrations and a follower that is kept up to date."""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from groundling.agent import Agent, Turn
from groundling.dialogue.phrases import PHRASES
from groundling.errors import (
    DemonstrationError,
    GroundlingError,
    InstructionError,
    ModelFileError,
    NotFittedError,
    ProjectError,
    WorldError,
)
from groundling.files import read_plain
from groundling.follower import Follower
from groundling.io import is_outdated
from groundling.learning.rounds import Progress
from groundling.modelfolder import LIMITS, MANIFEST
from groundling.plan import Plan
from groundling.studio.events import Events
from groundling.studio.scenes import (
    HARMLESS,
    Setting,
    StudioScene,
    check_source,
    named,
    open_setting,
    typed,
)
from groundling.studio.store import DiskFullError, Record, Store, fingerprint
from groundling.studio.teacher import learn
from groundling.studio.texts import check_actions, check_text, plain_json
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Demonstration, State, shorten
from groundling.world.judgement import is_right

STALE = -1  # stands for no revision: the training demonstrations differ from the stored ones
MOST_WEIGHT = 1000
WATCH = 0.5  # seconds between checks for changes by another process
RECENT = 10  # number of recent demonstrations that are followed again to measure progress
LATEST = 200  # maximum number of training and of held-out demonstrations considered for progress
KEPT = 12  # number of models kept on disk; of older models, only the database row is kept


class LearntState(NamedTuple):
    """A follower, with the revision and fingerprint of its training demonstrations."""

    follower: Follower | None
    revision: int
    fingerprint: str


class Project:
    """A folder of demonstrations and models, and the follower that answers requests.

    Methods may be called from any thread. A background thread trains a new follower whenever
    demonstrations have changed; until it has finished, the previous follower answers. If
    demonstrations change during training, training starts again.

    Parameters
    ----------
    folder
        The project folder.
    source
        The source to open (see `open_setting`); by default, the source stored in the project. A
        stored world or model may run code, so it is opened only if `confirm` returns true.
    confirm
        Function that is called with the stored source and returns whether to open it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     project = Project(Path(folder), {"kind": "lesson"})
    ...     scene = project.setting.scenes[0]
    ...     start = project.write_state(scene.name, scene.start)
    ...     shown = Record(scene.name, "zum Tisch", start, ("go to the table",))
    ...     _ = project.store.add([shown], "taught")
    ...     project.learn_now()
    ...     print(project.follow(scene, scene.start, "zum Tisch").actions)
    ...     project.close()
    ('go to the table',)
    """

    def __init__(
        self,
        folder: Path,
        source: Mapping[str, Any] | None = None,
        *,
        confirm: Callable[[Mapping[str, Any]], bool] | None = None,
    ) -> None:
        self.folder = folder
        self.store = Store(folder)
        try:
            # Only one process may write and train; in other processes, the project is read-only.
            self.writes = self.store.claim()
            known = self._stored_source()
            if source is None and known is None:
                raise ProjectError(f"There is no project in {folder}. Specify a world to open.")
            if source is not None and known is not None and source["kind"] != known["kind"]:
                raise ProjectError(
                    f"The project in {folder} belongs to another world ({named(known)}). Choose "
                    "another folder with --project, or open it without specifying a world."
                )
            if source is None and known is not None and known["kind"] not in HARMLESS:
                self._ask(known, confirm)
            self.setting: Setting = open_setting(source or known or {})
            if known is None:
                self.check_writes()
                self.store.begin(dict(self.setting.source), list(self._first_records()))
            elif source is not None and dict(source) != known and self.writes:
                self.store.set("source", dict(source))  # the same world at another path
            self.events = Events()
            self.answering = threading.Lock()  # a follower handles one request at a time
            self._learning = threading.Lock()  # copies of a follower share their buffers
            # A single attribute, so that threads read a follower with its own revision.
            self.learnt = LearntState(self.setting.trained, 0, "")
            self.progress: dict[str, Any] | None = None
            self.problem: str | None = None
            self.aside = self.store.aside()  # problems of skipped demonstrations, by id
            self._ready: dict[str, Demonstration | str] = {}  # accuracy by fingerprint
            self._wake = threading.Condition()
            self._stop = threading.Event()
            self._woken = self._warm = False
            self._standing: tuple[tuple[str, int], dict[str, Any]] | None = None
            self._seen: tuple[Any, ...] | None = None  # last known state of the writing process
            self._thread: threading.Thread | None = None
            self._load_last()
        except BaseException:
            self.store.close()
            raise

    def _stored_source(self) -> dict[str, Any] | None:
        """Return the source that the project file stores, or None."""
        known = self.store.get("source")
        if known is None:
            return None
        try:
            return check_source(known)
        except GroundlingError as error:
            raise ProjectError(
                f"The file project.sqlite in {self.folder} is damaged: {error} Restore a backup."
            ) from error

    def _ask(
        self, known: Mapping[str, Any], confirm: Callable[[Mapping[str, Any]], bool] | None
    ) -> None:
        """Raise `ProjectError` unless `confirm` allows the stored source."""
        if confirm is None or not confirm(known):
            raise ProjectError(
                f"The project in {self.folder} uses {named(known)}, which may run code, so the "
                "project was not opened. If you trust it, pass it on the command line: "
                f"groundling studio {typed(known)} --project {shlex.quote(str(self.folder))}"
            )

    def _first_records(self) -> list[Record]:
        found = []
        for shown, apart in ((self.setting.given(), False), (self.setting.apart(), True)):
            for scene, each in shown:
                codec = self.setting.codec(scene)
                found.append(
                    Record(
                        scene,
                        _text_of(each),
                        codec.state_to_json(each.start),
                        tuple(map(codec.action_to_json, each.actions)),
                        apart=apart,
                        origin="given",
                    )
                )
        return found

    def _load_last(self) -> None:
        """Load the newest intact model, even if the demonstrations have changed since."""
        revision, records = self.store.snapshot()
        current = fingerprint_of(records)
        for row in reversed(self.store.models(KEPT)):
            try:
                folder = self._models() / str(row["revision"])
                if folder.is_symlink():
                    continue
                if row["digest"] and _digest(folder) != row["digest"]:
                    continue  # the model files do not belong to this row
                if is_outdated(folder):
                    continue  # the model must be retrained with the features of this version
                follower = Follower.load(folder)
            except GroundlingError:
                continue
            fresh = row["fingerprint"] == current
            known = revision if fresh else row["revision"]
            self.learnt = LearntState(
                follower, STALE if known == revision and not fresh else known, row["fingerprint"]
            )
            return
        if self.setting.trained is not None and not any(not each.apart for each in records):
            self.learnt = LearntState(self.setting.trained, revision, current)

    @property
    def follower(self) -> Follower | None:
        """Current follower; None before the first training."""
        return self.learnt.follower

    @property
    def learnt_revision(self) -> int:
        """Revision of the demonstrations on which the follower was trained."""
        return self.learnt.revision

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the follower's training demonstrations (see `fingerprint_of`)."""
        return self.learnt.fingerprint

    def check_writes(self) -> None:
        """Raise `ProjectError` if another process has the project open for writing."""
        if not self.writes:
            raise ProjectError(
                f"The project in {self.folder} is open in another process, so it is read-only "
                "here. Close the other process to teach here."
            )

    def close(self) -> None:
        """Stop training and close the database; reopening the project resumes training."""
        with self._wake:
            self._stop.set()
            self._wake.notify_all()
        self.events.close()
        if self._thread is not None:
            self._thread.join(timeout=30)
        self.store.close()

    # ---- states, actions and demonstrations as JSON -------------------------------------

    def write_state(self, scene: str, state: State) -> Any:
        """Return a state in a scene's JSON format."""
        return self.setting.codec(scene).state_to_json(state)

    def read_state(self, scene: StudioScene, data: Any) -> State:
        """Return a state from JSON, or the scene's initial state if `data` is None."""
        if data is None:
            return scene.start
        found: State = self.setting.codec(scene.name).state_from_json(data)
        return found

    def write_actions(self, scene: str, actions: Sequence[Any]) -> list[Any]:
        """Return actions in a scene's JSON format."""
        return [self.setting.codec(scene).action_to_json(each) for each in actions]

    def read_actions(self, scene: str, data: Sequence[Any]) -> tuple[Any, ...]:
        """Return actions from JSON in a scene's format."""
        return tuple(self.setting.codec(scene).action_from_json(each) for each in data)

    def demonstration(self, record: Record) -> Demonstration:
        """Convert a record to a demonstration."""
        scene = self.setting.scene(record.scene)
        return Demonstration(
            self.setting.read(scene, record.text),
            scene.environment,
            self.read_state(scene, record.start),
            self.read_actions(record.scene, record.actions),
            weight=record.weight,
            name=f"{record.id}: {record.text[:40]}",
        )

    def check(self, record: Record) -> Record:
        """Return a normalised record; raise an error if it cannot be used for training.

        Called whenever a record is taught, imported, edited or used for training.
        """
        if record.problem is not None:
            raise DemonstrationError(record.problem)
        scene = self.setting.scene(record.scene)
        text = check_text(record.text)
        check_actions(len(record.actions))
        if not 0 <= record.weight <= MOST_WEIGHT:
            raise DemonstrationError(
                f"The weight must be between 0 and {MOST_WEIGHT}; got "
                f"{shorten(record.weight)}. Enter another weight."
            )
        try:
            plain_json([record.start, *record.actions])
        except ValueError as error:
            raise DemonstrationError(
                f"“{text[:60]}” cannot be stored: {error}. Change the text or the actions."
            ) from error
        try:
            each = self.demonstration(record)
            CachedEnvironment(each.environment).trace(each.start, each.actions, f"“{text[:60]}”")
            start = self.write_state(scene.name, each.start)
        except GroundlingError:
            raise
        except Exception as error:  # a user's environment may raise any exception
            raise WorldError(
                f"“{text[:60]}” cannot be carried out: {type(error).__name__}: {str(error)[:200]}. "
                "Correct the actions, or the world."
            ) from error
        return replace(record, text=text, start=start)

    def problem_of(self, record: Record) -> str | None:
        """Return why a demonstration is left out of training, or None if it is used."""
        return record.problem or self.aside.get(record.id)

    # ---- following ----------------------------------------------------------------------

    def follow(self, scene: StudioScene, start: State, text: str) -> Plan:
        """Return the follower's plan for a text in a scene."""
        with self.answering:
            follower = self.follower
            if follower is None:
                raise NotFittedError("There is no trained model yet. Add a demonstration first.")
            return follower.follow(self.setting.read(scene, text), scene.environment, start)

    def say(
        self,
        scene: StudioScene,
        start: State,
        text: str,
        *,
        before: Sequence[str] = (),
        choice: int | None = None,
        language: str = "",
    ) -> Turn:
        """Return the agent's turn after an utterance or the choice of an option.

        `before` is the list of texts that led to the open question. The agent keeps no state
        between calls but replays these texts, so that pages can be reloaded and turns undone.
        """
        with self.answering:
            follower = self.follower
            if follower is None:
                raise NotFittedError("There is no trained model yet. Add a demonstration first.")
            language = language if language in PHRASES else ""
            begin = partial(
                Agent, follower, scene.environment, start, language=language,
                may_say=partial(self.was_said, scene),
            )  # fmt: skip
            agent = begin()
            for each in before:
                agent.say(each, self.setting.read(scene, each))
            if before and not agent.asking:  # a newer model may no longer ask this question
                agent = begin()
            if choice is not None and agent.asking:
                turn = agent.choose(choice)
            else:
                turn = agent.say(text, self.setting.read(scene, text))
            if turn.kind != "act":  # pages show action names instead of the text of an act
                _ = turn.text  # computed and cached while the lock is held
            return turn

    def was_said(self, scene: StudioScene, text: str, plan: Plan) -> bool:
        """Return whether a stored demonstration has a text's words and a plan's actions.

        Clarification questions quote only such texts, because texts that are generated from a few
        demonstrations often sound wrong or name the wrong thing.
        """
        words, actions = _words(text), self.write_actions(scene.name, plan.actions)
        return any(_words(each) == words for each in self.store.texts_for(actions))

    def standing(self) -> dict[str, Any]:
        """Return how many recent and held-out demonstrations the follower gets right.

        A recent demonstration counts as right if the agent carries out the right plan without
        asking. Each text counts once per scene. Only the newest demonstrations are considered.
        """
        known = self._standing
        current = (self.learnt.fingerprint, self.store.revision)
        if known is not None and known[0] == current:
            return known[1]
        recent: dict[tuple[str, str], Record] = {}
        for each in self.store.latest(LATEST, apart=False):
            if len(recent) < RECENT and each.origin != "given" and self.problem_of(each) is None:
                recent.setdefault((each.scene, each.text), each)
        held = [e for e in self.store.latest(LATEST, apart=True) if self.problem_of(e) is None]
        found = {
            "recent": sum(map(self._does, recent.values())),
            "of": len(recent),
            "held": sum(self._does(each, sure=False) for each in held),
            "held_of": len(held),
        }
        if not self.is_behind:
            self._standing = (current, found)
        return found

    def _does(self, record: Record, sure: bool = True) -> bool:
        """Return whether the follower's plan for a demonstration is right.

        With `sure`, the plan also counts as wrong if the agent does not act on it.
        """
        try:
            scene, each = self.setting.scene(record.scene), self.demonstration(record)
            plan: Plan | None
            if sure:
                turn = self.say(scene, each.start, record.text)
                plan = turn.plan if turn.kind == "act" else None
            else:
                plan = self.follow(scene, each.start, record.text)
            return is_right(CachedEnvironment(each.environment), each, plan)
        except Exception:  # a user's environment may raise any exception; training reports it
            return False

    def would_do(self, record: Record) -> bool | None:
        """Return whether the follower gets a demonstration right; None if following fails."""
        follower = self.follower
        if follower is None:
            return False
        with self.answering:
            try:
                return follower.score([self.demonstration(record).weighted(1.0)]) == 1.0
            except GroundlingError:
                return None

    def is_given(self, name: str) -> bool:
        """Return whether the training demonstration with a given name came with the world."""
        number = name.partition(":")[0]  # see `_sorted`
        try:
            return not number.isdecimal() or self.store.record(int(number)).origin == "given"
        except DemonstrationError:  # deleted since the last training
            return False

    # ---- changing -----------------------------------------------------------------------

    def teach(self, record: Record) -> Record:
        """Store a demonstration and start training on it; return its record."""
        self.check_writes()
        record = self.check(record)
        what = f"teaching “{record.text[:60]}”"
        [added] = self.store.add([replace(record, right_before=self.would_do(record))], what)
        self.changed(what)
        return added

    def take_in(self, records: Sequence[Record]) -> int:
        """Store validated demonstrations as one undoable change, without duplicates.

        Returns the number of demonstrations that were not stored before.
        """
        self.check_writes()
        known = {each.content for each in self.store.records()}
        fresh = list({each.content: each for each in records if each.content not in known}.values())
        if fresh:
            what = f"importing {len(fresh)} demonstration{'s' * (len(fresh) != 1)}"
            self.store.add(fresh, what)
            self.changed(what)
        return len(fresh)

    def edit(self, number: int, fields: Mapping[str, Any]) -> Record:
        """Change fields of a demonstration; return the new record."""
        self.check_writes()
        before = self.store.record(number)
        if before.problem is not None:
            raise DemonstrationError(
                f"{before.problem} Delete this demonstration and teach it again."
            )
        what = f"editing “{before.text[:60]}”"
        after = self.check(replace(before, **fields))
        kept = {name: getattr(after, name) for name in {*fields, "text", "start"}}
        edited = self.store.change(number, what, **kept)
        self.changed(what)
        return edited

    def remove(self, number: int) -> None:
        """Delete the demonstration with the given number."""
        self.check_writes()
        what = f"deleting “{self.store.record(number).text[:60]}”"
        self.store.remove([number], what)
        self.changed(what)

    def undo(self) -> str:
        """Undo the last change; return its description."""
        self.check_writes()
        change = self.store.undo()
        if change is None:
            raise InstructionError("There is no change to undo.")
        self.changed(f"undone: {change.what}")
        return change.what

    # ---- learning -----------------------------------------------------------------------

    @property
    def is_behind(self) -> bool:
        """Whether demonstrations have changed since the last training."""
        return self.learnt_revision != self.store.revision

    def changed(self, what: str) -> None:
        """Notify pages of a change, and start training."""
        self._publish(what)
        self.wake()

    def _publish(self, what: str) -> None:
        undo = self.store.last_change()
        self.events.publish(
            "changed", {"revision": self.store.revision, "what": what, "undo": undo}
        )

    def wake(self) -> None:
        """Start training in the background if demonstrations have changed."""
        with self._wake:
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._learn_forever, daemon=True)
                self._thread.start()
            self._woken = True
            self._wake.notify_all()

    def _learn_forever(self) -> None:
        tried = -1
        while not self._stop.is_set():
            self._warm_up()
            try:
                if not self.writes:
                    self._watch()
                revision = self.store.revision
                if self.writes and revision != tried:
                    tried = revision
                    if self.is_behind:
                        self.learn_now()
            except _StoppedError:
                return
            except Exception as error:  # reported on the pages
                if self._stop.is_set():
                    return
                self.problem = _sentence(error)
                self.progress = None
                self.events.publish("failed", {"problem": self.problem})
            with self._wake:
                if not self._woken and not self._stop.is_set():
                    self._wake.wait(None if self.writes else WATCH)
                self._woken = False

    def _watch(self) -> None:
        """Load new models of the process that may write; take its place when it ends."""
        self.writes = self.store.claim()
        newest = self.store.models(1)
        seen = (self.store.revision, newest[0]["at"] if newest else None, self.writes)
        if seen != self._seen:
            self._seen = seen
            self._load_last()
            self.aside = self.store.aside()
            self._publish("changed by another process")
            self.events.publish("learnt", {"revision": self.learnt_revision})

    def _warm_up(self) -> None:
        """Follow one text, so that parser and kernels are ready for the first request."""
        if self._warm or self.follower is None:
            return
        self._warm = True
        scene = self.setting.scenes[0]
        with suppress(Exception):  # the first request reports errors
            said = [each.text for each in self.setting.examples]
            plan = self.follow(scene, scene.start, (*said, "go")[0])
            plan.explain()

    def learn_now(self) -> None:
        """Train on the current demonstrations, and save the model.

        Demonstrations that cannot be used for training are set aside with their problems.
        """
        self.check_writes()
        with self._learning:
            self._learn_revision()

    def _learn_revision(self) -> None:
        revision, records = self.store.snapshot()
        began = time.perf_counter()
        shown, apart, aside = self._sorted(records)
        follower = self._learn(shown, aside)
        accuracy = self.accuracy(follower, apart)
        seconds = time.perf_counter() - began
        current = fingerprint_of(records)
        try:
            digest = self._save(follower, revision) if follower is not None else ""
            self.store.learnt(revision, len(shown), accuracy, seconds, current, digest, aside)
        finally:  # use the new follower even if it could not be saved
            self.learnt = LearntState(follower, revision, current)
            self.aside = aside
            self.problem = self.progress = None
        self.events.publish(
            "learnt",
            {"revision": revision, "known": len(shown), "accuracy": accuracy, "seconds": seconds},
        )

    def _sorted(
        self, records: Sequence[Record]
    ) -> tuple[dict[str, Demonstration], list[Demonstration], dict[int, str]]:
        """Return training demonstrations, held-out demonstrations, and problems by id."""
        shown: dict[str, Demonstration] = {}
        apart: list[Demonstration] = []
        aside: dict[int, str] = {}
        ready: dict[str, Demonstration | str] = {}
        for number, each in enumerate(records):
            if number % 500 == 0:
                self._report("reading", number, len(records))
            key = each.fingerprint
            found = self._ready.get(key)
            if found is None or each.problem:
                try:
                    found = self.demonstration(self.check(each))
                except GroundlingError as error:
                    found = _short(error)
            ready[key] = found
            if isinstance(found, str):
                aside[each.id] = found
            elif each.apart:
                apart.append(found)
            else:
                # The name contains the fingerprint, so that an edited demonstration counts as new.
                shown[f"{each.id}: {each.text[:40]} ({key[:16]})"] = found
        self._ready = ready
        return shown, apart, aside

    def _learn(self, shown: dict[str, Demonstration], aside: dict[int, str]) -> Follower | None:
        """Return a trained follower; set aside demonstrations that make training fail."""
        known = self.learnt.follower
        make, base = self.setting.make, self.setting.base()
        try:
            return learn(make, base, shown, self._step, known)
        except (_StoppedError, OSError):
            raise
        except Exception:
            before = set() if known is None else {each.name for each in known.demonstrations_}
            bad: dict[str, str] = {}
            for number, name in enumerate(shown.keys() - before):
                self._report("checking", number, len(shown))
                try:
                    learn(make, (), {name: shown[name].weighted(1.0)}, lambda progress: True)
                except Exception as error:
                    bad[name] = _short(error)
            if not bad:
                raise
        for name, problem in bad.items():
            del shown[name]
            aside[int(name.partition(":")[0])] = problem
        return learn(make, base, shown, self._step, known)

    def _step(self, progress: Progress) -> None:
        self._report(progress.stage, progress.step, progress.steps)

    def _report(self, stage: str, step: int, steps: int) -> None:
        if self._stop.is_set():
            raise _StoppedError
        self.progress = {"stage": stage, "step": step, "steps": steps}
        self.events.publish("progress", self.progress)

    def accuracy(self, follower: Follower | None, apart: Sequence[Demonstration]) -> float | None:
        """Return a follower's accuracy on held-out demonstrations; None if there are none."""
        if not apart:
            return None
        if follower is None:
            return 0.0
        try:
            return follower.score(apart)
        except GroundlingError:  # a demonstration that cannot be followed counts as wrong
            return sum(_scored(follower, each) for each in apart) / len(apart)

    def _save(self, follower: Follower, revision: int) -> str:
        models = self._models()
        models.mkdir(exist_ok=True)
        if (models / str(revision)).is_symlink():
            raise ProjectError(
                f"{models / str(revision)} must be a folder; got a link. Delete the link."
            )
        follower.save(models / str(revision))
        for old in _revisions(models)[:-KEPT]:
            shutil.rmtree(models / str(old), ignore_errors=True)
        return _digest(models / str(revision))

    def model(self, revision: int) -> Follower:
        """Return the saved model of a revision."""
        follower, learnt, _ = self.learnt
        if revision == learnt and follower is not None:
            return follower
        if revision not in self.kept_models():
            raise ProjectError(
                f"There is no saved model for revision {revision}. Only the last {KEPT} are "
                "kept. Choose a later revision."
            )
        return Follower.load(self._models() / str(int(revision)))

    def kept_models(self) -> list[int]:
        """Return the revisions of all saved models."""
        models = self.folder / "models"
        return [] if models.is_symlink() or not models.is_dir() else _revisions(models)

    def _models(self) -> Path:
        """Return the folder of all models; raise `ProjectError` if it is a link or a file."""
        models = self.folder / "models"
        if models.is_symlink() or models.is_file():
            found = "link" if models.is_symlink() else "file"
            raise ProjectError(f"{models} must be a folder; got a {found}. Delete the {found}.")
        return models


def _revisions(models: Path) -> list[int]:
    """Return the revisions of the models in a folder, ignoring links."""
    return sorted(
        int(each.name)
        for each in models.iterdir()
        if re.fullmatch("[0-9]{1,18}", each.name) and each.is_dir() and not each.is_symlink()
    )


def fingerprint_of(records: Sequence[Record]) -> str:
    """Return a fingerprint of the records used for training, without held-out records.

    >>> one = Record("hall", "turn left", 3, ("left",))
    >>> fingerprint_of([one]) == fingerprint_of([replace(one, weight=2.0)])
    False
    """
    return fingerprint([[each.id, each.fingerprint] for each in records if not each.apart])


def _digest(folder: Path) -> str:
    """Return the hash of a model's manifest, which has the hashes of all its files."""
    manifest = read_plain(folder / MANIFEST, LIMITS[MANIFEST], ModelFileError)
    return hashlib.sha256(manifest).hexdigest()


class _StoppedError(Exception):
    """Exception that stops training when the project is closed."""


def _scored(follower: Follower, demonstration: Demonstration) -> float:
    try:
        return follower.score([demonstration])
    except GroundlingError:
        return 0.0


def _text_of(demonstration: Demonstration) -> str:
    text = demonstration.instructions
    return text if isinstance(text, str) else "\n".join(map(str, text))


def _short(error: Exception) -> str:
    said = " ".join(str(error).split())
    if not isinstance(error, GroundlingError):
        said = f"Training on this demonstration failed: {type(error).__name__}: {said}."
    return said if len(said) <= 500 else said[:499] + "…"


def _sentence(error: Exception) -> str:
    said = " ".join(str(error).split())[:500]
    if isinstance(error, DiskFullError) or "No space left" in said:
        return (
            "The disk is full (No space left on device), so the model could not be saved. It is in "
            "use, and demonstrations are saved. Free some disk space; the next model will be saved."
        )
    if isinstance(error, GroundlingError):
        return said
    if isinstance(error, OSError) and error.strerror:
        return f"The model could not be saved: {error.strerror}. Demonstrations are saved."
    return f"Training failed: {type(error).__name__}: {said}. Demonstrations are saved."


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
