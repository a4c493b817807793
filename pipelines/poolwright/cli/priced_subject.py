"""What `poolwright price` is asked about: an envelope of a project, or a model's config.json."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from poolwright.admission.architecture import Architecture, Unsupported
from poolwright.admission.choices import Choices, apply_choices, deploy_model, list_defaults, moves_need
from poolwright.admission.deployment import Deployment, DeviceMemory, PricedEngine, Profile
from poolwright.admission.devices import KnownDevice, check_claimed
from poolwright.admission.from_envelope import build_deployment, parse_profile
from poolwright.admission.parse_config import parse_config
from poolwright.catalog.facts import Facts
from poolwright.cli.price_options import OptionError, check_version
from poolwright.files.project import find_project, read_file, read_specs
from poolwright.specs.envelope import Envelope
from poolwright.specs.parse import Specs, parse_specs

MAX_CONFIG_BYTES: Final = 4 << 20
STDIN: Final = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Something that has a price."""

    name: str
    engine: PricedEngine
    version: str
    deploy: Callable[[DeviceMemory], Deployment | Unsupported]  # raises ValueError in one sentence
    check: Callable[[KnownDevice], str] = lambda _device: ""  # why a device isn't taken at all; empty: it is
    notes: tuple[str, ...] = ()  # what was taken for granted
    is_measured: bool = False  # on one kind of device


def is_file(text: str) -> bool:
    """Whether it names a file, and no envelope: it has a slash, or ends as config.json does, or is `-`."""
    return text == STDIN or "/" in text or (text.endswith(".json") and "@" not in text)


def read_model(path: str, choices: Choices, facts: Facts) -> Subject:
    """A model's own config.json.

    Raises: OptionError if there is no such file, or it isn't one of a model.
    """
    name = "stdin" if path == STDIN else path.replace(os.sep, "/")
    engine = choices.engine or "vllm"
    newest = facts.engine(engine)
    if choices.version is None and newest is None:
        raise OptionError(f"--engine {engine}: say its version, as in {engine}@1.0")
    version = choices.version or (newest.version if newest else "")
    architecture = _parse(_read(path, name), name)
    if isinstance(architecture, Unsupported):
        return Subject(name=name, engine=engine, version=version, deploy=lambda _device: architecture)
    notes = list_defaults(architecture, choices)
    if choices.version is None:
        notes = (f"{engine} {version} is the newest that is known here; --engine says another", *notes)
    if choices.concurrency is None:
        notes = (*notes, _say_undeclared("--concurrency"))

    def deploy(device: DeviceMemory) -> Deployment:
        return deploy_model(architecture, device, choices, engine=engine, version=version)

    return Subject(name=name, engine=engine, version=version, deploy=deploy, notes=notes)


def read_envelope(text: str, project: str, choices: Choices, facts: Facts) -> Subject:
    """An envelope, as NAME@VERSION, or as NAME where it has one version.

    Raises: OptionError if there is none, or the engine's version isn't clear; SpecError if the project can't be read.
    """
    root = find_project(project)
    specs = parse_specs(read_specs(root))
    envelope = _find_envelope(text, specs)
    spec = envelope.spec
    if spec.engine.type == "custom" and choices.engine is None:
        raise OptionError(f"{envelope.identity}: there is no price for a custom engine; --engine says one")
    engine = choices.engine or ("vllm" if spec.engine.type == "custom" else spec.engine.type)
    version, notes = _choose_version(envelope, engine, choices, specs, facts)
    path = spec.model.config_path
    architecture = _parse(read_file(root, path, max_bytes=MAX_CONFIG_BYTES), path)
    profile = _read_profile(root, spec.model.measured_profile)
    if profile is not None and replace(choices, concurrency=None, context_tokens=None) != Choices():
        raise OptionError(f"{envelope.identity}: its profile was measured without your options; leave them out")
    if spec.load.kv_budget is not None and moves_need(choices):
        notes = (*notes, "kvBudget is left out: it is for the envelope's own load and devices")
    if choices.concurrency is None and spec.load.concurrency is None:
        notes = (*notes, _say_undeclared("load.concurrency"))

    def deploy(_device: DeviceMemory) -> Deployment | Unsupported:
        if isinstance(architecture, Unsupported):
            return architecture
        built = build_deployment(spec, architecture, version=version, profile=profile)
        return built if isinstance(built, Unsupported) else apply_choices(built, choices)

    return Subject(
        name=envelope.identity,
        engine=engine,
        version=version,
        deploy=deploy,
        check=lambda device: check_claimed(facts, spec, device),
        notes=notes,
        is_measured=profile is not None,
    )


def _find_envelope(text: str, specs: Specs) -> Envelope:
    found = [one.value for one in specs.envelopes if text in (one.value.identity, one.value.metadata.name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise OptionError(f"{text} has several versions: say one of {', '.join(sorted(one.identity for one in found))}")
    known = ", ".join(sorted(one.value.identity for one in specs.envelopes)) or "none"
    raise OptionError(f"{text}: there is no such envelope; known: {known}. A file is named with its folder: ./{text}")


def _choose_version(
    envelope: Envelope, engine: PricedEngine, choices: Choices, specs: Specs, facts: Facts
) -> tuple[str, tuple[str, ...]]:
    """The engine's version: what was said, what it runs on where it is placed, what stacks have, or the newest."""
    if choices.engine is not None and choices.version is not None:
        return choices.version, ()
    versions = _list_versions(envelope, engine, specs)
    if len(versions) > 1:
        said = f"clusters have {engine} in the versions {', '.join(versions)}"
        raise OptionError(f"{envelope.identity}: {said}; say which: --engine {engine}@{versions[-1]}")
    if versions:
        return check_version(versions[0], envelope.identity), ()
    newest = facts.engine(engine)
    version = newest.version if newest else "0"
    return version, (f"no stack has {engine}: {version} is the newest that is known here; --engine says another",)


def _list_versions(envelope: Envelope, engine: PricedEngine, specs: Specs) -> list[str]:
    """Of serving images of the clusters it is placed on, or of all stacks; what else is wrong there is left aside."""
    stack_of = {cluster.name: cluster.stack_name for one in specs.projects for cluster in one.value.spec.clusters}
    wanted = (envelope.metadata.name, envelope.metadata.version)
    placed = [one.value.spec for one in specs.placements]
    pools = {one.pool_name for one in placed if (one.envelope.name, one.envelope.version) == wanted}
    names = {stack_of.get(one.value.spec.cluster_name) for one in specs.pools if one.value.metadata.name in pools}
    is_own = engine == envelope.spec.engine.type
    image_name = envelope.spec.engine.image_name or engine
    images = [
        (one.value.metadata.name in names, image.version)
        for one in specs.stacks
        for image in one.value.spec.serving_images
        if image.engine == engine and (image.name == image_name or not is_own)
    ]
    found = {version for is_placed, version in images if is_placed} or {version for _, version in images}
    return sorted(found)


def _read_profile(root: str, path: str | None) -> Profile | None:
    if path is None:
        return None
    try:
        return parse_profile(read_file(root, path, max_bytes=MAX_CONFIG_BYTES), path)
    except ValueError as error:
        raise OptionError(f"{path} is no measured profile: {error}") from None


def _parse(text: bytes, name: str) -> Architecture | Unsupported:
    try:
        return parse_config(text)
    except ValueError as error:
        raise OptionError(f"{name} is no config.json of a model: {error}") from None


def _read(path: str, name: str) -> bytes:
    try:
        if path == STDIN:
            text = sys.stdin.buffer.read(MAX_CONFIG_BYTES + 1)
        else:
            with open(path, "rb") as file:  # noqa: PTH123 (start-up: no pathlib)
                text = file.read(MAX_CONFIG_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise OptionError(f"{name} can't be read: {reason.lower()}") from None
    if len(text) > MAX_CONFIG_BYTES:
        raise OptionError(f"{name} is no config.json of a model: it has more than {MAX_CONFIG_BYTES:,} bytes")
    return text


def _say_undeclared(where: str) -> str:
    return f"no concurrency is declared: whether it starts was judged, not what it carries; {where} declares it"
