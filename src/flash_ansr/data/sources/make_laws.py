"""Makes the file of laws anew after a change of the laws of science.

    python -m flash_ansr.data.sources.make_laws [EXCLUDED ...]

It has every law that may be learned from: none that a test catalogue or an excluded one has, none of the fields held
out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import simplipy
from flash_ansr.data.sources.laws import LawForm, Variable, text_of
from flash_ansr.price.corpus import Use, forms
from simplipy.files.output_files import write_whole


def allowed_laws(exclude: Iterable[str] = ()) -> tuple[LawForm, ...]:
    """The laws that may be learned from, as the file should have them, without those of excluded catalogues."""
    return tuple(
        LawForm(
            form.law.field,
            form.law.key,
            simplipy.simplify(form.skeleton, mask_numbers=True),
            tuple(Variable(q.range, q.unit) for q in form.law.quantities if q.role == "variable" and q.range),
        )
        for form in forms(exclude)
        if form.use is Use.ALL
    )


if __name__ == "__main__":
    write_whole(Path(__file__).parents[1] / "priors" / "laws.tsv", text_of(allowed_laws(sys.argv[1:])))
