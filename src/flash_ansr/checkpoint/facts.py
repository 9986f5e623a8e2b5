"""Facts about the network of a checkpoint, read without torch: its input, and its training data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flash_ansr.checkpoint.folder import JSON_FILE, CheckpointError, read_json
from flash_ansr.data import DataError, Vocabulary, load_prior

# as many as the paper trains on
_MAX_ROWS = 1024


def checked_vocabulary(checkpoint: str | Path) -> Vocabulary:
    """The vocabulary of a checkpoint.

    Raises
    ------
    CheckpointError
        When a token is missing, or occurs twice.
    """
    tokens = read_json(checkpoint).get("vocabulary")
    try:
        return Vocabulary.of_tokens(tokens if isinstance(tokens, list) else ())
    except DataError as error:
        raise CheckpointError(f"{checkpoint} has {error}; train it again") from None


def n_variables(checkpoint: str | Path) -> int:
    """Columns that the network of a checkpoint sees at most, and has tokens for.

    Raises
    ------
    CheckpointError
        When the file does not say it, or its vocabulary is not usable.
    """
    config = read_json(checkpoint).get("config")
    n = config.get("n_variables") if isinstance(config, dict) else None
    if not isinstance(n, int) or n < 1:
        raise CheckpointError(f"{Path(checkpoint) / JSON_FILE} does not say how many variables the network has")
    return min(n, checked_vocabulary(checkpoint).n_variables)


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
