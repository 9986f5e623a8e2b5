"""Benchmark rows as they are committed: without each search's own report, which no table reads, and without nulls.

    python benchmarks/make_small_rows.py results/time [results/noise ...]

A run goes on from small rows as from whole ones, and `flash-ansr bench report` makes the same tables.
"""

import argparse
import dataclasses
import json
from pathlib import Path

from flash_ansr.bench.rows import Row

OPTIONAL = {field.name for field in dataclasses.fields(Row) if field.default is None}


def small(line: str) -> str:
    """A row of the same task and law, in about a third of the bytes."""
    facts = json.loads(line)
    # Whether the network took part decides if a run may go on with other weights.
    neural = facts.pop("report").get("fit", {}).get("neural") if "report" in facts else None
    kept = {name: value for name, value in facts.items() if value is not None or name not in OPTIONAL}
    if neural is not None:
        kept["report"] = {"fit": {"neural": neural.partition(":")[0]}}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    for folder in parser.parse_args().folders:
        for path in sorted(folder.glob("*.jsonl")):
            lines = path.read_text(encoding="utf-8").splitlines()
            new = path.with_suffix(".new")
            new.write_text("".join(f"{small(line)}\n" for line in lines), encoding="utf-8")
            new.replace(path)


if __name__ == "__main__":
    main()
