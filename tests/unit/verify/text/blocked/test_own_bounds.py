"""Products whose bounds are equal are found among those of any bounds, and damaged text is refused there, too."""

from __future__ import annotations

import re

import pytest

from codegen.verify.text.blocked import product
from codegen.verify.text.blocked.elements import in_rows
from codegen.verify.text.blocked.own_bounds import with_own_bounds
from codegen.verify.text.blocked.product import wrong_products
from codegen.verify.text.read import Node, nodes
from tests.unit.verify.text.blocked.test_elements import ROWS, read
from tests.unit.verify.text.blocked.test_product import changed, printed


def with_sizes(names: str) -> str:
    """The product with other names for its three sizes."""
    loops = re.sub(r"\b[nml]\b", lambda m: names["nml".index(m[0])], ROWS[ROWS.index("double") :])
    return f"void f(int n, int m, {loops}"


SQUARE = with_sizes("nnn")


def renamed(node: Node, names: dict[str, str]) -> Node:
    return Node(node.kind, names.get(node.text, node.text), tuple(renamed(k, names) for k in node.kids))


def test_old_names_in_place_of_new_ones_give_the_old_text() -> None:
    block, wanted = in_rows(*read(SQUARE))
    text, general = with_own_bounds(block, wanted)
    own = [e.text for e in general.past]
    assert len(set(own)) == 3 and not {"n"} & {n.text for n in nodes(text)}
    assert renamed(text, dict.fromkeys(own, "n")) == block
    assert tuple(renamed(e, dict.fromkeys(own, "n")) for e in general.past) == wanted.past
    assert (general.first, general.left, general.target) == (wanted.first, wanted.left, wanted.target)


@pytest.mark.parametrize("equal", ["nnm", "nmn", "nmm", "nnn"])
def test_one_proof_is_for_all_equal_bounds(equal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = with_sizes(equal)
    one, other = printed("openmp", ROWS), printed("openmp", source)
    assert wrong_products(one.plain, one.products) == ""
    with monkeypatch.context() as patch:
        patch.setattr(product, "_prove", lambda *_: pytest.fail("it was proven again"))
        assert wrong_products(other.plain, other.products) == ""
    bound = equal[2]
    for where in (f"tw_min(tw_kc, {bound}", f"kb < {bound}"):
        assert wrong_products(changed(other.plain, where, f"{where} + 1", 0), other.products), where


def test_a_number_that_sizes_are_compared_with_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """512 columns are where threads take parts of the result as they come."""
    numbered = re.sub(r"\b[nml]\b", "512", ROWS.replace("int n, int m, int l, ", ""))
    one, other = printed("openmp", ROWS), printed("openmp", numbered)
    assert "TW_SIZE(512)" in other.plain and wrong_products(one.plain, one.products) == ""
    monkeypatch.setattr(product, "_prove", lambda *_: pytest.fail("it was proven again"))
    assert wrong_products(other.plain, other.products) == ""


def test_a_bound_with_another_use_stays() -> None:
    """As a value of an operand, and where no coordinate can be told."""
    block, wanted = in_rows(*read(SQUARE.replace("A[i][k] *", "A[i][k] * n *")))
    assert with_own_bounds(block, wanted) == (block, wanted)
    block, wanted = in_rows(*read(SQUARE))
    unclear = Node("block", "", (block, Node("expression", "", (Node("name", "n"),))))
    assert with_own_bounds(unclear, wanted) == (unclear, wanted)
