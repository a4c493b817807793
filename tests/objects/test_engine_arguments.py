"""Engine arguments: what reaches the engine is what the envelope says, after Kubernetes has read it."""

from __future__ import annotations

import re

import pytest

from fleet import ENVELOPE, edit, load_closures, read_small_fleet
from poolwright.catalog.closure import BaseClosure
from poolwright.objects.unit import build_objects


def expand(argument: str) -> str:
    """What Kubernetes makes of an argument where no variable is defined: $$ is $, and $(NAME) stays.

    Source: k8s.io/kubernetes third_party/forked/golang/expansion.
    """
    return re.sub(r"\$(\$|\([^)]*\)|)", lambda match: "$" if match[1] == "$" else match[0], argument)


@pytest.mark.parametrize("name", ["example.com/llama", "$(POD_NAME)", "$$HOME", "a$b", "$", "$$(X)"])
def test_a_dollar_in_a_model_name_is_a_dollar(name: str) -> None:
    files = edit(read_small_fleet(), ENVELOPE, ("name: example.com/llama-3.3-70b-fp8", f"name: '{name}'"))
    bases = [closure for closure in load_closures(files) if isinstance(closure, BaseClosure)]
    (deployment,) = [document for document in build_objects(bases[0]) if document["kind"] == "Deployment"]
    (engine,) = deployment["spec"]["template"]["spec"]["containers"]
    named = [argument for argument in engine["args"] if argument.startswith("--served-model-name=")]
    assert [expand(argument) for argument in named] == [f"--served-model-name={name}"]
    # A defined variable would be put in its place, so no $(NAME) may be left with one $ before it.
    assert not re.search(r"(?<!\$)(\$\$)*\$\(", named[0])
