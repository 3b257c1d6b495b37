"""User-defined worlds, found by name in a file, a module or an installed package."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

from groundling.data.canonical import canonical
from groundling.data.codec import Codec
from groundling.errors import WorldError, did_you_mean
from groundling.world.environment import Environment, shorten

ENTRY_POINTS = "groundling.worlds"
"""The entry point group in which packages list their worlds."""

_NEEDED = ("actions", "step", "ground")
_KEPT = 1000  # maximum number of cached worlds

Maker: TypeAlias = Callable[..., Any]
GivenWorlds: TypeAlias = (
    "str | Environment | Maker | Mapping[str, str | Environment | Maker] | Worlds"
)
"""Worlds as a caller may pass them: a single one, or several by name."""


def load_world(name: str, **arguments: Any) -> Environment:
    """Create the world with a given name.

    Parameters
    ----------
    name
        `my_world.py:Kitchen` names a class or function in a file; `package.module:Kitchen` names
        one in an importable module. A name can also be an entry point in the group
        `groundling.worlds`, or a file that ends in `.json`, which is read as a `SceneWorld`.
        Arguments may follow as JSON: `my_world.py:Kitchen{"size": 3}`.
    arguments
        Keyword arguments, which override those in the name.

    Raises
    ------
    WorldError
        If the world cannot be found or created.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> code = '''
    ... class Stairs:
    ...     def __init__(self, steps=3): self.steps = steps
    ...     def actions(self, state): return ("up",) if state < self.steps else ()
    ...     def step(self, state, action): return state + 1
    ...     def ground(self, state, action, after): ...
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "my_stairs.py").write_text(code)
    ...     stairs = load_world(f'{folder}/my_stairs.py:Stairs{{"steps": 9}}')
    >>> stairs.steps
    9
    >>> load_world("my_stares.py:Stairs")
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: There is no file my_stares.py...
    """
    return _make(name, *_find(name), arguments)


class KnownWorld(NamedTuple):
    """An environment with its codec, its name and its arguments."""

    environment: Environment
    codec: Codec
    name: str
    arguments: Mapping[str, Any]


class Worlds:
    """The worlds to which records may refer, by name.

    Parameters
    ----------
    given
        One world, or several by name. A world is an environment, a class or function that creates
        one (called with the arguments in the record), or a name for `load_world`; such a world is
        known by the part of the name after the colon. If there is only one world, records need not
        name it.

    Examples
    --------
    >>> class Line:
    ...     def __init__(self, size=4): self.size = size
    ...     def actions(self, state): return ("right",) if state < self.size else ()
    ...     def step(self, state, action): return state + 1
    ...     def ground(self, state, action, after): ...
    >>> worlds = Worlds({"line": Line, "short": Line(1)})
    >>> worlds.get("line", {"size": 9}).environment.size
    9
    >>> worlds.get("line", {"size": 9}) is worlds.get("line", {"size": 9})
    True
    >>> worlds.get("lime")
    Traceback (most recent call last):
        ...
    groundling.errors.WorldError: `worlds` must contain the world 'lime'. Did you mean 'line'?
    """

    def __init__(self, given: GivenWorlds) -> None:
        self.given: Any = given
        if isinstance(given, Mapping):
            self._named: dict[str, Any] = dict(given)
        else:
            self._named = {_own_name(given): given}
        for name, world in self._named.items():
            if not isinstance(world, str) and not callable(world):
                _check(world, name)
        if not self._named:
            raise WorldError(
                "`worlds` must contain at least one world; got none. Pass an environment, a "
                "class or a name."
            )
        self._found: dict[str, tuple[Any, dict[str, Any]]] = {}
        self._known: OrderedDict[tuple[str, str], KnownWorld] = OrderedDict()

    @classmethod
    def of(cls, given: GivenWorlds) -> Worlds:
        """Return the given worlds as `Worlds`; if they are `Worlds`, return them unchanged.

        >>> worlds = Worlds("my_world.py:Kitchen")
        >>> Worlds.of(worlds) is worlds
        True
        """
        return given if isinstance(given, Worlds) else cls(given)

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which records can refer to the worlds."""
        return tuple(self._named)

    def check(self) -> None:
        """Raise an error if a name cannot be resolved; call it before reading records.

        >>> Worlds("no_such_file.py:Kitchen").check()
        Traceback (most recent call last):
            ...
        groundling.errors.WorldError: There is no file no_such_file.py...
        """
        for given in self._named.values():
            if isinstance(given, str):
                _find(given)

    def get(self, name: str = "", arguments: Mapping[str, Any] | None = None) -> KnownWorld:
        """Return the world with the given name and arguments; by default, the only world."""
        key = (name, canonical(arguments) if arguments else "")
        known = self._known.get(key)
        if known is None:
            known = self._make(name, arguments or {})
            self._known[key] = known
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        elif len(self._known) == _KEPT:
            self._known.move_to_end(key)
        return known

    def name_of(self, environment: object) -> tuple[str, Mapping[str, Any]] | None:
        """Return the name and arguments of a known environment, or None for any other."""
        for name, given in self._named.items():
            if given is environment:
                return name, {}
        for known in self._known.values():
            if known.environment is environment:
                return known.name, known.arguments
        return None

    def _make(self, name: str, arguments: Mapping[str, Any]) -> KnownWorld:
        if not name:
            if len(self._named) > 1:
                raise WorldError(
                    "Every record must have a `world` if there are several worlds. Use one "
                    f"of {', '.join(map(repr, self._named))}."
                )
            [name] = self._named
            return self.get(name, arguments)
        if name not in self._named:
            raise WorldError(
                f"`worlds` must contain the world {name!r}.{did_you_mean(name, self._named)}"
            )
        if name not in self._found:
            given = self._named[name]
            self._found[name] = _find(given) if isinstance(given, str) else (given, {})
        environment = _make(name, *self._found[name], arguments)
        return KnownWorld(environment, Codec(environment), name, dict(arguments))

    def __getstate__(self) -> dict[str, Any]:
        # Copies in other processes create the worlds again.
        return {"given": self.given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"Worlds({', '.join(self._named)})"


def _own_name(given: object) -> str:
    if isinstance(given, str):
        name = given.partition("{")[0].rpartition(":")[2].strip()
        return Path(name).stem if name.endswith(".json") else name
    kind = given if hasattr(given, "__qualname__") else type(given)
    return str(getattr(kind, "__name__", "world"))


def _make(name: str, found: Any, preset: Mapping[str, Any], more: Mapping[str, Any]) -> Environment:
    """Return `found` if it is an environment, otherwise the environment it creates."""
    arguments = {**preset, **more}
    if not isinstance(found, type) and all(hasattr(found, each) for each in _NEEDED):
        if arguments:
            raise WorldError(
                f"{name} must not be given arguments, because it is already an environment object; "
                f"got {sorted(arguments)[0]!r}. Remove the arguments, or name a class or function "
                "that creates the environment."
            )
        return _check(found, name)
    if not callable(found):
        return _check(found, name)
    _check_factory(found, name)
    try:
        made = found(**arguments)
    except (Exception, SystemExit) as error:
        with_what = f" with {_shown(arguments)}" if arguments else " without arguments"
        raise WorldError(
            f"{name} cannot be created{with_what}: {_said(error)}{_line_of(error)}. Check "
            "its arguments."
        ) from error
    return _check(made, name)


def _check_factory(found: Any, name: str) -> None:
    """Raise an error for an object that cannot create an environment.

    A class must have the methods of an environment. Standard library objects are rejected.
    """
    made, what = found.func if isinstance(found, partial) else found, ""
    home = str(getattr(made, "__module__", None) or type(made).__module__)
    if home.partition(".")[0] in sys.stdlib_module_names:
        what = "it is part of the standard library"
    elif isinstance(made, type) and not hasattr(made, "__getattr__"):
        what = next((f"it has no method `{e}`" for e in _NEEDED if not hasattr(made, e)), "")
    if what:
        raise WorldError(
            f"{name} must create an environment: {what}. Use a class with the methods "
            "`actions`, `step` and `ground`, or a function that returns an environment."
        )


def _check(found: Any, name: str) -> Environment:
    missing = [each for each in _NEEDED if not callable(getattr(found, each, None))]
    if missing:
        what = f"{shorten(found)} has no method `{missing[0]}`"
        raise WorldError(
            f"{name} must be an environment: {what}. An environment has the methods `actions`, "
            "`step` and `ground`."
        )
    environment: Environment = found
    return environment


def _find(name: str) -> tuple[Any, dict[str, Any]]:
    """Return the object to which a name refers, and the arguments in the name."""
    place, brace, rest = name.partition("{")
    arguments = _arguments(name, brace + rest) if brace else {}
    place, colon, attribute = place.strip().rpartition(":")
    if not colon:
        if attribute.endswith(".json"):
            from groundling.data.scene_world import SceneWorld

            return SceneWorld.load(attribute), arguments
        if attribute.endswith(".py"):
            raise WorldError(
                f"{attribute} is a file. Add the name of the class or function that creates the "
                f"world, such as {attribute}:Kitchen.{_offered(_read_file(attribute))}"
            )
        return _entry_point(attribute), arguments
    if place.endswith(".py") or "/" in place or "\\" in place:
        module = _read_file(place)
    else:
        module = _import(place, name)
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = [each for each in vars(found) if not each.startswith("_")]
            hint = did_you_mean(part, public) if public else " It is empty."
            raise WorldError(f"{place} does not define {attribute!r}.{hint}")
        found = getattr(found, part)
    return found, arguments


def _arguments(name: str, text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text)
    except ValueError as error:
        raise WorldError(
            f"The arguments in {name!r} must be JSON ({error}). Write them as in "
            """'my_world.py:Kitchen{"size": 3}', in single quotes."""
        ) from error
    read: dict[str, Any] = arguments
    return read


def _entry_point(name: str) -> Any:
    found = entry_points(group=ENTRY_POINTS)
    if name not in found.names:
        hint = did_you_mean(name, found.names) or (
            " For a user-defined world, pass its file and class, such as my_world.py:Kitchen."
        )
        raise WorldError(f"No installed package provides a world {name!r}.{hint}")
    try:
        return found[name].load()
    except (Exception, SystemExit) as error:
        raise WorldError(
            f"The world {name!r} ({found[name].value}) cannot be imported: {_said(error)}. Update "
            "or reinstall its package."
        ) from error


def _import(place: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name is not None and (place == error.name or place.startswith(error.name + ".")):
            file = f"{place.replace('.', '/')}.py"
            hint = f" For a file, write {file}:{name.rpartition(':')[2]}."
            raise WorldError(f"There is no module {error.name!r}.{hint}") from error
        raise WorldError(
            f"{place} cannot be imported: {_said(error)}. Correct the module."
        ) from error
    except (Exception, SystemExit) as error:
        raise WorldError(
            f"{place} cannot be imported: {_said(error)}{_line_of(error)}. Correct the module."
        ) from error


def _read_file(place: str) -> ModuleType:
    """Import a file as a module once; the file can import other modules in its folder."""
    path = Path(place).expanduser().resolve()
    if not path.is_file():
        beside = [each.name for each in path.parent.glob("*.py")] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, beside) if beside else ""
        raise WorldError(f"There is no file {place}.{hint}")
    mangled = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    for name in (path.stem, mangled):
        known = sys.modules.get(name)
        if known is not None and _is_of(known, path):
            return known
    # Use the name of the file if it is free, so that `import my_world` finds the same module.
    name = path.stem if _is_free(path.stem) else mangled
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise WorldError(
            f"{place} must be a Python file with a name that ends in .py. Use another file."
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # the creation of data classes looks up their module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise WorldError(
            f"{place} cannot be imported: {_said(error)}{_line_of(error, path)}. Correct the file."
        ) from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def _is_of(module: ModuleType, path: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve() == path


def _is_free(name: str) -> bool:
    try:
        return (
            name.isidentifier()
            and name not in sys.modules
            and importlib.util.find_spec(name) is None
        )
    except (ImportError, ValueError):
        return False


def _offered(module: ModuleType) -> str:
    names = [
        name
        for name, each in vars(module).items()
        if isinstance(each, type) and all(hasattr(each, method) for method in _NEEDED)
    ]
    return f" It defines {', '.join(names)}." if names else ""


def _said(error: BaseException) -> str:
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {' '.join(said.split())}".rstrip(".: ")


def _line_of(error: BaseException, path: Path | None = None) -> str:
    """Return a note with the line in the user's file at which an error was raised."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" (line {error.lineno} of {Path(error.filename).name})"
    frames = traceback.extract_tb(error.__traceback__)
    own = [
        frame
        for frame in frames
        if (Path(frame.filename) == path if path else frame.filename != __file__)
        and not frame.filename.startswith("<")
    ]
    if not own:
        return ""
    return f" (line {own[-1].lineno} of {Path(own[-1].filename).name})"


def _shown(arguments: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(arguments, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(dict(arguments))
    return text if len(text) <= 80 else text[:79] + "…"
