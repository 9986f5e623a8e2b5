"""Tree edit distance of Zhang and Shasha (1989): the fewest insertions, deletions and renamings of nodes."""

from __future__ import annotations

from collections.abc import Sequence

from simplipy.expression.prefix import subterm_ends


def tree_distance(a: Sequence[str], b: Sequence[str]) -> int:
    """Edit distance of two expressions in prefix tokens, every edit at cost 1.

    Examples
    --------
    >>> tree_distance(["+", "x1", "x2"], ["*", "x1", "sin", "x2"])
    2
    """
    # Prefix tokens backwards are the postorder of the mirrored tree; mirroring both trees keeps their distance.
    # In postorder, first[k] is the first leaf below node k.
    first_a, first_b = ([len(tokens) - end for end in reversed(subterm_ends(tokens))] for tokens in (a, b))
    a, b = a[::-1], b[::-1]
    # trees[m, n]: distance of the subtrees below nodes m and n
    trees: dict[tuple[int, int], int] = {}
    for i in _key_roots(first_a):
        for j in _key_roots(first_b):
            start_a, start_b = first_a[i], first_b[j]
            # forests[m, n]: distance of the forests from the starts up to, but without, nodes m and n
            forests = {(m, start_b): m - start_a for m in range(start_a, i + 2)}
            forests |= {(start_a, n): n - start_b for n in range(start_b, j + 2)}
            for m in range(start_a, i + 1):
                for n in range(start_b, j + 1):
                    both_trees = first_a[m] == start_a and first_b[n] == start_b
                    matched = (
                        forests[m, n] + (a[m] != b[n]) if both_trees else forests[first_a[m], first_b[n]] + trees[m, n]
                    )
                    cheapest = min(forests[m, n + 1] + 1, forests[m + 1, n] + 1, matched)
                    forests[m + 1, n + 1] = cheapest
                    if both_trees:
                        trees[m, n] = cheapest
    return trees[len(a) - 1, len(b) - 1]


def _key_roots(first: Sequence[int]) -> list[int]:
    """The last node above each first leaf."""
    return sorted({leaf: k for k, leaf in enumerate(first)}.values())
