"""`poolwright check` with waivers: the exit code, the words and the formats; and that no other command heeds them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fleet import ENVELOPE, PLACEMENTS, POOL, PROJECT, STACK, Files, copy_small_fleet, edit, read_small_fleet
from folders import read_files, write_files
from run_poolwright import Ran, run

SMALL = read_small_fleet()
SUMMARY = "ok: 1 cluster, 1 stack, 1 pool, 2 envelope versions, 2 placements"
# A policy that the small fleet's image doesn't keep, a quota and an objective that it can't: a finding each.
DIGESTS = edit(SMALL, PROJECT, ("  clusters:\n", "  policy: {images: digest, waiverMaxAge: 90d}\n  clusters:\n"))
QUOTA = edit(SMALL, POOL, ("    - name: chat\n", "    - {name: chat, quota: {interactive-80g: 1}}\n"))
IMAGE = "image: registry.example.com/serving/vllm-openai:v0.33.0\n"
IMAGE_TEXT = """\
image "vllm" has a tag and no digest  [image-not-pinned]
  at   spec.servingImages[0].image
  why  a tag is a name that can come to mean another image; the project's policy is digests \
(poolwright.dev/v1alpha1: policy.images)
  fix  write @sha256:..., or ask the registry: poolwright pin --online
"""


def waive(rule: str, expires: str = "2027-01-31", files: Files = DIGESTS) -> Files:
    """A waiver of the stack."""
    waiver = f"    - {{rule: {rule}, reason: The registry moves., owner: platform-gpu, expires: {expires}}}\n"
    return edit(files, STACK, (IMAGE, f"{IMAGE}  waivers:\n{waiver}"))


CASES: dict[str, tuple[Files, Ran]] = {
    "nothing-waived": (DIGESTS, Ran(1, f"specs/stack.yaml:15:14: {IMAGE_TEXT}", "")),
    "waived": (
        waive("image-not-pinned"),
        Ran(
            0,
            f"specs/stack.yaml:15:14: warning: {IMAGE_TEXT}"
            "  but  waived until 2027-01-31 by platform-gpu: The registry moves.\n"
            f"{SUMMARY}, 1 waiver used as of 2026-11-30\n",
            "",
        ),
    ),
    "over": (
        waive("image-not-pinned", "2026-11-29"),
        Ran(
            1,
            f"specs/stack.yaml:15:14: {IMAGE_TEXT}"
            'specs/stack.yaml:17:91: stack "kubernetes-1-36" waives image-not-pinned until 2026-11-29, and it is '
            "2026-11-30  [waiver-expired]\n"
            "  at   spec.waivers[0].expires\n"
            "  why  what it was for is what it was again: The registry moves (poolwright.dev/v1alpha1)\n"
            "  fix  mend that and remove the waiver, or have platform-gpu answer for another day\n",
            "",
        ),
    ),
    "unused": (
        waive("image-not-pinned", files=SMALL),
        Ran(
            0,
            'specs/stack.yaml:17:7: warning: stack "kubernetes-1-36" waives image-not-pinned, and there is no such '
            "finding  [waiver-unused]\n"
            "  at   spec.waivers[0]\n"
            "  why  it would hide the next one, to which nobody agreed (poolwright.dev/v1alpha1)\n"
            "  fix  remove it, or write the path that `poolwright check` prints after `at`\n"
            f"{SUMMARY}\n",
            "",
        ),
    ),
    # `plan` and `diff` judge it: here nobody knows.
    "of-what-check-doesnt-judge": (waive("verdict-short", files=SMALL), Ran(0, f"{SUMMARY}\n", "")),
}


@pytest.mark.parametrize("name", CASES)
def test_check(name: str, tmp_path: Path) -> None:
    files, expected = CASES[name]
    assert run("check", folder=write_files(tmp_path, files)) == expected


def test_the_day_is_an_input(tmp_path: Path) -> None:
    write_files(tmp_path, waive("image-not-pinned"))
    days = ("2027-01-31", "2027-02-01")
    assert [run("check", f"--as-of={day}", folder=tmp_path).code for day in days] == [0, 1]


def test_json_and_sarif_say_it(tmp_path: Path) -> None:
    write_files(tmp_path, waive("image-not-pinned"))
    rows = json.loads(run("check", "--format=json", folder=tmp_path).stdout)["findings"]
    assert [row["waived"] for row in rows] == [
        {
            "kind": "Stack",
            "name": "kubernetes-1-36",
            "file": "specs/stack.yaml",
            "path": None,
            "reason": "The registry moves.",
            "owner": "platform-gpu",
            "expires": "2027-01-31",
        }
    ]
    log = json.loads(run("check", "--format=sarif", folder=tmp_path).stdout)
    assert [one["suppressions"] for one in log["runs"][0]["results"]] == [
        [
            {
                "kind": "inSource",
                "status": "accepted",
                "justification": "waived until 2027-01-31 by platform-gpu: The registry moves.",
            }
        ]
    ]


RECOVERY = edit(SMALL, ENVELOPE, ("  startup:", "  recovery: {objective: 1s}\n  startup:"))
WAIVER = "    - {rule: RULE, reason: More come., owner: platform-gpu, expires: 2027-01-31}\n"
# A finding that used to keep a project from being rendered, and its waiver where it belongs.
RENDERED: dict[str, tuple[Files, str, Files]] = {
    "a-quota": (
        QUOTA,
        "quota-short",
        edit(QUOTA, POOL, ("interactive-80g: 1}}\n", f"interactive-80g: 1}}}}\n  waivers:\n{WAIVER}")),
    ),
    "an-objective": (
        RECOVERY,
        "recovery-short",
        edit(RECOVERY, PLACEMENTS, ("  surge: 1\n", f"  surge: 1\n  waivers:\n{WAIVER}")),
    ),
}


@pytest.mark.parametrize("name", RENDERED)
def test_a_risk_is_rendered_and_waived(name: str, tmp_path: Path) -> None:
    files, rule, waived = RENDERED[name]
    waived = {path: data.replace(b"RULE", rule.encode()) for path, data in waived.items()}
    plain, excepted = write_files(tmp_path / "a", files), write_files(tmp_path / "b", waived)
    assert [run("render", folder=folder).code for folder in (plain, excepted)] == [0, 0]
    assert read_files(plain / "overlays") == read_files(excepted / "overlays")
    assert [run("check", folder=folder).code for folder in (plain, excepted)] == [1, 0]


def test_a_waiver_that_is_over_holds_up_no_sync(tmp_path: Path) -> None:
    folder = copy_small_fleet(tmp_path)
    before = run("generate", "--cluster=east", "--unit=chat-70b", folder=folder)
    wrong = "    - {rule: nothing, reason: It was., owner: team-chat, expires: 2020-01-01}\n"
    write_files(folder, edit(SMALL, PLACEMENTS, ("  surge: 1\n", f"  surge: 1\n  waivers:\n{wrong}")))
    assert run("generate", "--cluster=east", "--unit=chat-70b", folder=folder) == before
    assert run("render", "--check", folder=folder).code == 0
    assert (before.code, run("check", folder=folder).code) == (0, 1)


def test_generate_loads_nothing_that_judges_waivers(tmp_path: Path) -> None:
    folder = copy_small_fleet(tmp_path)
    probe = (
        "import sys; sys.argv = ['poolwright', 'generate', '--cluster=east', '--unit=chat-70b']\n"
        "from poolwright.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([m for m in ('specs.waiving', 'specs.waiver_rules', 'specs.codes', 'specs.risks') "
        "if f'poolwright.{m}' in sys.modules], file=sys.stderr)"
    )
    ended = subprocess.run((sys.executable, "-P", "-c", probe), cwd=folder, capture_output=True, check=False)
    assert ended.stderr.decode().splitlines()[-1:] == ["[]"]
