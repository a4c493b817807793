"""What placements are refused for: whole texts by case are in pricing/*.txt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleet import FLEET, Files, edit, list_specs
from folders import read_files
from golden import Golden
from poolwright.admission.from_envelope import parse_profile
from poolwright.admission.model_files import check_model_files
from poolwright.files.facts import read_facts
from poolwright.plan.pricing.check import check_loads, check_peaks, check_prices
from poolwright.plan.pricing.cluster import PricedCluster, price_cluster
from poolwright.plan.pricing.priced import PricedClass
from poolwright.specs.finding import render_text
from poolwright.specs.parse import parse_specs
from poolwright.specs.resolve import resolve_cluster

FILES = read_files(FLEET)
FACTS = read_facts()
CHAT, GUARD, TENANTS = (
    f"specs/envelopes/{name}.yaml" for name in ("chat-70b/2.3.0", "guard-1b7/1.0.0", "tenants-8b/1.5.2")
)
RAG, EAST = "specs/envelopes/rag-8b/1.1.0.yaml", "specs/placements/east.yaml"
CONFIG = "models/llama-3.3-70b-fp8/config.json"
MEASURED = {
    "weightsBytes": 36_378_373_161,
    "kvBudgetBytes": 40_029_095_198,
    "source": "a log",
    "deviceBytes": 79 << 30,
    "deviceMemoryPercent": 92,
    "tensorParallel": 2,
}
CASES: dict[str, Files] = {
    "load-too-large": edit(FILES, CHAT, ("concurrency: 32", "concurrency: 64"), ("    kvBudget: 42Gi", "    #")),
    # There is memory for all of them, and the engine runs sixteen.
    "more-than-the-engine-runs-at-once": edit(FILES, CHAT, ("maxSequences: 64", "maxSequences: 16")),
    "budget-below-the-need": edit(FILES, CHAT, ("kvBudget: 42Gi", "kvBudget: 39Gi")),
    "budget-above-what-is-left": edit(FILES, CHAT, ("kvBudget: 42Gi", "kvBudget: 60Gi")),
    "context-that-never-fits": edit(
        FILES, GUARD, ("contextTokens: 4096", "contextTokens: 40960"), ("concurrency: 16", "concurrency: 3")
    ),
    "too-little-beside-the-engine": edit(FILES, RAG, ("deviceMemory: 12Gi", "deviceMemory: 20Gi")),
    "adapters-have-the-rest": edit(
        FILES,
        TENANTS,
        ("slots: 8", "slots: 32"),
        ("maxRank: 16", "maxRank: 64"),
        ("concurrency: 40", "concurrency: 48"),
    ),
    "close": edit(FILES, GUARD, ("deviceMemoryPercent: 86", "deviceMemoryPercent: 90")),
    # The class that would admit it is taken by others.
    "close-and-the-other-class-is-full": edit(
        edit(FILES, GUARD, ("deviceMemoryPercent: 86", "deviceMemoryPercent: 90")),
        EAST,
        ("minReplicas: 4", "minReplicas: 7"),
    ),
    "model-without-formulas": edit(FILES, CONFIG, ("LlamaForCausalLM", "DeciLMForCausalLM")),
    "config-that-is-no-json": edit(FILES, CONFIG, ('"architectures"', "architectures")),
    "profile-that-is-no-profile": {
        **edit(FILES, CHAT, ("config.json\n", "config.json\n    measuredProfile: models/profile.json\n")),
        "models/profile.json": b'{"weightsBytes": 1}',
    },
    "no-bound-on-the-load": edit(FILES, GUARD, ("    concurrency: 16\n", "")),
    "peak-above-the-replicas": edit(FILES, EAST, ("peakConcurrency: 70", "peakConcurrency: 90")),
    "peak-of-a-joined-pool": edit(
        FILES, EAST, ("router: {poolName: tenants-8b}", "router: {poolName: tenants-8b, peakConcurrency: 10}")
    ),
    "speculative": edit(FILES, CHAT, ("    type: vllm\n", '    type: vllm\n    args: ["--speculative-config={}"]\n')),
    "heads-that-do-not-divide": edit(FILES, CONFIG, ('"num_attention_heads": 64', '"num_attention_heads": 62')),
    # What an engine printed replaces the formulas, and has no doubt in it.
    "measured": {
        **edit(
            FILES,
            CHAT,
            ("config.json\n", "config.json\n    measuredProfile: models/llama-3.3-70b-fp8/profile.json\n"),
            ("    kvBudget: 42Gi", "    #"),
            ("tensorParallel: 4", "tensorParallel: 2"),
        ),
        "models/llama-3.3-70b-fp8/profile.json": json.dumps(MEASURED).encode(),
    },
}


def price_all(files: Files, cluster: str) -> PricedCluster:
    specs = parse_specs(list_specs(files))
    on = resolve_cluster(specs, cluster)[0]
    assert on is not None
    return price_cluster(specs, on, None, files, FACTS)


def price(files: Files, cluster: str) -> tuple[PricedClass, ...]:
    return price_all(files, cluster).prices


def say(files: Files) -> str:
    specs = parse_specs(list_specs(files))
    if unreadable := list(check_model_files(specs.envelopes, files)):  # then the project isn't loaded
        return render_text(unreadable)
    found = [*check_loads(specs), *check_peaks(specs)]
    for cluster in ("east", "lab"):
        priced = price_all(files, cluster)
        found += check_prices(priced.prices, priced.room)
    return render_text(found)


def test_the_example_is_admitted() -> None:
    assert say(FILES) == ""
    assert [(one.unit, one.class_name, one.admission.word) for one in price(FILES, "lab-alpha")] == [
        ("guard-1b7", "h200-share-alpha", "unsupported")
    ]


def test_whole_texts(golden: Golden) -> None:
    printed = {f"{name}.txt": say(files).encode() for name, files in CASES.items()}
    assert all(printed.values())
    golden.compare(Path(__file__).parent / "pricing", printed)


@pytest.mark.parametrize("concurrency", [14, 15])
def test_a_mend_is_the_largest_that_is_admitted(concurrency: int) -> None:
    """With the figures of a public log: fourteen requests of 16,384 tokens fit, fifteen don't."""
    files = edit(CASES["measured"], CHAT, ("concurrency: 32", f"concurrency: {concurrency}"))
    (found,) = [one for one in price(files, "east") if one.unit == "chat-70b"]
    assert (found.admission.word == "admitted") == (concurrency == 14)


PROFILE = "models/llama-3.3-70b-fp8/profile.json"
UNLIKE = {
    "more-devices-for-each-layer": ({"tensorParallel": 4}, "with tensorParallel 4"),
    "several-stages": ({"pipelineParallel": 2}, "with pipelineParallel 2"),
    "another-share": ({"deviceMemoryPercent": 95}, "with deviceMemoryPercent 95"),
    "a-larger-device": ({"deviceBytes": 140 << 30}, "on a larger device"),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_a_profile_is_of_what_was_measured(name: str) -> None:
    changed, said = UNLIKE[name]
    files = {**CASES["measured"], PROFILE: json.dumps({**MEASURED, **changed}).encode()}
    (found,) = [one for one in price(files, "east") if one.unit == "chat-70b"]
    assert (found.admission.word, found.reason) == ("unsupported", f"its profile was measured {said}")


BAD = {
    "no-json": ("{", "it isn't JSON"),
    "no-object": ("[]", "it isn't a JSON object"),
    "a-field-less": ({"weightsBytes": None}, "weightsBytes isn't a whole number that it may be"),
    "a-field-more": ({"budget": 1}, "budget is no field of a profile"),
    "a-flag-for-a-number": ({"kvBudgetBytes": True}, "kvBudgetBytes isn't a whole number that it may be"),
    "nothing-of-a-device": ({"deviceBytes": 0}, "deviceBytes isn't a whole number that it may be"),
    "a-share-above-all-of-it": ({"deviceMemoryPercent": 101}, "deviceMemoryPercent is more than 100"),
    # A figure of another unit, or of another device: nothing fits a device that it is more than.
    "more-than-its-share": (
        {"kvBudgetBytes": 42_000_000_000},
        "weightsBytes and kvBudgetBytes together are more than deviceMemoryPercent of deviceBytes",
    ),
    "a-source-of-another-type": ({"source": 1}, "its source isn't a text"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_profile(name: str) -> None:
    given, said = BAD[name]
    text = given if isinstance(given, str) else json.dumps({**MEASURED, **given})
    with pytest.raises(ValueError, match=said):
        parse_profile(text.encode(), "profile.json")
