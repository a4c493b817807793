"""A matrix as text and as JSON: the example's, whole, and what its schema takes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
from matrix_fleet import build_lock, judge, read_whole_fleet

from fleet import edit
from golden import Golden
from poolwright.matrix.matrix_json import render_matrix_json
from poolwright.matrix.matrix_schema import matrix_schema
from poolwright.matrix.matrix_text import render_matrix_text

FOLDER = Path(__file__).parent / "output"
FILES = read_whole_fleet()
STALE = "rehearsals/26-7/h100-full-perpod-vllm/recovery.yaml"
REFUSED = "rehearsals/26-7/h100-full-perpod-sglang/install.yaml"


def test_the_example_and_one_of_each_status(golden: Golden) -> None:
    """The baseline stack with a stale, a refused and a missing step; the other stack isn't pinned."""
    files = edit(FILES, STALE, ("gpuDriver: 580.173.02", "gpuDriver: 580.167.08"))
    files = edit(files, REFUSED, ("nodeChanges: []", "nodeChanges: [a kubelet flag on h100-0]"))
    lock = build_lock()
    del lock.stacks["operator-26-7-shares"]
    whole, mixed = judge(FILES, build_lock()), judge(files, lock)
    golden.compare(
        FOLDER,
        {
            "example.txt": "".join(f"{line}\n" for line in render_matrix_text(whole)).encode(),
            "mixed.txt": "".join(f"{line}\n" for line in render_matrix_text(mixed)).encode(),
            "mixed.json": render_matrix_json(mixed).encode(),
        },
    )
    validator = jsonschema_rs.Draft202012Validator(matrix_schema())
    for matrix in (whole, mixed):
        validator.validate(json.loads(render_matrix_json(matrix)))
