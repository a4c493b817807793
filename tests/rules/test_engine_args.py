"""How many ranks a container starts, in every spelling that the engines read."""

from typing import Any

import pytest

from poolwright.rules.engine_args import read_engine
from poolwright.rules.placed import place_object
from poolwright.rules.pod import find_pods

VLLM = "vllm/vllm-openai:v0.33.0"
SGLANG = "lmsysorg/sglang:v0.5.23"
TP, PP, DP, LOCAL = "tensor parallel", "pipeline parallel", "data parallel", "data parallel in the pod"

# Image, command and args -> sizes; None: no server that can be told.
CASES: dict[str, tuple[dict[str, Any], dict[str, int | None] | None]] = {
    "two-words": ({"image": VLLM, "args": ["--tensor-parallel-size", "2"]}, {TP: 2}),
    "one-word": ({"image": VLLM, "args": ["--tensor-parallel-size=2"]}, {TP: 2}),
    "short-two-words": ({"image": VLLM, "args": ["-tp", "2"]}, {TP: 2}),
    "short-one-word": ({"image": VLLM, "args": ["-tp=2"]}, {TP: 2}),
    "underscores": ({"image": VLLM, "args": ["--tensor_parallel_size=2"]}, {TP: 2}),
    "numbers-of-yaml": ({"image": VLLM, "args": ["-tp", 2]}, {TP: 2}),
    "sglang": ({"image": SGLANG, "args": ["--tp", "2", "--pp-size=3", "--dp", "4"]}, {TP: 2, PP: 3, DP: 4}),
    "sglang-tp-size": ({"image": SGLANG, "args": ["--tp-size=2"]}, {TP: 2}),
    "all-of-vllm": ({"image": VLLM, "args": ["-tp=2", "-pp=3", "-dp=8", "-dpl=4"]}, {TP: 2, PP: 3, DP: 8, LOCAL: 4}),
    "the-last-one-counts": ({"image": VLLM, "args": ["-tp=2", "--tensor-parallel-size=4"]}, {TP: 4}),
    "none-written": ({"image": VLLM, "args": ["--model=m"]}, {}),
    "one-rank-of-many": ({"image": VLLM, "args": ["-dp=8", "--data-parallel-rank=3"]}, {DP: 8, LOCAL: 1}),
    "command-and-args": ({"image": "example.com/a", "command": ["vllm"], "args": ["serve", "m", "-tp=2"]}, {TP: 2}),
    "module": ({"image": "a", "command": ["python3", "-m", "vllm.entrypoints.openai.api_server", "-tp=2"]}, {TP: 2}),
    "sglang-module": ({"image": "a", "command": ["python3", "-m", "sglang.launch_server", "--tp=2"]}, {TP: 2}),
    "script": ({"image": VLLM, "command": ["sh", "-c", "vllm serve m \\\n  --tensor-parallel-size 2"]}, {TP: 2}),
    "script-with-an-open-quote": ({"image": VLLM, "command": ["sh", "-c", "vllm serve 'm --tp-size 2"]}, {TP: 2}),
    "script-that-starts-no-server": ({"image": VLLM, "command": ["sh", "-c", "ray start --block --tp-size 2"]}, None),
    "variable": ({"image": VLLM, "args": ["-tp=$(TP)"], "env": [{"name": "TP", "value": "2"}]}, {TP: 2}),
    "variable-in-a-script": (
        {"image": VLLM, "command": ["sh", "-c", "vllm serve m -tp ${TP}"], "env": [{"name": "TP", "value": "2"}]},
        {TP: 2},
    ),
    "variable-from-elsewhere": ({"image": VLLM, "args": ["-tp=$(TP)"]}, {TP: None}),
    "no-number": ({"image": VLLM, "args": ["-tp", "auto"]}, {TP: None}),
    "flag-without-a-value": ({"image": VLLM, "args": ["-tp"]}, {TP: None}),
    "another-program": ({"image": "example.com/trainer:1.0.0", "args": ["--tp=2"]}, None),
    "image-without-words": ({"image": VLLM}, None),
    "a-name-that-only-holds-the-word": ({"image": "example.com/myvllmproxy:1.0.0", "args": ["--tp=2"]}, None),
}


@pytest.mark.parametrize(("container", "sizes"), CASES.values(), ids=CASES)
def test_read_engine(container: dict[str, Any], sizes: dict[str, int | None] | None) -> None:
    value = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "c", **container}]}}
    (pod,) = find_pods(place_object(value, "f"))
    engine = read_engine(pod.containers[0])
    assert (None if engine is None else dict(engine.sizes)) == sizes
