"""`poolwright price`, asked about what can't be priced: one message, exit code 2, no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from price_project import H100, LLAMA, VLLM, price, write

from run_poolwright import Ran


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path)


SHARE = "write whole percent, 1 to 100, or the same as a fraction, 0.92"
SLOTS = "write COUNTxRANK, each 1 to 1024: 4x16 is four slots of rank 16"
BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "no-such-envelope": (
        ("nope",),
        "nope: there is no such envelope; known: chat@1.0.0. A file is named with its folder: ./nope",
    ),
    "no-such-version": (
        ("chat@9.0.0",),
        "chat@9.0.0: there is no such envelope; known: chat@1.0.0. A file is named with its folder: ./chat@9.0.0",
    ),
    "no-such-file": (("./nope.json",), "./nope.json can't be read: no such file or directory"),
    "a-folder": (("./llama",), "./llama can't be read: is a directory"),
    "no-json": (
        ("./poolwright.yaml",),
        "./poolwright.yaml is no config.json of a model: it isn't JSON: Expecting value: line 1 column 1 (char 0)",
    ),
    "no-such-partition": (
        ("chat", "--device=l4/1g.5gb"),
        "--device l4/1g.5gb: l4 has no such partition: it has none",
    ),
    "memory-that-nobody-knows": (("chat", "--device=gh200-96gb"), "--device gh200-96gb: its memory isn't known"),
    "no-such-engine": (
        ("chat", "--engine=trt"),
        "--engine trt: there is no price for such an engine; known: vllm, sglang",
    ),
    "no-version": (("chat", "--engine=vllm@new"), "--engine vllm@new: new is no version, such as 0.19"),
    "no-version-at-all": (("chat", "--engine=vllm@"), "--engine vllm@: nothing is no version, such as 0.19"),
    "no-such-weights": (
        ("chat", "--weights=fp16"),
        "--weights fp16: there is no such format; known: float32, bfloat16, float16, fp8, fp8Block128, int8, int4, "
        "int4ZeroPoint, nf4, mxfp4, nvfp4",
    ),
    "no-such-cache": (
        ("chat", "--kv=fp4"),
        "--kv fp4: there is no such format; known: float32, bfloat16, float16, fp8",
    ),
    "half-a-percent": (("chat", "--memory-fraction=0.925"), f"--memory-fraction 0.925: {SHARE}"),
    "more-than-all": (("chat", "--memory-fraction=101"), f"--memory-fraction 101: {SHARE}"),
    "nothing-of-it": (("chat", "--memory-fraction=0.00"), f"--memory-fraction 0.00: {SHARE}"),
    "digits-of-another-script": (("chat", "--memory-fraction=９２"), f"--memory-fraction ９２: {SHARE}"),
    "no-rank": (("chat", "--adapters=4"), f"--adapters 4: {SLOTS}"),
    "no-slots": (("chat", "--adapters=0x16"), f"--adapters 0x16: {SLOTS}"),
    "too-many-slots": (("chat", "--adapters=1025x16"), f"--adapters 1025x16: {SLOTS}"),
    "a-sum-of-many-devices": (
        ("chat", "--explain"),
        "--explain prints the sum for one device: say which with --device",
    ),
    "an-engine-that-derives-its-batch": (
        ("llama/config.json", "--engine=sglang"),
        "llama/config.json: sglang derives these when it starts: say --batched-tokens, --max-sequences and "
        "--memory-fraction",
    ),
    "controls-do-not-move-the-cursor": (
        ("chat\x1b[2J",),
        "chat\\x1b[2J: there is no such envelope; known: chat@1.0.0. A file is named with its folder: ./chat\\x1b[2J",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_message(name: str, folder: Path) -> None:
    arguments, said = BAD[name]
    assert price(*arguments, folder=folder) == Ran(2, "", f"poolwright: {said}\n")


def test_an_unknown_device_is_answered_with_those_that_are_known(folder: Path) -> None:
    ran = price("chat", "--device=h100", folder=folder)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("poolwright: --device h100: there is no such device; known: a30, a100-sxm4-40gb, ")
    assert price("chat", "--device=h100-sxm5-80gb/1g.11gb", folder=folder).stderr.startswith(
        "poolwright: --device h100-sxm5-80gb/1g.11gb: h100-sxm5-80gb has no such partition; did you mean "
        "h100-sxm5-80gb/1g.10gb?; known: h100-sxm5-80gb/1g.10gb, "
    )


@pytest.mark.parametrize("option", ["--tp=0", "--pp=1025", "--context=0", "--concurrency=-1", "--batched-tokens=x"])
def test_a_number_out_of_range_is_wrong_use(option: str, folder: Path) -> None:
    ran = price("chat", option, folder=folder)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("Usage: poolwright price ")
    assert f"\nError: Invalid value for '{option.partition('=')[0]}': " in ran.stderr


# A file that says anything but what a model is. It is somebody else's: no answer may be a traceback.
HOSTILE = {
    "nested": "[" * 100_000,
    "an-object-in-an-object": '{"a":' * 100_000,
    "a-long-number": f'{{"architectures": ["LlamaForCausalLM"], "hidden_size": {"9" * 5000}}}',
    "empty": "",
    "a-list": "[]",
    "half-a-character": '{"architectures": ["\\ud800"]}',
    "controls": '{"architectures": ["\\u001b[2J"]}',
    "no-bytes-of-text": "\ud800",
    "zeros": LLAMA.replace("4096", "0"),
    "many-layers": LLAMA.replace('"num_hidden_layers": 32', '"num_hidden_layers": 1000000'),
    "one-head": LLAMA.replace('"num_attention_heads": 32', '"num_attention_heads": 1'),
    "large": LLAMA.replace("4096", str(1 << 40)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_config_is_not_trusted(name: str, folder: Path) -> None:
    write(folder, ("llama/config.json", "", HOSTILE[name]))
    ran = price("llama/config.json", H100, VLLM, "--context=4096", "--concurrency=8", folder=folder)
    assert (ran.stdout == "") == (ran.code == 2)
    assert ran.stderr.count("\n") == (ran.code == 2)
    assert "\x1b" not in ran.stdout + ran.stderr


def test_a_file_that_is_too_large_is_not_read(folder: Path) -> None:
    write(folder, ("llama/config.json", "", " " * ((4 << 20) + 1)))
    said = "poolwright: llama/config.json is no config.json of a model: it has more than 4,194,304 bytes\n"
    assert price("llama/config.json", folder=folder) == Ran(2, "", said)


def test_an_envelope_whose_config_is_not_there(folder: Path) -> None:
    (folder / "models/llama/config.json").unlink()
    ran = price("chat", H100, folder=folder)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("models/llama/config.json: models/llama/config.json can't be read: it isn't there")


def test_without_a_project_there_is_no_envelope(tmp_path: Path) -> None:
    ran = price("chat", folder=tmp_path)
    assert (ran.code, ran.stdout) == (2, "")
    assert "[project-missing]" in ran.stderr
    write(tmp_path)
    (tmp_path / "poolwright.yaml").unlink()
    assert price("llama/config.json", H100, folder=tmp_path).code == 0
