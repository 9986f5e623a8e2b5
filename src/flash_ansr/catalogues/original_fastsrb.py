"""The FastSRB benchmark's own YAML file (expressions.yaml), for those who have it.

Its problems hold ``prepared`` (the formula in v1, ..., vk with all numbers), ``difficulty`` and ``vars``, of which v0
is the target, each with ``sample_range`` and ``sample_type`` such as [log, pos_neg].
"""

from __future__ import annotations

from typing import Any

from flash_ansr.catalogues.catalogue import Catalogue
from flash_ansr.catalogues.errors import CatalogueError
from flash_ansr.catalogues.problem import Problem, Variable
from flash_ansr.catalogues.ranges import Kind, Range, Sign
from flash_ansr.catalogues.reading import at, expression_in_columns

_KINDS = {"log": Kind.LOG, "uni": Kind.UNIFORM, "int": Kind.INTEGER}
_SIGNS = {"pos": Sign.AS_DRAWN, "neg": Sign.NEGATIVE, "pos_neg": Sign.BOTH}


def is_original(content: Any) -> bool:
    """Whether a YAML document is of this kind rather than of our schema."""
    if not isinstance(content, dict) or not content or "problems" in content:
        return False
    return all(isinstance(entry, dict) and {"prepared", "vars"} <= entry.keys() for entry in content.values())


def catalogue_from_original(content: dict[str, Any], where: str) -> Catalogue:
    """Catalogue of the benchmark's own file; `where` names the file in errors."""
    with at(where):
        problems = tuple(_problem(str(name), entry) for name, entry in content.items())
    return Catalogue(name="fastsrb", title="FastSRB, as in its own file", source=where, problems=problems)


def _problem(name: str, entry: dict[str, Any]) -> Problem:
    columns = {symbol: facts for symbol, facts in entry["vars"].items() if symbol != "v0"}
    symbols = sorted(columns, key=lambda symbol: int(symbol.removeprefix("v")))
    with at(name):
        return Problem(
            catalogue="fastsrb",
            name=name,
            expression=expression_in_columns(entry["prepared"], symbols, {}),
            formula=entry["prepared"],
            variables=tuple(Variable(str(columns[s].get("name", s)), _range(s, columns[s])) for s in symbols),
            difficulty=entry.get("difficulty"),
        )


def _range(symbol: str, facts: dict[str, Any]) -> Range:
    try:
        # III.21.20 has a stray third entry in sample_range; YAML leaves 1.0e1 a text
        low, high, *_ = map(_bound, facts["sample_range"])
        kind, sign = facts["sample_type"]
        return Range(_KINDS[kind], low, high, _SIGNS[sign])
    except (KeyError, TypeError, ValueError) as error:
        found = {key: facts.get(key) for key in ("sample_range", "sample_type")}
        raise CatalogueError(
            f"{symbol}: sample_range must be two numbers and sample_type one of {', '.join(_KINDS)} "
            f"with one of {', '.join(_SIGNS)}, got {found}"
        ) from error


def _bound(value: object) -> float:
    text = str(value)
    return float("nan") if "=" in text else float(text)
