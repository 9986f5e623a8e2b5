"""The surroundings of an experiment: its folder, its scale, and rows that survive a stop.

Two kinds of rows. ``each`` keeps facts by a key of the experiment's own. ``bench`` runs benchmark tasks; their rows
lie in a folder that all experiments share, so that a task that two figures need runs once. Whatever was finished before
a stop is not done again. Rows of a network are those of its weights: other weights under the same path have their own.
Facts belong to the code that found them; benchmark rows of other code are kept, with a note that says so.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from flash_ansr.bench.execute import check_system
from flash_ansr.bench.groups import Group, group_rows
from flash_ansr.bench.plan import Plan
from flash_ansr.bench.rows import JsonLines, finite, read_rows
from flash_ansr.bench.runner import run as run_tasks
from flash_ansr.bench.systems import SystemMissingError
from flash_ansr.checkpoint.folder import find_checkpoint, weights_hash
from flash_ansr.infer.search.set_up import LEAST_SECONDS, bundled_checkpoint, why_not_neural
from flash_ansr.paper.experiment import MissingError, PaperError, Scale
from flash_ansr.progress_bar import progress_bar
from flash_ansr.versions import code_hash
from simplipy.files.output_files import write_whole

T = TypeVar("T")
Facts = dict[str, Any]


@dataclass(frozen=True)
class Context:
    """Where and how large.

    Attributes
    ----------
    folder : Path
        Of the experiment: rows, figures, table, caption.
    shared : Path
        Of benchmark rows.
    scale : Scale
    seed : int
    checkpoint : Path or None
        A trained network, or the run that trained it, instead of the weights in the package.
    runs : Path or None
        A folder of training runs.
    show_progress : bool
    """

    folder: Path
    shared: Path
    scale: Scale = Scale.SMALL
    seed: int = 0
    checkpoint: Path | None = None
    runs: Path | None = None
    show_progress: bool = False
    notes: list[str] = field(default_factory=list)

    def pick(self, tiny: T, small: T, full: T) -> T:
        """The size that belongs to the scale."""
        return {Scale.TINY: tiny, Scale.SMALL: small, Scale.FULL: full}[self.scale]

    @property
    def n_threads(self) -> int:
        """Cores of a fit: all of them."""
        return os.cpu_count() or 1

    def each(self, items: Mapping[str, T], work: Callable[[T], Facts], what: str) -> list[Facts]:
        """Facts for each item, from the experiment's rows where they are there, else by the work.

        Parameters
        ----------
        items : mapping of str to object
            By key, which must say everything that the facts depend on but the seed and the code of this package.
        work : callable
            Makes the facts of an item, as JSON can hold them.
        what : str
            For the progress bar.
        """
        path = self.folder / "rows.jsonl"
        wanted = {key: json.dumps([self.seed, key, code_hash()]) for key in items}
        with JsonLines(path) as file:
            known = _read_facts(path)
            left = [key for key in items if wanted[key] not in known]
            with progress_bar(what, len(items), len(items) - len(left), self.show_progress) as bar:
                for key in left:
                    facts = json.loads(json.dumps(finite(work(items[key]))))
                    file.append(json.dumps({"key": wanted[key]} | facts, ensure_ascii=False))
                    known[wanted[key]] = facts
                    bar.advance()
        return [known[wanted[key]] for key in items]

    def bench(self, plans: Sequence[Plan]) -> list[Group]:
        """Scored groups of the tasks of plans, on the data sets of the seed, by the network of this context.

        A plan whose system cannot run here is left out, with a note. A plan that names a network keeps it.
        """
        rows = []
        for plan in map(self._placed, plans):
            try:
                check_system(plan.system, {})
            except SystemMissingError:
                self.notes.append(f"{plan.system} is left out: it is not installed here (docs/benchmark.md says how)")
                continue
            if _may_use_network(plan) and not self._weights_of(plan):
                reason = f"its searches are shorter than {LEAST_SECONDS:g} s"
                self.notes.append(f"no network takes part in {plan.label}: {reason}")
            path = self.shared / f"{'-'.join([Path(plan.catalogue).stem, plan.system, *self._weights_of(plan)])}.jsonl"
            tasks = {task.key: task for task in plan.tasks(self.n_threads)}
            if run_tasks(tasks.values(), path, show_progress=self.show_progress).interrupted:
                raise KeyboardInterrupt
            # the label of a row is that of the figure which asked first
            found = (row for row in read_rows([path]) if row.task.key in tasks)
            rows += [replace(row, task=replace(row.task, label=tasks[row.task.key].label)) for row in found]
        others = Counter(text for row in rows if (text := row.versions.get("code", code_hash())) != code_hash())
        self.notes.extend(f"{n} rows were measured by the code {text}, not by this one" for text, n in others.items())
        write_whole(self.folder / "rows.jsonl", "".join(row.to_json() + "\n" for row in rows))
        with progress_bar("scoring rows", len(rows), show=self.show_progress) as bar:
            return group_rows(rows, bar.advance)

    def _placed(self, plan: Plan) -> Plan:
        """A plan at the data sets of the seed, with the network that was asked for."""
        settings = plan.settings
        if _may_use_network(plan) and self.checkpoint is not None and "checkpoint" not in settings:
            settings = settings | {"checkpoint": str(self.network())}
        return replace(plan, settings=settings, first_dataset=self.first_dataset(plan.datasets))

    def first_dataset(self, n: int) -> int:
        """Number of the first of n data sets: those of different seeds do not overlap."""
        return self.seed * n

    def _weights_of(self, plan: Plan) -> list[str]:
        """Hash of the weights that a plan uses, nothing where it uses none."""
        named = plan.settings.get("checkpoint")
        if not _may_use_network(plan) or (named is None and _is_short(plan)):
            return []
        return [self.weights if named is None else weights_hash(named)]

    @property
    def weights(self) -> str:
        """A short hash of the network's weights, which keys of rows contain where it takes part."""
        return weights_hash(self.network()) if self.has_network else "no_network"

    def apart(self, name: str) -> Context:
        """The same with rows in a folder below, beside those of the benchmark."""
        return replace(self, folder=self.folder / name)

    @property
    def has_network(self) -> bool:
        """Whether a trained network can take part."""
        return why_not_neural() is None

    def network(self) -> Path:
        """Folder of the trained network.

        Raises
        ------
        MissingError
            When it cannot be used here.
        """
        reason = why_not_neural()
        if reason is not None:
            raise MissingError(f"a network is needed, but {reason}")
        return find_checkpoint(self.checkpoint or bundled_checkpoint())


def _may_use_network(plan: Plan) -> bool:
    proposers = plan.settings.get("proposers", "auto")
    return plan.system == "ours" and (proposers == "auto" or "neural" in proposers)


def _is_short(plan: Plan) -> bool:
    """Whether every search is too short for a network that is not named."""
    is_named = "pipeline" in plan.settings or "proposers" in plan.settings
    return not is_named and all(seconds is not None and seconds < LEAST_SECONDS for seconds in plan.budget)


def _read_facts(path: Path) -> dict[str, Facts]:
    known = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            facts = json.loads(line)
            known[facts.pop("key")] = facts
        except (ValueError, KeyError, AttributeError) as error:
            raise PaperError(f"{path}: line {number} is no row of this experiment; name another --out") from error
    return known
