"""The catalogue ``science``: laws of the fields that nothing is estimated from, one problem for each form.

Its problems judge what was learned from the other fields. The fitted constants of a law are drawn once from their usual
ranges, with three digits; columns are drawn from theirs.
"""

from __future__ import annotations

from flash_ansr.catalogues.catalogue import Catalogue
from flash_ansr.catalogues.problem import Problem, Variable
from flash_ansr.catalogues.science.laws import Law, load_field
from flash_ansr.catalogues.streams import UniformStream
from simplipy import Expression, parse

# one law in seven, by whole fields
HELD_OUT_FIELDS = ("chemical_engineering", "geophysics", "mechanical_engineering", "optics", "pharmacology")
NAME = "science"


def development_catalogue() -> Catalogue:
    """A problem for each form among the laws of the fields that are held out."""
    problems: dict[Expression, Problem] = {}
    for field in HELD_OUT_FIELDS:
        for law in load_field(field):
            problems.setdefault(law.form(), problem_of(law))
    fields = ", ".join(field.replace("_", " ") for field in HELD_OUT_FIELDS)
    return Catalogue(NAME, f"Laws of science from {fields}", "the corpus of this package", tuple(problems.values()))


def problem_of(law: Law) -> Problem:
    """The law as a problem, with values for its constants.

    Examples
    --------
    >>> laws = {law.key: law for law in load_field("kinetics")}
    >>> print(problem_of(laws["first_order"]).expression)
    1.14*exp(-(0.00357)*x1)
    """
    stream = UniformStream(NAME, law.field, law.key, "constants")
    values: dict[str, str] = {}
    variables = []
    for quantity in law.quantities:
        if quantity.role == "variable" and quantity.range is not None:
            variables.append(Variable(quantity.name, quantity.range))
            values[quantity.name] = f"x{len(variables)}"
        elif quantity.range is not None:
            u = stream.draw(2)
            values[quantity.name] = f"{float(quantity.range.values(u[:1], u[1:])[0]):.3g}"
        else:
            values[quantity.name] = repr(quantity.value)
    expression = parse([values.get(token, token) for token in law.expression.tokens])
    return Problem(NAME, f"{law.field}.{law.key}", expression, law.text, tuple(variables))
