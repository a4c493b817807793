"""The digest of a manifest by its tag, as the OCI distribution API gives it and as its bytes have it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final

from poolwright.pins.questions import ChartName, Question
from poolwright.registry.refusal import CHECK_NAME, RefusalError, refuse_answer
from poolwright.registry.status import check_status
from poolwright.registry.token import get_with_token
from poolwright.registry.transport import Reply, Transport, check_url, is_loopback

# Of images and of indexes over several platforms, by OCI and by Docker. A first-generation manifest is none of them:
# what it is called by isn't the digest of its bytes.
_MEDIA_TYPES: Final = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_CHART_CONFIG: Final = "application/vnd.cncf.helm.config.v1+json"
_DEFAULT_TAG: Final = "latest"  # what container runtimes take a name without tag and digest for


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestName:
    """Where a manifest is."""

    host: str  # with the port, if there is one
    repository: str
    tag: str  # or a digest

    @property
    def url(self) -> str:
        """The address of the manifest; the API has no other root than the host's."""
        host = check_url(f"https://{self.host}").hostname or ""
        return f"http{'' if is_loopback(host) else 's'}://{self.host}/v2/{self.repository}/manifests/{self.tag}"


def parse_manifest_name(question: Question) -> ManifestName:
    """Where the manifest of an image, or of a chart in a registry, is. Raises: RefusalError without a registry."""
    path, tag = _split_chart(question.chart) if question.chart else _split_image(question)
    host, _, repository = path.partition("/")
    is_host = "." in host or ":" in host or host == "localhost"
    if not repository or not is_host:
        what = "it names no registry, and which one is meant is up to each node"
        raise RefusalError(code="registry-unnamed", what=what, fix="write the registry's host in front")
    return ManifestName(host=host, repository=repository, tag=tag)


def _split_image(question: Question) -> tuple[str, str]:
    folder, slash, last = question.reference.rpartition("/")
    name, _, tag = last.partition(":")
    return f"{folder}{slash}{name}", tag or question.digest or _DEFAULT_TAG


def _split_chart(chart: ChartName) -> tuple[str, str]:
    # A tag may have no plus sign, and Helm writes an underscore for it.
    return f"{chart.repo_url.removeprefix('oci://')}/{chart.chart}", chart.version.replace("+", "_")


def ask_manifest(question: Question, transport: Transport) -> str:
    """The digest of what is under a name: of the index, where there is one for several platforms.

    Raises: RefusalError if there is none, or what is there isn't what it is said to be.
    Cost:   one GET, which some registries count as a pull; HEAD would leave the digest to be believed.
    Source: OCI distribution 1.1, "Pulling manifests"
    """
    name = parse_manifest_name(question)
    reply = get_with_token(
        transport, name.url, most_bytes=transport.limits.manifest_bytes, accept=", ".join(_MEDIA_TYPES)
    )
    check_status(reply, name.host, "no such repository or tag")
    manifest = _read_manifest(reply, name.host)
    if question.chart:
        _check_chart(manifest, name.host)
    digest = f"sha256:{hashlib.sha256(reply.body).hexdigest()}"
    stated = {reply.headers.get("Docker-Content-Digest", digest), name.tag if ":" in name.tag else digest}
    if stated != {digest}:
        raise refuse_answer(f"{name.host} sends bytes whose digest is {digest}, and calls them by another")
    return digest


def _read_manifest(reply: Reply, host: str) -> dict[str, Any]:
    if reply.media_type not in _MEDIA_TYPES:
        raise refuse_answer(f"{host} answers with something that isn't a manifest")
    try:
        manifest = json.loads(reply.body)
    except (ValueError, RecursionError):
        raise refuse_answer(f"{host} answers with a manifest that isn't JSON") from None
    is_manifest = isinstance(manifest, dict) and manifest.get("schemaVersion") == 2
    if not is_manifest or manifest.get("mediaType", reply.media_type) != reply.media_type:
        raise refuse_answer(f"{host} answers with a manifest of another type than it says")
    return dict(manifest)


def _check_chart(manifest: dict[str, Any], host: str) -> None:
    config = manifest.get("config")
    if not isinstance(config, dict) or config.get("mediaType") != _CHART_CONFIG:
        raise RefusalError(code="registry-lacks", what=f"what {host} has under the name isn't a chart", fix=CHECK_NAME)
