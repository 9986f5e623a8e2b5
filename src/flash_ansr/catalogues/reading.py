"""Catalogues from YAML in our schema, with errors that say which problem, which key and which value.

The schema is in docs/catalogues.md. Nothing in a file is executed: formulas are parsed by SimpliPy.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import yaml

import simplipy
from flash_ansr.catalogues.catalogue import Catalogue
from flash_ansr.catalogues.errors import CatalogueError
from flash_ansr.catalogues.problem import Problem, Variable
from flash_ansr.catalogues.ranges import Range
from simplipy.errors import did_you_mean

_CATALOGUE_KEYS = ("name", "title", "source", "constants", "problems")
_PROBLEM_KEYS = ("formula", "variables", "difficulty", "excluded")


class _Loader(yaml.SafeLoader):
    """The safe loader, which takes every key once only."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        earlier: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in earlier:
                raise CatalogueError(f"line {key_node.start_mark.line + 1}: {key!r} stands there twice; rename one")
            earlier.add(key)
        return super().construct_mapping(node, deep)


@contextmanager
def at(place: str) -> Iterator[None]:
    """Put a place in front of the messages of errors."""
    try:
        yield
    except CatalogueError as error:
        raise CatalogueError(f"{place}: {error}") from error.__cause__


def read_yaml(text: str, where: str) -> Any:
    """The content of a YAML document; `where` names it in errors."""
    loader = _Loader(text)
    try:
        with at(where):
            return loader.get_single_data()
    except yaml.YAMLError as error:
        raise CatalogueError(f"{where} is no YAML: {error}") from error
    finally:
        loader.dispose()


def catalogue_from(content: Any, where: str) -> Catalogue:
    """Catalogue of the content of a YAML file in our schema; `where` names the file in errors."""
    with at(where):
        table = _mapping(content, "a catalogue", known=_CATALOGUE_KEYS)
        name = _text(table, "name")
        constants = {}
        for key, value in _mapping(table.get("constants", {}), "constants").items():
            with at(f"constants: {key}"):
                constants[key] = _number(value)
        problems = _mapping(_needed(table, "problems"), "problems")
        return Catalogue(
            name=name,
            title=_text(table, "title", default=name),
            source=_text(table, "source", default=""),
            problems=tuple(_problem(name, key, entry, constants) for key, entry in problems.items()),
        )


def expression_in_columns(formula: str, variables: Iterable[str], constants: Mapping[str, str]) -> simplipy.Expression:
    """The law with its variables as x1, ..., xk and its named constants as numbers."""
    columns = {name: f"x{k}" for k, name in enumerate(variables, start=1)}
    try:
        law = simplipy.parse(formula)
    except simplipy.ParseError as error:
        raise CatalogueError(f"formula: {error}") from error
    if law.n_constants:
        raise CatalogueError(f"formula: write a number for each <constant>, got {formula!r}")
    # the problem's variables win over the catalogue's constants, which get the columns after theirs for a moment
    used = [name for name in law.variables if name not in columns]
    if unknown := [name for name in used if name not in constants]:
        raise CatalogueError(
            f"formula: {unknown[0]!r} is neither a variable nor a constant; "
            f"give it a range under variables, or a value under constants; variables: {', '.join(columns)}"
        )
    held = {name: f"x{k}" for k, name in enumerate(used, start=len(columns) + 1)}
    numbers = {held[name]: constants[name] for name in used}
    law = law.rename({name: columns.get(name) or held[name] for name in law.variables})
    return simplipy.parse([numbers.get(token, token) for token in law.tokens])


def _problem(catalogue: str, name: str, entry: Any, constants: Mapping[str, str]) -> Problem:
    with at(name):
        table = _mapping(entry, "a problem", known=_PROBLEM_KEYS)
        formula = str(_needed(table, "formula"))
        variables = []
        for column, text in _mapping(_needed(table, "variables"), "variables").items():
            with at(f"variables: {column}"):
                variables.append(Variable(column, Range.parse(str(text))))
        return Problem(
            catalogue=catalogue,
            name=name,
            expression=expression_in_columns(formula, [v.name for v in variables], constants),
            formula=formula,
            variables=tuple(variables),
            difficulty=_text(table, "difficulty", default=None),
            excluded=_text(table, "excluded", default=None),
        )


def _mapping(value: Any, what: str, known: Sequence[str] | None = None) -> dict[str, Any]:
    """A mapping with texts as keys: YAML reads an unquoted 1.10 as a number and an unquoted on as a truth value."""
    if not isinstance(value, dict):
        raise CatalogueError(f"{what} must be a mapping of keys to values, got {value!r:.60}")
    for key in value:
        if known is not None and key not in known:
            hint = did_you_mean(str(key), known, f"known keys: {', '.join(known)}")
            raise CatalogueError(f"unknown key {key!r}; {hint}")
        if not isinstance(key, str) or not key:
            raise CatalogueError(f"{what}: a name must be a text, got {key!r}; put it in quotes")
    if not value and what in ("problems", "variables"):
        raise CatalogueError(f"{what} must hold at least one {what.removesuffix('s')}, got none")
    return value


def _needed(table: Mapping[str, Any], key: str) -> Any:
    if key not in table:
        raise CatalogueError(f"the key {key!r} is missing")
    return table[key]


def _text(table: Mapping[str, Any], key: str, **default: Any) -> Any:
    """Text under a key, or the default where there is one."""
    if key not in table and "default" in default:
        return default["default"]
    value = _needed(table, key)
    if not isinstance(value, str) or not value.strip():
        raise CatalogueError(f"{key} must be a text, got {value!r}; put it in quotes")
    return value.strip()


def _number(value: object) -> str:
    """A number as a token; YAML leaves 1e-3 a text."""
    try:
        if isinstance(value, bool):
            raise ValueError
        return repr(float(str(value))).removesuffix(".0")
    except ValueError:
        raise CatalogueError(f"must be a number, got {value!r}") from None
