"""Frozen dataclasses from mappings: an unknown key, a missing one or a wrong type is an error with a remedy."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from flash_ansr.data.errors import PriorError

Config = TypeVar("Config")


def from_mapping(cls: type[Config], values: object, where: str) -> Config:
    """An instance of a dataclass; nested dataclasses and tuples of them are built from mappings and lists."""
    if not isinstance(values, Mapping):
        raise PriorError(f"{where} must be a mapping of keys to values, got {values!r}")
    hints = typing.get_type_hints(cls)
    fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    for key in values:
        if key not in fields:
            raise PriorError(f"{where} has an unknown key {key!r}; {_remedy(str(key), list(fields))}")
    arguments = {key: _value(hints[key], value, f"{where}.{key}") for key, value in values.items()}
    for name, field in fields.items():
        has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        if name not in arguments and not has_default:
            raise PriorError(f"{where} lacks the key {name!r}")
    try:
        return cls(**arguments)
    except PriorError as error:
        raise PriorError(f"{where}: {error}") from None


def nearest(word: str, known: list[str]) -> str | None:
    """The known word that is most like this one, if any is."""
    found = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return found[0] if found else None


def _remedy(key: str, known: list[str]) -> str:
    near = nearest(key, known)
    return f"did you mean {near!r}?" if near else f"known keys are {', '.join(known)}"


def _value(hint: Any, value: object, where: str) -> Any:
    """The value as the type that a field asks for."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        return _value(next(a for a in arguments if a is not type(None)), value, where)
    if origin is tuple:
        items = value if isinstance(value, list | tuple) else [value]
        return tuple(_value(arguments[0], item, f"{where}[{i}]") for i, item in enumerate(items))
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return from_mapping(hint, value, where)
    if origin is typing.Literal:
        if value not in arguments:
            near = nearest(str(value), [str(a) for a in arguments])
            hint_text = f"; did you mean {near!r}?" if near else ""
            raise PriorError(f"{where} must be one of {', '.join(map(str, arguments))}, got {value!r}{hint_text}")
        return value
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise PriorError(f"{where} must be a mapping of names to numbers, got {value!r}")
        return {str(key): _value(arguments[1], item, f"{where}.{key}") for key, item in value.items()}
    if hint is float and isinstance(value, str):
        return _float(value, where)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise PriorError(f"{where} must be of type {hint.__name__}, got {value!r}")
    return value


def _float(text: str, where: str) -> float:
    """YAML reads 1e-3 as text, 1.0e-3 as a number."""
    try:
        return float(text)
    except ValueError:
        raise PriorError(f"{where} must be a number, got {text!r}") from None
