"""The training data: what the prior gives, and the equations of the benchmark that are left out."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import numpy.typing as npt

import simplipy
from flash_ansr.bench.figures import COLOURS
from flash_ansr.catalogues import Problem, load
from flash_ansr.data import Generator, Holdout, load_prior
from flash_ansr.data.figure import statistics_figure
from flash_ansr.data.generator import OUTCOMES
from flash_ansr.data.statistics import SkeletonCounts, Statistics, collect
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import markdown, panels
from flash_ansr.paper.experiment import Experiment, Outcome
from simplipy import Expression

_CATALOGUE = "fastsrb"
_CHUNK = 5000
_N_MAGNITUDES = 200_000
_STAGES = ("drawn", "simplified", "simplified_all_rules", "accepted")
_KINDS = {"uniform": "U", "normal": "N"}
_COUNTS = ("n_constants", "n_unique_variables", "n_variable_nodes", "lengths")
_MEDIANS = {"n_unique_variables": "unique variables", "lengths": "symbols", "n_constants": "constants"}


def data_statistics(context: Context) -> Outcome:
    """Counts of the problems that training sees."""
    n = context.pick(200, 20_000, 1_000_000)
    n_chunks = max(1, n // _CHUNK)
    generator = Generator("paper")

    def work(key: str) -> Facts:
        first, size = map(int, key.split()[1:3])
        return chunk_facts(collect(generator, size, context.seed, context.n_threads, first=first), n_chunks)

    chunks = [(k * n // n_chunks, (k + 1) * n // n_chunks) for k in range(n_chunks)]
    keys = [f"paper {start} {stop - start} of {n_chunks}" for start, stop in chunks]
    statistics = joined(context.each(keys, work, "problems"))
    summary = statistics.summary()
    accepted = summary["medians"]["accepted"]
    medians = ", ".join(f"{accepted[key]:g} {name}" for key, name in _MEDIANS.items())
    findings = [
        f"medians of the accepted problems: {medians}",
        f"{100 * summary['acceptance']:.0f} % of the attempts are accepted",
        f"median length as drawn {summary['medians']['drawn']['lengths']:g}, simplified "
        f"{summary['medians']['simplified']['lengths']:g}",
    ]
    header = ["stage", *(name for name in _MEDIANS.values())]
    lines = [[stage, *(values[key] for key in _MEDIANS)] for stage, values in summary["medians"].items()]
    return Outcome({"data_statistics": statistics_figure(statistics)}, findings, markdown(header, lines))


def chunk_facts(found: Statistics, n_chunks: int) -> Facts:
    """A part of the statistics as JSON holds it; of magnitudes as many as make a figure of all parts."""
    most = max(1, _N_MAGNITUDES // n_chunks)
    return {
        "n": found.n,
        "outcomes": found.outcomes,
        "n_rows": found.n_rows.tolist(),
        **{stage: {c: getattr(getattr(found, stage), c).tolist() for c in _COUNTS} for stage in _STAGES},
        **{name: _thinned(getattr(found, name), most).round(3).tolist() for name in ("log10_x", "log10_y")},
    }


def _thinned(values: npt.NDArray[np.float64], most: int) -> npt.NDArray[np.float64]:
    return values[:: -(-len(values) // most)] if len(values) else values


def joined(rows: list[Facts]) -> Statistics:
    """The statistics of all parts."""
    outcomes: Counter[str] = Counter()
    for row in rows:
        outcomes.update(row["outcomes"])

    def counts(stage: str) -> SkeletonCounts:
        return SkeletonCounts(
            *(np.concatenate([np.array(row[stage][c], dtype=np.int64) for row in rows]) for c in _COUNTS)
        )

    return Statistics(
        prior="paper",
        n=sum(row["n"] for row in rows),
        outcomes=dict(outcomes),
        log10_x=np.concatenate([np.array(row["log10_x"], dtype=np.float64) for row in rows]),
        log10_y=np.concatenate([np.array(row["log10_y"], dtype=np.float64) for row in rows]),
        n_rows=np.concatenate([np.array(row["n_rows"], dtype=np.int64) for row in rows]),
        **{stage: counts(stage) for stage in _STAGES},
    )


def data_hyperparameters(context: Context) -> Outcome:
    """The prior's settings against the paper's list, and how many operators draws have against its law."""
    prior = load_prior("paper")
    skeletons, (column,), (constant,) = prior.skeletons, prior.columns, prior.constants
    (bound,), weights = column.bounds, skeletons.operator_weights
    settings = {
        "alpha, lambda of p(n_ops)": ("0.7, 1", f"{skeletons.alpha:g}, {skeletons.lambda_:g}"),
        "n_ops": ("0 to 17", f"{skeletons.min_operators} to {skeletons.max_operators}"),
        "symbols at most": ("35", f"{skeletons.max_length}"),
        "weight of + - * /": ("10", ", ".join(sorted({f"{weights[token]:g}" for token in "+-*/"}))),
        "weight of the others": ("1", ", ".join(sorted({f"{w:g}" for t, w in weights.items() if t not in "+-*/"}))),
        "L_max": ("4", f"{prior.max_pattern_length}"),
        "points": ("U(1, 1024)", f"{_KINDS[prior.rows.kind]}({prior.rows.low}, {prior.rows.high})"),
        "ends of a range": (
            "N(0, 10) within [-30, 30]",
            f"{_KINDS[bound.kind]}({bound.mean:g}, {bound.scale:g}) within [{bound.low:g}, {bound.high:g}]",
        ),
        "points of a dimension": ("U(a, b)", f"{_KINDS[column.kind]}(a, b)"),
        "constants": ("N(0, 5)", f"{_KINDS[constant.kind]}({constant.mean:g}, {constant.scale:g})"),
        "new data for a skeleton": ("4 times", f"{prior.retries} times"),
        "held out": ("FastSRB", ", ".join(map(str, prior.holdouts))),
    }
    n = context.pick(500, 20_000, 1_000_000)

    def work(_: str) -> Facts:
        drawn = Generator("paper").skeletons(context.seed, range(n), simplified=False)
        counts = Counter(sum(token in simplipy.OPERATORS for token in tokens) for tokens in drawn if tokens)
        return {"counts": [counts[k] for k in range(skeletons.max_operators + 1)]}

    (row,) = context.each([f"operators {n}"], work, "draws")
    found = np.array(row["counts"]) / sum(row["counts"])
    expected = np.array(skeletons.n_ops_weights) / sum(skeletons.n_ops_weights)
    figure, (axes,) = panels(1, 1, 5.5, 3.2)
    axes.bar(range(len(found)), 100 * found, color=COLOURS[0], label=f"{n:,} draws")
    axes.plot(100 * expected, "o", color=COLOURS[1], label="the paper's law")
    axes.set(xlabel="operators of a skeleton as drawn", ylabel="share [%]")
    axes.legend()
    differ = [name for name, (published, here) in settings.items() if published.lower() != here.lower()]
    n_same, largest = len(settings) - len(differ), 100 * np.abs(found - expected).max()
    findings = [
        f"{n_same} of {len(settings)} settings are the paper's; others: {', '.join(differ) or 'none'}",
        f"operators of {n:,} draws: shares differ from the law by {largest:.2f} points at most",
    ]
    lines = [[name, published, here] for name, (published, here) in settings.items()]
    notes = ["rules that are no settings (leaves, checks against the test set) are tested in tests/data"]
    return Outcome({"data_hyperparameters": figure}, findings, markdown(["what", "the paper", "here"], lines), notes)


def decontamination(context: Context) -> Outcome:
    """How many draws the holdout of FastSRB rejects, and whether any that it accepts is in FastSRB."""
    n = context.pick(500, 20_000, 1_000_000)
    generator = Generator("paper", holdouts=(_CATALOGUE,))
    # a second opinion, with all rules instead of those of the prior, and one that is no part of the holdout
    checked = Holdout((_CATALOGUE,))
    entries = {form for problem in load(_CATALOGUE) for form in renamed_forms(problem.expression.skeleton())}

    def work(key: str) -> Facts:
        start, stop = map(int, key.split()[:2])
        batch = generator.flat(context.seed, range(start, stop), context.n_threads)
        names, ends = generator.vocabulary.tokens, batch["lengths"] + 1
        accepted = [[names[k] for k in ids[1:end]] for ids, end in zip(batch["token_ids"], ends, strict=True)]
        counts = dict(zip(OUTCOMES, batch["outcomes"].sum(0).tolist(), strict=True))
        return {
            "outcomes": counts,
            "found_again": sum(match is not None for match in checked.find_many(accepted)),
            "same_form": sum(form in entries for form in plain_forms(accepted)),
        }

    keys = [f"{start} {min(n, start + _CHUNK)} all names" for start in range(0, n, _CHUNK)]
    rows = context.each(keys, work, "draws")
    outcomes: Counter[str] = Counter()
    for row in rows:
        outcomes.update(row["outcomes"])
    held_out = {name: outcomes[name] for name in OUTCOMES if name.startswith("held_out")}
    n_attempts, n_accepted = outcomes.total(), outcomes["accepted"]
    figure, (axes,) = panels(1, 1, 6.5, 2.4)
    shares = {name.removeprefix("held_out_"): 1e6 * count / n_attempts for name, count in held_out.items()}
    bars = axes.barh(list(shares), list(shares.values()), color=COLOURS[0])
    axes.bar_label(bars, labels=[f"{count}" for count in held_out.values()], padding=3, fontsize=8)
    axes.set(xlabel="rejected draws in a million attempts", xlim=(0, 1.2 * max(1.0, *shares.values())))
    axes.invert_yaxis()
    leaks = sum(row["found_again"] for row in rows), sum(row["same_form"] for row in rows)
    findings = [
        f"{sum(held_out.values())} of {n_attempts:,} attempts are rejected as held out "
        f"({100 * sum(held_out.values()) / n_attempts:.3f} %): "
        + ", ".join(f"{count} {name[9:]}" for name, count in held_out.items()),
        f"leaks among {n_accepted:,} accepted problems: {leaks[0]} by the holdout with all rules, {leaks[1]} by equal "
        "simplified skeletons up to names of variables",
    ]
    lines = [[name, count, f"{100 * count / n_attempts:.3f}"] for name, count in outcomes.items()]
    notes = [f"{len(load(_CATALOGUE))} held-out equations, those that the benchmark leaves out among them"]
    return Outcome({"decontamination": figure}, findings, markdown(["outcome", "attempts", "%"], lines), notes)


def renamed_forms(expression: Expression) -> set[tuple[str, ...]]:
    """The plain forms under all orders of the variables, since the order of operands follows their names."""
    names = list(expression.variables)
    orders = (dict(zip(names, order, strict=True)) for order in itertools.permutations(names))
    return set(plain_forms([[order.get(token, token) for token in expression.tokens] for order in orders]))


def plain_forms(skeletons: list[list[str]]) -> list[tuple[str, ...]]:
    """Tokens of each after simplification; variables become x1, x2, ... in the order of their numbers."""
    return [_numbered_anew(tokens) for tokens in simplipy.simplify_many(skeletons, mask_numbers=True)]


def _numbered_anew(tokens: list[str]) -> tuple[str, ...]:
    numbers = sorted({int(token[1:]) for token in tokens if token[0] == "x" and token[1:].isdigit()})
    names = {f"x{number}": f"x{k}" for k, number in enumerate(numbers, start=1)}
    return tuple(names.get(token, token) for token in tokens)


def excluded_equations(context: Context) -> Outcome:
    """How often the law of an equation that is left out is finite, and how often its parts leave 32-bit floats."""
    catalogue = load(_CATALOGUE)
    n = context.pick(100, 20_000, 200_000)
    excluded = [problem for problem in catalogue if problem.excluded is not None]

    def work(name: str) -> Facts:
        return _finite_shares(catalogue[name.split()[0]], n, context.seed)

    rows = context.each([f"{problem.name} {n} parts" for problem in excluded], work, "drawing rows")
    figure, (axes,) = panels(1, 1, 7.0, 3.0)
    for offset, (key, label) in enumerate((("as_double", "64-bit"), ("as_float", "32-bit"))):
        heights = np.arange(len(excluded)) + 0.38 * (offset - 0.5)
        bars = axes.barh(heights, [100 * row[key] for row in rows], height=0.36, color=COLOURS[offset], label=label)
        axes.bar_label(bars, fmt="%.1f", padding=2, fontsize=8)
    axes.set_yticks(range(len(excluded)), [problem.name for problem in excluded])
    axes.invert_yaxis()
    axes.set(xlabel="rows with a finite law [%]", xlim=(0, 112))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.16), ncols=2)
    findings = [
        f"{problem.name}: finite at {100 * row['as_double']:.1f} % of the rows as a double, at "
        f"{100 * row['as_float']:.1f} % as a 32-bit float; a part of it is larger than any of these at "
        f"{100 * row['overflows']:.1f} %, and not zero but smaller at {100 * row['vanishes']:.1f} %"
        for problem, row in zip(excluded, rows, strict=True)
    ]
    findings.append(f"{len(catalogue)} equations, {len(catalogue.included)} used")
    header = ["equation", "formula", "finite, 64-bit %", "finite, 32-bit %", "parts overflow %", "parts vanish %"]
    shares = ("as_double", "as_float", "overflows", "vanishes")
    lines = [
        [problem.name, f"`{problem.formula}`", *(f"{100 * row[share]:.1f}" for share in shares)]
        for problem, row in zip(excluded, rows, strict=True)
    ]
    return Outcome({"excluded_equations": figure}, findings, markdown(header, lines))


def _finite_shares(problem: Problem, n: int, seed: int) -> Facts:
    draws = np.random.default_rng(seed).random((n, len(problem.variables), 2))
    columns = [v.range.values(draws[:, k, 0], draws[:, k, 1]) for k, v in enumerate(problem.variables)]
    X = np.column_stack(columns)
    y = np.asarray(problem.expression(X), dtype=np.float64)
    overflows, vanishes = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    with np.errstate(over="ignore", under="ignore"):
        narrow = y.astype(np.float32)
        for part in problem.expression.subtrees():
            values = np.broadcast_to(np.asarray(part(X), dtype=np.float64), (n,))
            stored = values.astype(np.float32)
            overflows |= np.isfinite(values) & ~np.isfinite(stored)
            vanishes |= (values != 0) & (stored == 0)
    return {
        "as_double": float(np.isfinite(y).mean()),
        "as_float": float(np.isfinite(narrow).mean()),
        "overflows": float(overflows.mean()),
        "vanishes": float(vanishes.mean()),
    }


EXPERIMENTS = (
    Experiment(
        "data_statistics",
        "Figure 'Training data statistics' (Appendix Data Statistics)",
        "Half of the simplified training expressions contain at least 5 unique variables and 24 symbols.",
        data_statistics,
        "20,000 problems of the paper's prior",
        "a million problems",
        0.2,
    ),
    Experiment(
        "data_hyperparameters",
        "Appendix Data Generation Hyperparameters",
        "p(n_ops) ~ exp(n_ops^0.7) up to 17 operators and 35 symbols, arithmetic with weight 10; L_max 4; 1 to 1,024 "
        "points on ranges of N(0, 10), constants of N(0, 5), four new tries.",
        data_hyperparameters,
        "every setting; 20,000 draws",
        "every setting; a million draws",
        0.05,
    ),
    Experiment(
        "decontamination",
        "Section Data Generation (3), Appendix Data Generation Hyperparameters, Decontamination",
        "Draws that equal a test expression without its constants, symbolically or numerically, are rejected: no "
        "leakage of the test set.",
        decontamination,
        "20,000 problems of the paper's prior",
        "a million problems",
        0.2,
    ),
    Experiment(
        "excluded_equations",
        "Appendix Excluded FastSRB Equations",
        "B4, B7, B17, II.24.17 and III.14.14 are left out: their ranges lead to roots of negative numbers or to "
        "exponentials that overflow 32-bit floats.",
        excluded_equations,
        "20,000 rows of each",
        "200,000 rows of each",
        0.1,
    ),
)
