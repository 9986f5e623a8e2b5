"""Catalogues from YAML in our schema, with errors that say which problem, which key and which value.

The schema is in docs/catalogues.md. Nothing in a file is executed: formulas are parsed by SimpliPy.
"""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import yaml

import simplipy
from flash_ansr.catalogues.catalogue import Catalogue
from flash_ansr.catalogues.errors import CatalogueError
from flash_ansr.catalogues.problem import Problem, Variable
from flash_ansr.catalogues.ranges import Range

_CATALOGUE_KEYS = ("name", "title", "source", "constants", "problems")
_PROBLEM_KEYS = ("formula", "variables", "difficulty", "excluded")


class _Loader(yaml.SafeLoader):
    """The safe loader, which takes every key once only."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise CatalogueError(f"line {key_node.start_mark.line + 1}: {key!r} stands there twice; rename one")
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_yaml(text: str, where: str) -> Any:
    """The content of a YAML document; `where` names it in errors."""
    loader = _Loader(text)
    try:
        return loader.get_single_data()
    except yaml.YAMLError as error:
        raise CatalogueError(f"{where} is no YAML: {error}") from error
    except CatalogueError as error:
        raise CatalogueError(f"{where}: {error}") from None
    finally:
        loader.dispose()


def catalogue_from(content: Any, where: str) -> Catalogue:
    """Catalogue of what a YAML file in our schema holds; `where` names the file in errors."""
    table = _mapping(content, where, "a catalogue")
    _known_keys(table, _CATALOGUE_KEYS, where)
    name = _text(table, "name", where)
    constants = {
        _name(key, where): _number(value, f"{where}: constants: {key}")
        for key, value in _mapping(table.get("constants", {}), where, "constants").items()
    }
    problems = _mapping(_needed(table, "problems", where), where, "problems")
    if not problems:
        raise CatalogueError(f"{where}: problems must hold at least one problem, got none")
    return Catalogue(
        name=name,
        title=_text(table, "title", where, default=name),
        source=_text(table, "source", where, default=""),
        problems=tuple(_problem(name, key, entry, constants, where) for key, entry in problems.items()),
    )


def expression_in_columns(
    formula: str, variables: Iterable[str], constants: Mapping[str, str], where: str
) -> simplipy.Expression:
    """The law with its variables as x1, ..., xk and its named constants as numbers."""
    columns = {name: f"x{k}" for k, name in enumerate(variables, start=1)}
    try:
        law = simplipy.parse(formula)
    except simplipy.ParseError as error:
        raise CatalogueError(f"{where}: formula: {error}") from error
    if law.n_constants:
        raise CatalogueError(f"{where}: formula: write a number for each <constant>, got {formula!r}")
    unknown = [name for name in law.variables if name not in columns and name not in constants]
    if unknown:
        raise CatalogueError(
            f"{where}: formula: {unknown[0]!r} is neither a variable nor a constant; "
            f"give it a range under variables, or a value under constants; variables: {', '.join(columns)}"
        )
    # the problem's variables win over the catalogue's constants, which get the columns after theirs for a moment
    used = [name for name in law.variables if name not in columns]
    held = {name: f"x{k}" for k, name in enumerate(used, start=len(columns) + 1)}
    numbers = {held[name]: constants[name] for name in used}
    law = law.rename({name: columns.get(name) or held[name] for name in law.variables})
    return simplipy.parse([numbers.get(token, token) for token in law.tokens])


def _problem(catalogue: str, key: object, entry: Any, constants: Mapping[str, str], where: str) -> Problem:
    name = _name(key, f"{where}: problems")
    place = f"{where}: {name}"
    table = _mapping(entry, place, "a problem")
    _known_keys(table, _PROBLEM_KEYS, place)
    formula = str(_needed(table, "formula", place))
    columns = _mapping(_needed(table, "variables", place), place, "variables")
    if not columns:
        raise CatalogueError(f"{place}: variables must hold at least one variable, got none")
    variables = []
    for column, text in columns.items():
        try:
            variables.append(Variable(_name(column, place), Range.parse(str(text))))
        except CatalogueError as error:
            raise CatalogueError(f"{place}: variables: {column}: {error}") from None
    return Problem(
        catalogue=catalogue,
        name=name,
        expression=expression_in_columns(formula, [v.name for v in variables], constants, place),
        formula=formula,
        variables=tuple(variables),
        difficulty=_text(table, "difficulty", place, default=None),
        excluded=_text(table, "excluded", place, default=None),
    )


def _mapping(value: Any, where: str, what: str) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise CatalogueError(f"{where}: {what} must be a mapping of keys to values, got {value!r:.60}")
    return value


def _needed(table: Mapping[str, Any], key: str, where: str) -> Any:
    if key not in table:
        raise CatalogueError(f"{where}: the key {key!r} is missing")
    return table[key]


def _text(table: Mapping[str, Any], key: str, where: str, **default: Any) -> Any:
    """Text under a key, or the default where there is one."""
    if key not in table and "default" in default:
        return default["default"]
    value = _needed(table, key, where)
    if not isinstance(value, str) or not value.strip():
        raise CatalogueError(f"{where}: {key} must be a text, got {value!r}; put it in quotes")
    return value.strip()


def _name(key: object, where: str) -> str:
    """A key as a name; YAML reads an unquoted 1.10 as a number and an unquoted on as a truth value."""
    if not isinstance(key, str) or not key:
        raise CatalogueError(f"{where}: a name must be a text, got {key!r}; put it in quotes")
    return key


def _number(value: object, where: str) -> str:
    """A number as a token; YAML leaves 1e-3 a text."""
    try:
        if isinstance(value, bool):
            raise ValueError
        return repr(float(str(value))).removesuffix(".0")
    except ValueError:
        raise CatalogueError(f"{where}: must be a number, got {value!r}") from None


def _known_keys(table: Mapping[Any, Any], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
            raise CatalogueError(f"{where}: unknown key {key!r}; {hint}")
