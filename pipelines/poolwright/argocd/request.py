"""One call of the plugin, from what Argo CD puts into its environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from poolwright.argocd.parameters import PARAMETERS, RELEASE, UNIT, parse_parameters
from poolwright.argocd.sent import SOURCE_PATH, TREE, find_unit, split_path
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place

PROJECT: Final = "ARGOCD_APP_PROJECT_NAME"
NAMESPACE: Final = "ARGOCD_APP_NAMESPACE"
GRPC_MIB: Final = "ARGOCD_GRPC_MAX_SIZE_MB"
_DEFAULT_GRPC_MIB: Final = 100
_RULE: Final = "Argo CD's plugin contract"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for, and for whom. The unit is whatever the Application's author says; the rest is Argo CD's."""

    cluster: str
    unit: str
    release: str  # that the unit is to be taken from; empty: from none
    path: tuple[str, ...]  # of the Application, from the repository's root
    argocd_project: str
    namespace: str  # of the destination; empty: the Application names none
    kubernetes: str  # version of the destination cluster, as it says; empty: not known
    api_versions: frozenset[str]  # GROUP/VERSION and GROUP/VERSION/Kind that it serves; empty: not known
    max_bytes: int  # of what is printed


def read_request(environ: Mapping[str, str]) -> Request:
    """The call that an environment describes.

    Raises: SpecError if it names no unit, or two, or no Argo CD project.
    Note:   ARGOCD_APP_NAME decides nothing: whoever makes an Application chooses it.
    """
    path = split_path(environ.get(SOURCE_PATH, ""))
    parameters = parse_parameters(environ.get(PARAMETERS, ""))
    cluster, unit = _choose_unit(parameters, path)
    argocd_project = environ.get(PROJECT, "")
    if not argocd_project:
        what = "it isn't set, so there is nobody to render for"
        raise SpecError([_refuse(PROJECT, what, "let Argo CD run the plugin; by hand, leave out --argocd")])
    return Request(
        cluster=cluster,
        unit=unit,
        release=parameters.get(RELEASE, ""),
        path=path,
        argocd_project=argocd_project,
        namespace=environ.get(NAMESPACE, ""),
        kubernetes=environ.get("KUBE_VERSION", ""),
        api_versions=frozenset(name for name in environ.get("KUBE_API_VERSIONS", "").split(",") if name),
        max_bytes=_max_bytes(environ.get(GRPC_MIB, "")),
    )


def _choose_unit(parameters: Mapping[str, str], path: tuple[str, ...]) -> tuple[str, str]:
    named = find_unit(path)
    if not parameters:
        if named is None:
            raise SpecError([_refuse_path(path)])
        return named
    if missing := [name for name in UNIT if name not in parameters]:
        what = f"the parameter {missing[0]} is missing beside the other"
        raise SpecError([_refuse(PARAMETERS, what, f"set both: {' and '.join(UNIT)}")])
    chosen = parameters["cluster"], parameters["unit"]
    if named is not None and named != chosen:
        what = f"the parameters say {'/'.join(chosen)}, and the path {'/'.join(named)}"
        raise SpecError([_refuse(PARAMETERS, what, "correct one of the two, or leave the parameters out")])
    return chosen


def _refuse_path(path: tuple[str, ...]) -> Finding:
    where = "/".join(path) or "."
    if len(path) > 4 and (path[-5], path[-3]) == ("releases", "manifests"):
        what = f"the path {where} is a release's, and no parameter says which unit is meant"
        return _refuse(SOURCE_PATH, what, "set the parameters cluster, unit and release")
    what = f"neither parameters nor the path {where} say which unit is meant"
    return _refuse(SOURCE_PATH, what, f"set the parameters cluster and unit, or the path {TREE}/CLUSTER/UNIT")


def _max_bytes(mebibytes: str) -> int:
    """Half of what a message may have, for what is printed travels as JSON; that isn't a number counts as unset."""
    most = int(mebibytes) if mebibytes.isascii() and mebibytes.isdigit() and len(mebibytes) < 6 else 0
    return (most or _DEFAULT_GRPC_MIB) << 19


def _refuse(variable: str, what: str, fix: str) -> Finding:
    return Finding(
        code="plugin-request",
        severity="error",
        place=Place(variable),
        what=what,
        why="one Application is one unit of one cluster, for one Argo CD project",
        rule=_RULE,
        fix=fix,
    )
