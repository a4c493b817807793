"""`poolwright generate --argocd` with the parameter `release`: what a verified release holds of a unit, byte for byte.

Nothing is rendered, and of the specs only the Project is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml
from msgspec.structs import replace

from poolwright.argocd.check_answer import check_api_versions, check_namespace, check_size
from poolwright.argocd.parameters import PARAMETERS
from poolwright.argocd.request import Request
from poolwright.attestations.delivered import Wanted, find_objects, list_needed
from poolwright.files.project import read_file
from poolwright.packet.index import RELEASES
from poolwright.packets.unit import read_release
from poolwright.specs.consistency import check_names, check_project
from poolwright.specs.document import MAX_SPEC_BYTES
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.parse import PROJECT_FILE, gather_specs, parse_project
from poolwright.specs.place import Place
from poolwright.specs.project import Cluster, Delivery
from poolwright.specs.unit_specs import find_cluster
from poolwright.trust.allow import check_delivery
from poolwright.trust.policy import Allowed, TrustPolicy

_MAX_SAID: Final = 63  # characters of the parameter that are repeated: the longest name has as many


def take_unit(root: str, request: Request, policy: TrustPolicy, trust: str, allowed: Sequence[Allowed]) -> bytes:
    """The objects of the unit that is asked for, from the release that the Project names.

    policy:  the trust file, which says whose signatures count and which release is the oldest that is taken.
    trust:   what findings call it.
    allowed: its entries that let the Argo CD project have the unit.
    Raises:  SpecError with why there are none.
    """
    project, cluster = _read_project(root, request.cluster)
    if problem := check_delivery(allowed, trust, request.cluster, cluster.delivery):
        raise SpecError([problem])
    if problem := check_release(request, cluster.delivery, cluster.release):
        raise SpecError([problem])
    if cluster.release is None:
        raise AssertionError(f"{cluster.name}: check_project says so")
    wanted = Wanted(project=project, release=cluster.release, cluster=cluster.name, unit=request.unit)
    packet = read_release(root, wanted.release, list_needed(wanted))
    text = find_objects(packet, policy, trust, wanted)
    if not isinstance(text, bytes):
        raise SpecError(_place(one, wanted.release) for one in text)
    if problem := check_size(text, request):  # before it is read: it may be anything but small
        raise SpecError([problem])
    objects = _read_objects(text, f"{RELEASES}/{wanted.release}/{list_needed(wanted)[-1]}")
    for problem in (check_namespace(objects, request), check_api_versions(objects, request, None)):
        if problem is not None:
            raise SpecError([problem])
    return text


def check_release(request: Request, delivery: Delivery, release: str | None) -> Finding | None:
    """Why the release that an Application asks for isn't the one that the Project names; None: both say the same.

    release: the Project's; None: the cluster isn't delivered by packet.
    """
    asked = request.release[:_MAX_SAID]
    if request.release == (release or ""):
        return None
    if release is None:
        what = f'the parameter release is "{asked}", and the Project delivers {request.cluster} as {delivery}'
        fix = "remove the parameter, or write delivery: packet and the release into the Project"
    elif not asked:
        what = f"the parameter release is missing, and the Project delivers {request.cluster} from release {release}"
        fix = f"set the parameter release to {release}; run `poolwright render`, and apply the cluster's argocd folder"
    else:
        what = f'the parameter release is "{asked}", and the Project delivers {request.cluster} from {release}'
        fix = f"apply overlays/{request.cluster}/argocd of this commit, as `poolwright render` writes it"
    return Finding(
        code="plugin-release",
        severity="error",
        place=Place(PARAMETERS),
        what=what,
        why="who edits an Application alone can neither bring an old release back, nor keep one",
        rule="poolwright releases",
        fix=fix,
    )


def _read_project(root: str, cluster: str) -> tuple[str, Cluster]:
    """The project's name and the cluster's entry. Raises: SpecError if the Project can't be read, or has none."""
    text = read_file(root, PROJECT_FILE, max_bytes=MAX_SPEC_BYTES)
    project = parse_project({PROJECT_FILE: text})
    found = find_cluster(project, cluster)
    if problems := [*check_names(gather_specs([project])), *check_project(project, only=cluster)]:
        raise SpecError(problems)
    return project.value.identity, found


def _place(finding: Finding, release: str) -> Finding:
    """The finding with its place as the project has it, not the packet."""
    return replace(finding, place=replace(finding.place, file=f"{RELEASES}/{release}/{finding.place.file}"))


def _read_objects(text: bytes, path: str) -> list[Mapping[str, Any]]:
    """What the text holds, every value as text. Raises: SpecError if that isn't objects, one at least."""
    try:
        objects = [one for one in yaml.load_all(text, yaml.CBaseLoader) if one]
    except yaml.YAMLError:
        objects = []
    if not objects or not all(_is_object(one) for one in objects):
        raise SpecError([_say_no_objects(path)])
    return objects


def _is_object(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return False
    texts = (value.get("apiVersion"), value.get("kind"), value["metadata"].get("name"))
    return all(isinstance(text, str) and text for text in texts)


def _say_no_objects(path: str) -> Finding:
    return Finding(
        code="packet-unit",
        severity="error",
        place=Place(path),
        what="it is signed, and doesn't hold Kubernetes objects",
        why="Argo CD would take no objects for the wish that all of them go",
        rule="poolwright releases",
        fix="find out who signed that; release again with `poolwright release`",
    )
