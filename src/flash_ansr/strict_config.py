"""Frozen dataclasses from mappings: an unknown key, a missing one or a wrong type is an error with a remedy."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

Config = TypeVar("Config")


def from_mapping(kind: type[Config], values: object, error: type[Exception], owner: str = "") -> Config:
    """Dataclass of this kind; nested ones and tuples of them are built from mappings and lists.

    Parameters
    ----------
    kind : type
        A dataclass.
    values : mapping
        Plain values by name, as YAML and JSON give them.
    error : type
        Raised with the key, the value and the remedy.
    owner : str
        The name of the whole in messages, such as ``prior 'wide'``.
    """
    try:
        return _section(kind, values, error, "")
    except error as problem:
        if not owner:
            raise
        raise error(f"{owner}: {problem}") from None


class Bounds(NamedTuple):
    """A condition on a number as the note of a field: ``n: Annotated[int, POSITIVE]``; None always fulfils it."""

    text: str
    hold: Callable[[float], bool]


POSITIVE = Bounds("> 0", lambda value: value > 0)
NOT_NEGATIVE = Bounds(">= 0", lambda value: value >= 0)


def between(low: float, high: float) -> Bounds:
    """Bounds that are allowed themselves."""
    return Bounds(f"between {low} and {high}", lambda value: low <= value <= high)


def check_bounds(config: object, error: type[Exception]) -> None:
    """Refuse a dataclass with a number out of the bounds of its field."""
    for name, hint in typing.get_type_hints(type(config), include_extras=True).items():
        value = getattr(config, name)
        for bounds in getattr(hint, "__metadata__", ()):
            if value is not None and not bounds.hold(value):
                null = " or null" if type(None) in typing.get_args(hint.__origin__) else ""
                raise error(f"{name} must be {bounds.text}{null}, got {value}")


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings merge key by key; lists and values of ``above`` replace those of ``below``."""
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


def nearest(word: str, known: typing.Iterable[str]) -> str | None:
    """The known word that is most like this one, if any is."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return found[0] if found else None


def _section(kind: type[Config], values: object, error: type[Exception], path: str) -> Config:
    if not isinstance(values, Mapping):
        raise error(f"{path or 'it'} must be a section of keys and values, got {values!r}")
    prefix = f"{path}." if path else ""
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in values:
        if key not in fields:
            near = nearest(str(key), fields)
            remedy = f"did you mean '{prefix}{near}'?" if near else f"known here: {', '.join(fields)}"
            raise error(f"unknown key '{prefix}{key}'; {remedy}")
    arguments = {key: _value(hints[key], value, error, f"{prefix}{key}") for key, value in values.items()}
    for name, field in fields.items():
        has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        if name not in arguments and not has_default:
            raise error(f"{path or 'it'} lacks the key '{name}'")
    try:
        return kind(**arguments)
    except error as problem:  # what the dataclass itself refuses
        raise error(f"{path}: {problem}" if path else str(problem)) from None


def _value(hint: Any, value: object, error: type[Exception], path: str) -> Any:
    """The value as the type that a field asks for."""
    if hint is Any:
        return value
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        return _value(next(a for a in arguments if a is not type(None)), value, error, path)
    if origin is tuple:
        items = value if isinstance(value, list | tuple) else [value]
        return tuple(_value(arguments[0], item, error, f"{path}[{i}]") for i, item in enumerate(items))
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _section(hint, value, error, path)
    if origin is typing.Literal:
        if value not in arguments:
            near = nearest(str(value), map(str, arguments))
            remedy = f"; did you mean '{near}'?" if near else ""
            raise error(f"{path} must be one of {', '.join(map(repr, arguments))}, got {value!r}{remedy}")
        return value
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise error(f"{path} must be a mapping of names to numbers, got {value!r}")
        return {str(key): _value(arguments[1], item, error, f"{path}.{key}") for key, item in value.items()}
    if hint is float and isinstance(value, int | str) and not isinstance(value, bool):
        try:  # YAML reads 1e-3 as text, 1.0e-3 as a number
            return float(value)
        except ValueError:
            raise error(f"{path} must be a number, got {value!r}") from None
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise error(f"{path} must be of type {hint.__name__}, got {value!r}")
    return value
