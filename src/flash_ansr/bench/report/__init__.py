"""The report of a benchmark: tables and figures of scored groups of rows, and the files that hold them."""

from flash_ansr.bench.report.files import read_groups, write_report

__all__ = ["read_groups", "write_report"]
