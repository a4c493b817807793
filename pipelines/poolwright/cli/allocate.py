"""`poolwright allocate`: what kube-scheduler would give to pods and claims, from plain objects and no spec."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Final, Literal

from poolwright.allocation.allocate import allocate_given
from poolwright.allocation.answer_json import render_answer_json
from poolwright.allocation.answer_text import render_answer_text
from poolwright.allocation.assumptions import Options
from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.features import MINORS
from poolwright.allocation.nodes import list_nodes
from poolwright.catalog.facts import Facts
from poolwright.cli.object_files import read_objects
from poolwright.cli.output import say, tell
from poolwright.files.facts import read_facts
from poolwright.specs.finding import escape_controls, render_text, sort_findings
from poolwright.specs.version import parse_version

Format = Literal["text", "json"]
DEFAULT: Final = MINORS[-1]


def run_allocate(
    files: Sequence[str],
    form: Format,
    *,
    kubernetes: str | None = None,
    gates: Sequence[str] = (),
    pod: str | None = None,
    node: str | None = None,
    each_alone: bool = False,
) -> int:
    """Print what becomes of the pods and claims in files; 0: all have devices, 1: some haven't, 2: no answer.

    files:      paths as typed, `-` for standard input; what they hold is one cluster.
    kubernetes: its version; None: the newest that is known.
    gates:      `NAME=true|false`, as its components are given them.
    pod:        only this pod or claim, by name or `namespace/name`.
    """
    facts = read_facts()
    asked = _find_minor(kubernetes)
    if asked not in MINORS:
        return _refuse(f"{asked}; known: {', '.join(MINORS)}")
    said = _parse_gates(gates, asked, facts)
    if isinstance(said, str):
        return _refuse(said)
    effective = facts.effective_gates(asked, said)
    objects = read_objects(files)
    options = Options(pod=_parse_pod(pod), node=node, each_alone=each_alone)
    problem = _check_asked(objects, options)
    if problem:
        return _refuse(problem)
    answer = allocate_given(objects, minor=asked, effective=effective, gates=said, options=options)
    if form == "json":
        say(render_answer_json(answer))
    else:
        say(render_text(sort_findings(answer.notes)), error=True)
        for line in render_answer_text(answer):
            tell(line)
    return answer.exit_code


def _find_minor(kubernetes: str | None) -> str:
    """One of MINORS, or what is wrong with what was asked for."""
    if kubernetes is None:
        return DEFAULT
    try:
        minor = parse_version(kubernetes).minor
    except ValueError:
        return f"--kubernetes {kubernetes}: that is no version"
    if minor in MINORS:
        return minor
    return f"Kubernetes {kubernetes} is unsupported: its allocator isn't modelled, and it isn't guessed"


def _parse_gates(gates: Sequence[str], minor: str, facts: Facts) -> dict[str, bool] | str:
    """The gates that were set, or what is wrong with one."""
    said: dict[str, bool] = {}
    known = {fact.name: fact for fact in facts.kubernetes_gates if fact.minor == minor and fact.stage != "absent"}
    for text in ",".join(gates).split(","):
        name, _, value = text.partition("=")
        if not text:
            continue
        if value not in ("true", "false"):
            return f"--feature-gates {text}: write NAME=true or NAME=false"
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.6)
            hint = f"; did you mean {near[0]}?" if near else ""
            return f"--feature-gates {name}: Kubernetes {minor} has no such gate that decides on devices{hint}"
        if not known[name].takes(value == "true"):
            return f"--feature-gates {name}: it is locked in Kubernetes {minor}"
        said[name] = value == "true"
    return said


def _parse_pod(text: str | None) -> tuple[str | None, str] | None:
    if text is None:
        return None
    namespace, separator, name = text.rpartition("/")
    return (namespace, name) if separator else (None, name)


def _check_asked(objects: ClusterObjects, options: Options) -> str:
    """What is asked about and isn't there; "" if nothing."""
    nodes = [node.name for node in list_nodes(objects)]
    if options.node is not None and options.node not in nodes:
        return f"--node {options.node}: there is no such node; known: {', '.join(sorted(nodes))}"
    if options.pod is None:
        return ""
    namespace, name = options.pod
    known = [(pod.value.namespace, pod.value.name) for pod in objects.pods]
    known += [(claim.value.namespace, claim.value.name) for claim in objects.claims]
    if any(one[1] == name and namespace in (None, one[0]) for one in known):
        return ""
    shown = ", ".join(sorted("/".join(one) for one in known)[:10]) or "none"
    return f"--pod {'/'.join(part for part in options.pod if part)}: there is no such pod or claim; known: {shown}"


def _refuse(what: str) -> int:
    say(f"poolwright: {escape_controls(what)}\n", error=True)
    return 2
