"""Safe reader of untrusted YAML that accepts only plain values, within limits."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from groundling.errors import GroundlingError
from groundling.files import read_plain
from groundling.limits import YAML_BYTES, YAML_DEPTH, YAML_VALUES

_LONGEST_NUMBER = 100  # in characters; sexagesimal numbers (`1:30`) take quadratic time


def load_yaml(
    path: str | Path, error: type[GroundlingError] = GroundlingError, *, aliases: bool = False
) -> Any:
    """Return the content of a YAML file as plain values, such as lists and mappings.

    Raises `error`, naming the file, for tags, duplicate keys, aliases (unless `aliases` is set),
    and files that exceed the limits on bytes, values or levels.
    """
    yaml = _yaml()
    content = read_plain(Path(path), YAML_BYTES, error, links=True)
    try:
        text = content.decode("utf-8-sig")
        kind = _loader()
        # Count first: the data must be finite, and not too deep for the C parser.
        _count(yaml.parse(text, Loader=kind), str(path), error, aliases)
        loader = kind(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except GroundlingError:
        raise
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError,
            RecursionError) as problem:  # fmt: skip
        told = " ".join(str(problem).split())[:300]
        raise error(f"{path} must be valid YAML of plain values: {told}") from problem


def _count(events: Iterator[Any], path: str, error: type[GroundlingError], aliases: bool) -> None:
    """Raise an error for too many values or levels; aliases count at each use."""
    yaml = _yaml()
    most, deepest = YAML_VALUES.most, YAML_DEPTH.most
    sizes: dict[str, int] = {}  # number of values inside each completed anchor
    open_: list[tuple[str | None, int]] = []
    total = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            if not aliases:
                raise error(f"{path} must not use YAML aliases (`*name`). Write values out.")
            if event.anchor not in sizes:
                raise error(
                    f"{path} must not have aliases to enclosing or unknown values; got "
                    f"*{event.anchor}."
                )
            total += sizes[event.anchor]
        elif isinstance(event, yaml.CollectionStartEvent):
            total += 1
            open_.append((event.anchor, total))
            if len(open_) > deepest:
                raise YAML_DEPTH.exceeded("more", error, path)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_.pop()
            if anchor is not None:
                sizes[anchor] = total - before + 1
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        if total > most:
            raise YAML_VALUES.exceeded("more", error, path)


@lru_cache(maxsize=1)
def _loader() -> Any:
    """Return a loader of plain values that rejects duplicate keys."""
    yaml = _yaml()
    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    known = ("null", "bool", "int", "float", "str", "seq", "map")
    tags = {f"tag:yaml.org,2002:{name}" for name in known}

    class PlainLoader(base):  # type: ignore[misc, valid-type]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen = set()
            for key, _ in node.value:
                value = self.construct_object(key, deep=True)
                if value in seen:
                    raise yaml.constructor.ConstructorError(
                        None,
                        None,
                        f"Keys must be unique; got {str(value)[:60]!r} twice. Remove one of them.",
                        key.start_mark,
                    )
                seen.add(value)
            return super().construct_mapping(node, deep=deep)

        def construct_yaml_int(self, node: Any) -> int:
            number: int = super().construct_yaml_int(_short(node))
            if not abs(number) < 2**63:
                raise ValueError(f"Numbers must be within ±2**63; got {node.value[:40]}.")
            return number

        def construct_yaml_float(self, node: Any) -> float:
            return float(super().construct_yaml_float(_short(node)))

    own = {
        "int": PlainLoader.construct_yaml_int, "float": PlainLoader.construct_yaml_float,
        "timestamp": PlainLoader.construct_yaml_str,
    }  # fmt: skip
    PlainLoader.yaml_constructors = {
        **{tag: base.yaml_constructors[tag] for tag in (*tags, None)},  # None: unknown tags
        **{f"tag:yaml.org,2002:{name}": make for name, make in own.items()},
    }
    return PlainLoader


def _short(node: Any) -> Any:
    if len(node.value) > _LONGEST_NUMBER:
        raise ValueError(
            f"Numbers must have at most {_LONGEST_NUMBER} characters; got {node.value[:40]}…."
        )
    return node


def _yaml() -> Any:
    try:
        return import_module("yaml")
    except ModuleNotFoundError as error:
        raise GroundlingError(
            "Reading homes requires PyYAML, which is not installed. Run "
            "`pip install 'groundling[home]'`."
        ) from error
