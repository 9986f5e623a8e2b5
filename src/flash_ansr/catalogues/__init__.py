"""Catalogues: laws with the ranges of their variables, to draw data from and to keep out of training.

Below everything else of the package; imports NumPy, PyYAML and SimpliPy only.
"""

from __future__ import annotations

import functools
import importlib.resources
from pathlib import Path

from flash_ansr.catalogues.catalogue import Catalogue
from flash_ansr.catalogues.errors import CatalogueError
from flash_ansr.catalogues.original_fastsrb import catalogue_from_original, is_original
from flash_ansr.catalogues.problem import FloatArray, Problem, Sample, Split, Variable
from flash_ansr.catalogues.ranges import Kind, Range, Sign
from flash_ansr.catalogues.reading import catalogue_from, read_yaml
from flash_ansr.catalogues.science.development import NAME, development_catalogue

__all__ = [
    "Catalogue",
    "CatalogueError",
    "FloatArray",
    "Kind",
    "Problem",
    "Range",
    "Sample",
    "Sign",
    "Split",
    "Variable",
    "load",
    "names",
]

_TABLES = ("fastsrb", "feynman", "keijzer", "nguyen", "strogatz")


def names() -> tuple[str, ...]:
    """Names of the catalogues that come with the package.

    Examples
    --------
    >>> names()
    ('fastsrb', 'feynman', 'keijzer', 'nguyen', 'strogatz', 'science')
    """
    return (*_TABLES, NAME)


def load(name_or_path: str | Path) -> Catalogue:
    """Load a catalogue by its name, or from a YAML file.

    Parameters
    ----------
    name_or_path : str or Path
        One of ``names``, or the path of a file in the schema of docs/catalogues.md, or of FastSRB's own file.

    Returns
    -------
    Catalogue

    Examples
    --------
    >>> law = load("fastsrb")["I.27.6"]
    >>> law.expression.infix()
    '1/(1/x1 + x2/x3)'
    >>> law.sample(256, seed=0).X.shape
    (256, 3)
    """
    if str(name_or_path) in names():
        return _built_in(str(name_or_path))
    path = Path(name_or_path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogueError(
            f"{str(name_or_path)!r} is neither a catalogue ({', '.join(names())}) nor a readable YAML file: {error}"
        ) from error
    content = read_yaml(text, str(path))
    return catalogue_from_original(content, str(path)) if is_original(content) else catalogue_from(content, str(path))


@functools.cache
def _built_in(name: str) -> Catalogue:
    if name == NAME:
        return development_catalogue()
    table = importlib.resources.files("flash_ansr.catalogues").joinpath("tables", f"{name}.yaml")
    return catalogue_from(read_yaml(table.read_text(encoding="utf-8"), name), name)
