"""The variables that Argo CD's repo-server sends with a repository, by what the plugin is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from poolwright.argocd.runner.application import Application, PluginSource

Purpose = Literal["generate", "discover", "probe", "parameters"]  # probe: an Application that names no plugin
_NAME: Final = re.compile(r"\$(?:\{([^}]*)\}|([A-Za-z_][A-Za-z0-9_]*|[*#$@!?0-9-])|\{)")
_KUBE_VERSION: Final = re.compile(r"\s*v?([0-9]+(?:\.[0-9]+)*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What the repo-server knows beside the Application."""

    revision: str
    kube_version: str = ""
    api_versions: tuple[str, ...] = ()


def build_environment(application: Application, build: Build, purpose: Purpose) -> list[tuple[str, str]]:
    """Name and value of each variable, in the order sent: of two with one name the later counts."""
    is_short = purpose == "parameters"
    variables = [("ARGOCD_APP_NAME", application.name)]
    if not is_short:
        variables += [
            ("ARGOCD_APP_NAMESPACE", application.namespace),
            ("ARGOCD_APP_PROJECT_NAME", application.project),
            ("ARGOCD_APP_REVISION", build.revision),
            ("ARGOCD_APP_REVISION_SHORT", build.revision[:7]),
            ("ARGOCD_APP_REVISION_SHORT_8", build.revision[:8]),
        ]
    variables += [
        ("ARGOCD_APP_SOURCE_REPO_URL", application.repo_url),
        ("ARGOCD_APP_SOURCE_PATH", application.path),
        ("ARGOCD_APP_SOURCE_TARGET_REVISION", application.target_revision),
    ]
    if purpose == "probe":
        return _drop_nameless(variables)
    if not is_short:
        variables += [
            ("KUBE_VERSION", parse_kube_version(build.kube_version)),
            ("KUBE_API_VERSIONS", ",".join(build.api_versions)),
        ]
    if application.plugin is not None:
        variables += _list_plugin_variables(application.plugin, dict(variables))
    return _drop_nameless(variables)


def parse_kube_version(text: str) -> str:
    """The numbers of a Kubernetes version, without what follows them.

    Raises: ValueError for what isn't one.
    """
    if not text:
        return ""
    match = _KUBE_VERSION.match(text)
    if match is None or "." not in match[1]:
        raise ValueError(f'could not parse "{text}" as version')
    return ".".join(str(int(number)) for number in match[1].split("."))


def _list_plugin_variables(plugin: PluginSource, build: Mapping[str, str]) -> list[tuple[str, str]]:
    """Those of `source.plugin`: its own, with build variables put in, and each parameter in two forms."""
    variables = [(f"ARGOCD_ENV_{name}", substitute(value, build)) for name, value in plugin.env]
    variables.append(("ARGOCD_APP_PARAMETERS", render_parameters(plugin.parameters)))
    for parameter in plugin.parameters or ():
        base = f"PARAM_{_escape(str(parameter['name']))}"
        if "string" in parameter:
            variables.append((base, str(parameter["string"])))
        names, items = parameter.get("map"), parameter.get("array")
        if isinstance(names, dict):
            variables += [(f"{base}_{_escape(name)}", value) for name, value in names.items()]
        if isinstance(items, list):
            variables += [(f"{base}_{index}", value) for index, value in enumerate(items)]
    return variables


def render_parameters(parameters: Sequence[Mapping[str, object]] | None) -> str:
    """Parameters as Go prints JSON: keys sorted, no blanks, and `<`, `>`, `&` as escapes; `null` without any."""
    if parameters is None:
        return "null"
    text = json.dumps(list(parameters), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def substitute(text: str, variables: Mapping[str, str]) -> str:
    """`$X` and `${X}` replaced, by nothing for a name that isn't there; `$$` is a dollar sign."""

    def replace(match: re.Match[str]) -> str:
        name = match[1] if match[1] is not None else match[2]
        return "$" if name == "$" else variables.get(name, "")  # nothing: of an open brace only `${` goes

    return _NAME.sub(replace, text)


def _escape(name: str) -> str:
    return re.sub("[^A-Z0-9_]", "_", name.upper())


def _drop_nameless(variables: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in variables if name]
