"""Tree edit distance of Zhang and Shasha (1989): the fewest insertions, deletions and renamings of nodes."""

from __future__ import annotations

from collections.abc import Sequence

from simplipy import OPERATORS


def tree_distance(a: Sequence[str], b: Sequence[str]) -> int:
    """Edit distance of two expressions in prefix tokens, every edit at cost 1.

    Examples
    --------
    >>> tree_distance(["+", "x1", "x2"], ["*", "x1", "sin", "x2"])
    2
    """
    labels_a, first_a, roots_a = _postorder(a)
    labels_b, first_b, roots_b = _postorder(b)
    # distance[i][j]: between the subtrees that end in node i of a and node j of b, counted in postorder
    distance = [[0] * len(labels_b) for _ in labels_a]
    for i in roots_a:
        for j in roots_b:
            _forest_distances(i, j, labels_a, labels_b, first_a, first_b, distance)
    return distance[-1][-1]


def _forest_distances(
    i: int,
    j: int,
    labels_a: list[str],
    labels_b: list[str],
    first_a: list[int],
    first_b: list[int],
    distance: list[list[int]],
) -> None:
    """Fill in the distances of all pairs of subtrees whose first leaf is that of node i, of node j."""
    start_a, start_b = first_a[i], first_b[j]
    # row[k + 1]: distance of the forest of a up to the current node and the forest of b up to node start_b + k
    rows = [list(range(j - start_b + 2))]
    for m in range(start_a, i + 1):
        row = [m - start_a + 1]
        above = rows[-1]
        for n in range(start_b, j + 1):
            k = n - start_b
            cheapest = min(above[k + 1], row[k]) + 1
            if first_a[m] == start_a and first_b[n] == start_b:
                cheapest = min(cheapest, above[k] + (labels_a[m] != labels_b[n]))
                distance[m][n] = cheapest
            else:
                before = rows[first_a[m] - start_a][first_b[n] - start_b]
                cheapest = min(cheapest, before + distance[m][n])
            row.append(cheapest)
        rows.append(row)


def _postorder(tokens: Sequence[str]) -> tuple[list[str], list[int], list[int]]:
    """Labels in postorder, the first leaf below each node, and the key roots: the last node above each first leaf.

    Prefix tokens backwards are the postorder of the mirrored tree; mirroring both trees keeps their distance.
    """
    labels = list(reversed(tokens))
    first: list[int] = []
    stack: list[int] = []  # sizes of the subtrees that have no parent yet
    for k, token in enumerate(labels):
        arity = OPERATORS[token].arity if token in OPERATORS else 0
        size = 1 + sum(stack.pop() for _ in range(arity))
        stack.append(size)
        first.append(k - size + 1)
    return labels, first, sorted({leaf: k for k, leaf in enumerate(first)}.values())
