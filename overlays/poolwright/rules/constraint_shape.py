"""The shape of a claim's constraints and configuration, and whether the requests that they name exist."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from poolwright.rules.claim import Claim
from poolwright.rules.nvidia_config import check_nvidia_config
from poolwright.rules.placed import Field
from poolwright.rules.shape import RULE, SUBDOMAIN, check_fields, check_length
from poolwright.specs.finding import Finding

MAX_CONSTRAINTS: Final = 32
MAX_CONFIGS: Final = 32
MAX_DRIVER: Final = 63  # characters
MAX_PARAMETERS: Final = 10 * 1024  # bytes
_IDENTIFIER: Final = r"[A-Za-z_][A-Za-z0-9_]{0,31}"
_CHOICES: Final = ("matchAttribute", "distinctAttribute")


def check_constraints(claim: Claim) -> Iterator[Finding]:
    """The constraints of a claim."""
    constraints = claim.devices.get("constraints")
    yield from check_length(constraints, MAX_CONSTRAINTS, "constraints", "a claim")
    for constraint in constraints.list_items():
        yield from check_fields(constraint, ("requests", *_CHOICES), "a constraint")
        written = [constraint.get(key) for key in _CHOICES if constraint.get(key).is_set]
        if len(written) != 1:
            yield _choose(constraint, len(written))
        for attribute in written:
            if not _is_qualified(attribute.text):
                yield _unqualified(attribute)
        yield from _check_references(constraint, claim)


def check_configs(owner: Field, claim: Claim | None) -> Iterator[Finding]:
    """The configuration of a claim's devices or of a class's spec (then there is no claim to name requests of)."""
    configs = owner.get("config")
    yield from check_length(configs, MAX_CONFIGS, "configurations", "a claim or class")
    known = ("requests", "opaque") if claim else ("opaque",)
    for config in configs.list_items():
        yield from check_fields(config, known, "a configuration")
        yield from _check_opaque(config)
        if claim:
            yield from _check_references(config, claim)


def _check_opaque(config: Field) -> Iterator[Finding]:
    opaque, driver, parameters = (
        config.get("opaque"),
        config.get("opaque", "driver"),
        config.get("opaque", "parameters"),
    )
    if not isinstance(opaque.value, dict):
        yield _config(config, "this configuration has no opaque part", "write opaque: {driver: ..., parameters: ...}")
        return
    yield from check_fields(opaque, ("driver", "parameters"), "opaque")
    if not driver.text or len(driver.text) > MAX_DRIVER or not re.fullmatch(SUBDOMAIN, driver.text):
        what = f'"{driver.text}" is no name of a driver' if driver.is_set else "no driver is named here"
        yield _config(
            driver, what, f"write the driver's DNS subdomain, at most {MAX_DRIVER} characters: gpu.nvidia.com"
        )
    if not isinstance(parameters.value, dict):
        yield _config(parameters, "the parameters must be a map", "write the driver's own object, with its apiVersion")
        return
    size = len(json.dumps(parameters.value, ensure_ascii=False, separators=(",", ":"), default=str).encode())
    if size > MAX_PARAMETERS:
        what = f"the parameters take {size:,} bytes and may take {MAX_PARAMETERS:,}"
        yield _config(parameters, what, "shorten them")
    yield from check_nvidia_config(driver.text, parameters)


def _check_references(owner: Field, claim: Claim) -> Iterator[Finding]:
    """Whether each entry of `requests` is a request, or an alternative of one."""
    requests = owner.get("requests")
    yield from check_length(requests, 32, "requests", "this list")
    known = list(list_references(claim))
    for reference in requests.list_items():
        if reference.text not in known:
            yield Finding(
                code="dangling-reference",
                severity="error",
                place=reference.place,
                what=f'{claim.owner.title} has no request "{reference.text}"',
                why="the API server refuses a name that leads to no request of the same claim",
                rule=RULE,
                fix=f"name a request of the claim: {', '.join(known)}" if known else "the claim has no request",
            )


def list_references(claim: Claim) -> Iterator[str]:
    """Every way to name a request of the claim, `request` and `request/alternative`."""
    for request in claim.requests:
        if request.name:
            yield request.name
            alternatives = request.field.get("firstAvailable").list_items()
            yield from (f"{request.name}/{way.get('name').text}" for way in alternatives)


def _is_qualified(name: str) -> bool:
    domain, _, identifier = name.partition("/")
    named = re.fullmatch(SUBDOMAIN, domain) and len(domain) <= MAX_DRIVER
    return bool(named and re.fullmatch(_IDENTIFIER, identifier))


def _choose(constraint: Field, written: int) -> Finding:
    return Finding(
        code="constraint-choice",
        severity="error",
        place=constraint.place,
        what="this constraint has matchAttribute and distinctAttribute together"
        if written
        else "this constraint has neither matchAttribute nor distinctAttribute",
        why="a constraint says one thing: the devices share an attribute's value, or no two of them do",
        rule=RULE,
        fix="write two constraints" if written else "write matchAttribute: with a full name, or remove the constraint",
    )


def _unqualified(attribute: Field) -> Finding:
    name = attribute.text or str(attribute.value)
    return Finding(
        code="invalid-value",
        severity="error",
        place=attribute.place,
        what=f'"{name}" is no fully qualified attribute',
        why="a constraint looks at devices of any driver, so the attribute's domain must be written: domain/identifier",
        rule=RULE,
        fix=f"write the domain too, such as gpu.nvidia.com/{name}"
        if re.fullmatch(_IDENTIFIER, name)
        else "write a domain and an identifier, such as resource.kubernetes.io/pcieRoot",
    )


def _config(field: Field, what: str, fix: str) -> Finding:
    return Finding(
        code="device-config",
        severity="error",
        place=field.place,
        what=what,
        why="the API server refuses configuration that it can't hand to a driver",
        rule=RULE,
        fix=fix,
    )
