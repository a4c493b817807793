"""A real registry on loopback, and what is pushed to it: small images, indexes and charts."""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from needs import needs

OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX = "application/vnd.oci.image.index.v1+json"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
IMAGE_CONFIG = "application/vnd.oci.image.config.v1+json"
CHART_CONFIG = "application/vnd.cncf.helm.config.v1+json"


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Registry:
    """A registry that runs, and where it is."""

    host: str  # with its port

    def push_image(
        self, name: str, content: str, media_type: str = OCI_MANIFEST, config_type: str = IMAGE_CONFIG
    ) -> str:
        """Push REPOSITORY:TAG with one layer; the manifest's digest."""
        repository, _, tag = name.rpartition(":")
        config, layer = json.dumps({"content": content}).encode(), content.encode()
        for blob in (config, layer):
            self._push_blob(repository, blob)
        layer_type = "application/vnd.oci.image.layer.v1.tar"
        manifest = {
            "schemaVersion": 2,
            "mediaType": media_type,
            "config": {"mediaType": config_type, "size": len(config), "digest": digest_of(config)},
            "layers": [{"mediaType": layer_type, "size": len(layer), "digest": digest_of(layer)}],
        }
        return self.push_manifest(repository, tag, manifest)

    def push_index(self, name: str, contents: Mapping[str, str], media_type: str = OCI_INDEX) -> str:
        """Push REPOSITORY:TAG for several architectures, the content of each given; the index's digest."""
        repository, _, tag = name.rpartition(":")
        member_type = OCI_MANIFEST if media_type == OCI_INDEX else DOCKER_MANIFEST
        members = []
        for architecture, content in contents.items():
            digest = self.push_image(f"{repository}:{architecture}", content, member_type)
            size = len(self.read_manifest(f"{repository}:{architecture}")[1])
            platform = {"os": "linux", "architecture": architecture}
            members.append({"mediaType": member_type, "digest": digest, "size": size, "platform": platform})
        index = {"schemaVersion": 2, "mediaType": media_type, "manifests": members}
        return self.push_manifest(repository, tag, index)

    def push_manifest(self, repository: str, tag: str, manifest: Mapping[str, Any]) -> str:
        data = json.dumps(manifest).encode()
        headers = {"Content-Type": manifest["mediaType"]}
        status, _, body = self._send("PUT", f"/v2/{repository}/manifests/{tag}", data, headers)
        assert status == 201, body
        return digest_of(data)

    def read_manifest(self, name: str) -> tuple[str, bytes]:
        """The digest that the registry says, and the bytes that it has."""
        repository, _, tag = name.rpartition(":")
        accept = ", ".join((OCI_MANIFEST, OCI_INDEX, DOCKER_MANIFEST, DOCKER_LIST))
        status, headers, body = self._send("GET", f"/v2/{repository}/manifests/{tag}", headers={"Accept": accept})
        assert status == 200, body
        return headers["Docker-Content-Digest"], body

    def _push_blob(self, repository: str, data: bytes) -> None:
        status, headers, body = self._send("POST", f"/v2/{repository}/blobs/uploads/")
        assert status == 202, body
        place = urlsplit(headers["Location"])
        target = f"{place.path}?{place.query}&digest={digest_of(data)}"
        status, _, body = self._send("PUT", target, data, {"Content-Type": "application/octet-stream"})
        assert status == 201, body

    def _send(
        self, method: str, path: str, data: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Mapping[str, str], bytes]:
        connection = http.client.HTTPConnection(self.host, timeout=20)
        try:
            connection.request(method, path, data, dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()


@contextmanager
def run_registry(folder: Path, auth: Mapping[str, Any] | None = None) -> Iterator[Registry]:
    """A registry that keeps what it is given below a folder, on a port of its own choice."""
    program = needs("docker-registry")
    settings = {
        "version": 0.1,
        "storage": {"filesystem": {"rootdirectory": str(folder / "registry")}},
        "http": {"addr": "127.0.0.1:0"},
        **({"auth": auth} if auth else {}),
    }
    (folder / "registry.json").write_text(json.dumps(settings))
    command = (program, "serve", folder / "registry.json")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder) as server:
        try:
            assert server.stderr is not None
            for line in server.stderr:
                if found := re.search(r"listening on (127\.0\.0\.1:[0-9]+)", line):
                    # What it logs has to go somewhere, or it stops when the pipe is full.
                    threading.Thread(target=server.stderr.read, daemon=True).start()
                    yield Registry(found[1])
                    break
            else:
                raise AssertionError("the registry ended before it listened")
        finally:
            server.kill()
