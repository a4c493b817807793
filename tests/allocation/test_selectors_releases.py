"""What the schedulers of 1.34 to 1.37 compile; recorded from k8s.io/dynamic-resource-allocation of each release."""

import pytest

from poolwright.allocation.features import Features
from poolwright.allocation.selectors import Selector, SelectorProblem, compile_selector
from selector_rows import build_device

X = 'device.attributes["a"].x'
# By selector: whether it compiles for 1.34, 1.35, 1.36, 1.36 with DRAListTypeAttributes, and 1.37.
EVERYWHERE, WITH_LISTS, SINCE_36 = (True,) * 5, (False, False, False, True, True), (False, False, True, True, True)
CASES = {
    X: EVERYWHERE,
    f"{X}.exists(y, y == 1)": WITH_LISTS,
    f"{X}.map(y, y) == [1]": WITH_LISTS,
    f"{X}.transformList(i, v, v) == []": WITH_LISTS,
    f"cel.bind(b, {X}, b.exists(y, true))": WITH_LISTS,
    f"(true ? {X} : {X}).exists(y, true)": WITH_LISTS,
    'device.attributes["a"].?x.orValue([1]).exists(y, y == 1)': WITH_LISTS,
    f"dyn({X}).exists(y, y == 1)": EVERYWHERE,
    f"[{X}].exists(y, y == 1)": EVERYWHERE,
    'device.attributes["a"].exists(k, v, v == 1)': EVERYWHERE,
    f"{X}.includes(1)": SINCE_36,
    "[1].includes(1)": SINCE_36,
    f"{X}.y": WITH_LISTS,
    f"{X}[0]": WITH_LISTS,
    f"{X}[0] == 1": EVERYWHERE,
    "dyn(true)": WITH_LISTS,
    'device.attributes["a"].?x.value()': EVERYWHERE,
    f"1 in {X}": EVERYWHERE,
    f"{X}.isSorted()": EVERYWHERE,
    "device.allowMultipleAllocations": EVERYWHERE,
    "[1].first().hasValue()": EVERYWHERE,
    "[1, 2].exists_one(i, v, v == 2)": EVERYWHERE,
    "[3, 1].sortBy(x, x) == [1, 3]": EVERYWHERE,
    'semver("1.2", true).major() == 1': EVERYWHERE,
}
RELEASES = (
    *(Features(minor=minor) for minor in ("1.34", "1.35", "1.36")),
    *(Features(minor="1.36", list_type_attributes=True), Features(minor="1.37")),
)


@pytest.mark.parametrize("text", CASES)
def test_compiles_where_upstream_does(text: str) -> None:
    found = tuple(isinstance(compile_selector(text, features), Selector) for features in RELEASES)
    assert found == CASES[text]


def test_says_what_a_release_lacks() -> None:
    assert compile_selector(f"{X}.includes(1)", RELEASES[1]) == SelectorProblem(
        kind="compile", message="compilation failed: includes() needs Kubernetes 1.36"
    )
    assert compile_selector(f"{X}[0]", RELEASES[1]) == SelectorProblem(
        kind="compile", message="compilation failed: must evaluate to bool or an attribute, not dyn"
    )
    assert compile_selector(f"{X}.exists(y, true)", RELEASES[2]) == SelectorProblem(
        kind="compile",
        message="compilation failed: line 1, column 23: expression of type 'any' cannot be the range of a "
        "comprehension (must be list, map, or dynamic) (before 1.37, attributes are lists only with "
        "DRAListTypeAttributes in 1.36)",
    )


def test_a_list_breaks_every_selector_where_lists_are_not_known() -> None:
    device = build_device({"driver": "a", "attributes": {"roots": {"strings": ["p"]}}})
    found = []
    for features in RELEASES:
        compiled = compile_selector("true", features)
        assert isinstance(compiled, Selector)
        found.append(compiled.evaluate(device))
    broken = SelectorProblem(kind="runtime", message="attribute a/roots: unsupported attribute value")
    assert found == [broken, broken, broken, True, True]
