"""The paper's own simplification engine, as a reference: Algorithm 1 with CancelTerms and ApplyRules.

Written to be read beside the paper, not to be fast: the specification of what the canonical engine must never be
longer than. Where the paper's pseudo-code leaves something open, or would be wrong as it stands, a comment says what is
done and why. Always: the result is never longer than the input, and the loop ends after `max_iterations`. Rules come
from rules.py. Not idempotent in general, and not independent of the order of operands: the paper's is neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from simplipy.errors import SimplipyError
from simplipy.expression.operators import CONSTANT, leaf_kind
from simplipy.paper.rules import Node, PrefixRule, RuleIndex, parse_tree

Place = tuple[int, ...]  # which operand to take at each step from the root
SortKey = tuple[int, str, int, tuple["SortKey", ...]]

_NOT_REAL = frozenset({"inf", "-inf", "nan"})
_COMMUTATIVE = frozenset({"+", "*"})
_LEAF_ORDER = ("variable", "symbol", "number", "constant")


@dataclass(frozen=True, slots=True)
class ChainClass:
    """One of the two kinds of chains in which equal operands are counted.

    Attributes
    ----------
    operator, inverse_operator : str
        `+` and `-`, or `*` and `/`. The right operand of the second has its polarity flipped.
    neutral : str
        The replacement of a removed operand.
    hyperoperator : str
        Stem of the tokens that repeat an operand: `mult` for `mult2` to `mult5`, `pow` for `pow2` to `pow5`.
    inverse : str
        The unary operator that flips an operand's polarity.
    """

    operator: str
    inverse_operator: str
    neutral: str
    hyperoperator: str
    inverse: str

    def has(self, node: Node) -> bool:
        """Return whether a node continues a chain of this class."""
        return node.token in (self.operator, self.inverse_operator)

    def repeat(self, operand: Node, count: int) -> Node:
        """Return `operand` combined with itself, `count` times in all."""
        if count == 1:
            return operand
        if count <= 5:
            return Node(f"{self.hyperoperator}{count}", (operand,))
        number = Node(str(count), introduced=True)
        return Node("*", (number, operand)) if self is ADD else Node("pow", (operand, number))


ADD = ChainClass("+", "-", neutral="0", hyperoperator="mult", inverse="neg")
MULT = ChainClass("*", "/", neutral="1", hyperoperator="pow", inverse="inv")


@dataclass(frozen=True, slots=True)
class Repetition:
    """Equal operands of one chain, which CancelTerms merges.

    Attributes
    ----------
    chain_class : ChainClass
        Which kind of chain.
    operand : Node
        The repeated operand.
    occurrences : tuple of (Place, int)
        Where it stands, from left to right, and with which polarity (+1 or -1).
    """

    chain_class: ChainClass
    operand: Node
    occurrences: tuple[tuple[Place, int], ...]


def cancel_terms(tree: Node) -> Node:
    """Merge the equal operands of one chain of `+ -` or of `* /` (the paper's CancelTerms).

    Parameters
    ----------
    tree : Node
        Any expression.

    Returns
    -------
    Node
        The first repeated operand, in bottom-up order, is merged into its first occurrence; neutral elements take the
        place of the others, and it is the rules that remove them. The tree itself if nothing is repeated.
    """
    repeated = find_repetition(tree)
    if repeated is None:
        return tree
    first_polarity = repeated.occurrences[0][1]
    multiplicity = sum(polarity for _, polarity in repeated.occurrences)
    if multiplicity == 0 and repeated.operand.token == CONSTANT:
        # Two free constants: their difference and their quotient are free, not 0 and 1.
        multiplicity = first_polarity
    neutral = Node(repeated.chain_class.neutral, introduced=True)
    merged = neutral
    if multiplicity:
        merged = repeated.chain_class.repeat(repeated.operand, abs(multiplicity))
        # The sign is relative to the place: in a - s - s the chain itself subtracts, so 2s goes there without `neg`.
        if multiplicity * first_polarity < 0:
            merged = Node(repeated.chain_class.inverse, (merged,))
    for index, (path, _) in enumerate(repeated.occurrences):
        tree = _replace(tree, path, merged if index == 0 else neutral)
    return tree


def find_repetition(tree: Node) -> Repetition | None:
    """Find what CancelTerms merges.

    Parameters
    ----------
    tree : Node
        Any expression.

    Returns
    -------
    Repetition or None
        The first operand, bottom-up, that occurs more than once in its chain.
    """
    found = [r for chain_class, root, path in _chains(tree) for r in _repetitions(chain_class, root, path)]
    # Bottom-up: inner before outer, else left before right. 2 sorts after every further step of a path.
    return min(found, key=lambda repeated: (*repeated.occurrences[0][0], 2), default=None)


def _chains(node: Node, path: Place = (), within: ChainClass | None = None) -> Iterator[tuple[ChainClass, Node, Place]]:
    """Yield the root of every maximal chain. A node of the same class below one belongs to that chain."""
    own = next((chain_class for chain_class in (ADD, MULT) if chain_class.has(node)), None)
    if own is not None and own is not within:
        yield own, node, path
    for index, operand in enumerate(node.operands):
        yield from _chains(operand, (*path, index), own)


def _repetitions(chain_class: ChainClass, root: Node, path: Place) -> Iterator[Repetition]:
    """Yield the operands that a chain holds more than once and that may be merged."""
    occurrences: dict[Node, list[tuple[Place, int]]] = {}
    for operand, place, polarity in _operands(chain_class, root, path, 1):
        occurrences.setdefault(operand, []).append((place, polarity))
    for operand, places in occurrences.items():
        if len(places) > 1 and _may_merge(operand):
            yield Repetition(chain_class, operand, tuple(places))


def _operands(chain_class: ChainClass, node: Node, path: Place, polarity: int) -> Iterator[tuple[Node, Place, int]]:
    """Yield the operands of a chain from left to right, each with its place and polarity."""
    if not chain_class.has(node):
        yield node, path, polarity
        return
    left, right = node.operands
    flip = -1 if node.token == chain_class.inverse_operator else 1
    yield from _operands(chain_class, left, (*path, 0), polarity)
    yield from _operands(chain_class, right, (*path, 1), polarity * flip)


def _may_merge(operand: Node) -> bool:
    """Return whether two operands that look equal are equal."""
    if operand.operands:
        return not operand.holds_constant  # sin(c*x) - sin(c*x) has two constants
    return operand.token not in _NOT_REAL  # inf - inf is not 0


def _replace(tree: Node, path: Place, new: Node) -> Node:
    """Return the tree with the subtree at `path` exchanged."""
    if not path:
        return new
    operands = list(tree.operands)
    operands[path[0]] = _replace(operands[path[0]], path[1:], new)
    return Node(tree.token, tuple(operands))


class Rewriter:
    """One run of the paper's ApplyRules over an expression.

    Parameters
    ----------
    index : RuleIndex
        The rules.
    on_rule : callable, optional
        Called after each rewrite with what was done and the whole expression after it.
    """

    def __init__(self, index: RuleIndex, on_rule: Callable[[str, Node], None] | None = None) -> None:
        self._index = index
        self._on_rule = on_rule
        self._above: list[tuple[str, list[Node], int]] = []  # from the root: token, operands as they are now, which one

    def rewrite(self, tree: Node) -> Node:
        """Rewrite a subtree: itself first, then its operands, then itself once more.

        Parameters
        ----------
        tree : Node
            The expression, or a subtree of it.

        Returns
        -------
        Node
            Never larger than `tree`, as rules shorten.
        """
        if not tree.operands:
            return tree
        if all(operand.token == CONSTANT for operand in tree.operands):
            return self._report("fold constants", Node(CONSTANT))
        changed = self._rewrite_root(tree)
        if changed is not None:
            return changed
        operands = list(tree.operands)
        for index, operand in enumerate(operands):
            self._above.append((tree.token, operands, index))
            operands[index] = self.rewrite(operand)
            self._above.pop()
        if all(new is old for new, old in zip(operands, tree.operands, strict=True)):
            return tree  # the root was tried on these very operands
        tree = Node(tree.token, tuple(operands))
        return self._rewrite_root(tree) or tree

    def _rewrite_root(self, tree: Node) -> Node | None:
        """Apply a rule to the root and go on with the result, or return None (Pass 1)."""
        found = self._index.rewrite_root(tree)
        if found is None:
            return None
        rule, new = found
        return self.rewrite(self._report(str(rule), new))

    def _report(self, what: str, new: Node) -> Node:
        """Call `on_rule` with the expression in which `new` has just been put, and return `new`."""
        if self._on_rule is not None:
            whole = new
            for token, operands, index in reversed(self._above):
                whole = Node(token, (*operands[:index], whole, *operands[index + 1 :]))
            self._on_rule(what, whole)
        return new


def sort_operands(tree: Node) -> Node:
    """Put the operands of every chain of one commutative operator into canonical order, nested to the left.

    Parameters
    ----------
    tree : Node
        Any expression.

    Returns
    -------
    Node
        Of the same size. Operators come first, then variables, numbers by their text, and `<constant>` last.
    """
    if tree.token not in _COMMUTATIVE:
        return Node(tree.token, tuple(map(sort_operands, tree.operands)), tree.introduced)
    in_order = sorted(map(sort_operands, _flat_operands(tree, tree.token)), key=structural_key)
    return reduce(lambda left, right: Node(tree.token, (left, right)), in_order)


def _flat_operands(node: Node, token: str) -> list[Node]:
    """The operands of a chain of one operator, from left to right."""
    return [leaf for o in node.operands for leaf in _flat_operands(o, token)] if node.token == token else [node]


def structural_key(node: Node) -> SortKey:
    """Return the recursive key that orders operands.

    Parameters
    ----------
    node : Node
        A subtree.

    Returns
    -------
    SortKey
        Kind of token, its text with a trailing number apart (`x2` before `x10`), and the keys of the operands.
    """
    if node.operands:
        return 0, node.token, 0, tuple(map(structural_key, node.operands))
    kind = leaf_kind(node.token)
    stem = node.token.rstrip("0123456789") if kind == "variable" else node.token
    return 1 + _LEAF_ORDER.index(kind), stem, int(node.token[len(stem) :] or 0), ()


def mask_introduced(tree: Node) -> Node:
    """Make a free constant of each number that cancellation put there and no rule removed.

    Parameters
    ----------
    tree : Node
        Any expression.

    Returns
    -------
    Node
        Of the same size. Numbers of the input and of rules stay.
    """
    if tree.introduced:
        return Node(CONSTANT)
    return Node(tree.token, tuple(map(mask_introduced, tree.operands)))


class PaperEngine:
    """The paper's simplifier (Algorithm 1).

    Parameters
    ----------
    rules : sequence of PrefixRule
        For instance `load_rules()`.
    max_pattern_length : int, optional
        The paper's L_max: the longest pattern considered. None for all.
    max_iterations : int, default 5
        The paper's K: how often cancellation and rules alternate.
    """

    def __init__(
        self, rules: Sequence[PrefixRule], max_pattern_length: int | None = None, max_iterations: int = 5
    ) -> None:
        if max_pattern_length is not None and max_pattern_length < 0:
            raise SimplipyError(f"max_pattern_length must be >= 0 or None, got {max_pattern_length}")
        if max_iterations < 0:
            raise SimplipyError(f"max_iterations must be >= 0, got {max_iterations}")
        self.max_pattern_length = max_pattern_length
        self.max_iterations = max_iterations
        self._index = RuleIndex(rules, max_pattern_length)

    def simplify(self, tokens: Sequence[str]) -> list[str]:
        """Simplify an expression.

        Parameters
        ----------
        tokens : sequence of str
            Prefix tokens.

        Returns
        -------
        list of str
            Prefix tokens, at most as many.
        """
        return self._run(tokens, None)

    def trace(self, tokens: Sequence[str]) -> list[tuple[str, list[str]]]:
        """Simplify an expression and return every step on the way.

        Parameters
        ----------
        tokens : sequence of str
            Prefix tokens.

        Returns
        -------
        list of (str, list of str)
            Name of a step and the whole expression after it: "input", then those of "cancel terms", of the rules by
            their text, of "fold constants", "sort operands", "mask numbers" and "keep input" that changed it. The last
            expression is the result of `simplify`.
        """
        steps = [("input", list(tokens))]

        def record(name: str, tree: Node) -> None:
            after = list(tree.tokens)
            if after != steps[-1][1]:
                steps.append((name, after))

        self._run(tokens, record)
        return steps

    def _run(self, tokens: Sequence[str], record: Callable[[str, Node], None] | None) -> list[str]:
        """Carry out Algorithm 1; `record` is called after each step."""
        report = record or (lambda _name, _tree: None)
        original = parse_tree(tokens)
        tree = original
        for _ in range(self.max_iterations):
            before = tree
            tree = cancel_terms(tree)
            report("cancel terms", tree)
            tree = Rewriter(self._index, record).rewrite(tree)
            if tree == before:
                break
        tree = sort_operands(tree)
        report("sort operands", tree)
        tree = mask_introduced(tree)
        report("mask numbers", tree)
        if tree.size > original.size:
            tree = original
            report("keep input", tree)
        return list(tree.tokens)
