"""The stream as a torch dataset. Imported only where torch is already."""

from __future__ import annotations

from torch.utils.data import IterableDataset, get_worker_info

from flash_ansr.data.batch import Batch
from flash_ansr.data.stream import ProblemStream


class TorchProblemStream(ProblemStream, IterableDataset[Batch]):
    """A ``ProblemStream`` that a ``DataLoader`` takes."""

    def _worker(self) -> tuple[int, int]:
        info = get_worker_info()
        return (0, 1) if info is None else (info.id, info.num_workers)
