"""Makes the file of laws anew after a change of the laws of science: ``python -m flash_ansr.data.make_laws``.

It has every law that may be learned from: none that a test catalogue has, none of the fields held out.
"""

from __future__ import annotations

from pathlib import Path

import simplipy
from flash_ansr.data.laws import LawForm, Variable, text_of
from flash_ansr.price.corpus import Use, forms
from simplipy.files.output_files import write_whole


def allowed_laws() -> tuple[LawForm, ...]:
    """The laws that may be learned from, as the file should have them."""
    return tuple(
        LawForm(
            form.law.field,
            form.law.key,
            simplipy.simplify(form.skeleton, mask_numbers=True),
            tuple(Variable(q.range, q.unit) for q in form.law.quantities if q.role == "variable" and q.range),
        )
        for form in forms()
        if form.use is Use.ALL
    )


if __name__ == "__main__":
    write_whole(Path(__file__).with_name("priors") / "laws.tsv", text_of(allowed_laws()))
