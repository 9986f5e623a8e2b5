"""A stream as a torch dataset, for those who load by ``DataLoader``."""

from __future__ import annotations

from collections.abc import Iterator

from torch.utils.data import IterableDataset, get_worker_info

from flash_ansr.data.batch import Batch
from flash_ansr.data.stream import ProblemStream


class TorchProblemStream(IterableDataset[Batch]):
    """Batches of a stream, shared by the workers of a loader.

    Pass it to ``DataLoader(dataset, batch_size=None, num_workers=W, multiprocessing_context="spawn")``. Batches stay
    NumPy arrays; ``torch.from_numpy`` shares their memory.

    Parameters
    ----------
    stream : ProblemStream
    """

    def __init__(self, stream: ProblemStream) -> None:
        self.stream = stream

    def __iter__(self) -> Iterator[Batch]:
        """Batches of this worker, from the stream's position on."""
        info = get_worker_info()
        return self.stream.share(info.id, info.num_workers) if info is not None else iter(self.stream)
