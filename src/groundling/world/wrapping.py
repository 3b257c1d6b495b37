"""Environments around other environments: what they are called, and what is inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundling.world.environment import Environment

__all__ = ["Wrapper", "class_name", "innermost"]


class Wrapper:
    """An environment that shows more of another one, which is its attribute `environment`.

    Messages name the class of the environment inside, which is the one that people wrote, and
    its classes are those that states and actions in files may be of.

    >>> class Farm: ...
    >>> class Ranked(Wrapper): ...
    >>> class_name(Ranked(Ranked(Farm())))
    'Farm'
    """

    def __init__(self, environment: Environment[Any, Any]) -> None:
        self.environment = environment

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.environment!r})"


def innermost(environment: object) -> object:
    """Return the environment inside all wrappers; itself if there is none.

    >>> innermost(Wrapper(Wrapper(3)))
    3
    """
    while isinstance(environment, Wrapper):
        environment = environment.environment
    return environment


def class_name(environment: object) -> str:
    """Return the class of the environment inside all wrappers, as messages name it."""
    return type(innermost(environment)).__name__
