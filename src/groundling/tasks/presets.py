"""Presets of a task, and the rows of its results tables."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources.abc import Traversable
from typing import Any, Generic, TypeVar

from groundling.errors import SettingError, check_known, did_you_mean
from groundling.features.feature_settings import Features
from groundling.features.lexicon import Lexicon
from groundling.follower import Follower
from groundling.inference.search import Search
from groundling.learning.settings import Learning
from groundling.models.base import Member, Model
from groundling.models.every import MODELS
from groundling.models.plan import PlanModel
from groundling.overlay.settings import Overlay
from groundling.settings import Settings
from groundling.world.environment import Demonstration

FULL = "full"
"""Name of the row without any ablation."""


@dataclass(frozen=True, kw_only=True)
class Preset:
    """Settings of a follower and of its environment, with published scores.

    With `auto`, the follower chooses its settings from the demonstrations, except those that
    `overrides` sets. Tasks derive classes with further settings.

    >>> Preset().follower(seed=3).seed
    3
    >>> Preset(auto=True).follower().model
    'auto'
    """

    model: Model = PlanModel()  # noqa: RUF009 - a frozen value
    overlay: Overlay = Overlay()  # noqa: RUF009
    features: Features = Features()  # noqa: RUF009
    learning: Learning = Learning()  # noqa: RUF009
    search: Search = Search()  # noqa: RUF009
    environment: Mapping[str, Any] = field(default_factory=dict)
    parser: str = "default"
    published: Mapping[str, float] = field(default_factory=dict)
    auto: bool = False
    overrides: tuple[tuple[str, Any], ...] = ()

    def follower(self, *, seed: int = 0, threads: int = 1) -> Follower:
        """Return an untrained follower with these settings."""
        names = () if self.auto else ("model", "overlay", "features", "learning", "search")
        given = {name: getattr(self, name) for name in names}
        return Follower(**given, parser=self.parser, seed=seed, threads=threads)

    def fit(
        self,
        shown: Iterable[Demonstration],
        *,
        seed: int = 0,
        tell: Callable[[Sequence[Any]], None] = lambda choices: None,
        **options: Any,
    ) -> Follower:
        """Return a follower with these settings, trained on demonstrations.

        `options` are passed to `Follower.fit`. `tell` is called with the settings that were chosen
        automatically, except those in `overrides`.
        """
        follower = self.follower(seed=seed)
        if not self.overrides:
            follower.fit(shown, **options)
            tell(follower.choices_)
            return follower
        follower.fit(shown, check=False)
        said = {name.lower() for name, _ in self.overrides}
        tell([each for each in follower.choices_ if each.what.lower() not in said])
        names = {name.replace(".", "__"): value for name, value in self.overrides}
        return follower.chosen().set_params(**names).fit(shown, **options)

    def learns_like(self, other: Preset) -> bool:
        """Return whether two presets are trained in the same way and can share one run."""
        return self is other


PresetT = TypeVar("PresetT", bound=Preset)


@dataclass(frozen=True)
class Presets(Generic[PresetT]):
    """Presets of a task, each with the rows of its results table by name.

    `trained` is the name of the row that is trained by default.

    >>> lamps = Presets("lamps", {"best": {
    ...     "full": Preset(), "no planning": Preset(search=Search(planning=False))}})
    >>> list(lamps), lamps.variants_of("best")
    (['best'], ('full', 'no planning'))
    >>> lamps.select("best", "no planning").search.planning
    False
    >>> lamps.select("bst")
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: The task lamps has no preset 'bst'. Did you mean 'best'?
    """

    task: str
    rows: Mapping[str, Mapping[str, PresetT]]
    trained: str = FULL

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    @property
    def default(self) -> str:
        """Name of the default preset."""
        return "best" if "best" in self.rows else next(iter(self.rows))

    def variants_of(self, preset: str) -> tuple[str, ...]:
        """Return the names of the rows of a preset."""
        check_known(preset, self.rows, f"The task {self.task} has no preset")
        return tuple(self.rows[preset])

    def select(self, preset: str, variant: str = FULL) -> PresetT:
        """Return the settings of a row of a preset."""
        known = self.variants_of(preset)
        variant = self.trained if variant == FULL else variant
        check_known(variant, known, f"The preset {preset!r} has no row")
        return self.rows[preset][variant]

    def group(self, preset: str, variants: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the rows in groups; the rows of a group share a training run."""
        found: list[list[str]] = []
        for name in variants:
            chosen = self.select(preset, name)
            for group in found:
                if self.select(preset, group[0]).learns_like(chosen):
                    group.append(name)
                    break
            else:
                found.append([name])
        return [tuple(group) for group in found]


def with_changes(chosen: PresetT, changes: Iterable[tuple[str, Any]]) -> PresetT:
    """Return a preset with changed settings, such as `learning.l2`.

    >>> with_changes(Preset(), [("learning.l1", 0.5)]).learning.l1
    0.5
    >>> with_changes(Preset(), [("learning.iteration", 5)])
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: A preset must contain only known settings; got
    'learning.iteration'. Did you mean 'iterations'?
    """
    for path, value in changes:
        if chosen.auto and "." in path:
            chosen = replace(chosen, overrides=(*chosen.overrides, (path, value)))
        else:
            chosen = _with_change(chosen, path.split("."), value, path)
    return chosen


def _with_change(settings: Any, names: Sequence[str], value: Any, path: str) -> Any:
    known = getattr(settings, "__dataclass_fields__", ())
    if names[0] not in known:
        raise SettingError(
            f"A preset must contain only known settings; got "
            f"{path!r}.{did_you_mean(names[0], known)}"
        )
    if len(names) > 1:
        value = _with_change(getattr(settings, names[0]), names[1:], value, path)
    now = getattr(settings, names[0])
    try:
        return replace(settings, **{names[0]: value})
    except TypeError as error:
        raise SettingError(
            f"`{path}` must have the type {type(now).__name__}, as its default {now!r:.60} has; "
            f"got {value!r}."
        ) from error


# ---- presets.toml -----------------------------------------------------------------------------

Table = Mapping[str, Any]


def read_presets(task: str, kind: type[PresetT], folder: Traversable) -> Presets[PresetT]:
    """Return the presets in a task's `presets.toml`.

    The file has a table for each preset. A table lists the settings that differ from the defaults
    or from those named by `like` (a classmethod such as `flat` or `bag`, or `default`). Its `rows`
    are further rows of the results table, such as ablations. Each lists its changes to the preset,
    and does not inherit the published scores. Changed features apply to all members of an ensemble,
    and each member can change further settings.

    >>> from importlib.resources import files
    >>> from groundling.tasks.mazes.maze_presets import MazePreset
    >>> mazes = read_presets("mazes", MazePreset, files("groundling.tasks.mazes"))
    >>> list(mazes), mazes.select("best", "no mirror").learning.augment
    (['paper', 'best', 'auto'], False)
    """
    found: dict[str, dict[str, PresetT]] = {}
    for name, table in tomllib.loads((folder / "presets.toml").read_text("utf-8")).items():
        rows = table.pop("rows", {})
        full = _preset(table, folder, kind())
        plain = replace(full, published={})
        found[name] = {FULL: full, **{row: _preset(e, folder, plain) for row, e in rows.items()}}
    return Presets(task, found)


def _preset(table: Table, folder: Traversable, given: PresetT) -> PresetT:
    simple = {
        name: _value(getattr(given, name), value, folder)
        for name, value in table.items()
        if name != "model"
    }
    made = replace(given, **simple)
    if "model" in table:
        return replace(made, model=_model(table["model"], folder, made))
    if "features" in table and isinstance(members := getattr(made.model, "members", None), tuple):
        changed = tuple(
            replace(each, features=_value(each.features, table["features"], folder))
            for each in members
        )
        made = replace(made, model=replace(made.model, members=changed))  # type: ignore[call-arg]
    return made


def _value(known: Any, value: Any, folder: Traversable) -> Any:
    """Return a value from the file, converted to the type of the setting's default."""
    if isinstance(known, Settings):
        table = dict(value)
        known = _begin(type(known), table, known)
        lexicon = table.get("lexicon")
        if isinstance(lexicon, Mapping):
            table["lexicon"] = Lexicon(**lexicon)
        elif str(lexicon).endswith(".txt"):
            table["lexicon"] = Lexicon.read(str(folder / str(lexicon)))
        return replace(known, **table)
    if isinstance(known, Mapping):
        return {**known, **value}
    return tuple(value) if isinstance(value, list) else value


def _begin(kind: type[Settings], table: dict[str, Any], known: Settings) -> Any:
    like = table.pop("like", "")
    return known if not like else kind() if like == "default" else getattr(kind, like)()


def _model(given: Table, folder: Traversable, preset: Preset) -> Model:
    table = dict(given)
    kind = MODELS[table.pop("kind")]
    if "members" in table:
        table["members"] = tuple(
            Member(*(_value(getattr(preset, name), each.get(name, {}), folder)
                     for name in ("overlay", "features")))
            for each in table["members"]
        )  # fmt: skip
        table["model"] = _model(table["model"], folder, preset)
    made: Model = replace(_begin(kind, table, kind()), **table)
    return made
