"""A prior as plain values of the core, with the skeletons that it draws from."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from pathlib import Path

import numpy as np

from flash_ansr import _core
from flash_ansr.catalogues.ranges import Kind, Sign
from flash_ansr.data.distributions import Column, Mixture, check
from flash_ansr.data.prior import Prior
from flash_ansr.data.sources.laws import LawForm, Variable, law_forms
from flash_ansr.data.sources.skeleton_file import read_skeletons
from flash_ansr.price import usual_prices
from simplipy import OPERATORS, TokenBatch

_NUMBER_KINDS = ("uniform", "normal", "log_uniform", "cauchy", "integers")
_COLUMN_KINDS = ("uniform", "log_uniform", "integers", "normal")
_KIND_OF_RANGE = {Kind.UNIFORM: "uniform", Kind.LOG: "log_uniform", Kind.INTEGER: "integers"}
_SIGNS = (Sign.AS_DRAWN, Sign.NEGATIVE, Sign.BOTH)


def _core_numbers(mixture: Mixture) -> _core.Numbers:
    rows = []
    for part in mixture:
        around = part.kind in ("normal", "cauchy")
        first, second = (part.mean, part.scale) if around else (part.low, part.high)
        # what a turned sign gives lies outside the range that was asked for
        low, high = (part.low, part.high) if around else (-np.inf, np.inf)
        rows.append((part.weight, _NUMBER_KINDS.index(part.kind), first, second, low, high, part.negative))
    return _core.Numbers(rows)


def _core_columns(columns: Iterable[Column]) -> _core.Columns:
    rows = []
    for part in columns:
        first, second = (_core_numbers(mixture) for mixture in part.mixtures)
        rows.append((part.weight, _COLUMN_KINDS.index(part.kind), first, second, part.negative, part.signs))
    return _core.Columns(rows)


def core_prior(prior: Prior) -> _core.Prior:
    """The prior as the core's plain values."""
    skeleton = _core.SkeletonPrior()
    skeleton.n_ops_weights = prior.skeletons.n_ops_weights
    skeleton.max_length = prior.skeletons.max_length
    skeleton.n_variables = prior.skeletons.n_variables
    skeleton.p_constant = -1.0 if prior.skeletons.p_constant is None else prior.skeletons.p_constant
    for token, weight in prior.skeletons.operator_weights.items():
        skeleton.set_operator_weight(OPERATORS[token].id, weight)
    core = _core.Prior()
    core.skeleton = skeleton
    core.sources = _core.Sources(*dataclasses.astuple(prior.sources))
    how = prior.recombination
    core.recombination = _core.Recombination(how.p_edit, how.p_shared, how.weights, how.p_new_range, how.unit_decades)
    core.in_scale = _core.InScale(*dataclasses.astuple(prior.in_scale))
    core.simplify = prior.simplifier == "simplipy"
    core.free_multipliers = prior.free_multipliers
    core.constants = _core_numbers(prior.constants)
    core.columns = _core_columns(prior.columns)
    core.min_rows, core.max_rows = prior.rows.low, prior.rows.high
    core.log_rows = prior.rows.kind == "log_uniform"
    core.p_noise, core.min_noise, core.max_noise = prior.noise.probability, prior.noise.low, prior.noise.high
    core.p_outliers, core.max_outliers = prior.noise.p_outliers, prior.noise.max_outliers
    core.n_retries = prior.retries
    core.must_vary = prior.must_vary
    core.min_effect = prior.min_effect
    core.leading = prior.placement == "leading"
    core.p_irrelevant = prior.p_irrelevant
    return core


def core_material(prior: Prior) -> _core.Material:
    """The skeletons and the grammar that a prior draws from, beside random trees."""
    material = _core.Material()
    if prior.corpus is not None:
        corpus = TokenBatch.from_tokens(read_skeletons(Path(prior.corpus)))
        material.set_corpus(corpus.ids, corpus.offsets, list(corpus.extras))
    operators = prior.skeletons.drawn_operators
    if prior.sources.laws > 0:
        laws = [law for law in law_forms() if _is_within(law, operators, prior.skeletons.n_variables)]
        check(bool(laws), "sources.laws needs operators and variables that some law of science is made of")
        batch = TokenBatch.from_expressions(law.skeleton for law in laws)
        spreads = [[_core_spread(variable) for variable in law.variables] for law in laws]
        material.set_laws(batch.ids, batch.offsets, list(batch.extras), spreads)
    if prior.sources.grammar > 0:
        material.set_grammar(usual_prices().within(operators).log_probs)
    return material


def _is_within(law: LawForm, operators: Collection[str], n_variables: int) -> bool:
    """Whether a law has only these operators, and at most so many variables."""
    return len(law.variables) <= n_variables and all(t in operators for t in law.skeleton.tokens if t in OPERATORS)


def _core_spread(variable: Variable) -> tuple[int, float, float, int, bool]:
    usual = variable.range
    kind = _COLUMN_KINDS.index(_KIND_OF_RANGE[usual.kind])
    return kind, usual.low, usual.high, _SIGNS.index(usual.sign), variable.unit != "1"
