"""Run the code of a notebook without Jupyter: its cells one after the other, in one namespace."""
import json
import sys
from pathlib import Path

names: dict = {"__name__": "__main__"}
for number, cell in enumerate(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["cells"], 1):
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
