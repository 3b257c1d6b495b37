"""The scikit-learn interface: nested parameters by name, and notebook output."""

from __future__ import annotations

import inspect
from dataclasses import fields
from html import escape
from typing import Any, Self

import numpy as np

from groundling.errors import SettingError, check_known, did_you_mean
from groundling.features.feature_settings import Features
from groundling.inference.search import Search
from groundling.language.parser import Parser
from groundling.learning.settings import Learning
from groundling.models.base import Model
from groundling.overlay.settings import Overlay
from groundling.selection.configurations import default_model
from groundling.settings import AUTO, Settings

_KINDS: dict[str, type[Settings]] = {
    "model": Model,
    "overlay": Overlay,
    "features": Features,
    "learning": Learning,
    "search": Search,
}


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == AUTO


def _plain(name: str) -> Settings:
    """Return the default settings of a group, such as `learning` or `search`."""
    kind = _KINDS[name]
    return default_model() if kind is Model else kind()


class Estimator:
    """Base class with the scikit-learn methods for reading and changing settings.

    >>> from groundling import Follower
    >>> Follower().set_params(learning__l2=2.0).get_params()["learning__l2"]
    2.0
    """

    parser: str | Parser

    def _check_settings(self) -> None:
        for name, kind in _KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kind) and not _is_auto(value):
                example = type(_plain(name)).__name__
                raise SettingError(
                    f"Follower.{name} must be {example}(…) or 'auto'; got {value!r}."
                )
        if not isinstance(self.parser, str) and not isinstance(self.parser, Parser):
            raise SettingError(
                f"Follower.parser must be a parser or the name of one; got {self.parser!r}. "
                "Use 'default' or 'chain'."
            )
        for name, least in (("seed", 0), ("threads", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise SettingError(f"Follower.{name} must be a whole number; got {value!r}.")
            if value < least:
                raise SettingError(f"Follower.{name} must be >= {least}; got {value}.")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings by name; with `deep`, also nested ones (`learning__l2`)."""
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        found = {name: getattr(self, name) for name in names}
        if deep:
            for name, value in list(found.items()):
                if isinstance(value, Settings):
                    found |= {f"{name}__{e.name}": getattr(value, e.name) for e in fields(value)}
        return found

    def set_params(self, **settings: Any) -> Self:
        """Change settings, including nested ones: `set_params(learning__l2=2.0)`.

        The fitted model does not change until the next `fit`. A nested setting that would have no
        effect in combination with the new ones is reset to its default.
        """
        before = self.get_params(deep=False)
        try:
            inside: dict[str, dict[str, Any]] = {}
            for name, value in settings.items():
                outer, nested, inner = name.partition("__")
                if nested:
                    inside.setdefault(outer, {})[inner] = value
                elif name in before:
                    setattr(self, name, value)
                else:
                    raise self._unknown(name)
            for outer, values in inside.items():
                group = getattr(self, outer) if outer in before else None
                if _is_auto(group) and outer in _KINDS:
                    group = _plain(outer)  # setting one field fixes the whole group
                if not isinstance(group, Settings):
                    raise self._unknown(f"{outer}__{next(iter(values))}")
                known = [each.name for each in fields(group)]
                for inner in values:
                    check_known(inner, known, f"{type(group).__name__} has no setting")
                setattr(self, outer, group.changed_to(**values))
            self._check_settings()
        except SettingError:
            for name, value in before.items():  # undo the changes made so far
                setattr(self, name, value)
            raise
        return self

    def _unknown(self, name: str) -> SettingError:
        known = self.get_params()
        known |= {f"{e}__{n}": v for e in _KINDS for n, v in _plain(e).to_dict().items()}
        inside = [each for each in known if each.endswith(f"__{name}")]  # l2 is learning__l2
        hint = did_you_mean(inside[0], inside) if inside else did_you_mean(name, known)
        return SettingError(f"Follower has no setting {name!r}.{hint}")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learnt")

    def __repr__(self) -> str:
        default = type(self)().get_params(deep=False)
        given = self.get_params(deep=False)
        changed = [f"{k}={v!r}" for k, v in given.items() if v != default[k]]
        return f"Follower({', '.join(changed)})"

    def _repr_html_(self) -> str:
        """Show the settings and, once fitted, the strongest weights, in a notebook."""
        lines = [f"<code>{escape(repr(self))}</code>"]
        if self.__sklearn_is_fitted__():
            fitted: Any = self
            learnt = fitted.learnt_
            rows = "".join(
                f"<tr><td>{weight:+.2f}</td><td>{escape(name)}</td></tr>"
                for name, weight in fitted.weights(most=10)
            )
            lines.append(
                f"<p>{sum(len(each.theta) for each in learnt.fitted.members)} weights, loss "
                f"{learnt.loss:.3f}; the strongest:</p>"
                f"<table>{rows}</table>"
            )
        else:
            lines.append("<p>Not fitted yet.</p>")
        return f"<div>{''.join(lines)}</div>"
