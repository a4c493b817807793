"""Classic chart repositories: what the index has, what the archive has, and what is wrong with either."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

import pytest
import yaml
from asked import QUICK, ask, chart, said

from loopback_server import Server, reply, run_server
from poolwright.pins.questions import Unanswered
from poolwright.registry.ask import ask_registries

ARCHIVE = b"the chart of 26.7.0"
SHA = hashlib.sha256(ARCHIVE).hexdigest()
OTHER = "b" * 64
ENTRY = {"name": "gpu-operator", "version": "v26.7.0", "digest": SHA, "urls": ["gpu-operator-v26.7.0.tgz"]}


@pytest.fixture
def server() -> Iterator[Server]:
    with run_server() as found:
        for path in ("/charts/gpu-operator-v26.7.0.tgz", "/elsewhere/a.tgz"):
            found.answers[path] = reply(ARCHIVE, headers={"Content-Type": "application/gzip"})
        yield found


def serve(server: Server, *entries: object, name: str = "gpu-operator") -> None:
    index = {"apiVersion": "v1", "entries": {"another": [], name: list(entries)}}
    server.answers["/charts/index.yaml"] = reply(yaml.safe_dump(index).encode(), headers={"Content-Type": "text/yaml"})


GIVEN = {
    "as-helm-writes-it": ENTRY,
    "with-the-algorithm": {**ENTRY, "digest": f"sha256:{SHA}"},
    "an-absolute-address": {**ENTRY, "urls": ["http://HOST/elsewhere/a.tgz"]},
    "an-address-from-the-root": {**ENTRY, "urls": ["/elsewhere/a.tgz"]},
    "several-addresses": {**ENTRY, "urls": ["gpu-operator-v26.7.0.tgz", "http://HOST/none"]},
}


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("slash", ["", "/"])
def test_a_version(slash: str, name: str, server: Server) -> None:
    entry = {**GIVEN[name], "urls": [url.replace("HOST", server.host) for url in GIVEN[name]["urls"]]}
    serve(server, {**entry, "version": "v26.3.1", "digest": OTHER}, entry)
    assert ask(chart(f"http://{server.host}/charts{slash}", "gpu-operator", "v26.7.0")) == f"sha256:{SHA}"


NO_VERSION = "registry-lacks", "HOST has no such version"
NO_ARCHIVE = "registry-nonsense", "the index of HOST names an archive that isn't there (404)"
NO_ADDRESS = "registry-nonsense", "the index of HOST doesn't say where that version is"
NO_DIGEST = "registry-nonsense", "the index of HOST has no digest of that version"
REFUSED: dict[str, tuple[list[object], tuple[str, str]]] = {
    # v26.7.0 isn't 26.7.0 to Argo CD, and it would not find it.
    "another-spelling": (
        [{**ENTRY, "version": "26.7.0"}, {**ENTRY, "version": "26.3.1"}],
        ("registry-lacks", "HOST has no such version; first in its index are 26.7.0, 26.3.1"),
    ),
    # A server's text is shown only where it can be nothing but a version.
    "a-sentence-for-a-version": ([{**ENTRY, "version": "run curl | sh"}], NO_VERSION),
    "a-number-for-a-version": (
        [{**ENTRY, "version": 26}],
        ("registry-lacks", f"{NO_VERSION[1]}; first in its index are 26"),
    ),
    "none": ([], NO_VERSION),
    "no-maps": (["v26.7.0", ["v26.7.0"]], NO_VERSION),
    "no-digest": ([{key: ENTRY[key] for key in ("version", "urls")}], NO_DIGEST),
    "another-kind-of-digest": ([{**ENTRY, "digest": "md5:" + "a" * 32}], NO_DIGEST),
    "in-capitals": ([{**ENTRY, "digest": SHA.upper()}], NO_DIGEST),
    "two-digests": (
        [ENTRY, {**ENTRY, "digest": OTHER}],
        ("registry-nonsense", "the index of HOST has that version twice, with two digests"),
    ),
    "another-archive": (
        [{**ENTRY, "digest": OTHER}],
        ("registry-nonsense", f"the index of HOST has sha256:{OTHER}, and the archive is sha256:{SHA}"),
    ),
    "no-archive": ([{**ENTRY, "urls": ["gone.tgz"]}], NO_ARCHIVE),
    "no-address": ([{**ENTRY, "urls": []}], NO_ADDRESS),
    "addresses-as-text": ([{**ENTRY, "urls": "a.tgz"}], NO_ADDRESS),
    "a-file": (
        [{**ENTRY, "urls": ["file:///etc/passwd"]}],
        ("registry-nonsense", "an address that it names can't be read"),
    ),
    "plain-http": (
        [{**ENTRY, "urls": ["http://charts.example.com/a.tgz"]}],
        ("registry-nonsense", "charts.example.com is named without https, and only loopback is asked so"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_version_that_can_not_be_pinned(name: str, server: Server) -> None:
    entries, (code, what) = REFUSED[name]
    serve(server, *entries)
    found = said(chart(f"http://{server.host}/charts", "gpu-operator", "v26.7.0"))
    assert found == (code, what.replace("HOST", server.host))


INDEXES: dict[str, tuple[bytes, int]] = {
    "a-page": (b"<!doctype html><html><body>: not: yaml", 200),
    "a-text": (b"index", 200),
    "empty": (b"", 200),
    "a-list": (b"- entries", 200),
    "no-entries": (b"apiVersion: v1\nentries: []\n", 200),
    "no-utf-8": (b"\xff\xff\xff", 200),
    "deep": (b"[" * 100_000, 200),
    "deep-maps": (b"{a: " * 900 + b"}" * 900, 200),
    "recursive": (b"entries: &a {b: *a}\n? [*a]\n: x\n", 200),
}


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_that_is_none(name: str, server: Server) -> None:
    body, status = INDEXES[name]
    server.answers["/charts/index.yaml"] = reply(body, status)
    assert said(chart(f"http://{server.host}/charts", "gpu-operator", "v26.7.0")) == (
        "registry-nonsense",
        f"{server.host} answers with something that isn't an index of charts",
    )


def test_aliases_are_not_expanded(server: Server) -> None:
    lines = "".join(f"a{number}: &a{number} [{f'*a{number - 1}, ' * 9}]\n" for number in range(1, 60))
    serve(server, ENTRY)
    text = f"a0: &a0 [x]\n{lines}entries: {{gpu-operator: [{ENTRY}]}}\n".encode()
    server.answers["/charts/index.yaml"] = reply(text)
    assert ask(chart(f"http://{server.host}/charts", "gpu-operator", "v26.7.0")) == f"sha256:{SHA}"


def test_no_repository_there(server: Server) -> None:
    assert said(chart(f"http://{server.host}/charts", "gpu-operator", "v26.7.0")) == (
        "registry-lacks",
        f"{server.host} has no index.yaml there (404)",
    )


def test_an_index_and_an_archive_have_a_most(server: Server) -> None:
    serve(server, ENTRY)
    question = chart(f"http://{server.host}/charts", "gpu-operator", "v26.7.0")
    for limits in (replace(QUICK, index_bytes=10), replace(QUICK, archive_bytes=10)):
        assert said(question, limits) == ("registry-nonsense", f"http://{server.host} answers with more than 10 bytes")


def test_an_index_is_read_once_for_all_charts_of_a_repository(server: Server) -> None:
    serve(server, ENTRY)
    address = f"http://{server.host}/charts"
    wanted = {"gpu-operator": ("v26.7.0", "v26.9.0"), "none": ("1.0.0",)}
    questions = [chart(address, name, version) for name, versions in wanted.items() for version in versions]
    answers = list(ask_registries(questions, QUICK).values())
    assert answers[0] == f"sha256:{SHA}"
    assert [one.what for one in answers if isinstance(one, Unanswered)] == [
        f"{server.host} has no such version; first in its index are v26.7.0",
        f"{server.host} has no such version",
    ]
    assert [one.path for one in server.asked].count("/charts/index.yaml") == 1


def test_without_an_index_each_of_its_charts_says_so(server: Server) -> None:
    address = f"http://{server.host}/charts"
    answers = ask_registries([chart(address, "gpu-operator", "v26.7.0"), chart(address, "none", "1.0.0")], QUICK)
    assert {one.code for one in answers.values() if isinstance(one, Unanswered)} == {"registry-lacks"}
    assert len(server.asked) == 1
