"""`poolwright generate --argocd`: one call of the plugin. Objects on stdout, or nothing and exit code 2; nothing is
written, kept or sent anywhere."""

from __future__ import annotations

import os
import sys
from typing import Final

from poolwright.argocd.check_answer import check_api_versions, check_namespace, check_size, warn_of_version
from poolwright.argocd.request import Request, read_request
from poolwright.argocd.sent import find_sent_project, find_sent_root
from poolwright.argocd.trust_file import read_trust, trust_path
from poolwright.cli.generate import find_unit, render_unit
from poolwright.cli.refusal import render_refusal
from poolwright.files.disk import DiskError
from poolwright.specs.finding import Finding, SpecError, escape_controls
from poolwright.trees.quoted import quote_typed
from poolwright.trust.allow import check_delivery, find_allowed

MAX_WORDS: Final = 2000  # bytes on stderr: Argo CD keeps them in the Application's status
_NO_REQUEST: Final = "the Application"  # what is refused before it is known which unit is meant


def run_plugin() -> int:
    """Print the unit that the environment asks for; the exit code is 0, or 2 with the reason on stderr."""
    name = _NO_REQUEST
    try:
        request = read_request(os.environ)
        name = f"{request.cluster}/{request.unit}"
        text, warning = _answer(request, os.getcwd())  # noqa: PTH109 (start-up: no pathlib)
    except SpecError as error:
        return _refuse(name, error.findings)
    except DiskError as error:
        return _refuse(name, (error.finding,))
    if warning:
        sys.stderr.write(escape_controls(warning) + "\n")
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
    return 0


def _answer(request: Request, folder: str) -> tuple[bytes, str]:
    """The objects, and a warning or nothing. Whether they may be had is decided before anything of the project is read.

    Raises: SpecError, DiskError.
    """
    trust = trust_path(os.environ)
    policy = read_trust(trust, (find_sent_root(folder, request.path),))
    allowed = find_allowed(policy, trust, request.argocd_project, request.cluster, request.unit)
    if isinstance(allowed, Finding):
        raise SpecError([allowed])
    root = find_sent_project(folder, request.path)
    if request.release:
        from poolwright.cli.generate_packet import take_unit  # what verifies takes long to load, and renders nothing

        return take_unit(root, request, policy, trust, allowed), ""
    found = find_unit(root, request.cluster, request.unit)
    _raise(check_delivery(allowed, trust, request.cluster, found.delivery))
    if found.delivery == "packet":
        from poolwright.cli.generate_packet import check_release

        _raise(check_release(request, found.delivery, found.release))
    pinned = found.closure.on.kubernetes
    objects, text = render_unit(
        root, f"{request.cluster}/{request.unit}", found, reviewed=found.delivery == "committed"
    )
    text = quote_typed(text)
    for problem in (
        check_namespace(objects, request),
        check_api_versions(objects, request, pinned),
        check_size(text, request),
    ):
        _raise(problem)
    return text, warn_of_version(request, pinned)


def _raise(problem: Finding | None) -> None:
    if problem is not None:
        raise SpecError([problem])


def _refuse(name: str, findings: tuple[Finding, ...]) -> int:
    sys.stderr.write(render_refusal(name, findings, max_bytes=MAX_WORDS))
    return 2
