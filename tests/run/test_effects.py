"""What an expression does beside giving a value is not lost where nobody asks for the value: the region stays as it is,
or does it, too."""

from __future__ import annotations

import pytest

import codegen

ABOVE = """
int puts(const char *text);
static int stepped(int *p) { int old = p[0]++; return 1; }
static int switched(int *p) { switch (p[0]++) { default: return 3; } }
static int asked(int *p) { if (p[0]++ > 3) {} return 3; }
static int told(int x) { int length = puts("x"); return x; }
static int calls;
static int counted(void) { return calls++; }
"""
# What stands in a loop over i, and the refusal.
LEFT = {
    "a condition to fetch": ("if (a[i]++ > 2) __builtin_prefetch(a + i); if (a[i] > 1) a[i] = 3;", "side-effect"),
    "a condition": ("if (a[i]++ > 2) {} b[i] = 1;", "side-effect"),
    "a condition inside of a branch": ("if (b[i]) { if (a[i]++) {} } else b[i] = 1;", "side-effect"),
    "a part of one": ("if (i >= 0 && a[i]++ > 2) ; b[i] = 1;", "side-effect"),
    "another part of one": ("if (i < 0 || (a[i] = 2)) {} b[i] = 1;", "side-effect"),
    "one of two values": ("if (i == 3 ? a[i]++ : b[i]) {} b[i]++;", "side-effect"),
    "a condition in place of an if": ("a[i]++ > 2 ? (void)0 : (void)0; b[i] = 1;", "side-effect"),
    "a number": ("int t = a[i]; if (t++ > 2) {} b[i] = t;", "side-effect"),
    "what cases are chosen by": ("switch (a[i]++) { default: b[i] = 2; }", "side-effect"),
    "cases that do nothing": ("if (b[i] > 3) b[i] = 1; else switch (a[i]++) { case 1: ; }", "side-effect"),
    "where a line is fetched from": ("__builtin_prefetch(&a[b[i]++]); a[i] = 1;", "unknown-call"),
    "what is expected": ("a[i] = __builtin_expect(b[i], a[i]++);", "side-effect"),
    "a call": ('if (puts("x") > a[i]) {} b[i] = 1;', "unknown-call"),
    "a call that cases are chosen by": ('switch (puts("x")) { default: ; } b[i] = 1;', "unknown-call"),
    "a value of a function": ("b[i] = stepped(a + i);", "side-effect"),
    "a switch of a function": ("b[i] = switched(a + i);", "side-effect"),
    "a condition of a function": ("b[i] = asked(a + i);", "side-effect"),
    "a call of a function": ("b[i] = told(i);", "unknown-call"),
}
KEPT = {
    "a call": "if (counted() > 3) {} b[i] = calls;",
    "nothing": "if (a[i] > 3) {} b[i] = 1;",
    "no effect": "if (__builtin_abs(a[i]) > 3) {} b[i] = a[i] + 1;",
    "two statements": "int t = (a[i] = 5); b[i] = t;",
}


def source(body: str) -> str:
    loop = f"  for (int i = 0; i < n; i++) {{ {body} }}"
    used = "  (void)stepped, (void)switched, (void)asked, (void)told, (void)counted;"
    head = "void f(int n, int *restrict a, int *restrict b)"
    return f"{ABOVE}{head}\n{{\n{used}\n#pragma scop\n{loop}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize("what", LEFT)
def test_regions_with_effects_stay(what: str) -> None:
    body, reason = LEFT[what]
    made = codegen.generate(source(body))
    assert not made.regions[0].transformed
    assert reason in {d.id for d in made.diagnostics} | {n.id for d in made.diagnostics for n in d.notes}


@pytest.mark.parametrize("what", KEPT)
def test_known_effects_are_kept(what: str) -> None:
    text = source(KEPT[what])
    assert codegen.generate(text).regions[0].transformed
    assert codegen.check(text).ok
