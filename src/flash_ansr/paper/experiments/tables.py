"""Tables of the paper: parameter counts, vocabulary, architecture, rules, and worked examples."""

from __future__ import annotations

import re
from collections import Counter
from operator import attrgetter
from typing import Any

import numpy as np

import simplipy
from flash_ansr.paper.ablations.networks import ABLATIONS
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import compared_with_paper, table_figure
from flash_ansr.paper.experiment import Exhibit, experiment, printed
from simplipy import OPERATORS, Engine
from simplipy.expression.operators import DEFAULT_OPERATORS
from simplipy.paper.rules import PrefixRule, is_metavariable, load_rules


@experiment(minutes=0.2, needs=("network",))
def hyperparameters(_: Context) -> Exhibit:
    """Every row of the paper's table against the resolved configs; weights are counted without making them.

    Paper: Table 'Hyperparameters for the Flash-ANSR model series'

    Claim: 3.2M, 23M, 122M and 955M parameters, by encoder and decoder; sizes and training of each.

    Small: every row of all four networks; weights counted without making them

    Full: the same
    """
    resolved = {name: _resolved(name) for name in printed("weights")}
    ours, theirs, lines, findings = {}, {}, [], []
    for name, (*published, stated) in printed("weights").items():
        counted = [resolved[name][part] / 1e6 for part in ("encoder", "decoder")]
        for part, here, stated_part in zip(("encoder", "decoder"), counted, published, strict=True):
            ours[f"{name} {part}"], theirs[f"{name} {part}"] = here, stated_part
            difference = f"{100 * (here / stated_part - 1):+.1f} %"
            lines.append(_line(name, part, f"{here:.2f}M", f"{stated_part:g}M", difference))
        findings.append(
            f"{name}: {sum(counted):.1f}M weights; the paper's parts add up to {sum(published):g}M, its total is "
            f"{stated}"
        )
    different = []
    for row, (_place, *values) in printed("hyperparameters").items():
        for name, value in zip(resolved, values, strict=True):
            here = resolved[name]["config"][row]
            lines.append(_line(name, row, f"{here:g}", f"{value:g}", "" if here == value else "differs"))
            different += [] if here == value else [f"{row} of {name} ({here:g}, the paper {value:g})"]
    n = len(printed("hyperparameters")) * len(resolved)
    worst = max(abs(ours[key] / theirs[key] - 1) for key in ours)
    findings += [
        f"{n - len(different)} of {n} other values are the paper's; others: {'; '.join(different) or 'none'}",
        f"the largest difference of a part is {100 * worst:.1f} %",
    ]
    notes = ["hardware and hours of the paper's training are not compared"]
    return Exhibit(compared_with_paper("weights", "millions", ours, theirs), findings, lines, notes)


def _line(model: str, what: str, here: str, paper: str, difference: str) -> dict[str, str]:
    return {"model": model, "what": what, "here": here, "the paper": paper, "difference": difference}


def _resolved(name: str) -> Facts:
    """Numbers of a config: weights of its parts, and the rows of the paper's table."""
    import torch

    from flash_ansr.model import Network
    from flash_ansr.train.config import load_config

    config = load_config(name)
    with torch.device("meta"):
        network = Network(config.model)
    width = network.state_dict()["decoder.blocks.0.feed_forward.up.weight"].shape[0]
    values = {
        row: attrgetter(place)(config) if place else width for row, (place, *_) in printed("hyperparameters").items()
    }
    return network.n_parameters() | {"config": values}


@experiment(minutes=0.05)
def vocabulary(_: Context) -> Exhibit:
    """The operator table against the paper's.

    Paper: Table 'Flash-ANSR operator vocabulary' (Appendix Operators)

    Claim: 38 operators; the four of arithmetic are drawn with weight 10, all others with weight 1.

    Small: the operator table of the core

    Full: the same
    """
    operators, published = [OPERATORS[token] for token in DEFAULT_OPERATORS], printed("operators").split()
    missing = [token for token in published if token not in DEFAULT_OPERATORS]
    added = [token for token in DEFAULT_OPERATORS if token not in published]
    findings = [
        f"{len(operators)} operators, {sum(o.arity == 2 for o in operators)} of them binary; the paper has "
        f"{len(published)}; missing here: {', '.join(missing) or 'none'}; added: {', '.join(added) or 'none'}",
        f"weight 10: {' '.join(o.token for o in operators if o.weight == 10)}; weight 1: "
        f"{sum(o.weight == 1 for o in operators)} others",
    ]
    lines = [
        {"token": f"`{o.token}`", "operands": o.arity, "meaning": o.description, "defined": o.domain or "everywhere"}
        for o in operators
    ]
    return Exhibit(table_figure(lines), findings, lines)


@experiment(minutes=0.1, needs=("network",))
def architecture(_: Context) -> Exhibit:
    """The components in which Flash-ANSR differs from NeSymReS, read from the configs.

    Paper: Table 'Architectural and inference choices relative to NeSymReS'

    Claim: Pre-norm, masked RMSSetNorm, RoPE, 32-bit input (1e-38 to 1e38, against 1e-4 to 1e4 with 16 bits), softmax
    sampling, Levenberg-Marquardt.

    Small: the configs micro and nesymres

    Full: the same
    """
    from flash_ansr.infer.settings import PaperPipeline
    from flash_ansr.train.config import load_config

    switches: Any = ABLATIONS["nesymres"].switches
    pipelines = {"nesymres": PaperPipeline(**switches), "micro": PaperPipeline()}

    def components(name: str) -> dict[str, str]:
        model = load_config(name).model
        return {
            "decoder norm": f"{model.decoder.norm_position}-{model.decoder.norm}",
            "encoder norm": f"{model.encoder.norm_position}-{model.encoder.norm}",
            "positions": model.decoder.positions,
            "input": model.encoder.numbers,
            "decoding": pipelines[name].decoding,
            "optimizer of constants": pipelines[name].refiner,
        }

    theirs, ours = map(components, pipelines)
    lines = [{"component": name, "NeSymReS": theirs[name], "Flash-ANSR": ours[name]} for name in ours]
    n = sum(theirs[name] != ours[name] for name in ours)
    wide, narrow = (np.finfo(kind) for kind in (np.float32, np.float16))
    findings = [
        f"{n} of {len(ours)} components differ, by the configs and by the switches of PaperPipeline",
        f"32-bit input tells numbers apart from {wide.tiny:.1g} to {wide.max:.1g}, 16-bit input from {narrow.tiny:.1g} "
        f"to {narrow.max:.1g}",
    ]
    return Exhibit(table_figure(lines), findings, lines)


@experiment(minutes=0.05)
def rule_table(context: Context) -> Exhibit:
    """A random subset of the rules of the paper's engine, and what they are about.

    Paper: Table 'Random subset of the simplification rules' (Appendix SimpliPy Rules)

    Claim: Pattern-replacement pairs found by enumeration; each strictly shorter, none duplicating; buckets by root and
    length are far smaller than the whole set.

    Small: 24 rules

    Full: 60 rules
    """
    rules = load_rules()
    by_length = Counter(len(rule.pattern) for rule in rules)
    # like the paper's table: long rules too, which are few
    lengths = sorted(by_length)
    rng = np.random.default_rng(context.seed)
    chosen: list[PrefixRule] = []
    for k in range(context.pick(6, 24, 60)):
        pool = [rule for rule in rules if len(rule.pattern) == lengths[-1 - k % len(lengths)] and rule not in chosen]
        chosen += [pool[int(rng.integers(len(pool)))]] if pool else []
    lines = [{side: f"${_latex(getattr(rule, side))}$" for side in ("pattern", "replacement")} for rule in chosen]
    buckets = Counter((rule.pattern[0], len(rule.pattern)) for rule in rules if not rule.is_ground)
    (root, length), largest = buckets.most_common(1)[0]
    share, middle = 100 * largest / buckets.total(), np.median([*buckets.values()])
    theirs = dict(printed("rules"))
    simplified = {left: simplipy.simplify(left, mask_numbers="<constant>" in right) for left, right in theirs.items()}
    others = [
        f"{left} becomes {simplified[left]} (the paper: {right})"
        for left, right in theirs.items()
        if simplipy.canonical_key(simplified[left]) != simplipy.canonical_key(right)
    ]
    n = len(theirs)
    findings = [
        f"{len(rules)} rules, {sum(rule.is_ground for rule in rules)} of them without variables",
        "by length of the pattern: " + ", ".join(f"{length}: {by_length[length]}" for length in lengths),
        f"rules with variables lie in {len(buckets)} buckets by root and length, the largest ({root}, {length}) with "
        f"{largest}, {share:.1f} % of them, the median with {middle:g}",
        "every rule is shorter on its right side and repeats no variable more often there: the loader refuses others",
        f"{n - len(others)} of the {n} rules that the paper prints are what our simplifier does too",
        f"others: {'; '.join(others) or 'none'}",
    ]
    notes = [
        "the published rule set is not used: this one was mined anew, to length 4, to 6 in arithmetic "
        "(benchmarks/make_paper_rules.py)"
    ]
    return Exhibit(table_figure(lines), findings, lines, notes)


def _latex(tokens: tuple[str, ...]) -> str:
    """A side of a rule; metavariables as x, y, z, free constants as diamonds."""
    names = {"_0": "x", "_1": "y", "_2": "z"}
    plain = [names.get(token, "w") if is_metavariable(token) else token for token in tokens]
    # each free constant is its own: numbered, those of the two sides would seem to be the same
    return re.sub(r"c_\{?\d+\}?", r"\\diamond{}", simplipy.parse(plain).latex())


@experiment(minutes=0.05)
def worked_examples(_: Context) -> Exhibit:
    """The simplifications that the paper writes out, by both engines.

    Paper: Section SimpliPy, Section Data Generation and the caption of the rule table

    Claim: |x1/2|^2 + c1*exp(x2 - x2) + c2 becomes c1 + (x1/2)^2; exp(-1/(x - x)) becomes 0; and others.

    Small: six examples by both engines

    Full: the same
    """
    paper = Engine(method="paper")
    lines, n_short, n_same = [], Counter[str](), Counter[str]()
    for text, expected, masked in printed("simplifications"):
        line = {"given": f"`{text}`", "the paper": f"`{expected}`"}
        tokens = simplipy.parse(text).tokens
        found = {
            "ours": simplipy.simplify(tokens, mask_numbers=masked),
            "the paper's algorithm": paper.simplify(tokens),
        }
        for name, result in found.items():
            as_short = len(result) <= len(simplipy.parse(expected))
            same = simplipy.canonical_key(result) == simplipy.canonical_key(expected)
            n_short[name] += as_short
            n_same[name] += same
            marks = " (longer)" * (not as_short) + " (another form)" * (not same)
            line[name] = f"`{simplipy.parse(result).infix()}{marks}`"
        lines.append(line)
    findings = [
        f"{name}: at least as short as the paper's form in {n_short[name]} of {len(lines)}, of the same canonical form "
        f"in {n_same[name]}"
        for name in n_short
    ]
    return Exhibit(table_figure(lines), findings, lines)
