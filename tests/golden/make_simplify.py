"""Write the simplified forms of tests/golden/simplify.json anew; read the difference before it is committed.

python tests/golden/make_simplify.py
"""

from __future__ import annotations

import json
from pathlib import Path

import simplipy

PATH = Path(__file__).with_name("simplify.json")


def main() -> None:
    rows = [
        {"input": row["input"]}
        | {domain: simplipy.simplify(row["input"], domain=domain) for domain in ("extend", "preserve")}
        for row in json.loads(PATH.read_text(encoding="utf-8"))
    ]
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
    PATH.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
