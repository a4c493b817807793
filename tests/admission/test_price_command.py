"""`poolwright price`: what it prints, and what it ends with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from price_project import FILES, H100, LLAMA, VLLM, price, read, write

from run_poolwright import Ran, start


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path)


# --- text ---

TEXTS: dict[str, tuple[tuple[str, ...], int, str]] = {
    "an-envelope-that-is-admitted": (
        ("chat", H100),
        0,
        """\
admitted: chat@1.0.0 on h100-sxm5-80gb
  55.26 GiB of KV cache per GPU holds 55 requests of 8192 tokens, 1.0 GiB each; the load needs 16.0 GiB
  admitted up to concurrency 53, or contextTokens 27472
  needs a whole device: no partition admits it
  as vllm 0.19.0, bfloat16 weights, bfloat16 KV cache, contextTokens 8192, concurrency 16, batch 64 sequences, \
8192 tokens, 90 % of memory
""",
    ),
    "a-load-that-is-too-large-and-each-change-that-would-do": (
        ("chat", H100, "--concurrency=64"),
        1,
        """\
refused: chat@1.0.0 on h100-sxm5-80gb
  64 concurrent requests of 8192 tokens need 64.0 GiB of KV cache per GPU, the budget is 55.26 GiB: lower concurrency \
to 53, or contextTokens to 6864, or raise tensorParallel to 2, or take an fp8 KV cache
  within 1.58 GiB it is too close to call: measure
  as vllm 0.19.0, bfloat16 weights, bfloat16 KV cache, contextTokens 8192, concurrency 64, batch 64 sequences, \
8192 tokens, 90 % of memory
""",
    ),
    "a-change-that-helps-and-is-not-enough-is-no-way-out": (
        ("chat", H100, "--concurrency=200"),
        1,
        """\
refused: chat@1.0.0 on h100-sxm5-80gb
  200 concurrent requests of 8192 tokens need 200.0 GiB of KV cache per GPU, the budget is 55.26 GiB: lower \
concurrency to 53; not enough alone: fp8 KV cache (100.0 GiB, still 44.74 GiB too much, 110 concurrent), \
tensorParallel 8 (200 concurrent requests are more than the 64 sequences that the engine runs at once: others wait, \
531 concurrent)
  within 1.58 GiB it is too close to call: measure
  200 concurrent requests are more than the 64 sequences that the engine runs at once: others wait
  as vllm 0.19.0, bfloat16 weights, bfloat16 KV cache, contextTokens 8192, concurrency 200, batch 64 sequences, \
8192 tokens, 90 % of memory
""",
    ),
    "figures-that-may-be-off-by-more-than-they-are-apart": (
        ("chat", H100, "--concurrency=55"),
        1,
        """\
too close to call: chat@1.0.0 on h100-sxm5-80gb
  55 concurrent requests of 8192 tokens need 55.0 GiB of KV cache per GPU, the budget is 55.26 GiB: lower concurrency \
to 53, or contextTokens to 7984, or raise tensorParallel to 2, or deviceMemoryPercent to 92, or take an fp8 KV cache
  figures may be 1.58 GiB off: measure
  as vllm 0.19.0, bfloat16 weights, bfloat16 KV cache, contextTokens 8192, concurrency 55, batch 64 sequences, \
8192 tokens, 90 % of memory
""",
    ),
    "a-partition-of-what-must-be-whole": (
        ("chat", "--device=h100-sxm5-80gb/1g.10gb"),
        1,
        """\
refused: chat@1.0.0 on h100-sxm5-80gb/1g.10gb
  its isolation is exclusive, and this is a partition
  as vllm 0.19.0, bfloat16 weights, bfloat16 KV cache, contextTokens 8192, concurrency 16, batch 64 sequences, \
8192 tokens, 90 % of memory
""",
    ),
    "a-device-that-its-claim-does-not-take": (
        ("chat", "--device=t4"),
        1,
        """\
refused: chat@1.0.0 on t4
  it has no native bf16 arithmetic, which computeClass asks for
  as vllm 0.19.0, bfloat16 weights, bfloat16 KV cache, contextTokens 8192, concurrency 16, batch 64 sequences, \
8192 tokens, 90 % of memory
""",
    ),
    "no-memory-mends-a-shape": (
        ("chat", H100, "--tp=3"),
        1,
        """\
refused: chat@1.0.0 on 3 x h100-sxm5-80gb
  tensorParallel 3 doesn't divide the model's 32 heads: raise tensorParallel to 4
  as vllm 0.19.0, bfloat16 weights, bfloat16 KV cache, tensorParallel 3, contextTokens 8192, concurrency 16, batch 64 \
sequences, 8192 tokens, 90 % of memory
""",
    ),
    "a-model-alone-takes-its-engine's-defaults-and-says-which": (
        ("llama/config.json", H100, VLLM),
        0,
        """\
admitted: llama/config.json on h100-sxm5-80gb
  54.16 GiB of KV cache per GPU holds 3 requests of 131072 tokens, 16.0 GiB each
  admitted up to contextTokens 131072
  partitions that admit it: 3g.40gb, 4g.40gb, 7g.80gb
  as vllm 0.19, bfloat16 weights, bfloat16 KV cache, contextTokens 131072, batch 1024 sequences, 8192 tokens, 90 % of \
memory
  note: contextTokens 131072 are the model's own positions; --context says fewer
  note: the batch is the engine's default for the device
  note: the share of memory is the engine's default for its version
  note: no concurrency is declared: whether it starts was judged, not what it carries; --concurrency declares it
""",
    ),
    "of-a-version-that-nobody-fitted-the-amounts-are-of-an-older-one": (
        ("chat", H100, "--engine=vllm@0.33.0"),
        0,
        """\
admitted: chat@1.0.0 on h100-sxm5-80gb
  54.16 GiB of KV cache per GPU holds 54 requests of 8192 tokens, 1.0 GiB each; the load needs 16.0 GiB
  admitted up to concurrency 50, or contextTokens 26096
  needs a whole device: no partition admits it
  as vllm 0.33.0, bfloat16 weights, bfloat16 KV cache, contextTokens 8192, concurrency 16, batch 64 sequences, \
8192 tokens, 90 % of memory
  extrapolated: amounts of the set vllm 0.21.0, no log of vllm 0.33.0 confirms them; the band is wider
""",
    ),
    "the-sum-with-its-sources": (
        ("chat", H100, "--adapters=4x16", "--explain"),
        0,
        """\
admitted: chat@1.0.0 on h100-sxm5-80gb
  54.95 GiB of KV cache per GPU holds 54 requests of 8192 tokens, 1.0 GiB each; the load needs 16.0 GiB
  admitted up to concurrency 53, or contextTokens 27312
  needs a whole device: no partition admits it
  as vllm 0.19.0, bfloat16 weights, bfloat16 KV cache, contextTokens 8192, concurrency 16, batch 64 sequences, \
8192 tokens, 90 % of memory, 4 adapter slots of rank 16

      79.19 GiB  device memory         what the CUDA runtime has: llm-d-incubation/llm-d-planner pull request 205: \
79.19 GiB in logs of vLLM 0.17 to 0.19
      71.27 GiB  the engine's share    90 %
     -14.96 GiB  weights               the architecture's matrices
      -0.31 GiB  adapters              4 slots at rank 16
      -0.80 GiB  activation            vllm 0.17.0, H100 80GB SXM, 27 dense runs
      -0.25 GiB  runtime               vllm 0.17.0, H100 80GB SXM, 27 dense runs
      54.95 GiB  KV budget             what is left of the share; may be 1.58 GiB off
       1.00 GiB  one request           8192 tokens, 512 blocks of 2097152 bytes, 16 tokens each
      16.00 GiB  the load              16 requests at once
       7.92 GiB  outside the share     what is left of the device
       2.61 GiB  needed outside        vllm 0.17.0; may be 1.53 GiB off
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str, folder: Path) -> None:
    arguments, code, text = TEXTS[name]
    assert price(*arguments, folder=folder) == Ran(code, text, "")


def test_all_devices_are_a_line_each_and_one_that_admits_is_enough(folder: Path) -> None:
    ran = price("chat", folder=folder)
    head, *lines = ran.stdout.splitlines()
    assert (ran.code, ran.stderr, head) == (0, "", "chat@1.0.0")
    assert lines[-1] == "note: gh200-96gb isn't priced: its memory isn't known"
    words = {line.split()[0]: " ".join(line.split("  ")[1:3]).split()[-1] for line in lines[:-1]}
    assert len(lines) == 19
    assert [name for name in words if name.startswith("h100")] == ["h100-sxm5-80gb", "h100-pcie-80gb", "h100-nvl-94gb"]
    rows = {
        name: next(line for line in lines if line.startswith(f"  {name} ")) for name in ("l4", "t4", "h200-sxm-141gb")
    }
    assert " refused " in rows["l4"]
    assert rows["t4"].endswith("it has no native bf16 arithmetic, which computeClass asks for")
    assert " admitted " in rows["h200-sxm-141gb"]
    assert price("chat", "--concurrency=1000000", folder=folder).code == 1


# --- what is said comes true ---


def test_every_change_that_is_offered_is_admitted_and_one_step_less_is_not(folder: Path) -> None:
    found = read("chat", H100, "--concurrency=64", folder=folder)["prices"][0]
    options = {"concurrency": "concurrency", "contextTokens": "context", "kvCache": "kv", "tensorParallel": "tp"}
    offered = {one["field"]: one["now"] for one in found["mends"] if one["isEnough"]}
    assert offered == {"concurrency": "53", "contextTokens": "6864", "kvCache": "fp8", "tensorParallel": "2"}
    before = ("chat", H100, "--concurrency=64")
    assert {
        field: price(*before, f"--{options[field]}={now}", folder=folder).code for field, now in offered.items()
    } == (dict.fromkeys(offered, 0))
    assert price(*before, "--concurrency=54", folder=folder).code == 1
    assert price(*before, "--context=6880", folder=folder).code == 1


def test_json_adds_up(folder: Path) -> None:
    document = read("chat", H100, "--engine=vllm@0.33.0", "--adapters=4x16", folder=folder)
    (found,) = document["prices"]
    assert (document["kind"], document["subject"], document["notes"]) == ("PriceList", "chat@1.0.0", [])
    lines = [found[f"{name}Bytes"] for name in ("weights", "adapter", "activation", "runtime", "graph")]
    assert found["requestedBytes"] - sum(lines) == found["kvBudgetBytes"]
    assert lines == [one["bytes"] for one in found["lines"]]
    assert found["deviceMemoryBytes"] == 81090 << 20
    assert found["kvBytesPerRequest"] * 16 == found["kvBytesNeeded"] == 16 << 30
    assert found["maxConcurrency"] == found["kvBudgetBytes"] // found["kvBytesPerRequest"]
    assert (found["admission"], found["failure"], found["refusals"], found["mends"]) == ("admitted", None, [], [])
    assert found["constants"] == {"set": "vllm 0.21.0", "extrapolated": True}
    assert (found["deployment"]["adapterSlots"], found["deployment"]["adapterRank"]) == (4, 16)


def test_json_of_all_devices_has_what_text_has(folder: Path) -> None:
    document = read("chat", folder=folder)
    lines = price("chat", folder=folder).stdout.splitlines()
    assert [one["device"] for one in document["prices"]] == [line.split()[0] for line in lines[1:-1]]
    assert [one["admission"] for one in document["prices"]] == [line.split()[1] for line in lines[1:-1]]
    assert [f"note: {one}" for one in document["notes"]] == lines[-1:]


@pytest.mark.parametrize("subject", ["chat", "llama/config.json"])
def test_partitions_that_are_said_to_do_are_those_that_do(subject: str, folder: Path) -> None:
    arguments = (subject, VLLM)
    (one,) = read(*arguments, H100, folder=folder)["prices"]
    said = {part["profile"]: part["admission"] for part in one["partitions"]}
    alone = {name: read(*arguments, f"{H100}/{name}", folder=folder)["prices"][0] for name in said}
    assert said == {name: found["admission"] for name, found in alone.items()}
    assert "1g.10gb" in said
    assert {tuple(found["partitions"]) for found in alone.values()} == {()}


def test_a_partition_whose_memory_is_unknown_is_not_ruled_out(folder: Path) -> None:
    ran = price("llama/config.json", VLLM, "--device=b200-180gb", "--weights=fp8", "--context=8192", folder=folder)
    assert "  partitions that admit it: " in ran.stdout
    said = next(line for line in ran.stdout.splitlines() if "partitions that admit it" in line)
    assert said.endswith(", 3g.90gb, 4g.90gb, 7g.180gb")


# --- what somebody says comes before what the envelope and the engine say ---

NAMES = (
    *("engine", "version", "weights", "kvCache", "tensorParallel", "pipelineParallel", "dataParallel"),
    *("contextTokens", "concurrency", "batchedTokens", "maxSequences", "memoryPercent", "adapterSlots", "adapterRank"),
)
OPTIONS: dict[str, tuple[tuple[str, ...], tuple[object, ...]]] = {
    "what-the-envelope-says": (
        ("chat", H100),
        ("vllm", "0.19.0", "bfloat16", "bfloat16", 1, 1, 1, 8192, 16, 8192, 64, 90, 0, None),
    ),
    "every-option": (
        (
            *("chat", H100, "--engine=sglang@0.5.23", "--weights=fp8", "--kv=fp8", "--tp=2", "--pp=2"),
            *("--context=4096", "--concurrency=3", "--batched-tokens=2048", "--max-sequences=8"),
            *("--memory-fraction=0.85", "--adapters=2x8"),
        ),
        ("sglang", "0.5.23", "fp8", "fp8", 2, 2, 1, 4096, 3, 2048, 8, 85, 2, 8),
    ),
    "defaults-of-a-model-alone": (
        ("llama/config.json", H100),
        ("vllm", "0.33.0", "bfloat16", "bfloat16", 1, 1, 1, 131072, None, 8192, 1024, 92, 0, None),
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_what_is_priced(name: str, folder: Path) -> None:
    arguments, wanted = OPTIONS[name]
    assert read(*arguments, folder=folder)["prices"][0]["deployment"] == dict(zip(NAMES, wanted, strict=True))


DEFAULTS = {
    # vLLM takes a small batch on every A100, and on a partition of less than 70 GiB.
    ("b200-180gb", "vllm@0.33"): (16384, 1024, 92),
    ("h100-sxm5-80gb", "vllm@0.33"): (8192, 1024, 92),
    ("a100-sxm4-80gb", "vllm@0.33"): (2048, 256, 92),
    ("h100-sxm5-80gb/3g.40gb", "vllm@0.33"): (2048, 256, 92),
    ("l4", "vllm@0.33"): (2048, 256, 92),
    ("l4", "vllm@0.21.0"): (2048, 256, 92),
    ("l4", "vllm@0.20.2"): (2048, 256, 90),
}


@pytest.mark.parametrize(("device", "engine"), DEFAULTS)
def test_engines_have_defaults_by_device_and_version(device: str, engine: str, folder: Path) -> None:
    arguments = ("llama/config.json", f"--device={device}", f"--engine={engine}")
    found = read(*arguments, folder=folder)["prices"][0]["deployment"]
    assert (found["batchedTokens"], found["maxSequences"], found["memoryPercent"]) == DEFAULTS[device, engine]


@pytest.mark.parametrize("text", ["92", "0.92", ".92", "0.920"])
def test_a_share_of_memory_is_percent_or_a_fraction(text: str, folder: Path) -> None:
    found = read("chat", H100, f"--memory-fraction={text}", folder=folder)["prices"][0]["deployment"]
    assert found["memoryPercent"] == 92


def test_float32_is_loaded_in_16_bits_unless_it_is_said(folder: Path) -> None:
    write(folder, ("llama/config.json", '"torch_dtype": "bfloat16"', '"torch_dtype": "float32"'))
    said = read("llama/config.json", H100, folder=folder)
    assert "the config's float32 is loaded in 16 bits, as engines do; --weights says otherwise" in said["notes"]
    whole = read("llama/config.json", H100, "--weights=float32", folder=folder)
    sizes = [one["prices"][0]["weightsBytes"] for one in (said, whole)]
    assert sizes[1] == 2 * sizes[0]
    assert [one["prices"][0]["deployment"]["kvCache"] for one in (said, whole)] == ["float16", "float32"]


def test_a_budget_for_the_envelopes_own_load_goes_with_it(folder: Path) -> None:
    write(folder, ("specs/envelope.yaml", "concurrency: 16,", "concurrency: 16, kvBudget: 60Gi,"))
    own = price("chat", H100, folder=folder)
    assert "  kvBudget is 60.0 GiB, the budget is 55.26 GiB per GPU" in own.stdout
    other = price("chat", H100, "--concurrency=20", folder=folder)
    assert other.code == 0
    assert "  note: kvBudget is left out: it is for the envelope's own load and devices\n" in other.stdout


# --- which version of the engine ---


def test_the_version_is_the_one_that_it_is_placed_with(folder: Path) -> None:
    unplaced = ("specs/place.yaml", "{name: chat, version: 1.0.0}", "{name: chat, version: 2.0.0}")
    two = FILES["specs/stack.yaml"].replace("{name: stack}", "{name: other}").replace("0.19.0", "0.18.0")
    project = ("poolwright.yaml", "{name: west, stackName: stack", "{name: west, stackName: other")
    write(folder, ("specs/other.yaml", "", two), project)
    assert "  as vllm 0.19.0, " in price("chat", H100, folder=folder).stdout
    write(folder, ("specs/other.yaml", "", two), project, unplaced)
    said = (
        "poolwright: chat@1.0.0: clusters have vllm in the versions 0.18.0, 0.19.0; say which: --engine vllm@0.19.0\n"
    )
    assert price("chat", H100, folder=folder) == Ran(2, "", said)
    assert "  as vllm 0.18.0, " in price("chat", H100, "--engine=vllm@0.18.0", folder=folder).stdout


def test_an_engine_that_no_stack_has_is_the_newest_that_is_known(folder: Path) -> None:
    said = "  note: no stack has sglang: 0.5.23 is the newest that is known here; --engine says another\n"
    assert said in price("chat", H100, "--engine=sglang", folder=folder).stdout


# --- what was measured ---


def test_a_profile_is_of_one_kind_of_device_and_of_the_envelope_as_it_is(folder: Path) -> None:
    measured = {"weightsBytes": 16106127360, "kvBudgetBytes": 17179869184, "source": "log of 2026-11-02"}
    profile = json.dumps({**measured, "deviceBytes": 85028864000, "deviceMemoryPercent": 90})
    write(
        folder,
        ("specs/envelope.yaml", "config.json\n", "config.json\n    measuredProfile: models/llama/profile.json\n"),
        ("models/llama/profile.json", "", profile),
    )
    ran = price("chat", H100, "--explain", folder=folder)
    assert ran.code == 0
    assert "  16.00 GiB  KV budget             log of 2026-11-02; may be 0.0 GiB off\n" in ran.stdout
    refused = price("chat", H100, "--concurrency=17", folder=folder)
    assert refused.code == 1
    assert "need 17.0 GiB of KV cache per GPU, the budget is 16.0 GiB" in refused.stdout
    said = "poolwright: chat@1.0.0: its profile was measured on one kind of device: say which with --device\n"
    assert price("chat", folder=folder) == Ran(2, "", said)
    said = "poolwright: chat@1.0.0: its profile was measured without your options; leave them out\n"
    assert price("chat", H100, "--tp=2", folder=folder) == Ran(2, "", said)


def test_a_model_that_formulas_do_not_cover(folder: Path) -> None:
    write(folder, ("llama/config.json", "LlamaForCausalLM", "DeepseekV4ForCausalLM"))
    said = "unsupported: needs a measured profile: llama/config.json on l4\n"
    said += "  the formulas don't cover DeepseekV4ForCausalLM\n"
    assert price("llama/config.json", "--device=l4", folder=folder) == Ran(1, said, "")
    found = read("llama/config.json", "--device=l4", folder=folder)["prices"][0]
    assert (found["admission"], found["deployment"], found["weightsBytes"]) == ("unsupported", None, None)


# --- as a process ---


def test_standard_input_is_a_config(folder: Path) -> None:
    command = (sys.executable, "-P", "-m", "poolwright", "price", "-", H100, VLLM)
    ended = subprocess.run(command, cwd=folder, input=LLAMA, capture_output=True, text=True, check=False, timeout=60)
    file = start("price", "llama/config.json", H100, VLLM, folder=folder)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, file.stdout.replace("llama/config.json", "stdin"), "")


def test_only_what_prices_loads_prices() -> None:
    """The help lists all commands, and `facts` knows all devices: neither takes the time to load what prices."""
    code = (
        "import sys\nfrom poolwright.cli.commands import run_command\nsys.argv = ['poolwright', sys.argv[1]]\n"
        "assert run_command() == 0\nassert 'poolwright.cli.commands' in sys.modules\n"
        "loaded = [name for name in sys.modules if name.startswith('poolwright.admission')]\n"
        "assert loaded == [], loaded\n"
    )
    for command in ("--help", "facts", "version"):
        ended = subprocess.run(
            (sys.executable, "-P", "-c", code, command), capture_output=True, text=True, check=False, timeout=60
        )
        assert (ended.returncode, ended.stderr) == (0, "")
