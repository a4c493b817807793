"""Selectors as people write them: which compile, as the scheduler of Kubernetes 1.37 compiles stored expressions.

A row that compiles may still fail on a device; only the answer of the compiler is pinned here. In 1.36 the rows about
list attributes compile in the scheduler only with the gate DRAListTypeAttributes.
"""

import pytest

from poolwright.catalog.cel import CelError, parse_cel, render_cel

A = 'device.attributes["accel.test"]'
C = 'device.capacity["accel.test"]'
TEN = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"

COMPILES = {
    # the driver
    "a-driver-by-name": 'device.driver == "accel.test"',
    "another-driver-by-name": 'device.driver == "fabric.test"',
    "a-driver-before-its-attribute": 'device.driver == "fabric.test" && device.attributes["fabric.test"].rdma',
    "an-attribute-before-its-driver": 'device.attributes["fabric.test"].rdma && device.driver == "fabric.test"',
    "a-missing-name-beside-a-match": f"{A}.absent == 1 || {A}.slot == 2",
    "a-missing-name-beside-a-miss": f"{A}.absent == 1 || {A}.slot == 3",
    # names and domains
    "a-string": f'{A}.product == "G4"',
    "single-quotes": "device.attributes['accel.test'].product == 'G4'",
    "a-name-as-index": f'{A}["product"] == "G4"',
    "a-foreign-domain": 'device.attributes["place.test"].row == "r7"',
    "a-foreign-name-in-the-drivers-domain": f'{A}.row == "r7"',
    "a-name-that-carries-its-own-domain": f'{A}.product == "G5"',
    "an-unknown-domain": 'device.attributes["nowhere.test"].product == "G4"',
    "an-unknown-name": f'{A}.maker == "acme"',
    "a-domain-in-capitals": 'device.attributes["ACCEL.test"].product == "G4"',
    "a-name-in-capitals": f'{A}.Product == "G4"',
    "a-name-that-is-a-type": f'{A}.type == "accelerator"',
    "a-name-that-is-an-operator-as-index": f'{A}["in"] == "x"',
    # guards
    "has-of-an-unknown-name": f'has({A}.maker) && {A}.maker == "acme"',
    "has-in-an-unknown-domain": 'has(device.attributes["nowhere.test"].maker)',
    "in-for-an-unknown-domain": '"nowhere.test" in device.attributes',
    "in-for-a-known-domain": '"place.test" in device.attributes',
    "in-for-a-name": f'"maker" in {A} && {A}.maker == "acme"',
    "in-for-a-capacity": '!("mem" in device.capacity["nowhere.test"])'
    ' || device.capacity["nowhere.test"].mem.isGreaterThan(quantity("1Ki"))',
    "a-default-for-a-known-name": f"{A}.?healthy.orValue(false)",
    "a-default-for-an-unknown-name": f"{A}.?spare.orValue(false)",
    "an-optional-domain": 'device.attributes[?"nowhere.test"].hasValue()',
    "an-optional-domain-and-name": 'device.attributes[?"nowhere.test"].?maker.orValue("nobody") == "nobody"',
    # results
    "an-attribute-alone": f"{A}.healthy",
    "an-attribute-negated": f"!{A}.healthy",
    "an-attribute-that-is-no-bool": f"{A}.product",
    # numbers
    "an-int-in-a-range": f"{A}.slot >= 2 && {A}.slot < 4",
    "an-int-and-a-double": f"{A}.slot == 2.0",
    "an-int-and-a-string": f'{A}.slot == "2"',
    "an-int-before-a-string": f'{A}.slot < "3"',
    "an-int-among-some": f"{A}.slot in [0, 2, 4]",
    "a-string-among-some": f'{A}.product in ["G5", "G4"]',
    # versions
    "a-version-above-another": f'{A}.firmware.isGreaterThan(semver("1.3.9"))',
    "a-version-compared": f'{A}.firmware.compareTo(semver("1.4.2")) == 0',
    "a-versions-parts": f"{A}.firmware.major() == 1 && {A}.firmware.minor() >= 4",
    "a-version-and-a-string": f'{A}.firmware == "1.4.2"',
    "a-string-and-a-version": f'"1.4.2" == {A}.firmware',
    "a-version-unlike-a-string": f'{A}.firmware != "1.4.2"',
    "a-version-and-a-version": f'{A}.firmware == semver("1.4.2")',
    "a-version-with-build-metadata": f'{A}.fw == semver("2.0.0+b9")',
    "a-text-that-is-no-version": f'{A}.firmware.isLessThan(semver("v2"))',
    "a-version-normalised": f'{A}.firmware.isLessThan(semver("v2", true))',
    "a-version-out-of-a-string": f'semver({A}.fwText).isGreaterThan(semver("0.9.0"))',
    "a-version-function-on-a-string": f'{A}.fwText.isGreaterThan(semver("0.9.0"))',
    # quantities
    "a-quantity-at-least": f'{C}.mem.compareTo(quantity("40Gi")) >= 0',
    "a-quantity-above": f'{C}.mem.isGreaterThan(quantity("40Gi"))',
    "a-quantity-with-another-suffix": f'{C}.mem == quantity("40960Mi")',
    "a-quantity-as-an-int": f"{C}.lanes.asInteger() > 100",
    "a-text-that-is-no-quantity": f'{C}.mem.isLessThan(quantity("80GB"))',
    "a-difference-of-quantities": f'{C}.mem.sub(quantity("8Gi")).compareTo(quantity("32Gi")) == 0',
    "an-unknown-capacity": f'{C}.bandwidth.isGreaterThan(quantity("1"))',
    "a-capacity-among-the-attributes": f'{A}.mem.isGreaterThan(quantity("1Gi"))',
    # the libraries
    "a-name-for-a-domain": f"cel.bind(a, {A}, a.healthy && a.slot == 2)",
    "a-pattern-without-case": f'{A}.product.lowerAscii().matches("^g[0-9]+$")',
    "a-pattern-anywhere": f'{A}.product.matches("4")',
    "beginnings-and-middles": f'{A}.product.startsWith("G") && {A}.product.contains("4")',
    "a-part-of-a-string": f'{A}.path.split("-")[0] == "n0"',
    "a-string-function-on-an-int": f'{A}.slot.startsWith("2")',
    "a-conclusion-with-dynamic-and-bool-outcomes": f"{A}.slot > 1 ? {A}.healthy : false",
    "an-outcome-that-is-never-taken": f"{A}.healthy ? true : {A}.absent",
    "any-of-the-names": f'{A}.exists(name, name.startsWith("firm"))',
    "exactly-one-domain": 'device.attributes.exists_one(domain, domain == "place.test")',
    "names-and-values": f'{A}.exists(name, value, name == "product" && value == "G4")',
    "the-number-of-names": f"{A}.size() == 4",
    "a-set": f'sets.contains(["G4", "G5"], [{A}.product])',
    "a-range": f"lists.range(4).slice(1, 3).exists(i, i == {A}.slot)",
    "an-address-in-a-network": f'cidr("10.0.0.0/8").containsIP({A}.address)',
    "a-host-of-a-url": f'url({A}.endpoint).getHost() == "fab.test:8443"',
    # fields of the device
    "a-shareable-device": "device.allowMultipleAllocations == true",
    "a-shareable-device-alone": "device.allowMultipleAllocations",
    # lists as attributes
    "any-of-a-list": f'{A}.roots.exists(root, root == "pci0001")',
    "a-list-includes": f'{A}.roots.includes("pci0001")',
    "a-string-includes": f'{A}.root.includes("pci0001")',
    "any-of-a-string": f'{A}.root.exists(root, root == "pci0001")',
    "a-list-and-a-string": f'{A}.roots == "pci0001"',
    "an-index-past-the-end": f"{A}.numa[3] == 0",
    # the rest
    "a-device-with-an-unreadable-attribute": '"accel.test" == device.driver',
    # Upstream's estimate refuses it when it is written, and its budget stops it when it runs; it does compile.
    "a-costly-nest-of-loops": f"{TEN}.all(a, {TEN}.all(b, {TEN}.all(c, {TEN}.all(d, {TEN}.all(e, {TEN}.all(f,"
    " a + b + c + d + e + f < 1000))))))",
    "an-attribute-and-null": f"{A}.product != null",
    "a-type-at-run-time": f"type({A}.slot) == int",
    "strings-put-together": f'{A}.product + "-" + string({A}.slot) == "G4-2"',
    "clauses-and-alternatives": f'({A}.slot == 0 || {A}.slot == 2) && {C}.lanes.isGreaterThan(quantity("50"))',
}

REFUSED = {
    "a-domain-and-name-in-one-key": ('device.attributes["place.test/row"] == "r7"', "1:37: == can't be applied to"),
    "has-of-a-domain": (f"has({A})", "1:22: has() asks for a field"),
    "a-string-as-result": ("device.driver", "1:1: a selector must be a bool"),
    "an-int-as-result": ("1", "1:1: a selector must be a bool"),
    "a-list-of-mixed-types": (f'{A}.product in ["G5", 7]', "1:51: the elements of a list must be of one type"),
    "an-operator-between-quantities": (f'{C}.mem >= quantity("40Gi")', "1:35: >= can't be applied to"),
    "a-quantity-and-an-int": (f"{C}.lanes == 108", "1:37: == can't be applied to"),
    "the-value-of-a-quantity": (f'{C}.mem.value == "1Gi"', "1:34: a value of type kubernetes.Quantity has no fields"),
    "half-a-pattern": (f'{A}.product.matches("a(")', "1:49: the pattern is no regular expression"),
    "a-pattern-that-looks-ahead": (f'{A}.product.matches("^(?!G).*")', "1:49: the pattern is no regular expression"),
    "the-math-library": (f"math.greatest({A}.slot, 1) == 2", "1:1: math is neither a variable nor a function"),
    "another-variable": ('node.name == "n1"', "1:5: node.name is neither a variable nor a function"),
    "the-devices-name": ('device.name == "gpu-0"', "1:7: device has no field name"),
    "an-assignment": ('device.driver = "x"', "1:15: = is no operator"),
    "nothing": ("", "1:1: the expression ends where more is expected"),
}


@pytest.mark.parametrize("text", COMPILES.values(), ids=COMPILES.keys())
def test_compiles(text: str) -> None:
    expression = parse_cel(text)
    again = parse_cel(render_cel(expression))
    assert (expression.text, again) == (text, expression)


@pytest.mark.parametrize(("text", "problem"), REFUSED.values(), ids=REFUSED.keys())
def test_is_refused(text: str, problem: str) -> None:
    with pytest.raises(CelError) as caught:
        parse_cel(text)
    assert str(caught.value).startswith(problem)
