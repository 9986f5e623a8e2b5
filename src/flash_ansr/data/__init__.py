"""Training data: skeletons, simplified and checked against holdouts, with data drawn for them. Never imports torch."""

from flash_ansr.data.batch import Batch, Details
from flash_ansr.data.errors import DataError, ExhaustedPriorError, PriorError
from flash_ansr.data.generator import OUTCOMES, Generator
from flash_ansr.data.holdout import Entry, HeldOut, Holdout
from flash_ansr.data.prior import Prior, load_prior, prior_names
from flash_ansr.data.stream import ProblemStream
from flash_ansr.data.vocabulary import Vocabulary

__all__ = [
    "OUTCOMES",
    "Batch",
    "DataError",
    "Details",
    "Entry",
    "ExhaustedPriorError",
    "Generator",
    "HeldOut",
    "Holdout",
    "Prior",
    "PriorError",
    "ProblemStream",
    "Vocabulary",
    "load_prior",
    "prior_names",
]
