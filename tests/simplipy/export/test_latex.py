"""LaTeX: a golden file, safe names, and that a reader who knows the textbook rules reads the same formula."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplipy
from simplipy.export.latex import to_latex
from simplipy.expression.operator_forms import FORMS
from simplipy.expression.operators import variable_token
from tests.oracle import Near, Status, evaluate
from tests.strategies import ARITY, EVERY_OPERATOR, X_TOKENS, examples, points, token_lists

GOLDEN = json.loads(Path(__file__).parents[2].joinpath("golden", "latex.json").read_text(encoding="utf-8"))
FUNCTIONS = {row.latex.text: token for token, row in FORMS.items() if row.latex.form == "function"}
WORDS = re.compile(r"\\operatorname\{\w+\}|\\mathrm\{NaN\}|\\left[(|]|\\right[)|]|\\[a-z]+|\d+(?:\.\d+)?|\S")


class TextbookReader:
    """Reads what `to_latex` writes as a person would; refuses what a person could misread."""

    def __init__(self, latex: str) -> None:
        self.words = WORDS.findall(latex.replace(r"\,", ""))
        self.i = 0

    def next(self) -> str:
        return self.words[self.i] if self.i < len(self.words) else ""

    def take(self, *expected: str) -> str:
        word = self.next()
        assert not expected or word in expected, (self.words, self.i, expected)
        self.i += 1
        return word

    def accept(self, *words: str) -> str:
        return self.take() if self.next() in words else ""

    def group(self) -> list[str]:
        self.take("{")
        inner = self.sum()
        self.take("}")
        return inner

    def sum(self) -> list[str]:
        left = ["neg", *self.product()] if self.accept("-") else self.product()
        while sign := self.accept("+", "-"):
            left = [sign, *left, *self.product()]
        return left

    def product(self) -> list[str]:
        left = self.power()
        while self.next() not in ("", ",", "+", "-", "}", r"\right)", r"\right|"):
            dot = self.accept(r"\cdot")
            digit_before = self.words[self.i - 1][0].isdigit()
            assert dot or not self.next()[0].isdigit(), f"a digit without a dot before it: {self.words}"
            fraction = self.next() == r"\frac" and self.words[self.i + 2][0].isdigit()
            assert dot or not (digit_before and fraction), f"reads as a mixed number: {self.words}"
            left = ["*", *left, *self.power()]
        return left

    def power(self) -> list[str]:
        base = self.atom()
        if not self.accept("^"):
            return base
        power = ["pow", *base, *self.group()]
        assert self.next() != "^", "a double superscript"
        return power

    def arguments(self, n: int) -> list[str]:
        self.take(r"\left(")
        inner = self.sum()
        for _ in range(n - 1):
            self.take(",")
            inner += self.sum()
        self.take(r"\right)")
        return inner

    def atom(self) -> list[str]:
        word = self.take()
        if word[0].isdigit():
            return [word]
        if word == r"\frac":
            return ["/", *self.group(), *self.group()]
        if word == r"\sqrt":
            index = "2"
            if self.accept("["):
                index = self.take()
                self.take("]")
            return [f"pow1_{index}", *self.group()]
        if word in (r"\left(", r"\left|"):
            inner = self.sum()
            self.take(word.replace("left", "right").replace("(", ")"))
            return inner if word == r"\left(" else ["abs", *inner]
        if word in FUNCTIONS:
            exponent = self.group() if self.accept("^") else None
            call = [FUNCTIONS[word], *self.arguments(ARITY[FUNCTIONS[word]])]
            return call if exponent is None else ["pow", *call, *exponent]
        if word == "x":
            self.take("_")
            return [f"x{self.group()[0]}"]
        return {r"\pi": ["pi"], "e": ["e"], r"\infty": ["inf"], r"\mathrm{NaN}": ["nan"]}[word]


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: row["text"])
def test_golden(row):
    assert simplipy.parse(row["text"]).latex(row.get("precision")) == row["latex"]


@examples(300)
@given(token_lists(10, names=False, constants=False, specials=True, operators=EVERY_OPERATOR), points(5, 1))
def test_a_reader_reads_the_same_formula(tokens, rows):
    reader = TextbookReader(to_latex(tokens))
    read = reader.sum()
    assert reader.next() == ""
    env = dict(zip(X_TOKENS, rows[0], strict=True))
    before, after = evaluate(tokens, env), evaluate(read, env)
    if isinstance(before, Near) and isinstance(after, Near):
        assert abs(before.value - after.value) <= before.bound + after.bound, read
    elif Status.UNDECIDED not in (before, after):
        assert before == after, read


def assert_safe(latex: str) -> None:
    """Braces match, and nothing that TeX would act on is left outside a command."""
    bare = re.sub(r"\\(?:[#$%&_{}]|[a-zA-Z]+| )", "", latex)
    assert not re.search(r"[#$%&~\\]", bare), latex
    depth = 0
    for character in bare:
        depth += (character == "{") - (character == "}")
        assert depth >= 0, latex
    assert depth == 0, latex
    assert all(character.isprintable() for character in latex), latex


@examples(200)
@given(st.text(min_size=1, max_size=12))
def test_any_name_is_safe(name):
    assert_safe(to_latex(["+", "x1", variable_token(name)]))


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("x1", "x_{1}"),
        ("x_12", "x_{12}"),
        ("alpha", r"\alpha"),
        ("α2", r"\alpha_{2}"),
        ("Omega", r"\Omega"),
        ("Δ", r"\Delta"),
        ("theta_0", r"\theta_{0}"),
        ("v_max", r"v_{\mathrm{max}}"),
        ("m_e", "m_{e}"),
        ("mass", r"\mathrm{mass}"),
        ("mass2", r"\mathrm{mass}_{2}"),
        ("a_b_c", r"a_{\mathrm{b\_c}}"),
        ("e", r"\mathrm{e}"),
        ("pi", r"\mathrm{pi}"),
        ("50% of $x", r"\mathrm{50\%\ of\ \$x}"),
        ("a\\b", r"\mathrm{a\backslash{}b}"),
        ("naïve", r"\mathrm{na\text{ï}ve}"),
        ("a\u202eb", r"\mathrm{a[U{+}202E]b}"),
        ("a-b", r"\mathrm{a{-}b}"),
    ],
)
def test_names(name, latex):
    assert to_latex([variable_token(name)]) == latex


def test_a_variable_is_not_taken_for_a_constant():
    assert simplipy.parse("c1 + c2 + <constant>").latex() == r"\mathrm{c1} + c_{2} + c_{1}"


def test_constants_count_in_prefix_order():
    assert simplipy.parse("<constant>*sin(<constant>*x1)").latex() == r"c_{1} \sin\left(c_{2} x_{1}\right)"


@pytest.mark.parametrize(
    ("number", "precision", "latex"),
    [
        ("3.14159265", 3, "3.14"),
        ("123456", 3, "123000"),
        ("0.1", 17, "0.1"),
        ("-1.23456e-9", 2, r"-1.2 \cdot 10^{-9}"),
        ("9.99e20", 1, "10^{21}"),
        ("1.7976931348623157e308", 2, r"1.7976931348623157 \cdot 10^{308}"),
        ("1e-7", None, "10^{-7}"),
        ("-1.5e-7", None, r"-1.5 \cdot 10^{-7}"),
        ("0.12345678901234567", None, "0.12345678901234567"),
    ],
)
def test_numbers(number, precision, latex):
    assert to_latex([number], precision) == latex


def test_long_and_deep_expressions():
    assert to_latex(["inv"] * 10_000 + ["x1"]).count(r"\frac") == 10_000
    # quadratic concatenation would need gigabytes here
    assert len(to_latex(["sin"] * 200_000 + ["x1"])) > 200_000 * len(r"\sin\left(\right)")
    assert to_latex(["+"] * 50_000 + ["x1"] * 50_001).count("x_{1}") == 50_001
