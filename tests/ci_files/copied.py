"""The files that users copy: their steps, run as the service that reads them would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from fleet import ROOT

CI = ROOT / "pipelines" / "ci"
GITHUB = sorted((CI / "github").glob("*.yaml"))
GITLAB = sorted((CI / "gitlab").glob("*.yml"))
HOOKS = ROOT / ".pre-commit-hooks.yaml"


@dataclass(frozen=True, slots=True)
class Ended:
    """What a step left."""

    code: int
    printed: str  # both streams
    outputs: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Runner:
    """A machine of the service: a checkout, a folder for temporary files, and what it has in the environment."""

    folder: Path
    temp: Path
    environment: Mapping[str, str]

    def run(self, script: str, more: Mapping[str, str]) -> Ended:
        """Bash, as GitHub starts it for `shell: bash` and GitLab for a job's lines."""
        outputs = self.temp / "outputs"
        outputs.write_text("", encoding="utf-8")
        ended = subprocess.run(
            ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script),
            cwd=self.folder,
            env={**_environment(self.temp), "GITHUB_OUTPUT": str(outputs), **self.environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=120,
        )
        lines = outputs.read_text(encoding="utf-8").splitlines()
        return Ended(ended.returncode, ended.stdout.decode(), dict(line.split("=", 1) for line in lines))


@dataclass(frozen=True, slots=True)
class Step:
    """A step with a script, and the variables that stand above it."""

    name: str
    condition: str
    script: str
    variables: Mapping[str, str]

    def run(self, runner: Runner, values: Mapping[str, str] | None = None) -> Ended:
        """Run it. `values` says what each expression of its variables stands for; one that it lacks is an error."""
        return runner.run(self.script, {name: fill(text, values or {}) for name, text in self.variables.items()})


def read_yaml(path: Path) -> Any:
    """A file as it is read: `on` is a text here, not `true`."""
    text = path.read_text(encoding="utf-8")
    return yaml.load(re.sub(r"^on:", '"on":', text, flags=re.MULTILINE), yaml.CSafeLoader)


def read_steps(workflow: str, job: str) -> dict[str, Step]:
    """The steps with a script of a GitHub job, by name; without the one that installs."""
    document = read_yaml(CI / "github" / f"{workflow}.yaml")
    assert document["defaults"] == {"run": {"shell": "bash"}}
    above = document.get("env", {})
    return {
        one["name"]: Step(one["name"], one.get("if", ""), one["run"], {**above, **one.get("env", {})})
        for one in document["jobs"][job]["steps"]
        if "run" in one and one["name"] != "Install"
    }


def read_jobs() -> dict[str, dict[str, Any]]:
    """GitLab's jobs by name, of all files, with what they extend."""
    entries = {name: entry for path in GITLAB for name, entry in read_yaml(path).items()}
    return {
        name: {**entries.get(entry.get("extends"), {}), **entry}
        for name, entry in entries.items()
        if not name.startswith(".")
    }


def run_job(name: str, runner: Runner) -> Ended:
    """The lines of a GitLab job in one shell, but for those that install."""
    job = read_jobs()[name]
    lines = [line for line in (*job["before_script"], *job["script"]) if not line.startswith("pip ")]
    return runner.run("\n".join(lines), job["variables"])


def fill(text: str, values: Mapping[str, str]) -> str:
    """A text with its `${{ expressions }}` replaced."""
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: values[found[1]], str(text))


def commit(folder: Path, message: str) -> str:
    """Commit all that is there; the commit's id."""
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def git(folder: Path, *arguments: str) -> str:
    """What git prints, run by nobody in particular."""
    ended = subprocess.run(
        ("git", *arguments), cwd=folder, env=_environment(folder.parent), capture_output=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout.decode().strip()


def _environment(temp: Path) -> dict[str, str]:
    """`poolwright` on the PATH, and nothing of whoever runs the tests but where Python and Kustomize are."""
    tools = temp / "tools"
    tools.mkdir(exist_ok=True)
    command = tools / "poolwright"
    if not command.exists():
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m poolwright "$@"\n', encoding="utf-8")
        command.chmod(0o755)
    kept = {name: os.environ[name] for name in ("PYTHONPATH", "POOLWRIGHT_KUSTOMIZE") if name in os.environ}
    who = {f"GIT_{role}_{what}": "a@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    no_settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    return {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "HOME": str(temp),
        "RUNNER_TEMP": str(temp),
        **kept,
        **who,
        **no_settings,
    }
