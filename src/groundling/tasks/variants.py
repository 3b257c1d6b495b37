"""Presets by name, and their variants: the same settings with a part taken away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from groundling.errors import SettingError, check_known, did_you_mean
from groundling.features.feature_settings import Features
from groundling.follower import Follower
from groundling.inference.search import Search
from groundling.learning.settings import Learning
from groundling.models.base import Model
from groundling.models.plan import PlanModel
from groundling.overlay.settings import Overlay
from groundling.world.environment import Demonstration

FULL = "full"
"""The variant from which nothing is taken away."""


@dataclass(frozen=True, kw_only=True)
class BasePreset:
    """A follower's settings, those of the environment, and what was published for them.

    With `auto`, the follower is given no settings and chooses from the demonstrations;
    `overrides` then replace some of what it chose. Tasks add what else they need.

    >>> BasePreset().follower(seed=3).seed
    3
    >>> BasePreset(auto=True).follower().model
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
        """Return a follower with these settings, not yet trained."""
        if self.auto:
            return Follower(parser=self.parser, seed=seed, threads=threads)
        return Follower(
            model=self.model,
            overlay=self.overlay,
            features=self.features,
            learning=self.learning,
            search=self.search,
            parser=self.parser,
            seed=seed,
            threads=threads,
        )

    def fit(
        self,
        shown: Iterable[Demonstration],
        *,
        seed: int = 0,
        tell: Callable[[Sequence[Any]], None] = lambda choices: None,
        **options: Any,
    ) -> Follower:
        """Return a follower trained with these settings; `options` are those of `Follower.fit`.

        `tell` is called with what was chosen from the demonstrations, `overrides` left out.
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

    def learns_like(self, other: BasePreset) -> bool:
        """Tell whether a follower trained with these settings can be used with the others.

        Variants that learn alike are evaluated together and trained once.
        """
        return self is other


PresetT = TypeVar("PresetT", bound=BasePreset)


@dataclass(frozen=True)
class Presets(Generic[PresetT]):
    """The presets of a task, and for each its variants: the rows of its table.

    A variant is what is done to the preset.

    >>> lamps = Presets("lamps", {"best": BasePreset()}, {"best": {
    ...     "full": lambda given: given,
    ...     "no planning": lambda given: replace(given, search=Search(planning=False)),
    ... }})
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
    presets: Mapping[str, PresetT]
    variants: Mapping[str, Mapping[str, Callable[[PresetT], PresetT]]]
    trained: str = FULL  # the row that is trained where none is named

    def __iter__(self) -> Iterator[str]:
        return iter(self.presets)

    @property
    def default(self) -> str:
        """The name of the preset that is taken if none is named."""
        return "best" if "best" in self.presets else next(iter(self.presets))

    def variants_of(self, preset: str) -> tuple[str, ...]:
        """Return the names of a preset's variants, or say which preset may have been meant."""
        check_known(preset, self.presets, f"The task {self.task} has no preset")
        return tuple(self.variants[preset])

    def select(self, preset: str, variant: str = FULL) -> PresetT:
        """Return the settings of a variant, or say which name may have been meant."""
        known = self.variants_of(preset)
        variant = self.trained if variant == FULL else variant
        # Tables and options call them rows.
        check_known(variant, known, f"The preset {preset!r} has no row")
        return self.variants[preset][variant](self.presets[preset])

    def group(self, preset: str, variants: Sequence[str]) -> list[tuple[str, ...]]:
        """Return variants together that learn alike."""
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


Settings = TypeVar("Settings")


def with_changes(chosen: Settings, changes: Iterable[tuple[str, Any]]) -> Settings:
    """Return settings with some of them changed, such as `learning.l2`.

    >>> chosen = BasePreset()
    >>> with_changes(chosen, [("learning.l1", 0.5)]).learning.l1
    0.5
    >>> with_changes(chosen, [("learning.iteration", 5)])
    Traceback (most recent call last):
        ...
    groundling.errors.SettingError: There is no setting 'learning.iteration'. Did you mean
    'iterations'?
    """
    for path, value in changes:
        if getattr(chosen, "auto", False) and "." in path:
            path, value = "overrides", (*chosen.overrides, (path, value))  # type: ignore[attr-defined]
        chosen = _changed(chosen, path.split("."), value, path)
    return chosen


def _changed(settings: Any, names: Sequence[str], value: Any, path: str) -> Any:
    known = getattr(settings, "__dataclass_fields__", ())
    if names[0] not in known:
        raise SettingError(f"There is no setting {path!r}.{did_you_mean(names[0], known)}")
    if len(names) > 1:
        value = _changed(getattr(settings, names[0]), names[1:], value, path)
    try:
        return replace(settings, **{names[0]: value})
    except TypeError as error:
        raise SettingError(f"{path} cannot be {value!r}. Give a value of its kind.") from error
