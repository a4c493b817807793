"""The text formats that spec fields have: names, digests, quantities, durations, versions.

Each format is one annotated type: the pattern refuses wrong text while a spec is read, and the published JSON Schema
carries the same pattern and the format's name. FORMATS says in words what each one is, for messages and the reference.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
# What YAML 1.1 reads as a boolean or null: Kustomize prints an object that it renames to one without quotes.
_YAML_WORD: Final = "(?:y|n|yes|no|on|off|true|false|null)"
# The official pattern of semver.org, version 2.0.0.
_SEMVER: Final = (
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(-((0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(\+([0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*))?"
)


class Format(msgspec.Struct, frozen=True):
    """A text format in words."""

    what: str  # completes "must be ..."
    example: str


FORMATS: Final[dict[str, Format]] = {
    "unit-name": Format(
        "1 to 40 of a-z, 0-9 and '-', starting with a letter, not ending with '-', and no YAML word such as 'on'",
        "chat-70b",
    ),
    "dns-label": Format("1 to 63 of a-z, 0-9 and '-', starting and ending with a letter or digit", "gpu-operator"),
    "dns-subdomain": Format("DNS labels joined by '.', at most 253 characters", "interactive-80g"),
    "driver-name": Format("a DNS subdomain of at most 63 characters", "gpu.nvidia.com"),
    "qualified-name": Format("an identifier of at most 32 characters, or DOMAIN/IDENTIFIER", "productName"),
    "fully-qualified-name": Format("DOMAIN/IDENTIFIER", "resource.kubernetes.io/pcieRoot"),
    "label-value": Format(
        "at most 63 of letters, digits, '-', '_' and '.', with a letter or digit at both ends", "east-a"
    ),
    "extended-resource": Format("DOMAIN/NAME, where the domain isn't under kubernetes.io", "example.com/gpu"),
    "git-url": Format(
        "the address of a Git repository: https://, ssh:// or git@", "https://git.example.com/team/fleet.git"
    ),
    "server-url": Format("the https address of a Kubernetes API server", "https://kubernetes.example.com:6443"),
    "route-hostname": Format("a DNS name, whose first label may be '*'", "chat.example.com"),
    "release-name": Format(
        "1 to 63 of a-z, 0-9, '-' and '.', with a letter or digit at both ends and no two '.' together", "2026-11-30"
    ),
    "commit": Format("a full Git commit: 40 lower-case hex digits", "3f1c0de000000000000000000000000000000000"),
    "gate-name": Format("a feature gate's name: letters and digits", "ConsumableShares"),
    "taint-key": Format("NAME or DOMAIN/NAME as a label key", "nvidia.com/gpu"),
    "semver": Format("a semantic version MAJOR.MINOR.PATCH", "2.3.0"),
    "digest": Format("'sha256:' and 64 lower-case hex digits", "sha256:" + "0" * 64),
    "relative-path": Format(
        "a path inside the project, with '/' and without '.', '..' or a leading '/'", "models/a/config.json"
    ),
    "relative-folder": Format(
        "a folder inside the project, written as a path, with '/' at its end or without", "evidence/a/"
    ),
    "image": Format("an image reference REPOSITORY[:TAG][@sha256:DIGEST]", "registry.example.com/serving/vllm:v0.33.0"),
    "one-line": Format("one line of 1 to 253 characters without a space at either end", "team-chat"),
    "quantity": Format("a Kubernetes quantity", "79Gi"),
    # Not "duration": to JSON Schema that is ISO 8601, and editors would refuse ours.
    "time-span": Format("a duration in whole d, h, m, s or ms", "15m"),
    "version-range": Format("a version, MAJOR.MINOR.x, or a comma list of these", "1.36.x"),
    "version": Format("one version, with all its numbers", "1.36.2"),
    "day": Format("a date YYYY-MM-DD", "2026-11-30"),
    "name-or-all": Format("a name as in the Project, or '*' for all", "chat-70b"),
    "public-key": Format(
        "a public key in PEM: SPKI, between lines `-----BEGIN PUBLIC KEY-----` and `-----END PUBLIC KEY-----`",
        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
        "-----END PUBLIC KEY-----\n",
    ),
    "key-id": Format("a key's id: 64 lower-case hex digits", "0" * 64),
    "cel": Format("a CEL expression of at most 10 KiB", 'device.attributes["gpu.nvidia.com"].type == "gpu"'),
}


def _pattern(core: str) -> str:
    # `$` alone would let a trailing line feed pass in Python; the lookahead reads the same in ECMA and Rust.
    return f"^(?:{core})$(?!\\n)"


def _format(name: str) -> dict[str, object]:
    return {"format": name, "examples": [FORMATS[name].example]}


UnitName = Annotated[
    str,
    Meta(
        pattern=_pattern(f"(?!{_YAML_WORD}$)[a-z]([-a-z0-9]*[a-z0-9])?"),
        max_length=40,
        extra_json_schema=_format("unit-name"),
    ),
]
DnsLabel = Annotated[str, Meta(pattern=_pattern(_LABEL), max_length=63, extra_json_schema=_format("dns-label"))]
DnsSubdomain = Annotated[
    str, Meta(pattern=_pattern(rf"{_LABEL}(\.{_LABEL})*"), max_length=253, extra_json_schema=_format("dns-subdomain"))
]
DriverName = Annotated[
    str, Meta(pattern=_pattern(rf"{_LABEL}(\.{_LABEL})*"), max_length=63, extra_json_schema=_format("driver-name"))
]
QualifiedName = Annotated[
    str,
    Meta(
        pattern=_pattern(rf"({_LABEL}(\.{_LABEL})*/)?[a-zA-Z_][a-zA-Z0-9_]{{0,31}}"),
        max_length=96,
        extra_json_schema=_format("qualified-name"),
    ),
]
LabelValue = Annotated[
    str,
    Meta(
        pattern=_pattern("[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"),
        max_length=63,
        extra_json_schema=_format("label-value"),
    ),
]
TaintKey = Annotated[
    str,
    Meta(
        pattern=_pattern(rf"({_LABEL}(\.{_LABEL})*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?"),
        max_length=317,
        extra_json_schema=_format("taint-key"),
    ),
]
Semver = Annotated[str, Meta(pattern=_pattern(_SEMVER), max_length=63, extra_json_schema=_format("semver"))]
DigestText = Annotated[str, Meta(pattern=_pattern("sha256:[0-9a-f]{64}"), extra_json_schema=_format("digest"))]
RelativePath = Annotated[
    str,
    Meta(
        pattern=_pattern(r"(?!\.{1,2}(/|$))[A-Za-z0-9._+@-]+(/(?!\.{1,2}(/|$))[A-Za-z0-9._+@-]+)*"),
        max_length=253,
        extra_json_schema=_format("relative-path"),
    ),
]
RelativeFolder = Annotated[
    str,
    Meta(
        pattern=_pattern(r"(?!\.{1,2}(/|$))[A-Za-z0-9._+@-]+(/(?!\.{1,2}(/|$))[A-Za-z0-9._+@-]+)*/?"),
        max_length=253,
        extra_json_schema=_format("relative-folder"),
    ),
]
ImageReference = Annotated[
    str,
    Meta(
        pattern=_pattern(
            r"[a-z0-9]+([._-]+[a-z0-9]+)*(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
            r"(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(@sha256:[0-9a-f]{64})?"
        ),
        max_length=512,
        extra_json_schema=_format("image"),
    ),
]
OneLine = Annotated[
    str, Meta(pattern=_pattern(r"\S([^\n]*\S)?"), max_length=253, extra_json_schema=_format("one-line"))
]
CelText = Annotated[str, Meta(min_length=1, extra_json_schema=_format("cel"))]
ExtendedResourceName = Annotated[
    str,
    Meta(
        pattern=_pattern(
            rf"(?!([-a-z0-9]+\.)*kubernetes\.io/)(?!requests\.){_LABEL}(\.{_LABEL})*"
            "/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
        ),
        max_length=253,
        extra_json_schema=_format("extended-resource"),
    ),
]
GitUrl = Annotated[
    str,
    Meta(
        pattern=_pattern(r"(https://|ssh://|git@)[A-Za-z0-9._~:/@%+-]+"),
        max_length=512,
        extra_json_schema=_format("git-url"),
    ),
]
ServerUrl = Annotated[
    str, Meta(pattern=_pattern(r"https://[A-Za-z0-9._~:/-]+"), max_length=512, extra_json_schema=_format("server-url"))
]
Hostname = Annotated[
    str,
    Meta(
        pattern=_pattern(rf"(\*\.)?{_LABEL}(\.{_LABEL})*"), max_length=253, extra_json_schema=_format("route-hostname")
    ),
]
ReleaseName = Annotated[
    str,
    Meta(
        pattern=_pattern(r"(?!.*\.\.)[a-z0-9]([a-z0-9.-]*[a-z0-9])?"),
        max_length=63,
        extra_json_schema=_format("release-name"),
    ),
]
Commit = Annotated[str, Meta(pattern=_pattern("[0-9a-f]{40}"), extra_json_schema=_format("commit"))]
GateName = Annotated[
    str, Meta(pattern=_pattern("[A-Za-z][A-Za-z0-9]*"), max_length=63, extra_json_schema=_format("gate-name"))
]
FullyQualifiedName = Annotated[
    str,
    Meta(
        pattern=_pattern(rf"{_LABEL}(\.{_LABEL})*/[a-zA-Z_][a-zA-Z0-9_]{{0,31}}"),
        max_length=96,
        extra_json_schema=_format("fully-qualified-name"),
    ),
]
# Of trust files.
NameOrAll = Annotated[
    str,
    Meta(pattern=_pattern(r"\*|[a-z]([-a-z0-9]*[a-z0-9])?"), max_length=40, extra_json_schema=_format("name-or-all")),
]
# Without a pattern: what doesn't match one is shown, and people put private keys there.
PublicKey = Annotated[str, Meta(extra_json_schema=_format("public-key"))]
KeyId = Annotated[str, Meta(pattern=_pattern("[0-9a-f]{64}"), extra_json_schema=_format("key-id"))]
