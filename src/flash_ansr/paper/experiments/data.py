"""The training data: what the prior gives, and the equations of the benchmark that are left out."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

import simplipy
from flash_ansr.bench.report.figures import COLOURS
from flash_ansr.catalogues import Problem, load
from flash_ansr.data import Generator, Holdout, load_prior
from flash_ansr.data.figure import statistics_figure
from flash_ansr.data.generator import OUTCOMES
from flash_ansr.data.statistics import SkeletonCounts, Statistics, collect
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import draw_pairs, panels
from flash_ansr.paper.experiment import Exhibit, experiment
from simplipy import Expression
from simplipy.expression.operators import DEFAULT_OPERATORS

_CATALOGUE = "fastsrb"
_PART = 5000
_N_MAGNITUDES = 200_000
_STAGES = ("drawn", "simplified", "simplified_all_rules", "accepted")
_KINDS = {"uniform": "U", "normal": "N"}
_COUNTS = ("n_constants", "n_unique_variables", "n_variable_nodes", "lengths")
_MEDIANS = {"n_unique_variables": "unique variables", "lengths": "symbols", "n_constants": "constants"}


@experiment(minutes=0.2)
def data_statistics(context: Context) -> Exhibit:
    """Counts of the problems that training sees.

    Paper: Figure 'Training data statistics' (Appendix Data Statistics)

    Claim: Half of the simplified training expressions contain at least 5 unique variables and 24 symbols.

    Small: 20,000 problems of the paper's prior

    Full: a million problems
    """
    n = context.pick(200, 20_000, 1_000_000)
    generator = Generator("paper")
    parts = _parts(n)

    def work(part: range) -> Facts:
        found = collect(generator, len(part), context.seed, context.n_threads, first=part.start)
        return facts_of(found, max(1, _N_MAGNITUDES // len(parts)))

    statistics = joined(context.each(parts, work, "problems"))
    summary = statistics.summary()
    medians = {
        stage: {name: values[key] for key, name in _MEDIANS.items()} for stage, values in summary["medians"].items()
    }
    findings = [
        f"medians of the accepted problems: {', '.join(f'{v:g} {name}' for name, v in medians['accepted'].items())}",
        f"{100 * summary['acceptance']:.0f} % of the attempts are accepted",
        f"median length as drawn {medians['drawn']['symbols']:g}, simplified {medians['simplified']['symbols']:g}",
    ]
    lines = [{"stage": stage} | values for stage, values in medians.items()]
    return Exhibit(statistics_figure(statistics), findings, lines)


def _parts(n: int) -> dict[str, range]:
    """Indices of n problems in parts of about equal size, each of which is a row."""
    n_parts = max(1, n // _PART)
    parts = (range(k * n // n_parts, (k + 1) * n // n_parts) for k in range(n_parts))
    return {f"{part.start} to {part.stop}": part for part in parts}


def facts_of(found: Statistics, most: int) -> Facts:
    """Statistics as JSON holds them, with so many magnitudes at most."""
    magnitudes = {"log10_x": found.log10_x, "log10_y": found.log10_y}
    return {
        "n": found.n,
        "outcomes": found.outcomes,
        "n_rows": found.n_rows.tolist(),
        **{stage: {c: getattr(getattr(found, stage), c).tolist() for c in _COUNTS} for stage in _STAGES},
        **{name: values[:: -(-len(values) // most) or 1].round(3).tolist() for name, values in magnitudes.items()},
    }


def joined(rows: list[Facts]) -> Statistics:
    """The statistics of all parts."""
    facts = _joined(rows)
    return Statistics(prior="paper", **facts | {stage: SkeletonCounts(**facts[stage]) for stage in _STAGES})


def _joined(parts: list[Any]) -> Any:
    """Mappings joined key by key; numbers are added, lists of them put one after the other."""
    if isinstance(parts[0], dict):
        return {key: _joined([part[key] for part in parts]) for key in parts[0]}
    return np.concatenate([np.array(part) for part in parts]) if isinstance(parts[0], list) else sum(parts)


@experiment(minutes=0.05)
def data_hyperparameters(context: Context) -> Exhibit:
    """The prior's settings against the paper's list, and how many operators draws have against its law.

    Paper: Appendix Data Generation Hyperparameters

    Claim: p(n_ops) ~ exp(n_ops^0.7) up to 17 operators and 35 symbols, arithmetic with weight 10; L_max 4; 1 to 1,024
    points on ranges of N(0, 10), constants of N(0, 5), four new tries.

    Small: every setting; 20,000 draws

    Full: every setting; a million draws
    """
    prior = load_prior("paper")
    skeletons, (column,), (constant,) = prior.skeletons, prior.columns, prior.constants
    (bound,) = column.bounds
    weights = {token: skeletons.operator_weights[token] for token in DEFAULT_OPERATORS}
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

    def work(n: int) -> Facts:
        drawn = Generator("paper").skeletons(context.seed, range(n), simplified=False)
        counts = Counter(sum(token in simplipy.OPERATORS for token in tokens) for tokens in drawn if tokens)
        return {"counts": [counts[k] for k in range(skeletons.max_operators + 1)]}

    (row,) = context.each({f"operators {n}": n}, work, "draws")
    found = np.array(row["counts"]) / sum(row["counts"])
    expected = np.array(skeletons.n_ops_weights) / sum(skeletons.n_ops_weights)
    figure, (axes,) = panels(1, 1, 5.5, 3.2)
    axes.bar(range(len(found)), 100 * found, color=COLOURS[0], label=f"{n:,} draws")
    axes.plot(100 * expected, "o", color=COLOURS[1], label="the paper's law")
    axes.set(xlabel="operators of a skeleton as drawn", ylabel="share [%]")
    axes.legend()
    differ = [name for name, (published, here) in settings.items() if published.lower() != here.lower()]
    findings = [
        f"{len(settings) - len(differ)} of {len(settings)} settings are the paper's; others: "
        f"{', '.join(differ) or 'none'}",
        f"operators of {n:,} draws: shares differ from the law by {100 * np.abs(found - expected).max():.2f} points at "
        "most",
    ]
    lines = [{"what": name, "the paper": published, "here": here} for name, (published, here) in settings.items()]
    notes = ["rules that are no settings (leaves, checks against the test set) are tested in tests/data"]
    return Exhibit(figure, findings, lines, notes)


@experiment(minutes=0.2)
def decontamination(context: Context) -> Exhibit:
    """How many draws the holdout of FastSRB rejects, and whether any that it accepts is in FastSRB.

    Paper: Section Data Generation (3), Appendix Data Generation Hyperparameters, Decontamination

    Claim: Draws that equal a test expression without its constants, symbolically or numerically, are rejected: no
    leakage of the test set.

    Small: 20,000 problems of the paper's prior

    Full: a million problems
    """
    n = context.pick(500, 20_000, 1_000_000)
    generator = Generator("paper", holdouts=(_CATALOGUE,))
    # a second opinion, with all rules instead of those of the prior, and one that is no part of the holdout
    checked = Holdout((_CATALOGUE,))
    entries = {form for problem in load(_CATALOGUE) for form in renamed_forms(problem.expression.skeleton())}

    def work(part: range) -> Facts:
        batch = generator.flat(context.seed, part, context.n_threads)
        names, ends = generator.vocabulary.tokens, batch["lengths"] + 1
        accepted = [[names[k] for k in ids[1:end]] for ids, end in zip(batch["token_ids"], ends, strict=True)]
        return {
            "outcomes": dict(zip(OUTCOMES, batch["outcomes"].sum(0).tolist(), strict=True)),
            "found_again": sum(match is not None for match in checked.find_many(accepted)),
            "same_form": sum(form in entries for form in plain_forms(accepted)),
        }

    totals = _joined(context.each(_parts(n), work, "draws"))
    outcomes = totals["outcomes"]
    n_attempts = sum(outcomes.values())
    held_out = {name.removeprefix("held_out_"): k for name, k in outcomes.items() if name.startswith("held_out")}
    n_held_out = sum(held_out.values())
    figure, (axes,) = panels(1, 1, 6.5, 2.4)
    shares = [1e6 * count / n_attempts for count in held_out.values()]
    bars = axes.barh(list(held_out), shares, color=COLOURS[0])
    axes.bar_label(bars, labels=[f"{count}" for count in held_out.values()], padding=3, fontsize=8)
    axes.set(xlabel="rejected draws in a million attempts", xlim=(0, 1.2 * max(1.0, *shares)))
    axes.invert_yaxis()
    findings = [
        f"{n_held_out} of {n_attempts:,} attempts are rejected as held out ({100 * n_held_out / n_attempts:.3f} %): "
        + ", ".join(f"{count} {name}" for name, count in held_out.items()),
        f"leaks among {outcomes['accepted']:,} accepted problems: {totals['found_again']} by the holdout with all "
        f"rules, {totals['same_form']} by equal simplified skeletons up to names of variables",
    ]
    lines = [{"outcome": name, "attempts": k, "%": f"{100 * k / n_attempts:.3f}"} for name, k in outcomes.items()]
    notes = [f"{len(load(_CATALOGUE))} held-out equations, those that the benchmark leaves out among them"]
    return Exhibit(figure, findings, lines, notes)


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


@experiment(minutes=0.1)
def excluded_equations(context: Context) -> Exhibit:
    """How often the law of an equation that is left out is finite, and how often its parts leave 32-bit floats.

    Paper: Appendix Excluded FastSRB Equations

    Claim: B4, B7, B17, II.24.17 and III.14.14 are left out: their ranges lead to roots of negative numbers or to
    exponentials that overflow 32-bit floats.

    Small: 20,000 rows of each

    Full: 200,000 rows of each
    """
    catalogue = load(_CATALOGUE)
    n = context.pick(100, 20_000, 200_000)
    excluded = {f"{problem.name} {n} parts": problem for problem in catalogue if problem.excluded is not None}
    rows = context.each(excluded, lambda problem: _finite_shares(problem, n, context.seed), "drawing rows")
    frame = 100 * pd.DataFrame(rows, index=[problem.name for problem in excluded.values()])
    figure, (axes,) = panels(1, 1, 7.0, 3.0)
    draw_pairs(axes, {"64-bit": dict(frame["as_double"]), "32-bit": dict(frame["as_float"])}, "%.1f")
    axes.set(xlabel="rows with a finite law [%]", xlim=(0, 112))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.16), ncols=2)
    findings = [
        f"{name}: finite at {row['as_double']:.1f} % of the rows as a double, at {row['as_float']:.1f} % as a 32-bit "
        f"float; a part of it is larger than any of these at {row['overflows']:.1f} %, and not zero but smaller at "
        f"{row['vanishes']:.1f} %"
        for name, row in frame.iterrows()
    ]
    findings.append(f"{len(catalogue)} equations, {len(catalogue.included)} used")
    titles = ("finite, 64-bit %", "finite, 32-bit %", "parts overflow %", "parts vanish %")
    lines = [
        {"equation": problem.name, "formula": f"`{problem.formula}`"}
        | {title: f"{share:.1f}" for title, share in zip(titles, frame.loc[problem.name], strict=True)}
        for problem in excluded.values()
    ]
    return Exhibit(figure, findings, lines)


def _finite_shares(problem: Problem, n: int, seed: int) -> Facts:
    draws = np.random.default_rng(seed).random((n, len(problem.variables), 2))
    columns = [v.range.values(draws[:, k, 0], draws[:, k, 1]) for k, v in enumerate(problem.variables)]
    X = np.column_stack(columns)
    y = np.asarray(problem.expression(X), dtype=np.float64)
    parts = np.array([np.broadcast_to(part(X), n) for part in problem.expression.subtrees()], dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        narrow, stored = y.astype(np.float32), parts.astype(np.float32)
    shares = {
        "as_double": np.isfinite(y),
        "as_float": np.isfinite(narrow),
        "overflows": (np.isfinite(parts) & ~np.isfinite(stored)).any(axis=0),
        "vanishes": ((parts != 0) & (stored == 0)).any(axis=0),
    }
    return {name: float(mask.mean()) for name, mask in shares.items()}
