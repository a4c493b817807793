"""`poolwright diff --live`: of which cluster the files are."""

from __future__ import annotations

from pathlib import Path

import pytest

from change_sides import compare
from fleet import FLEET, PROJECT, ROOT, edit, read_fleet, read_small_fleet
from folders import write_files
from poolwright.cli.live import SnapshotError
from run_poolwright import Ran, run

SNAPSHOT = str(ROOT / "tests" / "plan" / "snapshots" / "lab.yaml")
CLASS = b"apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: a}\nspec: {}\n"
WHOSE = {
    "not-said-of-several": (
        ("--live", SNAPSHOT),
        "poolwright: --live: whose objects these are isn't said; add --cluster: east, lab, lab-alpha\n",
    ),
    "of-none-that-there-is": (
        ("--live", SNAPSHOT, "--cluster", "west"),
        "poolwright: --live: there is no cluster west on either side; known: east, lab, lab-alpha\n",
    ),
}


@pytest.mark.parametrize("case", WHOSE)
def test_files_of_no_cluster_are_refused(case: str) -> None:
    """Otherwise nothing would be said of what runs, as if nothing could become of it."""
    options, text = WHOSE[case]
    fleet = str(FLEET)
    assert run("diff", fleet, fleet, *options, folder=ROOT) == Ran(2, "", text)


def test_manifests_run_nowhere(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "plain", {"class.yaml": CLASS})
    assert run("diff", str(folder), str(folder), "--live", SNAPSHOT, folder=tmp_path) == Ran(
        2, "", "poolwright: --live: manifests are compared as they are: nothing says which cluster runs them\n"
    )


def test_a_cluster_that_comes_beside_the_only_one_makes_it_two() -> None:
    small = read_small_fleet()
    west = "    - {name: west, stackName: kubernetes-1-36, destination: {name: west}}\n"
    both = edit(small, PROJECT, ("  clusters:\n", f"  clusters:\n{west}"))
    with pytest.raises(SnapshotError, match=r"^whose objects these are isn't said; add --cluster: east, west$"):
        compare(small, both, live=[SNAPSHOT])


def test_a_cluster_that_differs_in_nothing_is_judged_as_it_runs() -> None:
    fleet = read_fleet()
    report = compare(fleet, fleet, live=[SNAPSHOT], cluster="lab")
    assert report.clusters == ("lab",)
    assert [(one.name, one.scenario, one.change) for one in report.workloads] == [
        ("chat/chat-70b", "fresh", "same"),
        ("chat/chat-70b", "live", "same"),
    ]
