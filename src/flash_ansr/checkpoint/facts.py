"""What a checkpoint says about its network, read without torch: what it can see, and what it was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flash_ansr.checkpoint.folder import JSON_FILE, CheckpointError, read_json
from flash_ansr.data import DataError, Vocabulary, load_prior

# as many as the paper trains on
_MAX_ROWS = 1024


def n_variables(checkpoint: str | Path) -> int:
    """Columns that the network of a checkpoint sees at most.

    Raises
    ------
    CheckpointError
        When the file does not say it, or its vocabulary is none.
    """
    content = read_json(checkpoint)
    config = content.get("config")
    n = config.get("n_variables") if isinstance(config, dict) else None
    if not isinstance(n, int) or n < 1:
        raise CheckpointError(f"{Path(checkpoint) / JSON_FILE} does not say how many variables the network has")
    tokens = content.get("vocabulary")
    try:
        known = Vocabulary.of_tokens(tokens if isinstance(tokens, list) else ()).n_variables
    except DataError as error:
        raise CheckpointError(f"{checkpoint} has {error}; train it again") from None
    return min(n, known)


def check_columns_seen(checkpoint: str | Path, n_columns: int) -> None:
    """Refuse a table that is wider than what the network sees."""
    n = n_variables(checkpoint)
    if n_columns > n:
        raise ValueError(f"the network of {checkpoint} sees {n} columns, the table has {n_columns}: select {n} of them")


@dataclass(frozen=True, slots=True)
class TrainingLimits:
    """The largest problems of a training.

    Attributes
    ----------
    n_rows : int
        Rows of a table; 1024, as in the paper, where it is not known.
    length : int or None
        Tokens of a formula; None where it is not known.
    """

    n_rows: int = _MAX_ROWS
    length: int | None = None

    @classmethod
    def of(cls, training: Mapping[str, Any], own_prior: Path | None = None) -> TrainingLimits:
        """From the ``training`` of a checkpoint, whose config names the prior and may cut the tables.

        The copy of the prior that a run keeps counts more than the name: priors change.
        """
        data = training.get("config", {}).get("data", {})
        max_rows = data.get("max_rows")
        try:
            prior = load_prior(own_prior or data["prior"])
        except (KeyError, DataError):  # a prior of one's own, whose file is elsewhere now
            return cls(max_rows or _MAX_ROWS)
        return cls(min(max_rows or prior.rows.high, prior.rows.high), prior.longest_target)
