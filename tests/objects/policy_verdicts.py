"""What Kubernetes says of the rendered policies: the questions, and data/policy-verdicts.jsonl with its answers.

    PYTHONPATH=tests:tests/objects python tests/objects/policy_verdicts.py

records them anew; that needs Go and its modules, which POOLWRIGHT_REQUIRE=go lets it fetch. main.go in
tests/oracle/policies says what is asked and how. The file has a header with upstream's release and a digest of what is
asked about (`digest_policies`), then a line per cluster and policy from the type checker, and one per case: its id, its
digest and the answer. A case of a rendered object has no digest: such objects change more often than what policies
read of them, and each change would ask for Go.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from policy_cases import CASES, EAST, LAB, LAB_ALPHA, LABELLED, THEIRS, UNPRICED, Case
from policy_objects import owned

from crd_schemas import read_schema
from fleet import load_closures, load_unit, read_fleet
from kubernetes_schemas import read_definitions
from needs import needs_go_program
from poolwright.catalog.closure import PlatformClosure, UnitClosure
from poolwright.objects.kubernetes import LANE, Object
from poolwright.objects.platform import build_platform
from poolwright.objects.policy import build_policies
from poolwright.objects.unit import build_objects

Json = dict[str, Any]

ORACLE: Final = Path(__file__).parents[1] / "oracle" / "policies"
RECORDED: Final = Path(__file__).parent / "data" / "policy-verdicts.jsonl"
MODULE: Final = "k8s.io/apiserver"
COMMAND: Final = "PYTHONPATH=tests:tests/objects python tests/objects/policy_verdicts.py"
MINOR: Final = "1.36"
# Namespaces that are no pool's.
OTHERS: Final = ("kube-system", "team")
WORKLOADS: Final = ("Deployment", "LeaderWorkerSet")
CUSTOM: Final = ("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet")
# What policies match, and their parameter: the type checker is given the schemas of these.
KINDS: Final = (
    *("v1 Pod", "v1 ReplicationController", "batch/v1 CronJob", "batch/v1 Job"),
    *("apps/v1 DaemonSet", "apps/v1 Deployment", "apps/v1 ReplicaSet", "apps/v1 StatefulSet"),
    *("resource.k8s.io/v1 DeviceClass", "resource.k8s.io/v1 ResourceClaim", "resource.k8s.io/v1 ResourceClaimTemplate"),
)


# --- what is asked -------------------------------------------------------------------------------------------------


@cache
def build_clusters() -> dict[str, Json]:
    """By name: the policies and bindings as rendered, the classes that may be parameters, and namespaces."""
    clusters = {name: _build_cluster(name) for name in (EAST, LAB, LAB_ALPHA)}
    labelled = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": name, "labels": {LANE: "experiment"}},
            "spec": {},
        }
        for name in THEIRS
    ]
    east = clusters[EAST]
    return {**clusters, LABELLED: {**east, "params": [*east["params"], *labelled]}}


def _build_cluster(name: str) -> Json:
    closure = load_unit(read_fleet(), name, "platform")
    assert isinstance(closure, PlatformClosure)
    policies = build_policies(closure)
    rendered = build_platform(closure)
    own = [one["metadata"]["name"] for one in rendered if one["kind"] == "Namespace"]
    return {
        "policies": [one for one in policies if one["kind"] == "ValidatingAdmissionPolicy"],
        "bindings": [one for one in policies if one["kind"] == "ValidatingAdmissionPolicyBinding"],
        # Of a class the policies read name and label; its selectors and their places are rendered in many ways.
        "params": [
            {**one, "metadata": {"name": one["metadata"]["name"], "labels": one["metadata"]["labels"]}, "spec": {}}
            for one in rendered
            if one["kind"] == "DeviceClass"
        ],
        "namespaces": [
            # The label is the API server's own: it sets it on every namespace.
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
            }
            for name in sorted({*own, *OTHERS})
        ],
    }


@cache
def build_rendered_cases() -> dict[str, Case]:
    """Every claim, template and workload of the example: new, changed, and what controllers make of them.

    Nothing is said of any of them, but for the unit without a price.
    """
    return {
        f"{closure.on.cluster}/{closure.unit}/{words}": Case(
            cluster=closure.on.cluster,
            object=judged,
            old=old,
            warned=() if closure.is_priced or words not in NOT_PRICED else (UNPRICED,),
        )
        for closure in load_closures(read_fleet())
        if isinstance(closure, UnitClosure)
        for one in build_objects(closure)
        for words, judged, old in _list_requests(one)
    }


NOT_PRICED: Final = ("Deployment", "Deployment/update")


def _list_requests(one: Object) -> Iterator[tuple[str, Object, Object | None]]:
    kind, place = one["kind"], {"name": "x", "namespace": one["metadata"]["namespace"]}
    if kind in ("ResourceClaim", "ResourceClaimTemplate", *WORKLOADS):
        yield kind, one, None
    if kind == "ResourceClaimTemplate":
        claim: Object = {**one, "kind": "ResourceClaim", "metadata": place, "spec": one["spec"]["spec"]}
        yield f"{kind}/claim", owned(claim, "Pod"), None
    if kind in WORKLOADS:
        yield f"{kind}/update", one, one
        group = one["spec"].get("leaderWorkerTemplate")
        templates = [group["leaderTemplate"], group["workerTemplate"]] if group else [one["spec"]["template"]]
        for at, template in enumerate(templates):
            pod: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": place, "spec": template["spec"]}
            yield f"{kind}/pod-{at}", owned(pod, "StatefulSet" if group else "ReplicaSet"), None


@cache
def list_cases() -> dict[str, Case]:
    """All cases by id, in the order of the recording."""
    return {**build_rendered_cases(), **CASES}


def build_question(name: str, case: Case) -> Json:
    """A case as the program reads it."""
    either = case.object or case.old
    assert either is not None
    question = {
        "id": name,
        "cluster": case.cluster,
        "operation": case.operation,
        "namespace": either["metadata"]["namespace"],
        "object": case.object,
        "oldObject": case.old,
        "subresource": case.subresource,
        "user": case.user,
        "groups": list(case.groups),
    }
    return {key: value for key, value in question.items() if value not in (None, "", [])}


def build_document() -> Json:
    """Everything that is asked, as main.go reads it."""
    definitions = {**read_definitions(MINOR, KINDS), "LeaderWorkerSet": _read_custom()}
    return {
        "clusters": build_clusters(),
        # The API server publishes them under this word.
        "definitions": json.loads(json.dumps(definitions).replace('"#/$defs/', '"#/definitions/')),
        "cases": [build_question(name, case) for name, case in list_cases().items()],
    }


def _read_custom() -> Json:
    """The schema of LeaderWorkerSets as the API server publishes it: with the metadata of every kind."""
    group, version, kind = CUSTOM
    schema, word = read_schema(f"{group}/{version}", kind), {"type": "string"}
    metadata = {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
    return {
        **schema,
        "properties": {**schema["properties"], "apiVersion": word, "kind": word, "metadata": metadata},
        "x-kubernetes-group-version-kind": [{"group": group, "version": version, "kind": kind}],
    }


def digest_policies() -> str:
    """Another one: policies, bindings, classes or namespaces of a cluster aren't those that were recorded."""
    return digest(build_clusters())


def digest(value: object) -> str:
    """16 hexadecimal digits that tell a value from any other."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


# --- what must be answered -----------------------------------------------------------------------------------------


def build_expected(case: Case) -> Json:
    """The answer of main.go that a case asks for, but for its id."""
    policies = {one["metadata"]["name"]: one for one in build_clusters()[case.cluster]["policies"]}
    audit: dict[str, list[Json]] = {}
    warnings = []
    for name, place in case.warned:
        message = policies[name]["spec"]["validations"][place]["message"]
        warnings.append(f"Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{name}': {message}")
        failure = {"policy": name, "binding": name, "expressionIndex": place, "message": message}
        # Only the first failure of a policy gets there.
        audit.setdefault(name, [{**failure, "validationActions": ["Warn", "Audit"]}])
    found = {
        "decision": "denied" if case.refused else "allowed",
        "code": case.code if case.refused else 0,
        "messages": sorted(f"{_render_place(case)} is forbidden: {text}" for text in case.refused),
        "warnings": sorted(warnings),
        "audit": audit,
    }
    return {key: value for key, value in found.items() if value}


def _render_place(case: Case) -> str:
    assert case.object is not None
    kind = re.sub("Claim", "claim", case.object["kind"].removeprefix("Resource"))
    return f'resource{kind.lower()}s.resource.k8s.io "{case.object["metadata"]["name"]}"'


# --- what is answered ----------------------------------------------------------------------------------------------


def ask_upstream(folder: Path) -> tuple[list[Json], dict[str, Json]]:
    """What the type checker says of each policy, and the answers by case; the program is built into a folder.

    Who asks is skipped where Go or its modules are missing.
    """
    program = needs_go_program(ORACLE, folder / "policies")
    asked = json.dumps(build_document())
    ran = subprocess.run([program], input=asked, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    answers = {line.pop("id"): line for line in lines if "id" in line}
    return [line for line in lines if "policy" in line], answers


def read_recorded() -> tuple[Json, list[Json], dict[str, Json]]:
    """The header, the type checker's lines, and the rows of cases by id."""
    header, *lines = map(json.loads, RECORDED.read_text(encoding="utf-8").splitlines())
    rows = {line.pop("id"): line for line in lines if "id" in line}
    return header, [line for line in lines if "policy" in line], rows


def build_rows(answers: dict[str, Json]) -> dict[str, Json]:
    """The rows of the cases by id, without their ids."""
    return {
        name: ({} if name not in CASES else {"case": digest(build_question(name, CASES[name]))}) | {"answer": answer}
        for name, answer in answers.items()
    }


def read_module_version() -> str:
    """The release of upstream's module, as v0.36.6."""
    lines = (ORACLE / "go.mod").read_text(encoding="utf-8").splitlines()
    return next(line.split()[1] for line in lines if line.strip().startswith(f"{MODULE} "))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        types, answers = ask_upstream(Path(folder))
    header = {"by": f"{MODULE} {read_module_version()}", "command": COMMAND, "policies": digest_policies()}
    rows = [{"id": name, **row} for name, row in build_rows(answers).items()]
    lines = [json.dumps(row, sort_keys=True, separators=(",", ":")) for row in (header, *types, *rows)]
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(len(rows), "cases recorded")


if __name__ == "__main__":
    main()
