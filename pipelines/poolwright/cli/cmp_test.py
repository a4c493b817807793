"""`poolwright cmp test`: an Application rendered as Argo CD would, and what would become of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from poolwright.argocd.runner.answer import build_report, list_lines, list_pruned
from poolwright.argocd.runner.application import Application, is_application, parse_application
from poolwright.argocd.runner.decode import Decoded, decode_stream
from poolwright.argocd.runner.environment import Build
from poolwright.argocd.runner.plugin import BUILT_IN, parse_plugin
from poolwright.argocd.runner.run import MAX_MESSAGE_BYTES, Request, run_application, run_parameters
from poolwright.cli.output import say, tell
from poolwright.files.project import find_project
from poolwright.git.repository import Repository, open_repository
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import Finding, SpecError, escape_controls
from poolwright.specs.place import Place

_NO_REVISION: Final = "0" * 40  # where nothing is committed
_APPLICATIONS: Final = "overlays/*/argocd/*.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class CmpTestOptions:
    """The command's options by name."""

    project: str
    app_file: str | None
    app: str | None
    repo: str | None
    revision: str | None
    plugins: Sequence[str]
    timeout: float
    paths: bool
    exclude: Sequence[str]
    allow_oob_symlinks: bool
    variables: Sequence[str]
    trust: str | None
    kube_version: str
    api_versions: Sequence[str]
    previous: str | None
    parameters: bool
    form: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """What is sent for a checkout."""

    root: str
    revision: str
    words: str  # what it is
    left_out: Sequence[str] = ()


def run_cmp_test(options: CmpTestOptions) -> int:
    """Say what Argo CD would make of an Application; 0 if it would go on with it, else 1.

    Raises: SpecError if it can't be tried.
    """
    application = _find_application(options)
    plugins = [parse_plugin(_read(path), path) for path in options.plugins] or [BUILT_IN]
    previous = _read_previous(options.previous)
    sidecar = _build_sidecar(options.variables, options.trust)
    with ExitStack() as stack:
        sent = stack.enter_context(_check_out(options))
        run = run_parameters if options.parameters else run_application
        answer = run(
            Request(
                root=sent.root,
                application=application,
                plugins=plugins,
                build=Build(
                    revision=sent.revision, kube_version=options.kube_version, api_versions=tuple(options.api_versions)
                ),
                sidecar=sidecar,
                timeout_s=options.timeout,
                excluded=options.exclude,
                left_out=sent.left_out,
                is_narrowed=options.paths,
                are_links_checked=not options.allow_oob_symlinks,
                max_message_bytes=_read_max_bytes(),
            )
        )
    pruned = None if previous is None else list_pruned(answer, previous.objects)
    if options.form == "json":
        report = {"application": application.name, "revision": sent.revision, **build_report(answer, pruned)}
        say(json.dumps(report, indent=2) + "\n")
    else:
        tell(f"app       {application.name}, path {application.path or '.'}")
        tell(f"revision  {sent.words}")
        for line in list_lines(answer, pruned):
            tell(line)
        for line in answer.stderr.decode("utf-8", "replace").splitlines():
            say(escape_controls(f"stderr    {line}") + "\n", error=True)
    return 0 if answer.is_accepted else 1


def _find_application(options: CmpTestOptions) -> Application:
    """The one that is named, or the only one of the project that a plugin renders."""
    if options.app_file is not None:
        paths, place = [options.app_file], options.app_file
    else:
        root = find_project(options.project)
        paths = [str(path) for path in sorted(Path(root).glob(_APPLICATIONS))]
        place = f"{root}/{_APPLICATIONS}"
    documents = [one for path in paths for one in parse_documents(_read(path), path) if is_application(one)]
    found = [parse_application(one) for one in documents]
    if options.app is not None:
        named = [one for one in found if one.name == options.app]
        if len(named) != 1:
            names = ", ".join(sorted(one.name for one in found)) or "none"
            raise _refuse(place, f'no Application is called "{options.app}"', f"name one of: {names}")
        return named[0]
    by_plugin = found if options.app_file else [one for one in found if one.plugin is not None]
    if len(by_plugin) != 1:
        names = ", ".join(sorted(one.name for one in by_plugin))
        what = f"{len(by_plugin)} Applications could be meant" if by_plugin else "there is no Application with a plugin"
        fix = f"pass --app, one of: {names}" if by_plugin else "give a file with an Application"
        raise _refuse(place, what, fix)
    return by_plugin[0]


@contextmanager
def _check_out(options: CmpTestOptions) -> Iterator[_Sent]:
    """What Argo CD would have checked out: a revision, or the folder as it is, without what Git ignores."""
    folder = options.repo or _find_top(find_project(options.project))
    root = os.path.realpath(folder)
    if not Path(root).is_dir():
        raise _refuse(folder, "there is no such folder", "pass --repo DIR, the folder that Argo CD would clone")
    repository = _open_repository(root)
    if options.revision is not None:
        if repository is None:
            raise _refuse(folder, "no Git repository holds it", "leave --revision out, or pass --repo DIR")
        with TemporaryDirectory(prefix="poolwright-cmp-") as room:
            commit = repository.resolve(options.revision)
            repository.check_out(commit, room)
            words = f"{commit.id[:8]} ({options.revision}), sent without .git"
            yield _Sent(root=os.path.realpath(room), revision=commit.id, words=words)
        return
    if repository is None:
        words = "none; the folder is sent as it is on disk"
        yield _Sent(root=root, revision=_NO_REVISION, words=words)
        return
    left_out = repository.list_ignored(root)
    head = _find_head(repository)
    words = f"{head[:8]}, and the folder is sent as it is on disk, without what Git ignores"
    yield _Sent(root=root, revision=head, words=words, left_out=left_out)


def _find_top(project: str) -> str:
    """The repository that holds a project; without one the project."""
    folder = Path(os.path.realpath(project))
    return str(next((one for one in (folder, *folder.parents) if os.path.lexists(one / ".git")), folder))


def _open_repository(root: str) -> Repository | None:
    try:
        return open_repository(root, os.environ)
    except SpecError:
        return None


def _find_head(repository: Repository) -> str:
    try:
        return repository.resolve("HEAD").id
    except SpecError:
        return _NO_REVISION


def _build_sidecar(variables: Sequence[str], trust: str | None) -> dict[str, str]:
    """The sidecar's environment: that of an image without an entry for its user, and what was asked for.

    This very `poolwright` is the first on PATH.
    """
    program = Path(sys.argv[0])
    folders = [str(program.parent)] if program.name == "poolwright" and program.is_absolute() else []
    folders += [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    sidecar = {"PATH": os.pathsep.join(folders), "HOME": "/", "ARGOCD_LOG_FORMAT": "json", "ARGOCD_LOG_LEVEL": "info"}
    if trust is not None:
        sidecar["POOLWRIGHT_TRUST"] = str(Path(trust).absolute())
    for variable in variables:
        name, separator, value = variable.partition("=")
        if not name or not separator:
            raise _refuse("--env", f'"{variable}" names no variable', "write --env NAME=VALUE")
        sidecar[name] = value
    return sidecar


def _read_max_bytes() -> int:
    """ARGOCD_GRPC_MAX_SIZE_MB, as far as Go would take it."""
    text = os.environ.get("ARGOCD_GRPC_MAX_SIZE_MB", "")
    return int(text) << 20 if text.isascii() and text.isdigit() else MAX_MESSAGE_BYTES


def _read_previous(path: str | None) -> Decoded | None:
    if path is None:
        return None
    decoded = decode_stream(sys.stdin.buffer.read() if path == "-" else _read(path))
    if decoded.error:
        raise _refuse(path, decoded.error, "give the objects as a stream of YAML documents or JSON objects")
    return decoded


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise _refuse(path, f"it can't be read: {error.strerror}", "give a file that is there") from None


def _refuse(place: str, what: str, fix: str) -> SpecError:
    return SpecError(
        [
            Finding(
                code="cmp-test-input",
                severity="error",
                place=Place(place),
                what=what,
                why="without it there is nothing to try",
                rule="poolwright cmp test",
                fix=fix,
            )
        ]
    )
