"""The variables that a plugin is given, by what it is asked for."""

from __future__ import annotations

import pytest

from poolwright.argocd.runner.application import Application, PluginSource
from poolwright.argocd.runner.environment import (
    Build,
    Purpose,
    build_environment,
    parse_kube_version,
    render_parameters,
    substitute,
)

BUILD = Build(revision="0123456789abcdef", kube_version="v1.34.2-eks-1", api_versions=("v1", "apps/v1/Deployment"))
PLAIN = Application(
    name="lab-chat",
    namespace="chat",
    project="fleet",
    repo_url="https://git.example.com/fleet.git",
    path="apps/chat",
    target_revision="main",
)
PLUGIN = PluginSource(
    name="poolwright",
    env=(("A", "$ARGOCD_APP_NAME-${KUBE_VERSION}$$$HOME"),),
    parameters=({"name": "a.b", "string": "x"}, {"name": "m", "map": {"k-1": "v"}}, {"name": "l", "array": ["p", "q"]}),
)
NAME = [("ARGOCD_APP_NAME", "lab-chat")]
NAMESPACE = [("ARGOCD_APP_NAMESPACE", "chat"), ("ARGOCD_APP_PROJECT_NAME", "fleet")]
REVISION = [
    ("ARGOCD_APP_REVISION", "0123456789abcdef"),
    ("ARGOCD_APP_REVISION_SHORT", "0123456"),
    ("ARGOCD_APP_REVISION_SHORT_8", "01234567"),
]
SOURCE = [
    ("ARGOCD_APP_SOURCE_REPO_URL", "https://git.example.com/fleet.git"),
    ("ARGOCD_APP_SOURCE_PATH", "apps/chat"),
    ("ARGOCD_APP_SOURCE_TARGET_REVISION", "main"),
]
KUBE = [("KUBE_VERSION", "1.34.2"), ("KUBE_API_VERSIONS", "v1,apps/v1/Deployment")]
PARAMETERS = [
    (
        "ARGOCD_APP_PARAMETERS",
        '[{"name":"a.b","string":"x"},{"map":{"k-1":"v"},"name":"m"},{"array":["p","q"],"name":"l"}]',
    ),
    *(("PARAM_A_B", "x"), ("PARAM_M_K_1", "v"), ("PARAM_L_0", "p"), ("PARAM_L_1", "q")),
]
TABLE: dict[Purpose, list[tuple[str, str]]] = {
    "generate": NAME + NAMESPACE + REVISION + SOURCE + KUBE + [("ARGOCD_ENV_A", "lab-chat-1.34.2$")] + PARAMETERS,
    "discover": NAME + NAMESPACE + REVISION + SOURCE + KUBE + [("ARGOCD_ENV_A", "lab-chat-1.34.2$")] + PARAMETERS,
    "probe": NAME + NAMESPACE + REVISION + SOURCE,
    # KUBE_VERSION isn't among them, so that it is put in as nothing.
    "parameters": NAME + SOURCE + [("ARGOCD_ENV_A", "lab-chat-$")] + PARAMETERS,
}


@pytest.mark.parametrize("purpose", TABLE)
def test_what_is_sent_for_each_purpose(purpose: Purpose) -> None:
    application = Application(
        name=PLAIN.name,
        namespace=PLAIN.namespace,
        project=PLAIN.project,
        repo_url=PLAIN.repo_url,
        path=PLAIN.path,
        target_revision=PLAIN.target_revision,
        plugin=PLUGIN,
    )
    assert build_environment(application, BUILD, purpose) == TABLE[purpose]


def test_without_a_plugin_section_no_parameters_are_sent() -> None:
    assert build_environment(PLAIN, BUILD, "generate") == NAME + NAMESPACE + REVISION + SOURCE + KUBE


JSON = {
    "a-section-without-parameters": (None, "null"),
    "an-empty-list": ((), "[]"),
    "as-go-escapes": (
        ({"name": "n", "string": "<a>&ü\u2028"},),
        '[{"name":"n","string":"\\u003ca\\u003e\\u0026ü\\u2028"}]',
    ),
    "present-and-empty": (({"name": "n", "map": {}, "array": []},), '[{"array":[],"map":{},"name":"n"}]'),
}


@pytest.mark.parametrize("name", JSON)
def test_parameters_as_json(name: str) -> None:
    parameters, text = JSON[name]
    assert render_parameters(parameters) == text


SUBSTITUTED = {
    "$A": "1",
    "${A}x": "1x",
    "$Ax": "",
    "${B}": "",
    "$$A": "$A",
    "$": "$",
    "a$.b": "a$.b",
    "${}": "",
    "${A": "A",
    "$1A": "A",
}


@pytest.mark.parametrize("text", SUBSTITUTED)
def test_names_are_replaced(text: str) -> None:
    assert substitute(text, {"A": "1"}) == SUBSTITUTED[text]


KUBE_VERSIONS = {"": "", "1.34": "1.34", "v1.34.2+k3s1": "1.34.2", "1.034": "1.34"}


@pytest.mark.parametrize("text", KUBE_VERSIONS, ids=lambda text: text or "none")
def test_a_version_without_its_suffix(text: str) -> None:
    assert parse_kube_version(text) == KUBE_VERSIONS[text]


def test_a_version_that_is_none() -> None:
    with pytest.raises(ValueError, match=r'^could not parse "latest" as version$'):
        parse_kube_version("latest")
