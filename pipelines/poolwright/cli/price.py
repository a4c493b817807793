"""`poolwright price`: what a model takes of a device, and whether that is admitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from poolwright.admission.admit import Word, admit
from poolwright.admission.architecture import Unsupported
from poolwright.admission.choices import Choices
from poolwright.admission.devices import KnownDevice, find_device, list_devices, list_partitions
from poolwright.admission.price import Constants, choose_constants
from poolwright.admission.priced import Priced, price_on
from poolwright.admission.report.price_json import render_price_json
from poolwright.admission.report.price_text import render_price_text, render_prices_text
from poolwright.catalog.facts import Facts
from poolwright.cli.output import say, tell
from poolwright.cli.price_options import OptionError, PriceOptions, parse_choices
from poolwright.cli.priced_subject import Subject, is_file, read_envelope, read_model
from poolwright.files.facts import read_facts
from poolwright.files.project import find_project
from poolwright.specs.finding import SpecError, escape_controls

ALL: Final = "all"


def run_price(options: PriceOptions) -> int:
    """Print the price; 0: admitted, on some device where all were asked about, 1: not, 2: no answer.

    Raises: SpecError if the project can't be read.
    """
    try:
        return _run(options, read_facts(_find_root(options)))
    except OptionError as error:
        say(f"poolwright: {escape_controls(str(error))}\n", error=True)
        return 2


def _find_root(options: PriceOptions) -> str | None:
    """The project whose facts count: of an envelope its own; of a file the one around, None if there is none."""
    try:
        return find_project(options.project)
    except SpecError as error:
        if is_file(options.subject) and all(finding.code == "project-missing" for finding in error.findings):
            return None
        raise


def _run(options: PriceOptions, facts: Facts) -> int:
    choices = parse_choices(options)
    devices, notes = _choose_devices(options, facts)
    subject = _read_subject(options, choices, facts)
    if subject.is_measured and options.device == ALL:
        raise OptionError(f"{subject.name}: its profile was measured on one kind of device: say which with --device")
    prices = _price_all(subject, devices, facts)
    _print(options, subject, prices, (*subject.notes, *notes))
    return 0 if any(one.admission.word == "admitted" for one in prices) else 1


def _choose_devices(options: PriceOptions, facts: Facts) -> tuple[Sequence[KnownDevice], tuple[str, ...]]:
    """Devices to price on, and what is said of those that can't be."""
    if options.device != ALL:
        try:
            return [find_device(facts, options.device)], ()
        except ValueError as error:
            raise OptionError(f"--device {options.device}: {error}") from None
    if options.explain:
        raise OptionError("--explain prints the sum for one device: say which with --device")
    known, unknown = list_devices(facts)
    return known, tuple(f"{name} isn't priced: its memory isn't known" for name in unknown)


def _read_subject(options: PriceOptions, choices: Choices, facts: Facts) -> Subject:
    if is_file(options.subject):
        return read_model(options.subject, choices, facts)
    return read_envelope(options.subject, options.project, choices, facts)


def _price_all(subject: Subject, devices: Sequence[KnownDevice], facts: Facts) -> list[Priced]:
    constants = choose_constants(facts.engine_memory, subject.engine, subject.version)
    if constants is None:
        oldest = [fact.version for fact in facts.engine_memory if fact.engine == subject.engine][:1]
        since = f", of {', '.join(oldest)} and later it is" if oldest else ""
        raise OptionError(f"{subject.engine} {subject.version}: what memory it takes isn't known{since}")
    try:
        return [_price(subject, device, constants, facts) for device in devices]
    except ValueError as error:
        raise OptionError(f"{subject.name}: {error}") from None


def _price(subject: Subject, device: KnownDevice, constants: Constants, facts: Facts) -> Priced:
    """With which partitions of the device would do: what was measured on a whole one says nothing of them."""
    priced = _price_alone(subject, device, constants)
    if device.memory.is_partition or subject.is_measured:
        return priced
    parts = list_partitions(facts, device.name)
    words = {name: None if one is None else _judge(subject, one, constants) for name, one in parts.items()}
    return replace(priced, partitions=words)


def _price_alone(subject: Subject, device: KnownDevice, constants: Constants) -> Priced:
    return price_on(subject.deploy(device.memory), device, constants, against=subject.check(device))


def _judge(subject: Subject, device: KnownDevice, constants: Constants) -> Word:
    if subject.check(device):
        return "refused"
    built = subject.deploy(device.memory)
    return "unsupported" if isinstance(built, Unsupported) else admit(built, device.memory, constants).word


def _print(options: PriceOptions, subject: Subject, prices: Sequence[Priced], notes: tuple[str, ...]) -> None:
    if options.form == "json":
        say(render_price_json(subject.name, prices, notes))
        return
    if options.device == ALL:
        lines = render_prices_text(subject.name, prices, notes)
    else:
        lines = render_price_text(subject.name, prices[0], notes, explain=options.explain)
    for line in lines:
        tell(line)
