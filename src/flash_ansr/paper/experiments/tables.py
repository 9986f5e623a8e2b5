"""Tables of the paper: parameter counts, vocabulary, architecture, rules, and its worked examples."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

import simplipy
from flash_ansr.bench.figures import COLOURS
from flash_ansr.paper.ablations.networks import ABLATIONS
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import bar_figure, markdown, panels
from flash_ansr.paper.experiment import Experiment, Outcome, need_torch
from simplipy import OPERATORS, Engine
from simplipy.paper.rules import Rule, is_metavariable, load_rules

# millions of weights: encoder, decoder; and the total as the paper rounds it
_PAPER_COUNTS = {
    "3M": (1.6, 1.6, "3.2M"),
    "20M": (10.4, 12.4, "23M"),
    "120M": (64.4, 57.5, "122M"),
    "1B": (494.0, 459.0, "955M"),
}
# the other rows of its table, and what the text around it says; the batch follows from 512M pairs in 4M steps
_PAPER_TABLE: dict[str, tuple[float, float, float, float]] = {
    "encoder dimension": (192, 384, 640, 1280),
    "encoder heads": (3, 6, 10, 20),
    "ISAB layers": (1, 2, 5, 10),
    "SAB layers": (1, 2, 5, 10),
    "inducing points": (128, 128, 128, 128),
    "seed vectors": (128, 128, 128, 128),
    "decoder dimension": (192, 384, 640, 1280),
    "decoder heads": (3, 6, 10, 20),
    "decoder layers": (3, 6, 10, 20),
    "feed-forward dimension": (576, 1152, 1920, 3840),
    "encoder dropout": (0.1, 0.1, 0.1, 0.1),
    "decoder dropout": (0.1, 0.1, 0.1, 0.1),
    "steps": (1e6, 2e6, 3e6, 4e6),
    "batch size": (128, 128, 128, 128),
    "learning rate": (1e-4, 1e-4, 1e-4, 3e-5),
    "weight decay": (0.01, 0.01, 0.01, 0.025),
    "beta1": (0.9, 0.9, 0.9, 0.9),
    "beta2": (0.95, 0.95, 0.95, 0.99995),
    "clip": (2.0, 2.0, 2.0, 2.0),
    "warmup": (0.1, 0.1, 0.1, 0.1875),
    "decay": (0.2, 0.2, 0.2, 0.25),
}
_PAPER_TOKENS = (
    "+ - * / abs inv neg pow pow2 pow3 pow4 pow5 pow1_2 pow1_3 pow1_4 pow1_5 sin cos tan asin acos atan sinh cosh "
    "tanh asinh acosh atanh exp log mult2 mult3 mult4 mult5 div2 div3 div4 div5"
).split()
# what the paper writes, and what it says becomes of it
_EXAMPLES = (
    ("abs(x1/2)^2 + <constant>*exp(x2 - x2) + <constant>", "<constant> + (x1/2)^2", False),
    ("2*sin(x1) + <constant>^2", "<constant> + 2*sin(x1)", True),
    ("x1 + sin(<constant>)", "<constant> + x1", False),
    ("2*x1 + <constant> + <constant> - x1", "<constant> + x1", False),
    ("exp(-1/(x1 - x1))", "0", False),
    ("4*x1/pi", "<constant>*x1", True),
)
# the rules that the paper prints; where the right side has a free constant, numbers count as free
_PRINTED_RULES = (
    ("pow(-inf/4, cbrt(pi))", "inf"),
    ("pow(-inf, x)*(e*x)", "pow(-inf, x)"),
    ("(1/pi)/(0/-inf)", "inf"),
    ("(inf*1)*(pi/-1)", "-inf"),
    ("pow(sinh(pi), x - inf)", "0"),
    ("pow(asin(0), cbrt(pi))", "0"),
    ("(-1 - pi)*(inf*pi)", "-inf"),
    ("(x + inf)/(5*-1)", "-inf"),
    ("pow(inf, pi)/(pi + -1)", "inf"),
    ("sqrt(-inf)/(4*pi)", "inf"),
    ("4*x/pi", "<constant>*x"),
    ("x*inf + x/nan", "nan"),
    ("(x + -inf)/sinh(pi)", "-inf"),
    ("e/-1*pow(-inf, inf)", "-inf"),
    ("pow(x*0, -1/e)", "inf"),
    ("pi*pi*(2*-inf)", "-inf"),
    ("pow(sinh(-inf), atan(e))", "inf"),
    ("pow(1/2, x/3)", "pow(<constant>, x)"),
    ("asin(-1)*pow4(inf)", "-inf"),
    ("pow(pow(pi, pi), pow3(inf))", "inf"),
)


def hyperparameters(context: Context) -> Outcome:
    """Every row of the paper's table against the resolved configs; weights are counted without making them."""
    need_torch("hyperparameters")
    rows = dict(zip(_PAPER_COUNTS, context.each(list(_PAPER_COUNTS), _resolved, "counting", again=True), strict=True))
    ours, theirs, lines, findings = {}, {}, [], []
    for name, (encoder, decoder, stated) in _PAPER_COUNTS.items():
        for part, published in (("encoder", encoder), ("decoder", decoder)):
            counted = rows[name][part] / 1e6
            ours[f"{name} {part}"], theirs[f"{name} {part}"] = counted, published
            lines.append(
                [name, part, f"{counted:.2f}M", f"{published:g}M", f"{100 * (counted / published - 1):+.1f} %"]
            )
        total = (rows[name]["encoder"] + rows[name]["decoder"]) / 1e6
        findings.append(
            f"{name}: {total:.1f}M weights; the paper's parts add up to {encoder + decoder:g}M, its total is {stated}"
        )
    different = []
    for row, values in _PAPER_TABLE.items():
        for name, published in zip(_PAPER_COUNTS, values, strict=True):
            here = rows[name]["config"][row]
            lines.append([name, row, f"{here:g}", f"{published:g}", "" if here == published else "differs"])
            different += [] if here == published else [f"{row} of {name} ({here:g}, the paper {published:g})"]
    n = len(_PAPER_TABLE) * len(_PAPER_COUNTS)
    findings.append(
        f"{n - len(different)} of {n} other values are the paper's; others: {'; '.join(different) or 'none'}"
    )
    worst = max(abs(ours[key] / theirs[key] - 1) for key in ours)
    findings.append(f"the largest difference of a part is {100 * worst:.1f} %")
    figure = bar_figure("weights", "millions", ours, theirs)
    table = markdown(["model", "what", "here", "the paper", "difference"], lines)
    notes = ["hardware and hours of the paper's training are not compared"]
    return Outcome({"hyperparameters": figure}, findings, table, notes)


def _resolved(name: str) -> Facts:
    """What a config comes to: weights of its parts, and the rows of the paper's table."""
    import torch

    from flash_ansr.model import Network
    from flash_ansr.train.config import load_config

    config = load_config(name)
    encoder, decoder, optimizer = config.model.encoder, config.model.decoder, config.optimizer
    with torch.device("meta"):
        network = Network(config.model)
    found = {
        "encoder dimension": encoder.dim,
        "encoder heads": encoder.n_heads,
        "ISAB layers": encoder.n_isab,
        "SAB layers": encoder.n_sab,
        "inducing points": encoder.n_inducing,
        "seed vectors": encoder.n_seeds,
        "decoder dimension": decoder.dim,
        "decoder heads": decoder.n_heads,
        "decoder layers": decoder.n_layers,
        "feed-forward dimension": network.state_dict()["decoder.blocks.0.feed_forward.up.weight"].shape[0],
        "encoder dropout": encoder.dropout,
        "decoder dropout": decoder.dropout,
        "steps": optimizer.steps,
        "batch size": optimizer.batch_size,
        "learning rate": optimizer.learning_rate,
        "weight decay": optimizer.weight_decay,
        "beta1": optimizer.beta1,
        "beta2": optimizer.beta2,
        "clip": optimizer.clip,
        "warmup": optimizer.warmup,
        "decay": optimizer.decay,
    }
    return network.n_parameters() | {"config": found}


def vocabulary(context: Context) -> Outcome:
    """The operator table against the paper's."""
    rows = context.each(list(OPERATORS), lambda token: {"arity": OPERATORS[token].arity}, "operators", again=True)
    missing = [token for token in _PAPER_TOKENS if token not in OPERATORS]
    added = [token for token in OPERATORS if token not in _PAPER_TOKENS]
    heavy = [token for token, operator in OPERATORS.items() if operator.weight == 10]
    weights = Counter(operator.weight for operator in OPERATORS.values())
    figure, (axes,) = panels(1, 1, 9.0, 4.6)
    axes.set_axis_off()
    for k, operator in enumerate(OPERATORS.values()):
        column, row = divmod(k, 13)
        x, y = column / 3, 1 - row / 13
        axes.text(x, y, operator.token, family="monospace", fontsize=9, color=COLOURS[0], transform=axes.transAxes)
        axes.text(x + 0.09, y, operator.description, fontsize=8, transform=axes.transAxes)
    findings = [
        f"{len(OPERATORS)} operators, {sum(row['arity'] == 2 for row in rows)} of them binary; the paper has "
        f"{len(_PAPER_TOKENS)}; missing here: {', '.join(missing) or 'none'}; added: {', '.join(added) or 'none'}",
        f"weight 10: {' '.join(heavy)}; weight 1: {weights[1.0]} others",
    ]
    lines = [[f"`{o.token}`", o.arity, o.description, o.domain or "everywhere"] for o in OPERATORS.values()]
    table = markdown(["token", "operands", "meaning", "defined"], lines)
    return Outcome({"vocabulary": figure}, findings, table)


def rule_table(context: Context) -> Outcome:
    """A random subset of the rules of the paper's engine, and what they are about."""
    rules = load_rules()
    n = context.pick(6, 24, 60)
    # like the paper's table: long rules too, which are few
    lengths = sorted({len(rule.pattern) for rule in rules})
    rng = np.random.default_rng(context.seed)
    chosen: list[Rule] = []
    for k in range(n):
        pool = [rule for rule in rules if len(rule.pattern) == lengths[-1 - k % len(lengths)] and rule not in chosen]
        chosen += [pool[int(rng.integers(len(pool)))]] if pool else []
    context.each([str(rule) for rule in chosen], lambda key: {"rule": key}, "rules", again=True)
    shown = [(_latex(rule.pattern), _latex(rule.replacement)) for rule in chosen]
    half = (len(shown) + 1) // 2
    figure, (axes,) = panels(1, 1, 9.5, 0.42 * half + 0.4)
    axes.set_axis_off()
    for k, (pattern, replacement) in enumerate(shown):
        column, row = divmod(k, half)
        y = 1 - (row + 0.5) / half
        axes.text(0.22 + column / 2, y, f"${pattern}$", ha="right", va="center", transform=axes.transAxes)
        axes.text(0.24 + column / 2, y, f"$\\to\\;\\;{replacement}$", va="center", transform=axes.transAxes)
    by_length = Counter(len(rule.pattern) for rule in rules)
    buckets = Counter((rule.pattern[0], len(rule.pattern)) for rule in rules if not rule.is_ground)
    (root, length), largest = buckets.most_common(1)[0]
    share, middle = 100 * largest / buckets.total(), np.median([*buckets.values()])
    findings = [
        f"{len(rules)} rules, {sum(rule.is_ground for rule in rules)} of them without variables",
        "by length of the pattern: " + ", ".join(f"{length}: {by_length[length]}" for length in lengths),
        f"rules with variables lie in {len(buckets)} buckets by root and length, the largest ({root}, {length}) with "
        f"{largest}, {share:.1f} % of them, the median with {middle:g}",
        "every rule is shorter on its right side and repeats no variable more often there: the loader refuses others",
    ]
    findings += _printed_rules()
    lines = [[f"${pattern}$", f"${replacement}$"] for pattern, replacement in shown]
    notes = [
        "the published rule set is not used: this one was mined anew, to length 4, to 6 in arithmetic "
        "(benchmarks/make_paper_rules.py)"
    ]
    return Outcome({"rule_table": figure}, findings, markdown(["pattern", "replacement"], lines), notes)


def _printed_rules() -> list[str]:
    """What our simplifier makes of the left sides of the rules that the paper prints."""
    found = {left: simplipy.simplify(left, mask_numbers="<constant>" in right) for left, right in _PRINTED_RULES}
    others = [
        f"{left} becomes {found[left]} (the paper: {right})"
        for left, right in _PRINTED_RULES
        if simplipy.canonical_key(found[left]) != simplipy.canonical_key(right)
    ]
    n = len(_PRINTED_RULES)
    return [
        f"{n - len(others)} of the {n} rules that the paper prints are what our simplifier does too",
        f"others: {'; '.join(others) or 'none'}",
    ]


def _latex(tokens: tuple[str, ...]) -> str:
    """A side of a rule; metavariables as x, y, z, free constants as diamonds."""
    names = {"_0": "x", "_1": "y", "_2": "z"}
    plain = [names.get(token, "w") if is_metavariable(token) else token for token in tokens]
    # each free constant is its own: numbered, those of the two sides would seem to be the same
    return re.sub(r"c_\{?\d+\}?", r"\\diamond{}", simplipy.parse(plain).latex())


def worked_examples(context: Context) -> Outcome:
    """The simplifications that the paper writes out, by both engines."""
    engines = {"ours": Engine(), "the paper's algorithm": Engine(method="paper")}

    def work(text: str) -> Facts:
        masked = next(mask for given, _, mask in _EXAMPLES if given == text)
        tokens = simplipy.parse(text).tokens
        found = {"ours": engines["ours"].simplify(tokens, mask_numbers=masked)}
        found["the paper's algorithm"] = engines["the paper's algorithm"].simplify(tokens)
        return {name: simplipy.parse(result).infix() for name, result in found.items()}

    rows = context.each([text for text, _, _ in _EXAMPLES], work, "examples", again=True)
    lines, n_short, n_same = [], Counter[str](), Counter[str]()
    for (text, expected, _), row in zip(_EXAMPLES, rows, strict=True):
        marks = {}
        for name in engines:
            as_short = len(simplipy.parse(row[name])) <= len(simplipy.parse(expected))
            same = simplipy.canonical_key(row[name]) == simplipy.canonical_key(expected)
            n_short[name] += as_short
            n_same[name] += same
            marks[name] = row[name] + ("" if as_short else " (longer)") + ("" if same else " (another form)")
        lines.append([f"`{text}`", f"`{expected}`", *(f"`{marks[name]}`" for name in engines)])
    figure, (axes,) = panels(1, 1, 10.0, 0.34 * len(lines) + 0.7)
    axes.set_axis_off()
    header = ["given", "the paper", *engines]
    cells = [[cell.strip("`") for cell in line] for line in lines]
    drawn = axes.table(cellText=cells, colLabels=header, loc="center", cellLoc="left", colWidths=[0.4, 0.2, 0.2, 0.2])
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(8)
    findings = [
        f"{name}: at least as short as the paper's form in {n_short[name]} of {len(lines)}, of the same canonical form "
        f"in {n_same[name]}"
        for name in engines
    ]
    return Outcome({"worked_examples": figure}, findings, markdown(header, lines))


def architecture(context: Context) -> Outcome:
    """The components in which Flash-ANSR differs from NeSymReS, read from the configs."""
    need_torch("architecture")
    from flash_ansr.infer.settings import PaperPipeline
    from flash_ansr.train.config import load_config

    switches: Any = ABLATIONS["nesymres"].switches

    def work(name: str) -> Facts:
        model = load_config(name).model
        is_ours = name == "micro"
        own = PaperPipeline() if is_ours else PaperPipeline(**switches)
        return {
            "decoder norm": f"{model.decoder.norm_position}-{model.decoder.norm}",
            "encoder norm": f"{model.encoder.norm_position}-{model.encoder.norm}",
            "positions": model.decoder.positions,
            "input": model.encoder.numbers,
            "decoding": own.decoding,
            "optimizer of constants": own.refiner,
        }

    theirs, ours = context.each(["nesymres", "micro"], work, "configs", again=True)
    lines = [[name, theirs[name], ours[name]] for name in ours]
    figure, (axes,) = panels(1, 1, 6.5, 2.6)
    axes.set_axis_off()
    drawn = axes.table(cellText=lines, colLabels=["component", "NeSymReS", "Flash-ANSR"], loc="center", cellLoc="left")
    drawn.scale(1, 1.3)
    n = sum(theirs[name] != ours[name] for name in ours)
    wide, narrow = (np.finfo(kind) for kind in (np.float32, np.float16))
    findings = [
        f"{n} of {len(ours)} components differ, by the configs and by the switches of PaperPipeline",
        f"32-bit input tells numbers apart from {wide.tiny:.1g} to {wide.max:.1g}, 16-bit input from {narrow.tiny:.1g} "
        f"to {narrow.max:.1g}",
    ]
    return Outcome({"architecture": figure}, findings, markdown(["component", "NeSymReS", "Flash-ANSR"], lines))


EXPERIMENTS = (
    Experiment(
        "hyperparameters",
        "Table 'Hyperparameters for the Flash-ANSR model series'",
        "3.2M, 23M, 122M and 955M parameters, by encoder and decoder; sizes and training of each.",
        hyperparameters,
        "every row of all four networks; weights counted without making them",
        "the same",
        0.2,
        ("network",),
    ),
    Experiment(
        "vocabulary",
        "Table 'Flash-ANSR operator vocabulary' (Appendix Operators)",
        "38 operators; the four of arithmetic are drawn with weight 10, all others with weight 1.",
        vocabulary,
        "the operator table of the core",
        "the same",
        0.05,
    ),
    Experiment(
        "architecture",
        "Table 'Architectural and inference choices relative to NeSymReS'",
        "Pre-norm, masked RMSSetNorm, RoPE, 32-bit input (1e-38 to 1e38, against 1e-4 to 1e4 with 16 bits), softmax "
        "sampling, Levenberg-Marquardt.",
        architecture,
        "the configs micro and nesymres",
        "the same",
        0.1,
        ("network",),
    ),
    Experiment(
        "rule_table",
        "Table 'Random subset of the simplification rules' (Appendix SimpliPy Rules)",
        "Pattern-replacement pairs found by enumeration; each strictly shorter, none duplicating; buckets by root and "
        "length are far smaller than the whole set.",
        rule_table,
        "24 rules",
        "60 rules",
        0.05,
    ),
    Experiment(
        "worked_examples",
        "Section SimpliPy, Section Data Generation and the caption of the rule table",
        "|x1/2|^2 + c1*exp(x2 - x2) + c2 becomes c1 + (x1/2)^2; exp(-1/(x - x)) becomes 0; and others.",
        worked_examples,
        "six examples by both engines",
        "the same",
        0.05,
    ),
)
