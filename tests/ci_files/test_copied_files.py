"""The files that users copy are well formed, ask for the rights that they need, and name what they run exactly."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from copied import CI, GITHUB, GITLAB, HOOKS, read_jobs, read_yaml

from fleet import ROOT
from needs import needs_go_program

ACTIONLINT = ROOT / "tests" / "oracle" / "actionlint"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# The schemas are those that come with check-jsonschema.
GITHUB_FILES = [str(path) for path in GITHUB]
CHECKERS = {
    "github-schema": ("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *GITHUB_FILES),
    "every-job-ends": (
        "check-jsonschema",
        "--builtin-schema",
        "custom.github-workflows-require-timeout",
        *GITHUB_FILES,
    ),
    "gitlab-schema": (
        *("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
        *(str(path) for path in GITLAB),
    ),
    "github-security": ("zizmor", "--offline", "--no-config", "--persona", "auditor", *GITHUB_FILES),
    "hooks": ("pre-commit", "validate-manifest", str(HOOKS)),
}


@pytest.mark.parametrize("command", CHECKERS.values(), ids=CHECKERS)
def test_checkers_find_nothing(command: tuple[str, ...], tmp_path: Path) -> None:
    program = Path(sys.executable).parent / command[0]
    ended = subprocess.run(
        (program, *command[1:]), cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_actionlint_finds_nothing(tmp_path: Path) -> None:
    program = needs_go_program(ACTIONLINT, tmp_path / "actionlint")
    ended = subprocess.run((program, *GITHUB_FILES), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


# What is ignored of zizmor's findings, all of it: the poster must have more rights than the run that it follows.
def test_one_finding_is_ignored() -> None:
    ignored = [line for path in GITHUB for line in path.read_text(encoding="utf-8").splitlines() if "zizmor:" in line]
    assert [line.split(" # ")[1].split("]")[0] for line in ignored] == ["zizmor: ignore[dangerous-triggers"]


# workflow -> its events; rights of each job; actions that it runs
RIGHTS = {
    "poolwright-review": (
        ["pull_request", "merge_group"],
        {"poolwright-review": {"contents": "read"}},
        ["actions/setup-python", "actions/checkout", "actions/upload-artifact"],
    ),
    # No checkout: what may write to pull requests never sees their files.
    "poolwright-comment": (
        ["workflow_run"],
        {"poolwright-comment": {"actions": "read", "pull-requests": "write"}},
        ["actions/setup-python"],
    ),
    # What reads reports may write nothing; what may start runs reads no report.
    "poolwright-stale": (
        ["push", "schedule", "workflow_dispatch"],
        {
            "compare": {"actions": "read", "contents": "read", "pull-requests": "read"},
            "again": {"actions": "write", "pull-requests": "read"},
        },
        ["actions/checkout"],
    ),
}


@pytest.mark.parametrize("path", GITHUB, ids=lambda path: path.stem)
def test_github_rights(path: Path) -> None:
    document = read_yaml(path)
    steps = [step for job in document["jobs"].values() for step in job["steps"]]
    rights = {name: job["permissions"] for name, job in document["jobs"].items()}
    actions = [step["uses"].partition("@")[0] for step in steps if "uses" in step]
    assert document["permissions"] == {}
    assert (list(document["on"]), rights, actions) == RIGHTS[path.stem]
    assert document["name"] == path.stem
    checkouts = [step["with"] for step in steps if step.get("uses", "").startswith("actions/checkout@")]
    assert [one["persist-credentials"] for one in checkouts] == [False] * len(checkouts)
    # What somebody wrote reaches a script by its environment alone, and no secret but the run's own token is named.
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []
    assert "secrets" not in path.read_text(encoding="utf-8")


def test_each_action_is_named_by_a_commit_that_was_read() -> None:
    sources = read_yaml(CI / "sources.yaml")
    used = {
        line.partition("uses: ")[2]
        for path in GITHUB
        for line in path.read_text(encoding="utf-8").splitlines()
        if "uses: " in line
    }
    assert used == {f"{name}@{source['commit']} # {source['tag']}" for name, source in sources.items()}


def test_the_version_is_this_one() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in (*GITHUB, *GITLAB)}
    versions = {name: re.findall(r"POOLWRIGHT_VERSION: (.+)", text) for name, text in texts.items()}
    quoted = [f'"{PROJECT["version"]}"']
    assert versions == {name: [] if name == "poolwright-stale.yaml" else quoted for name in texts}


def test_hooks_bring_the_kustomize_of_the_extra() -> None:
    brought = {hook["id"]: hook.get("additional_dependencies", []) for hook in read_yaml(HOOKS)}
    kustomize = PROJECT["optional-dependencies"]["kustomize"]
    assert brought == {"poolwright-check": kustomize, "poolwright-render-check": [], "poolwright-diff": kustomize}


# where a pipeline comes from, branch, whether it is protected, merge request -> which jobs run
PIPELINES = {
    "merge-request": (("merge_request_event", "", "false", "7"), ["poolwright-report", "poolwright-review"]),
    # of a protected branch into another one: its variables are there, and still nothing is posted
    "merge-request-of-a-protected-branch": (
        ("merge_request_event", "", "true", "7"),
        ["poolwright-report", "poolwright-review"],
    ),
    "push-to-a-branch": (("push", "topic", "false", ""), []),
    "push-to-main": (("push", "main", "true", ""), []),
    "schedule": (("schedule", "main", "true", ""), ["poolwright-comment"]),
    "schedule-of-another-branch": (("schedule", "topic", "false", ""), []),
    "schedule-where-main-is-not-protected": (("schedule", "main", "false", ""), []),
    "webhook": (("trigger", "main", "true", ""), ["poolwright-comment"]),
    "webhook-that-names-a-merge-request": (("trigger", "main", "true", "7"), []),
    "webhook-for-another-branch": (("trigger", "topic", "true", ""), []),
    "from-another-pipeline": (("parent_pipeline", "main", "true", ""), []),
}


@pytest.mark.parametrize(("given", "expected"), PIPELINES.values(), ids=PIPELINES)
def test_gitlab_rules(given: tuple[str, str, str, str], expected: list[str]) -> None:
    names = ("CI_PIPELINE_SOURCE", "CI_COMMIT_BRANCH", "CI_COMMIT_REF_PROTECTED", "CI_MERGE_REQUEST_IID")
    variables = {"CI_DEFAULT_BRANCH": "main", **dict(zip(names, given, strict=True))}
    jobs = read_jobs()
    assert [name for name, job in sorted(jobs.items()) if _is_run(job["rules"], variables)] == expected


def _is_run(rules: list[dict[str, str]], variables: dict[str, str]) -> bool:
    """The first rule whose condition holds decides, as GitLab reads them."""
    for rule in rules:
        if any(all(_holds(part, variables) for part in one.split(" && ")) for one in rule["if"].split(" || ")):
            return rule.get("when") != "never"
    return False


def _holds(comparison: str, variables: dict[str, str]) -> bool:
    left, operator, right = (*comparison.split(" "), "", "")[:3]
    values = [variables[word[1:]] if word.startswith("$") else word.strip('"') for word in (left, right)]
    return {"": bool(values[0]), "==": values[0] == values[1], "!=": values[0] != values[1]}[operator]
