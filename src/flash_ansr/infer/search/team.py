"""The proposers of a search: they are asked, get what was found, and are left out where they fail."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from flash_ansr.infer.candidates.proposals import Lesson, Proposals
from flash_ansr.infer.proposers.background import BackgroundProposer
from flash_ansr.infer.proposers.base import Proposer, ProposerError


class Team:
    """The proposers of a search.

    Parameters
    ----------
    proposers : sequence of Proposer
    n_columns : int
        Of the table: proposals may have no other variables.
    found_nothing : callable
        Whether there is nothing to go on with yet: then the last proposer that fails raises its error.

    Attributes
    ----------
    failures : dict of str to str
        By proposer: why it was left out.
    """

    def __init__(self, proposers: Sequence[Proposer], n_columns: int, found_nothing: Callable[[], bool]) -> None:
        self.proposers = proposers
        self.failures: dict[str, str] = {}
        self._n_columns = n_columns
        self._found_nothing = found_nothing

    @property
    def loading(self) -> list[BackgroundProposer]:
        """Those that are made beside the search."""
        return [p for p in self.proposers if isinstance(p, BackgroundProposer)]

    def ask(self, proposer: Proposer, n: int, seed: int, seconds: float | None) -> Proposals | None:
        """At most n formulas; None when there are no more, or the proposer fails."""
        if proposer.name not in self.failures:
            with self._leaving_out(proposer):
                proposals = proposer.propose(n, seed, seconds)
                if proposals is not None:
                    proposals.check(self._n_columns)
                return proposals
        return None

    def pass_on(self, lessons: Sequence[Lesson], teacher: str = "") -> None:
        """Hand formulas, in the units of the search, to all proposers but the one that found them."""
        for proposer in self.proposers:
            if lessons and proposer.name not in (teacher, *self.failures):
                with self._leaving_out(proposer):
                    proposer.learn(lessons)

    def pass_on_model_draws(self, proposals: Proposals) -> None:
        """Hand the draws of a model of the table to all proposers."""
        for proposer in self.proposers:
            if proposals.log_prob is not None and proposer.name not in self.failures:
                with self._leaving_out(proposer):
                    proposer.note_model_draws(proposals.batch, proposals.repeats)

    @contextmanager
    def _leaving_out(self, proposer: Proposer) -> Iterator[None]:
        """Leave a proposer out that fails, with a warning; raise its error where it was the last and found nothing."""
        try:
            yield
        except MemoryError:
            raise
        except Exception as error:
            if self._found_nothing() and len({*self.failures, proposer.name}) == len(self.proposers):
                raise
            reason = str(error) if isinstance(error, ProposerError) else f"{type(error).__name__}: {error}"
            self.failures[proposer.name] = reason
            warnings.warn(f"the proposer {proposer.name!r} is left out: {reason}", RuntimeWarning, stacklevel=4)
