"""Trees, rewrite rules and their index for the paper's engine (engine.py).

A rule is data: two rows of prefix tokens, with metavariables `_0`, `_1`, ... that bind whole subtrees. Every rule is
shorter on its right side and uses no metavariable more often there, so that rewriting ends. This module matches and
indexes rules; in what order they are tried on a whole expression is the engine's business, and where they come from
is that of benchmarks/make_paper_rules.py.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simplipy.errors import ParseError, SimplipyError
from simplipy.expression.expression import parse
from simplipy.expression.operators import CONSTANT
from simplipy.expression.prefix import fold

MAX_DEPTH = 200  # the engine recurses over trees; deeper ones would meet Python's own limit at an arbitrary place

_RULE_FILE = Path(__file__).parents[1] / "data" / "paper_rules.json"


@dataclass(frozen=True, slots=True)
class Node:
    """A subtree of an expression.

    Attributes
    ----------
    token : str
        Operator, variable, number or `<constant>`.
    operands : tuple of Node
        As many as the operator takes; none for a leaf.
    introduced : bool
        Whether cancellation put this number there. Takes no part in comparisons: a rule matches such a number as well.
    tokens : tuple of str
        Prefix tokens of the subtree.
    """

    token: str
    operands: tuple[Node, ...] = ()
    introduced: bool = field(default=False, compare=False)
    tokens: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        tokens = itertools.chain((self.token,), *(operand.tokens for operand in self.operands))
        object.__setattr__(self, "tokens", tuple(tokens))

    @property
    def size(self) -> int:
        """Number of tokens of the subtree."""
        return len(self.tokens)

    @property
    def holds_constant(self) -> bool:
        """Whether a `<constant>` occurs in the subtree."""
        return CONSTANT in self.tokens


def parse_tree(tokens: Sequence[str]) -> Node:
    """Build the tree of an expression in prefix notation.

    Parameters
    ----------
    tokens : sequence of str
        Prefix tokens. What is not an operator is a leaf.

    Returns
    -------
    Node
        The root.

    Raises
    ------
    ParseError
        If operands are missing or left over, or if the tree is deeper than `MAX_DEPTH`.
    """
    depth = parse(tokens).depth
    if depth > MAX_DEPTH:
        raise ParseError(f"the paper's engine takes trees of depth <= {MAX_DEPTH}, got {depth}; use the canonical one")
    return fold(tokens, Node, lambda token, operands: Node(token, tuple(operands)))


def is_metavariable(token: str) -> bool:
    """Return whether a token of a rule is a metavariable: `_0`, `_1`, ..."""
    return token[0] == "_" and token[1:].isdigit()


@dataclass(frozen=True, slots=True)
class PrefixRule:
    """A rewrite rule, `pattern -> replacement`, both in prefix tokens.

    Parameters
    ----------
    pattern, replacement : tuple of str
        The replacement is strictly shorter, and no metavariable occurs more often in it than in the pattern. Without
        the second condition a rule could lengthen an expression whose metavariables bind long subtrees.
    """

    pattern: tuple[str, ...]
    replacement: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.replacement) >= len(self.pattern):
            raise SimplipyError(f"the right side of a rule must be shorter than the left one, got: {self}")
        bound = Counter(filter(is_metavariable, self.pattern))
        used = Counter(filter(is_metavariable, self.replacement))
        for name, count in used.items():
            if count > bound[name]:
                raise SimplipyError(f"{name} must occur on the right at most {bound[name]} times, got {count}: {self}")

    def __str__(self) -> str:
        return f"{' '.join(self.pattern)} -> {' '.join(self.replacement)}"

    @property
    def is_ground(self) -> bool:
        """Whether the rule has no metavariables (an "explicit" rule in the paper)."""
        return not any(map(is_metavariable, self.pattern))


def load_rules(path: str | Path | None = None) -> tuple[PrefixRule, ...]:
    """Read a rule file.

    Parameters
    ----------
    path : str or Path, optional
        A JSON object whose "rules" are rows `[pattern tokens, replacement tokens]`. By default the file that ships
        with the package.

    Returns
    -------
    tuple of PrefixRule
        In the order of the file, in which rules of one length and one root are tried.
    """
    rows = json.loads(Path(path or _RULE_FILE).read_text(encoding="utf-8"))["rules"]
    return tuple(PrefixRule(tuple(pattern), tuple(replacement)) for pattern, replacement in rows)


def match(pattern: Node, tree: Node, bound: dict[str, Node]) -> bool:
    """Find what the metavariables of a pattern stand for, by syntactic comparison.

    Parameters
    ----------
    pattern, tree : Node
        The pattern and the whole subtree that it must equal.
    bound : dict of str to Node
        Filled with the metavariables; meaningless if the match fails.

    Returns
    -------
    bool
        Whether pattern and tree are equal under `bound`.
    """
    if is_metavariable(pattern.token):
        if pattern.token not in bound:
            bound[pattern.token] = tree
            return True
        # Each `<constant>` is a number of its own: `- _0 _0 -> 0` must not take c*x - c*x to 0.
        return bound[pattern.token] == tree and not tree.holds_constant
    if pattern.token != tree.token:
        return False
    return all(match(p, t, bound) for p, t in zip(pattern.operands, tree.operands, strict=True))


def substitute(replacement: Node, bound: dict[str, Node]) -> Node:
    """Put in what the metavariables stand for.

    Parameters
    ----------
    replacement : Node
        Right side of a rule.
    bound : dict of str to Node
        As `match` fills it.

    Returns
    -------
    Node
        The replacement without metavariables.
    """
    if not replacement.operands:
        return bound.get(replacement.token, replacement)
    return Node(replacement.token, tuple(substitute(operand, bound) for operand in replacement.operands))


class RuleIndex:
    """Rules arranged for look-up: ground ones hashed by their tokens, the others in buckets by (root, length).

    Parameters
    ----------
    rules : iterable of PrefixRule
        Of ground rules with one left side, and of patterns that both match, the first wins.
    max_pattern_length : int, optional
        The paper's L_max: longer patterns are left out.
    """

    def __init__(self, rules: Iterable[PrefixRule], max_pattern_length: int | None = None) -> None:
        self._ground: dict[tuple[str, ...], tuple[PrefixRule, Node]] = {}
        self._buckets: dict[tuple[str, int], list[tuple[PrefixRule, Node, Node]]] = {}
        for rule in rules:
            if max_pattern_length is not None and len(rule.pattern) > max_pattern_length:
                continue
            replacement = parse_tree(rule.replacement)
            if rule.is_ground:
                self._ground.setdefault(rule.pattern, (rule, replacement))
            else:
                key = (rule.pattern[0], len(rule.pattern))
                self._buckets.setdefault(key, []).append((rule, parse_tree(rule.pattern), replacement))
        self._longest_ground = max(map(len, self._ground), default=0)
        self._longest_pattern = max((length for _, length in self._buckets), default=0)

    def rewrite_root(self, tree: Node) -> tuple[PrefixRule, Node] | None:
        """Apply the first rule that matches the whole subtree (Pass 1 of the paper's ApplyRules).

        Parameters
        ----------
        tree : Node
            A subtree; its operands are not looked into except through patterns.

        Returns
        -------
        tuple of PrefixRule and Node, or None
            The rule and the new subtree, or None if no rule matches.
        """
        if tree.size <= self._longest_ground:
            found = self._ground.get(tree.tokens)
            if found is not None:
                return found
        # A metavariable takes at least one token, so a pattern is never longer than what it matches.
        for length in range(min(tree.size, self._longest_pattern), 0, -1):
            for rule, pattern, replacement in self._buckets.get((tree.token, length), ()):
                bound: dict[str, Node] = {}
                if match(pattern, tree, bound):
                    return rule, substitute(replacement, bound)
        return None
