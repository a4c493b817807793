"""What the texts of facts look like, where something is computed from them: versions, ranges, days, quantities."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Final

from poolwright.catalog.tables.driver_release import release_key
from poolwright.catalog.traps import parse_when
from poolwright.specs.quantity import parse_quantity
from poolwright.specs.version import parse_version, parse_version_range


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A text format of a field."""

    what: str  # completes "must be ..."
    example: str
    parse: Callable[[str], object]  # raises ValueError

    def refuse(self, text: str) -> str:
        """Why a text isn't of this form; empty: it is."""
        try:
            self.parse(text)
        except ValueError:
            return f"it must be {self.what}"
        return ""


def _match(pattern: str) -> Callable[[str], object]:
    def parse(text: str) -> object:
        if re.fullmatch(pattern, text) is None:
            raise ValueError(text)
        return text

    return parse


def _parse_date(text: str) -> date:
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is None:
        raise ValueError(text)
    return date.fromisoformat(text)


def _parse_trap_versions(text: str) -> object:
    return text if text == "any" else parse_version_range(text)


_VERSION: Final = Form(what="an exact version", example="580.173.02", parse=parse_version)
_MINOR: Final = Form(what="a version of two numbers", example="1.36", parse=_match("[0-9]{1,9}[.][0-9]{1,9}"))
_SEMVER: Final = Form(
    what="a version of three numbers", example="9.0.0", parse=_match(r"[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}")
)
_RELEASE: Final = Form(what="a release of numbers", example="0.5.0", parse=release_key)
_READ_RELEASE: Final = Form(what="a release, or its line", example="25.12", parse=_match("[0-9A-Za-z][0-9A-Za-z.-]*"))
_PAIR: Final = Form(what="a release, or a line of them", example="0.4.x", parse=parse_version_range)
_DAY: Final = Form(what="a day as YYYY-MM-DD", example="2026-11-30", parse=_parse_date)
_SOURCE: Final = Form(what="one line that says where it can be read", example="our tests", parse=_match(r"\S(.*\S)?"))
_API: Final = Form(what="an API version", example="v1", parse=_match("v[0-9]+((alpha|beta)[0-9]+)?"))
_WHEN: Final = Form(
    what="KIND or KIND:VALUE, of the kinds that the tables know", example="draDriver:0.5.x", parse=parse_when
)
_TRAP_VERSIONS: Final = Form(what="a version, a line, or `any`", example="570.x", parse=_parse_trap_versions)
_QUANTITY: Final = Form(what="a Kubernetes quantity", example="81559Mi", parse=parse_quantity)
_NAME: Final = Form(what="a name", example="gpu.nvidia.com", parse=_match(r"\S+"))

# Of every table.
_ALL: Final = {"source": _SOURCE, "date": _DAY}
_SPAN: Final = {"since": _RELEASE, "until": _RELEASE}
# By table and field; of a list each entry is meant.
_FORMS: Final[dict[str, dict[str, Form]]] = {
    "kubernetes": {"minor": _MINOR, "resourceApi": _API},
    "kubernetes-gates": {"minor": _MINOR},
    "served-apis": {"minors": _MINOR},
    "nvidia-gates": {"since": _RELEASE, "kubernetesMinimum": _MINOR, "gpuDriverMinimum": _VERSION},
    "nvidia-gate-releases": {"release": _READ_RELEASE},
    "nvidia-gate-rules": _SPAN,
    "hardware": {"cudaComputeCapability": _SEMVER, "memory": _QUANTITY},
    "mig-profiles": {"memory": _QUANTITY},
    "compute-classes": {"minimum": _SEMVER},
    "device-types": {"since": _RELEASE, "namePatternSince": _RELEASE},
    "device-attributes": {**_SPAN, "domain": _NAME, "name": _NAME},
    "device-capacities": {**_SPAN, "name": _NAME},
    "operator-lines": {
        "line": _MINOR,
        "upgradesFrom": _MINOR,
        "kubernetesMinimum": _MINOR,
        "kubernetesMaximum": _MINOR,
        "kubernetesMaximumSince": _VERSION,
        "containerdMinimum": _MINOR,
        "containerdMaximum": _MINOR,
        "standaloneDraDrivers": _PAIR,
        "draKubernetesMinimum": _VERSION,
        "draGpuDriverMinimum": _VERSION,
    },
    "operator-releases": {"version": _VERSION, "line": _MINOR, "gpuDriverRecommended": _VERSION},
    "operator-components": {"release": _VERSION, "version": _VERSION},
    "operator-gpu-drivers": {"line": _MINOR, "release": _VERSION, "version": _VERSION, "versionMaximum": _VERSION},
    "driver-releases": {"version": _RELEASE, "chart": _NAME},
    "driver-minimums": {"minimum": _VERSION},
    "driver-settings": {"since": _RELEASE, "helmKey": _NAME},
    "helm-values": {"version": _VERSION, "key": _NAME},
    "releases": {"version": _VERSION},
    "chart-crds": _SPAN,
    "known-traps": {"trap": _NAME, "versions": _TRAP_VERSIONS, "when": _WHEN},
    "engines": {"version": _VERSION},
    "engine-arguments": {"version": _VERSION},
    "engine-memory": {"version": _VERSION, "fittedUntil": _VERSION},
}


def list_forms(table: str) -> dict[str, Form]:
    """The forms of a table's fields, by their names in the table; the others are free."""
    return {**_ALL, **_FORMS.get(table, {})}
