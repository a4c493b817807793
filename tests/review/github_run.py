"""The real `poolwright comment` against a contract server."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from contract_server import ContractServer
from reports import use_own_pages

from poolwright.changes.report import Report, render_report
from poolwright.review.limits import LIMITS
from run_poolwright import Ran, run

# As patient as a crowded machine needs, but for what is waited for on purpose.
QUICK: Final = replace(LIMITS, back_off_s=0.01, wait_s=5, total_s=60, answer_bytes=1 << 20)
VARIABLES: Final = (
    *("GH_TOKEN", "GITHUB_TOKEN", "GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_REF", "GITLAB_CI", "CI_PROJECT_ID"),
    *("CI_MERGE_REQUEST_IID", "CI_API_V4_URL", "GITLAB_TOKEN", "POOLWRIGHT_GITLAB_TOKEN", "CI_JOB_TOKEN"),
    *("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"),
)


class Poster:
    """A folder with a report, and an environment with a token."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.environment = monkeypatch
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        use_own_pages(monkeypatch)
        self.be_quick()

    def be_quick(self, **limits: float) -> None:
        quick = replace(QUICK, **limits)  # type: ignore[arg-type]
        self.environment.setattr("poolwright.cli.comment.LIMITS", quick)
        self.environment.setattr("poolwright.cli.comment.LONG", quick)

    def write(self, report: Report) -> None:
        (self.folder / "report.json").write_bytes(render_report(report))

    def use(self, server: ContractServer) -> None:
        """Set what GitHub Actions sets."""
        self.environment.setenv("GITHUB_API_URL", server.address)
        self.environment.setenv("GITHUB_TOKEN", server.token)

    def post(self, report: Report | None, *options: str) -> Ran:
        """Post to acme/fleet#7."""
        if report is not None:
            self.write(report)
        return self.run("--report", "report.json", "--github", "acme/fleet", "--pull", "7", *options)

    def run(self, *arguments: str) -> Ran:
        return run("comment", *arguments, folder=self.folder)
