"""`plan --replay`: what is said of a plan's witnesses on the project as it is now, and of what can't be replayed."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from pathlib import Path
from unittest.mock import patch

import jsonschema_rs
import pytest

from fleet import FLEET, ROOT, copy_fleet
from poolwright.plan.report.replay_schema import replay_schema
from run_poolwright import Ran, run

PLACEMENTS, POOL = "specs/placements/east.yaml", "specs/pools/h100-full.yaml"
WORST = "  reasoning/reason-671b, worst: "


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's plan."""
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    path.write_text(run("plan", "--project", str(FLEET), "--format", "json", folder=ROOT).stdout, encoding="utf-8")
    return path


def replay(path: Path | str, *more: str, project: Path = FLEET) -> Ran:
    return run("plan", "--project", str(project), "--replay", str(path), *more, folder=ROOT)


def find_line(ran: Ran, start: str) -> str:
    (line,) = [one for one in ran.stdout.splitlines() if one.startswith(start)]
    return line.removeprefix(start)


def test_the_same_project(printed: Path) -> None:
    ran = replay(printed)
    assert (ran.code, ran.stderr) == (0, "")
    assert re.fullmatch(r"replays now: (\d+) of \1 moves, 1 of 1 left out", find_line(ran, WORST))
    assert find_line(ran, "  reasoning/reason-671b, best: ") == "replays now: 2 of 2 moves, 1 of 1 served"
    assert ran.stdout.splitlines()[-2:] == ["lab: the plan has no witness", "lab-alpha: the plan has no witness"]


def test_one_cluster_from_standard_input(printed: Path) -> None:
    with patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(printed.read_bytes()))):
        ran = replay("-", "--cluster", "lab")
    assert (ran.code, ran.stdout, ran.stderr) == (0, "lab: the plan has no witness\n", "")


def test_json_is_what_the_schema_says(printed: Path) -> None:
    document = json.loads(replay(printed, "--format", "json").stdout)
    jsonschema_rs.validate(replay_schema(), document)
    assert [one["name"] for one in document["clusters"]] == ["east", "lab", "lab-alpha"]
    witnesses = {(one["workloads"][0], one["role"]): one for one in document["clusters"][0]["witnesses"]}
    assert witnesses["reasoning/reason-671b", "best"] == {
        "workloads": ["reasoning/reason-671b"],
        "role": "best",
        "replays": "now",
        "same": True,
        "moves": 2,
        "done": 2,
        "replicas": 1,
        "served": 1,
        "leftOut": 0,
        "holding": 0,
        "problem": "",
    }


# By what changed: texts of files, and what is said of the worst that may happen to reason-671b.
CHANGES: dict[str, tuple[list[tuple[str, str, str]], str]] = {
    "one-more-node": (
        [(POOL, "count: 6", "count: 7")],
        "doesn't replay: a pod of another replica gets devices: reasoning/reason-671b#0 on h100-b-6",
    ),
    "one-more-replica": (
        [
            (PLACEMENTS, "minReplicas: 1\n  zone: east-b", "minReplicas: 2\n  zone: east-b"),
            (POOL, "{name: reasoning, quota: {interactive-80g: 16}}", "{name: reasoning}"),
        ],
        "doesn't replay: the workload has 2 replicas at its peak now, and had 1",
    ),
    "other-devices-there": (
        [(POOL, "hardwareModel: h100-sxm5-80gb", "hardwareModel: h200-sxm-141gb")],
        "doesn't replay: move 1 (.*): the node can't serve it any more",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_another_state_of_the_project(name: str, printed: Path, tmp_path: Path) -> None:
    changes, said = CHANGES[name]
    project = copy_fleet(tmp_path)
    for file, old, new in changes:
        change(project / file, old, new)
    ran = replay(printed, "--cluster", "east", project=project)
    assert (ran.code, ran.stderr) == (1, "")
    assert re.fullmatch(said.replace("(", r"\(").replace(")", r"\)"), find_line(ran, WORST))


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_plan_of_something_else(printed: Path, tmp_path: Path) -> None:
    document = json.loads(printed.read_text(encoding="utf-8"))
    text = json.dumps(document).replace("h100-b-5", "h900").replace("chat/chat-70b", "chat/other")
    other = tmp_path / "other.json"
    other.write_text(text.replace('"lab-alpha"', '"west"'), encoding="utf-8")
    ran = replay(other)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.splitlines()[0] == f'{other}: the project has no cluster "west"  [plan-of-another]'
    ran = replay(other, "--cluster", "east")
    assert (ran.code, ran.stdout) == (2, "")
    assert [line for line in ran.stderr.splitlines() if line.startswith(str(other))] == [
        f'{other}: east has no node "h900"  [plan-of-another]',
        f'{other}: east has no workload "chat/other"  [plan-of-another]',
    ]


def test_a_plan_of_another_scenario(printed: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(printed.read_text(encoding="utf-8").replace('"fresh"', '"rollout"'), encoding="utf-8")
    ran = replay(other, "--cluster", "lab")
    assert (ran.code, ran.stdout) == (2, "")
    said = "lab is judged as fresh, and the plan was made for rollout"
    assert ran.stderr.splitlines()[0] == f"{other}: {said}  [plan-of-another]"


@pytest.mark.parametrize("asked", [(), ("--cluster", "lab")])
def test_a_plan_of_a_cluster_that_runs(printed: Path, asked: tuple[str, ...], tmp_path: Path) -> None:
    document = json.loads(printed.read_text(encoding="utf-8"))
    document["clusters"] = [{**one, "scenario": "live"} for one in document["clusters"] if one["name"] == "lab"]
    live = tmp_path / "live.json"
    live.write_text(json.dumps(document), encoding="utf-8")
    ran = replay(live, *asked)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(
        f'{live}: it was made with --live: cluster "lab"; plans of a cluster that runs can\'t be replayed'
        "  [plan-of-another]\n"
        "  why  what is held there decides too, and is neither in the plan nor in the project "
        "(poolwright plan --replay)\n"
        "  fix  make one of the cluster as it starts, without --live: poolwright plan --format json\n"
    )


def test_a_plan_for_another_version_of_kubernetes(printed: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    text = printed.read_text(encoding="utf-8").replace('"kubernetes": "1.36"', '"kubernetes": "1.35"')
    other.write_text(text, encoding="utf-8")
    ran = replay(other, "--cluster", "lab")
    assert ran.stdout == "lab: the plan has no witness\n  made for Kubernetes 1.35, judged with 1.36\n"
    (cluster,) = json.loads(replay(other, "--cluster", "lab", "--format", "json").stdout)["clusters"]
    assert cluster == {"name": "lab", "madeFor": "1.35", "judgedWith": "1.36", "witnesses": []}


def test_what_is_no_plan(printed: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    for path, line in (
        (missing, f"{missing}: the file can't be read: No such file or directory  [file-unreadable]"),
        (tmp_path, f"{tmp_path}: the file can't be read: Is a directory  [file-unreadable]"),
        ("a\0b", "a\\x00b: the file can't be read: embedded null byte  [file-unreadable]"),
    ):
        ran = replay(path)
        assert (ran.code, ran.stdout) == (2, "")
        assert ran.stderr.splitlines()[0] == line
    ran = replay(os.devnull)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(
        f"{os.devnull}:1:1: it isn't JSON: Expecting value  [plan-unreadable]\n"
        "  why  only a plan as this version prints it can be replayed (poolwright schema FitPlan)\n"
        "  fix  make one: poolwright plan --format json\n"
    )
    empty = tmp_path / "empty.json"
    empty.write_text('{"apiVersion": "poolwright.dev/v1alpha1", "kind": "FitPlan", "clusters": []}', encoding="utf-8")
    ran = replay(empty)
    assert (ran.code, ran.stdout, ran.stderr) == (2, "", "poolwright: --replay: the plan has no cluster\n")


def test_losses_are_not_replayed(printed: Path) -> None:
    ran = replay(printed, "--loss", "node")
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.endswith(
        "Error: --replay judges nothing anew: only --project, --cluster and --format go with it\n"
    )
