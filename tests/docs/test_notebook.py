"""The example notebook, run as a program and, where Jupyter is installed, by a kernel."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("numpy")
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "notebook"


def test_cells_run_one_after_the_other(tmp_path: Path) -> None:
    env = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "run.py", "tour.ipynb"], cwd=FOLDER, env=env, capture_output=True, text=True,
                          check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert "is carried by loop `k`, so it cannot be parallel [illegal-plan]" in said[0], said
    assert sum(line.startswith(("region 1", "region 2")) for line in said) == 2, said
    assert said[-1].startswith("product: B must lie row by row")


def test_outputs_are_stripped() -> None:
    cells = json.loads((FOLDER / "tour.ipynb").read_text(encoding="utf-8"))["cells"]
    assert all(not c["outputs"] and c["execution_count"] is None for c in cells if c["cell_type"] == "code")


@pytest.mark.slow
@pytest.mark.skipif(not (find_spec("nbclient") and find_spec("ipykernel")), reason="needs nbclient and ipykernel")
def test_a_kernel_shows_what_the_cells_end_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbclient  # type: ignore[import-not-found,unused-ignore]
    import nbformat  # type: ignore[import-not-found,unused-ignore]

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(FOLDER / "tour.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3",
                            resources={"metadata": {"path": str(FOLDER)}}).execute()
    shown = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs]
    assert not [o for o in shown if o.output_type == "error" or o.get("name") == "stderr"], shown
    pages = [o.data["text/html"] for o in shown if "text/html" in o.get("data", {})]
    assert len(pages) == 3 and "tw-k" in pages[0] and "region 1" in pages[1] and pages[2].startswith("<iframe")


CELLS = r"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="NoColor")
good = "void fill(int n, double a[n])\n{\n#pragma scop\n  for (int i = 0; i < n; i++) a[i] = 2;\n#pragma endscop\n}\n"
for cell in ("%load_ext tilewright", "%%tilewright --target c --cflags='-O1'\n" + good,
             "import numpy as np\na = np.zeros(3); fill(a); print(a)", "%%tilewright --machin native\n" + good,
             "%%tilewright\n" + good.replace("2;", "(2;"), "%%tilewright --cflags\n" + good,
             "%%tilewright\n" + "double far(double);\n" + good.replace("2;", "far(i);"),
             "%%tilewright\n" + "int rand(void);\n" + good.replace("2;", "rand();")):
    shell.run_cell(cell)
"""


@pytest.mark.skipif(not find_spec("IPython"), reason="needs IPython")
def test_cells_of_c_in_ipython(tmp_path: Path) -> None:
    """A real shell; what is wrong with a cell is a line about it, not a way through the tool."""
    env = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", CELLS], cwd=tmp_path, env=env, capture_output=True, text=True,
                          check=False, timeout=300)
    assert done.returncode == 0 and "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    assert "<Module of cell: fill>" in done.stdout and "[2. 2. 2.]" in done.stdout
    for said in ("unknown option 'machin'; did you mean 'machine'?", "cell:4:", "--cflags needs flags",
                 "undefined symbol: far [cannot-compile]", "region 1 is left as it is"):
        assert said in done.stdout + done.stderr, done.stdout + done.stderr
