"""The shape of what claims ask for, by API version: what the API server refuses, before anything reaches it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from poolwright.rules.claim import TEMPLATE, Alternative, Claim
from poolwright.rules.constraint_shape import check_configs, check_constraints
from poolwright.rules.placed import Field
from poolwright.rules.shape import RULE, SUBDOMAIN, check_fields, check_length, check_names, wrong_type
from poolwright.specs.finding import Finding

MAX_REQUESTS: Final = 32
MAX_ALTERNATIVES: Final = 8
MAX_SELECTORS: Final = 32
MAX_DEVICES: Final = 32  # a claim's allocation holds no more results
_FLAT: Final = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")
_DEVICES: Final = ("requests", "constraints", "config")


def check_claim_shape(claim: Claim) -> Iterator[Finding]:
    """Every way in which a claim or template isn't what its API version holds."""
    if claim.owner.kind == TEMPLATE:
        yield from _check_template(claim)
    yield from check_fields(claim.devices, (*_DEVICES, *_alpha(claim.devices)), "devices")
    requests = claim.devices.get("requests")
    if requests.is_set and not isinstance(requests.value, list):
        yield wrong_type(requests, "a list")
    yield from check_length(requests, MAX_REQUESTS, "requests", "a claim")
    yield from check_names(requests, "request")
    for request in requests.list_items():
        yield from _check_request(request, claim)
    yield from _check_total(claim)
    yield from check_constraints(claim)
    yield from check_configs(claim.devices, claim)


def check_selectors(field: Field) -> Iterator[Finding]:
    """The selectors of a request or class: how many, and that each has an expression."""
    selectors = field.get("selectors")
    yield from check_length(selectors, MAX_SELECTORS, "selectors", "a request or class")
    for selector in selectors.list_items():
        if not selector.get("cel", "expression").text:
            yield Finding(
                code="missing-field",
                severity="error",
                place=selector.place,
                what="this selector has no cel.expression",
                why="a selector is a CEL expression, and there is no other kind",
                rule=RULE,
                fix="write cel: {expression: ...}, or remove the selector",
            )


def _alpha(devices: Field) -> tuple[str, ...]:
    """Fields that are alpha and so may be there: they are left alone."""
    return tuple(key for key in ("derivedAttributes",) if devices.get(key).is_set)


def _check_template(claim: Claim) -> Iterator[Finding]:
    yield from check_fields(
        claim.owner.root.get("spec", "metadata"), ("labels", "annotations"), "a template's metadata"
    )
    if not claim.owner.root.get("spec", "spec").is_set and claim.owner.root.get("spec", "devices").is_set:
        yield Finding(
            code="unknown-field",
            severity="error",
            place=claim.owner.root.get("spec", "devices").key_place,
            what="devices stands in spec of a ResourceClaimTemplate, and belongs into spec.spec",
            why="spec holds the metadata and the spec of the claims that are made from it",
            rule=RULE,
            fix="write spec: {spec: {devices: ...}}",
        )


def _check_request(request: Field, claim: Claim) -> Iterator[Finding]:
    flat = claim.owner.api_version.endswith("/v1beta1")
    first, exactly = request.get("firstAvailable"), request.get("exactly")
    stray = [key for key in _FLAT if request.get(key).is_set]
    if flat:
        is_wrapped = exactly.is_set and not stray
        if is_wrapped:
            yield _wrapped_request(request)
        else:
            yield from _check_choice(request, "deviceClassName", "deviceClassName" in stray, first.is_set)
        known = ("name", "firstAvailable", *_FLAT, *(("exactly",) if is_wrapped else ()))
        yield from check_fields(request, known, "a request")
        ways = [request] if stray else []
    else:
        if stray and not exactly.is_set:
            yield _flat_request(request, stray)
        known = ("name", "exactly", "firstAvailable", *(() if exactly.is_set else stray))
        yield from check_fields(request, known, "a request")
        if exactly.is_set or not stray:
            yield from _check_choice(request, "exactly", exactly.is_set, first.is_set)
        yield from check_fields(exactly, (*_FLAT, *_alpha(exactly)), "exactly")
        ways = [exactly] if exactly.is_set else [request] if stray else []
    yield from check_length(first, MAX_ALTERNATIVES, "alternatives", "firstAvailable")
    yield from check_names(first, "alternative")
    for way in first.list_items():
        yield from check_fields(
            way, ("name", *(key for key in _FLAT if key != "adminAccess"), *_alpha(way)), "an entry of firstAvailable"
        )
    for way in (*ways, *first.list_items()):
        yield from _check_way(way)


def _check_choice(request: Field, one: str, has_one: bool, has_other: bool) -> Iterator[Finding]:
    name = request.get("name").text
    if has_one == has_other:
        both = f"{one} and firstAvailable together" if has_one else f"neither {one} nor firstAvailable"
        yield Finding(
            code="request-choice",
            severity="error",
            place=request.get("firstAvailable").key_place if has_one else request.place,
            what=f'request "{name}" has {both}',
            why="a request asks for one thing, or for the first of several that is available",
            rule=RULE,
            fix=f"keep one of the two: {one}, or firstAvailable with every alternative in it"
            if has_one
            else f"write {'exactly: {deviceClassName: ...}' if one == 'exactly' else 'deviceClassName: ...'}",
        )


def _flat_request(request: Field, stray: list[str]) -> Finding:
    first = request.get(next(key for key, _ in request.list_entries() if key in stray))
    fields = ", ".join(stray)
    moved = ", ".join(f"{key}: ..." for key in stray)
    if stray == ["deviceClassName"]:
        moved = f"deviceClassName: {request.get('deviceClassName').text}"
    return Finding(
        code="request-layout",
        severity="error",
        place=first.key_place,
        what=f'request "{request.get("name").text}" has {fields} as in v1beta1, and {request.owner.api_version} '
        f"has {'it' if len(stray) == 1 else 'them'} under `exactly`",
        why="the API server refuses or drops the unknown fields, and what is left asks for no class",
        rule=RULE,
        fix=f"move under exactly: `exactly: {{{moved}}}`",
    )


def _wrapped_request(request: Field) -> Finding:
    return Finding(
        code="request-layout",
        severity="error",
        place=request.get("exactly").key_place,
        what=f'request "{request.get("name").text}" has exactly, which {request.owner.api_version} doesn\'t know',
        why="the API server refuses or drops the unknown field, and what is left asks for no class",
        rule=RULE,
        fix="move what is in it one level up, beside name",
    )


def _check_way(way: Field) -> Iterator[Finding]:
    """What one alternative asks for: class, selectors, how many."""
    class_name, mode, count = way.get("deviceClassName"), way.get("allocationMode"), way.get("count")
    if class_name.is_set and not isinstance(class_name.value, str):
        yield wrong_type(class_name, "a string")
    elif not class_name.text:
        yield _no_class(way)
    elif not re.fullmatch(SUBDOMAIN, class_name.text):
        yield _no_subdomain(class_name)
    if mode.is_set and mode.value not in ("ExactCount", "All"):
        yield _unknown_mode(mode)
    if count.is_set and count.number is None:
        yield wrong_type(count, "an integer")
    elif mode.value == "All" and count.number:
        yield _count_with_all(count)
    elif mode.value != "All" and count.number is not None and count.number < 1:
        yield _no_count(count)
    yield from check_selectors(way)


def _check_total(claim: Claim) -> Iterator[Finding]:
    """The fewest devices that an allocation of the claim can hold."""
    fewest = [min((_least(way) for way in request.alternatives), default=0) for request in claim.requests]
    if sum(fewest) > MAX_DEVICES:
        yield Finding(
            code="claim-too-many-devices",
            severity="error",
            place=claim.devices.get("requests").place,
            what=f"{claim.owner.title} asks for {sum(fewest)} devices at least",
            why=f"one claim's allocation holds at most {MAX_DEVICES}, so it can never be allocated",
            rule=RULE,
            fix="lower the counts, or split the claim in two",
        )


def _least(way: Alternative) -> int:
    return 1 if way.count is None else max(way.count, 0)


def _no_class(way: Field) -> Finding:
    return Finding(
        code="missing-field",
        severity="error",
        place=way.place,
        what="no deviceClassName stands here",
        why="devices are always asked for by class",
        rule=RULE,
        fix="write deviceClassName: with the name of a DeviceClass",
    )


def _no_subdomain(name: Field) -> Finding:
    return Finding(
        code="invalid-value",
        severity="error",
        place=name.place,
        what=f'"{name.text}" is no name of a DeviceClass',
        why="it must be a DNS subdomain: lower-case letters, digits, hyphens and points",
        rule=RULE,
        fix="write the name of a DeviceClass, such as gpu.nvidia.com",
    )


def _unknown_mode(mode: Field) -> Finding:
    return Finding(
        code="unknown-value",
        severity="error",
        place=mode.place,
        what=f'"{mode.value}" is no allocation mode',
        why="a scheduler that doesn't know the mode ends the scheduling attempt with an error",
        rule=RULE,
        fix="write ExactCount or All",
    )


def _count_with_all(count: Field) -> Finding:
    return Finding(
        code="count-with-all",
        severity="error",
        place=count.place,
        what=f"count {count.value} stands beside allocationMode All",
        why="All means every matching device, so the API server refuses a count",
        rule=RULE,
        fix="remove count, or write allocationMode: ExactCount",
    )


def _no_count(count: Field) -> Finding:
    return Finding(
        code="out-of-range",
        severity="error",
        place=count.place,
        what=f"count is {count.value}",
        why="a request asks for at least one device",
        rule=RULE,
        fix="write 1 or more, or remove the request",
    )
