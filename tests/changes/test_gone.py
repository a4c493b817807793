"""What goes away or elsewhere as a whole: workloads, clusters, and where Argo CD puts everything."""

from __future__ import annotations

import pytest

from change_sides import compare, say_findings
from fleet import PLACEMENTS, PROJECT, edit, read_fleet, read_small_fleet

SMALL = read_small_fleet()
FLEET = read_fleet()
NEXT = SMALL[PLACEMENTS].decode().partition("---\n")


def test_a_workload_that_goes_away() -> None:
    after = {**SMALL, PLACEMENTS: NEXT[0].encode()}
    assert say_findings(compare(SMALL, after), "workload-gone") == (
        "poolwright.yaml: warning: east/chat/chat-70b-next goes away  [workload-gone]\n"
        "  why  where pruning is on, its pods end with the next sync; where it is off, they run on and nobody looks "
        "after them (poolwright diff)\n"
        "  fix  make sure that nobody is served by it any more; say so in the pull request\n"
    )


def test_a_cluster_that_goes_away() -> None:
    project = FLEET["poolwright.yaml"].decode()
    start, end = project.index("    - name: lab  "), project.index("    - name: lab-alpha")
    after = {
        **{path: data for path, data in FLEET.items() if path not in ("specs/placements/lab.yaml",)},
        "poolwright.yaml": (project[:start] + project[end:]).encode(),
    }
    after.pop("specs/pools/lab-full.yaml")
    assert "cluster lab is in the project no longer, with 1 workload" in say_findings(
        compare(FLEET, after), "workload-gone"
    )


DESTINATIONS = {
    "another-cluster": (
        ("destination: {name: east}", "destination: {name: west}"),
        "poolwright.yaml:13:20: warning: what is rendered for east goes to west, before east  [destination-changed]\n"
        "  at   spec.clusters[0].destination\n"
        "  why  all of it is created there anew; what runs at the old place runs on, and nobody looks after it "
        "(poolwright diff)\n"
        "  fix  if that is meant, drain the old place first, and say so in the pull request\n",
    ),
    "another-name": (
        ("  name: inference-fleet", "  name: other"),
        "poolwright.yaml:6:9: warning: the project is called other, before inference-fleet  [destination-changed]\n"
        "  at   metadata.name\n"
        "  why  the AppProject of every cluster gets another name (poolwright diff)\n"
        "  fix  if that is meant, drain the old place first, and say so in the pull request\n",
    ),
}


@pytest.mark.parametrize("case", DESTINATIONS)
def test_what_goes_elsewhere(case: str) -> None:
    change, text = DESTINATIONS[case]
    after = edit(SMALL, PROJECT, change)
    assert say_findings(compare(SMALL, after), "destination-changed") == text


def test_another_repository() -> None:
    old = next(line for line in SMALL[PROJECT].decode().splitlines() if "repoURL" in line)
    report = compare(
        SMALL, edit(SMALL, PROJECT, (old, old.replace("https://git.example.com", "https://git.example.org")))
    )
    (finding,) = [one for one in report.findings if one.code == "destination-changed"]
    assert finding.what.startswith("Argo CD takes everything from elsewhere: repoURL https://git.example.com/")


def test_nothing_of_it_changes() -> None:
    after = edit(SMALL, PLACEMENTS, ("minReplicas: 1", "minReplicas: 1 # as before"))
    assert say_findings(compare(SMALL, after), "destination-changed", "workload-gone") == ""
