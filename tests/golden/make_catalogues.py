"""Write catalogues.json: the first row and the digest of data set 0 of every problem."""

import json
from pathlib import Path

from flash_ansr import catalogues

rows = {}
for name in catalogues.names():
    rows[name] = {}
    for problem in catalogues.load(name):
        sample = problem.sample(16, seed=0)
        rows[name][problem.name] = {"digest": sample.digest, "x": sample.X[0].tolist(), "y": float(sample.y[0])}
text = json.dumps(rows, indent=0).replace(",\n", ", ").replace("{\n", "{").replace("\n}", "}")
text = text.replace("[\n", "[").replace("\n]", "]").replace('}, "', '},\n"')
Path(__file__).with_name("catalogues.json").write_text(text + "\n", encoding="utf-8")
