"""The forms of a batch that are still to be fitted: allowed ones, each once from numbers and once from blind starts."""

from __future__ import annotations

from dataclasses import dataclass

from flash_ansr.infer.candidates.archive import Archive
from flash_ansr.infer.candidates.normal_forms import rows_of
from flash_ansr.infer.candidates.proposals import Proposals
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import FloatArray
from simplipy import Expression, TokenBatch


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A row of proposals that is to be fitted.

    Attributes
    ----------
    row : int
    formula : Expression
        The spelling that is fitted.
    start : array, optional
        Values of its constants to start from; None for blind starts.
    """

    row: int
    formula: Expression
    start: FloatArray | None = None


def unfitted_forms(
    proposals: Proposals, forms: TokenBatch, hashes: list[int], archive: Archive, grammar: Grammar
) -> tuple[list[Job], int]:
    """The rows that are to be fitted, and the number of new forms.

    Parameters
    ----------
    proposals : Proposals
    forms : TokenBatch
        Their normal forms.
    hashes : list of int
        Of the normal forms.
    archive : Archive
        Knows what was seen; normal forms that the grammar refuses are seen from now on.
    grammar : Grammar
    """
    if proposals.starts is None:
        rows = _new(range(len(hashes)), hashes, archive, set())
        return _blind(rows, forms, hashes, archive, grammar), len(rows)
    rows = [i for i, key in enumerate(hashes) if not archive.was_seen(key, started=True)]
    jobs: list[Job] = []
    refused, taken = [], set[int]()
    # a formula with starts is fitted as it was proposed: its numbers belong to that spelling
    for i, formula in zip(rows, _expressions(proposals.batch, rows), strict=True):
        if hashes[i] in taken:
            continue
        if grammar.allows(formula):
            taken.add(hashes[i])
            jobs.append(Job(i, formula, proposals.starts[i]))
        else:
            refused.append(i)
    # where that spelling is not allowed, the normal form may be
    jobs += _blind(_new(refused, hashes, archive, taken), forms, hashes, archive, grammar)
    return jobs, len({hashes[i] for i in rows})


def _new(rows: range | list[int], hashes: list[int], archive: Archive, taken: set[int]) -> list[int]:
    """The rows whose forms were not fitted from blind starts, the first of each form."""
    first: dict[int, int] = {}
    for i in rows:
        if hashes[i] not in first and hashes[i] not in taken and not archive.was_seen(hashes[i], started=False):
            first[hashes[i]] = i
    return list(first.values())


def _blind(rows: list[int], forms: TokenBatch, hashes: list[int], archive: Archive, grammar: Grammar) -> list[Job]:
    """Normal forms from blind starts; one that is refused has no other spelling, and is seen."""
    jobs = []
    for i, formula in zip(rows, _expressions(forms, rows), strict=True):
        if grammar.allows(formula):
            jobs.append(Job(i, formula))
        else:
            archive.see(hashes[i], started=False)
    return jobs


def _expressions(batch: TokenBatch, rows: list[int]) -> list[Expression]:
    return rows_of(batch, rows).expressions() if rows else []
