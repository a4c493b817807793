"""Repositories that bring modules, programs and settings of their own: none of them is loaded, run or obeyed.

Every documented way to start is run from inside such a repository; every other one is refused where it can be.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_case import CLUSTER, UNIT, check_ended, check_secrets, cut_line, put
from hostile_run import Ended, Installed, World, environment, make_unread, run_measured, snapshot

from folders import read_files
from poolwright.files.import_path import HOW, find_inside_project

COMMANDS = {
    "check": ("check",),
    "render": ("render", "--out", "OUT"),
    "generate": ("generate", "--cluster", CLUSTER, "--unit", UNIT),
}
# Whatever could stand in the place of what is loaded: our own package, what reads YAML, the standard library, hooks.
MODULES = (
    *("poolwright/__init__.py", "poolwright/__main__.py", "poolwright/cli/__init__.py", "poolwright/cli/main.py"),
    *("poolwright/files/import_path.py", "poolwright/specs/__init__.py", "poolwright/cli/generate.py"),
    *("yaml.py", "msgspec.py", "click.py", "jinja2/__init__.py", "jsonschema_rs.py", "cel_expr_python.py"),
    *("sitecustomize.py", "usercustomize.py", "conftest.py", "setup.py", "noxfile.py"),
    *("__future__.py", "getopt.py", "json.py", "hashlib.py", "tempfile.py", "enum.py", "typing.py", "dataclasses.py"),
)
PYPROJECT = """\
[build-system]
requires = []
build-backend = "yaml"
backend-path = ["."]
[tool.pytest.ini_options]
addopts = "-p conftest"
"""


def bring_modules(world: World) -> None:
    """Modules that show when they are loaded, in the repository's root and where its specs are."""
    module = world.module()
    files = {f"{folder}{name}": module for name in MODULES for folder in ("", "specs/", "overlays/")}
    files |= {
        "evil.pth": f"import os; {module}",
        "pyproject.toml": PYPROJECT,
        "pyvenv.cfg": f"home = {world.repository}\n",
    }
    files |= {
        "python311._pth": ".\nimport site\n",
        ".python-version": "evil\n",
        ".env": f"PYTHONPATH={world.repository}\n",
    }
    put(world, files)


def bring_namespace(world: World) -> None:
    """A part of the same namespace: no `__init__.py`, but a module that `generate` asks for and one nobody has."""
    put(world, {f"poolwright/{name}.py": world.module() for name in ("specs/finding", "cli/generate", "cli/main")})


def bring_git(world: World) -> None:
    """Hooks, filters and settings that Git would run."""
    put(
        world,
        {".gitattributes": "* filter=evil diff=evil\n", ".gitmodules": '[submodule "a"]\npath = a\nurl = ext::sh\n'},
    )
    subprocess.run(["git", "init", "-q", world.repository], check=True, env=environment(world))
    script = str(world.outside / "script")
    Path(script).write_text(world.script())
    Path(script).chmod(0o755)
    for hook in ("post-checkout", "pre-commit", "post-index-change", "fsmonitor-watchman", "reference-transaction"):
        path = world.repository / ".git/hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(world.script())
        path.chmod(0o755)
    with (world.repository / ".git/config").open("a") as file:
        file.write(
            f"[core]\nfsmonitor = {script}\npager = {script}\nsshCommand = {script}\n[diff]\nexternal = {script}\n"
        )
        file.write(f'[filter "evil"]\nclean = {script}\nsmudge = {script}\n[alias]\nrev-parse = !{script}\n')


def bring_programs(world: World) -> None:
    """Programs called like those that are started, and settings of theirs, with a component that has them started."""
    folder = f"custom/{CLUSTER}/{UNIT}"
    programs = ("kubectl", "kustomize", "python", "python3", "git", "bin/kubectl", "bin/kustomize", "bin/python")
    plugin = "home/.config/kustomize/plugin/evil.example.com/v1/plugin/Plugin"
    component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [a.yaml]\n"
    config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: my-models}\ndata: {a: b}\n"
    kuberc = (
        "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\naliases: [{name: kustomize, command: version}]\n"
    )
    execute = "users: [{name: a, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./kubectl}}}]\n"
    put(
        world,
        {
            f"{folder}/kustomization.yaml": component,
            f"{folder}/a.yaml": config_map,
            "home/.kube/kuberc": kuberc,
            "home/.kube/config": f"apiVersion: v1\nkind: Config\n{execute}",
            **{name: world.script() for name in (*programs, plugin, "home/.bashrc", "home/.profile")},
        },
    )
    for name in (*programs, plugin):
        (world.repository / name).chmod(0o755)


REPOSITORIES: dict[Callable[[World], None], dict[str, str]] = {
    bring_modules: {},
    bring_namespace: {},
    bring_git: {"GIT_DIR": "REPOSITORY/.git", "GIT_SSH_COMMAND": "REPOSITORY/.git/hooks/pre-commit"},
    bring_programs: {
        "HOME": "REPOSITORY/home",
        "XDG_CONFIG_HOME": "REPOSITORY/home/.config",
        "KUSTOMIZE_PLUGIN_HOME": "REPOSITORY/home/.config/kustomize/plugin",
        "KUBECONFIG": "REPOSITORY/home/.kube/config",
        "KUBERC": "REPOSITORY/home/.kube/kuberc",
        "TMPDIR": "OUTSIDE",
        "PATH": f".::REPOSITORY/bin:{os.environ.get('PATH', os.defpath)}",
    },
}
# How documentation says to start it, with what PYTHONPATH.
COMMAND, MODULE = ("COMMAND",), ("PYTHON", "-I", "-m", "poolwright")
WAYS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "command": (COMMAND, None),
    "command-with-empty-pythonpath": (COMMAND, ""),
    "module-isolated": (MODULE, None),
    "module-isolated-with-empty-pythonpath": (MODULE, ""),
    "module-isolated-with-pythonpath-here": (MODULE, "."),
    "module-isolated-with-pythonpath-of-the-repository": (MODULE, "REPOSITORY"),
}


def start(
    world: World, installed: Installed, way: tuple[str, ...], arguments: tuple[str, ...], **more: str | None
) -> Ended:
    """Run Poolwright in the repository."""
    places = {"REPOSITORY": str(world.repository), "OUTSIDE": str(world.outside), "OUT": str(world.out)}
    places |= {"COMMAND": installed.command, "PYTHON": installed.python}
    variables = {name: _place(value, places) for name, value in more.items() if value is not None}
    return run_measured(
        [places.get(part, part) for part in (*way, *arguments)],
        folder=world.repository,
        environment={**environment(world), **variables},
        scratch=world.top / "scratch",
    )


def _place(text: str, places: dict[str, str]) -> str:
    for name in ("REPOSITORY", "OUTSIDE"):
        text = text.replace(name, places[name])
    return text


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bring", REPOSITORIES, ids=lambda bring: bring.__name__)
def test_what_a_repository_brings_is_not_run(
    bring: Callable[[World], None], way: str, world: World, installed: Installed
) -> None:
    bring(world)
    before = snapshot(world.repository, world.home)
    make_unread(world.secret)
    argv, pythonpath = WAYS[way]
    for command, arguments in COMMANDS.items():
        ended = start(world, installed, argv, arguments, PYTHONPATH=pythonpath, **REPOSITORIES[bring])
        check_ended(ended, command, 0, "")
    assert snapshot(world.repository, world.home) == before
    check_secrets(world)


def refusal(path: str, project: Path) -> str:
    """The one line that is said where modules would come from a project."""
    return f"poolwright: Python would load modules from {path!r}, in the project {str(project)!r}: {HOW}\n"


# Where code of ours runs first, nothing of the repository runs at all: `sitecustomize.py` and our own package would
# come before us, everything else after.
LOADED_LATER = [name for name in MODULES if not name.startswith(("poolwright/", "sitecustomize", "usercustomize"))]
OTHER_WAYS: dict[str, tuple[tuple[str, ...], str | None, str]] = {
    "module-from-inside": (("PYTHON", "-m", "poolwright"), None, "REPOSITORY"),
    "module-from-inside-with-empty-pythonpath": (("PYTHON", "-m", "poolwright"), "", "REPOSITORY"),
    "code-from-inside": (("PYTHON", "-c", "from poolwright.cli.main import main; main()"), None, ""),
    "command-with-pythonpath-here": (COMMAND, ".", "REPOSITORY"),
    "command-with-pythonpath-of-the-repository": (COMMAND, "REPOSITORY", "REPOSITORY"),
    "command-with-pythonpath-below": (COMMAND, "REPOSITORY/specs", "REPOSITORY/specs"),
    "command-with-pythonpath-that-is-not-there": (COMMAND, "REPOSITORY/lib", "REPOSITORY/lib"),
    "command-with-pythonpath-behind-a-link": (COMMAND, "OUTSIDE/link", "OUTSIDE/link"),
}


@pytest.mark.parametrize("way", OTHER_WAYS)
@pytest.mark.parametrize("command", [*COMMANDS, "version"])
def test_an_import_path_into_a_project_is_refused(command: str, way: str, world: World, installed: Installed) -> None:
    # Of the standard library only what Python itself doesn't load before any program.
    early = ("typing", "enum", "dataclasses", "json", "hashlib", "tempfile", "getopt", "jinja2", "click", "msgspec")
    names = [name for name in LOADED_LATER if name.startswith((*early, "yaml", "__future__", "jsonschema", "cel"))]
    put(world, dict.fromkeys(names, world.module()))
    (world.outside / "link").symlink_to(world.repository)
    argv, pythonpath, path = OTHER_WAYS[way]
    ended = start(world, installed, argv, COMMANDS.get(command, (command,)), PYTHONPATH=pythonpath)
    place = _place(path, {"REPOSITORY": str(world.repository), "OUTSIDE": str(world.outside)})
    said = refusal(place, world.outside / "link" if way.endswith("link") else world.repository)
    assert (ended.code, ended.stdout, ended.stderr) == (2, "", said)
    assert not world.touched.exists()
    assert not world.out.exists()


def test_an_installation_inside_the_project_is_refused(world: World) -> None:
    from hostile_run import install

    put(world, {})
    inner = install(world.repository / ".venv")
    ended = start(world, inner, COMMAND, ("check",))
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"poolwright: Python would load modules from '{world.repository}/.venv/")


def test_a_module_that_a_hook_found_in_the_project_is_refused(world: World, installed: Installed) -> None:
    """An import hook finds modules off sys.path: editable installations have one."""
    put(world, {"vendored/yaml_of_ours.py": ""})
    code = (
        "import sys, yaml\n"
        "from poolwright.cli.main import main\n"
        f"yaml.__file__ = {str(world.repository / 'vendored/yaml_of_ours.py')!r}\n"
        "main()\n"
    )
    for command, arguments in COMMANDS.items():
        ended = start(world, installed, ("PYTHON", "-I", "-c", code), arguments)
        assert ended.code == 2
        said = cut_line(ended.stdout if command == "check" else ended.stderr)
        start_of_it = f"poolwright.yaml: Python loaded modules from '{world.repository}/vendored/yaml_of_ours.py', in "
        assert said.startswith(start_of_it), ended
    assert not world.out.exists()


FOLDERS = {
    "outside": ("outside", None),
    "above-it": (".", None),
    "itself": ("repository", "repository"),
    "below-it": ("repository/specs", "repository"),
    "not-there": ("repository/no/such/folder", "repository"),
    "link-into-it": ("outside/in", "repository"),
    "link-out-of-it": ("repository/out", "repository"),
    "by-dot-dot": ("outside/../repository/specs", "repository"),
    "only-called-alike": ("repository-2", None),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_which_folders_lie_in_a_project(name: str, world: World) -> None:
    put(world, {})
    (world.outside / "in").symlink_to(world.repository / "specs")
    (world.repository / "out").symlink_to(world.outside)
    (world.top / "repository-2").mkdir()
    folder, project = FOLDERS[name]
    path = f"{world.top}/{folder}"
    expected = None if project is None else (path, str(world.top / project))
    assert find_inside_project([sys.prefix, path]) == expected
    assert read_files(world.out) == {}
