"""Laws read from the YAML files in ``fields/``, with errors that say which field, which law and which quantity.

A law is a text such as ``v = Vmax*S/(Km + S)``. Each of its quantities is one line, ``meaning [unit]``, followed by the
usual range of a column, by ``fitted`` and the usual range of a constant that is determined from data, or by ``= value``
for a constant of nature. The first quantity is the target. Units are checked by ``units.py``.
"""

from __future__ import annotations

import functools
import importlib.resources
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import simplipy
from flash_ansr.catalogues.errors import CatalogueError
from flash_ansr.catalogues.ranges import Range
from flash_ansr.catalogues.reading import read_yaml
from simplipy import Expression
from simplipy.errors import SimplipyError
from simplipy.expression.operators import CONSTANT

Role = Literal["target", "variable", "fitted", "universal"]

_LINE = re.compile(r"(?P<meaning>[^\[\]]+?)\s*\[(?P<unit>[^\[\]]+)\]\s*(?P<rest>.*)")
_KEYS = {"name", "law", "where", "empirical"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity of a law.

    Attributes
    ----------
    name, meaning : str
    unit : str
        As pint reads it; ``1`` for none. ``degC`` stands for a difference of temperatures.
    role : {"target", "variable", "fitted", "universal"}
        A variable is a column of data, a fitted constant is determined from data, a universal one is known.
    range : Range or None
        Usual values of variables and fitted constants.
    value : float or None
        Of a universal constant.
    """

    name: str
    meaning: str
    unit: str
    role: Role
    range: Range | None = None
    value: float | None = None

    def draw(self, rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        """Usual values, (n,)."""
        if self.range is None:
            return np.full(n, np.nan if self.value is None else self.value)
        return np.asarray(self.range.values(rng.random(n), rng.random(n)), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A law of a field.

    Attributes
    ----------
    field, key : str
        The field and the key in it.
    name, text : str
        Its name, and the law as a textbook writes it.
    expression : Expression
        The right side, in the names of the quantities.
    target : Quantity
    quantities : tuple of Quantity
        All but the target, in the order of the file.
    is_empirical : bool
        A fit to measurements, whose numbers hold only in the given units.
    """

    field: str
    key: str
    name: str
    text: str
    expression: Expression
    target: Quantity
    quantities: tuple[Quantity, ...]
    is_empirical: bool = False

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(q.name for q in self.quantities if q.role == "variable")

    def form(self) -> Expression:
        """The simplified skeleton in x1, x2, ..., numbered as they occur. Constants are free, multiples stay.

        Examples
        --------
        >>> laws = {law.key: law for law in load_field("kinetics")}
        >>> print(laws["first_order"].form())
        <constant>*<constant>^x1
        """
        columns = set(self.variables)
        constants = {q.name for q in self.quantities} - columns
        tokens = [CONSTANT if token in constants else token for token in self.expression.tokens]
        skeleton = simplipy.simplify(simplipy.parse(tokens), mask_numbers=True)
        order = dict.fromkeys(token for token in skeleton.tokens if token in columns)
        renamed = skeleton.rename({name: f"x{k}" for k, name in enumerate(order, start=1)})
        return simplipy.simplify(renamed, mask_numbers=True)

    def sample(self, n: int, rng: np.random.Generator) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.float64]]:
        """Values of all quantities, each (n,), and of the target; every row has constants of its own."""
        columns = {q.name: q.draw(rng, n) for q in self.quantities}
        with np.errstate(all="ignore"):
            return columns, np.asarray(self.expression(columns), dtype=np.float64)


def field_names() -> list[str]:
    """Names of the fields."""
    return sorted(path.name.removesuffix(".yaml") for path in _folder().iterdir() if path.name.endswith(".yaml"))


@functools.cache
def load_field(name: str) -> tuple[Law, ...]:
    """The laws of a field."""
    if name not in field_names():
        raise CatalogueError(f"there is no field {name!r}; fields are: {', '.join(field_names())}")
    content = read_yaml(_folder().joinpath(f"{name}.yaml").read_text(encoding="utf-8"), name)
    return tuple(law_from(name, key, entry) for key, entry in content["laws"].items())


def load_laws() -> tuple[Law, ...]:
    """The laws of all fields."""
    return tuple(law for name in field_names() for law in load_field(name))


def law_from(field: str, key: str, entry: Mapping[str, Any]) -> Law:
    """A law from its entry in a file.

    Raises
    ------
    CatalogueError
        The message names the field, the law and the mistake.
    """
    where = f"{field}: {key}"
    unknown = set(entry) - _KEYS
    if unknown:
        raise CatalogueError(f"{where}: unknown key {min(unknown)!r}; keys are: {', '.join(sorted(_KEYS))}")
    missing = {"name", "law", "where"} - set(entry)
    if missing:
        raise CatalogueError(f"{where}: the key {min(missing)!r} is missing")
    left, equals, right = (part.strip() for part in str(entry["law"]).partition("="))
    if not equals:
        raise CatalogueError(f"{where}: a law is written 'target = formula', got {entry['law']!r}")
    try:
        expression = simplipy.parse(right)
        quantities = [_quantity(str(name), str(line)) for name, line in entry["where"].items()]
    except (SimplipyError, ValueError) as error:
        raise CatalogueError(f"{where}: {error}") from None
    _check_names(where, left, expression, quantities)
    is_empirical = entry.get("empirical", False) is True
    return Law(field, key, entry["name"], entry["law"], expression, quantities[0], tuple(quantities[1:]), is_empirical)


def _check_names(where: str, left: str, expression: Expression, quantities: list[Quantity]) -> None:
    """Every name stands on the right side once described, and the target first."""
    if not quantities or quantities[0].name != left or quantities[0].role != "target":
        raise CatalogueError(f"{where}: the first quantity must be the target {left!r}, without a range")
    described = {q.name for q in quantities[1:]}
    for name in expression.variables:
        if name not in described:
            raise CatalogueError(f"{where}: {name!r} stands in the law and is not described")
    for quantity in quantities[1:]:
        if quantity.name not in expression.variables:
            raise CatalogueError(f"{where}: {quantity.name!r} is described and does not stand in the law")
        if quantity.role == "target":
            raise CatalogueError(f"{where}: {quantity.name!r} needs a range, 'fitted' and a range, or '= value'")


def _quantity(name: str, line: str) -> Quantity:
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise CatalogueError(f"{name!r} must be 'meaning [unit]' and its range or value, got {line!r}")
    meaning, unit, rest = match["meaning"], match["unit"].strip(), match["rest"].strip()
    if not rest:
        return Quantity(name, meaning, unit, "target")
    if rest.startswith("="):
        return Quantity(name, meaning, unit, "universal", value=float(rest.removeprefix("=")))
    if rest.startswith("fitted "):
        return Quantity(name, meaning, unit, "fitted", range=Range.parse(rest.removeprefix("fitted ").strip()))
    return Quantity(name, meaning, unit, "variable", range=Range.parse(rest))


def _folder() -> Any:
    return importlib.resources.files("flash_ansr.catalogues.science") / "fields"
