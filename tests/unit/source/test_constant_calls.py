"""Parameters that are the same number in all calls: found in the text, and asked for when generated code runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.source.nests import constant_parameters

BLUR = """
#include <stdio.h>
static void blur(const float *in, float *out, int w, int r);
static void blur(const float *in, float *out, int w, int r)
{
    for (int x = r; x < w - r; x++) {
        float sum = 0;
        for (int k = -r; k <= r; k++)
            sum += in[x + k];
        out[x] = sum;
    }
}
float a[100000], b[100000];
int main(void)
{
    for (int x = 0; x < 100000; x++)
        a[x] = x % 7;
    blur(a, b, 100000, 3);
    printf("%g\\n", b[50000]);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("calls", "numbers"),
    [
        ("f(n, 3); f(m, 3);", {"r": 3}),
        ("f(n, 3); f(n, 4);", {}),
        ("f(n, k);", {}),
        ("f(n, 3); call(f);", {}),
        ("f((n, 1), 3);", {"r": 3}),
        ("f(100, 3);", {"r": 3}),  # a size
        ("f(n, 3 + 1);", {}),
        ("", {}),
    ],
)
def test_what_is_seen_in_calls(calls: str, numbers: dict[str, int]) -> None:
    text = f"static void f(int n, int r)\n{{\n}}\nvoid g(int n, int m, int k) {{ {calls} }}\n"
    assert constant_parameters(text).get("f", {}) == numbers
    assert not constant_parameters(text.replace("static ", ""))  # other files may call it


def test_a_nest_is_made_for_the_number_and_asks_for_it() -> None:
    """Seven elements are a window that compilers write out; loops of any length would run along lines, with sums in
    memory, at a quarter of the speed."""
    text = generate("in.c", BLUR, GenOptions(auto=True)).text
    assert "r == 3 && " in text and "k < 4" in text and "float sum[" not in text
    assert "float sum[" in generate("in.c", BLUR.replace("3);", "n);").replace("main(void)", "main(int n)"),
                                    GenOptions(auto=True)).text  # fmt: skip


def test_other_numbers_take_the_loops_as_written(tmp_path: Path) -> None:
    """A call that the search does not see, since a macro makes its name."""
    hidden = BLUR.replace("    printf", "#define CALL(x) bl##x\n    CALL(ur)(a, b, 100000, 2);\n    printf")
    results = []
    for name, text in (("plain", hidden), ("made", generate("in.c", hidden, GenOptions(auto=True)).text)):
        assert name == "plain" or "r == 3 && " in text
        (tmp_path / f"{name}.c").write_text(text)
        subprocess.run(["gcc", "-O1", "-w", f"{name}.c", "-o", name], cwd=tmp_path, check=True)
        results.append(subprocess.run([f"./{name}"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout)
    assert results[0] == results[1]
