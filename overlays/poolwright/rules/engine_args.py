"""How many devices an engine's command line asks for, in the spellings of vLLM and SGLang."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from poolwright.rules.placed import Field
from poolwright.rules.pod import Container

# Source: the command lines of vLLM 0.33 and SGLang 0.5.23.
_FLAGS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("--tensor-parallel-size", "--tp-size", "--tp", "-tp"), "tensor parallel"),
    **dict.fromkeys(("--pipeline-parallel-size", "--pp-size", "--pp", "-pp"), "pipeline parallel"),
    **dict.fromkeys(("--data-parallel-size", "--dp-size", "--dp", "-dp"), "data parallel"),
    **dict.fromkeys(("--data-parallel-size-local", "-dpl"), "data parallel in the pod"),
    "--nnodes": "nodes",
}
_ENGINES: Final = re.compile(r"(?:^|[/._-])(?:vllm|sglang)(?:$|[/.:@_-])")
_SERVERS: Final = frozenset(("serve", "vllm.entrypoints.openai.api_server", "sglang.launch_server", "launch_server"))
# One of several engines behind one address: every pod runs one rank, whatever the size of the whole.
_ONE_RANK: Final = frozenset(("--data-parallel-rank", "-dpn"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """An engine's command line, as far as it says how many devices it needs."""

    sizes: Mapping[str, int | None]  # by name, those that are written; None: not a number that can be known here
    flags: frozenset[str]  # all, as `--long-name`
    values: Mapping[str, str]  # of flags with a value of their own
    field: Field | None  # where the first size stands

    @property
    def is_known(self) -> bool:
        """Whether every size that is written is a number, and no file may write others."""
        return all(size is not None for size in self.sizes.values()) and "--config" not in self.flags

    @property
    def uses_ray(self) -> bool:
        """Whether its ranks may run in other pods, of a Ray cluster."""
        return self.values.get("--distributed-executor-backend") == "ray"

    def size(self, name: str) -> int:
        """One of the sizes; 1 where it isn't written, which is both engines' default."""
        return self.sizes.get(name) or 1


def read_engine(container: Container) -> Engine | None:
    """The engine that a container starts; None if it starts no server of either, as far as can be told."""
    tokens = list(_find_tokens(container))
    words = [word for word, _ in tokens]
    in_shell = any(re.search(r"\s", field.text) and "--" in field.text for _, field in tokens)
    image = container.field.get("image").text
    named = any(_ENGINES.search(word) for word in words if not word.startswith("-"))
    serves = not _SERVERS.isdisjoint(words)
    # An engine's image starts its server, which takes these words as its own; a script must name what it starts.
    by_image = not in_shell and bool(_ENGINES.search(image)) and any(word.startswith("-") for word in words)
    if not by_image and not (named and serves):
        return None
    return _parse_flags(tokens)


def _find_tokens(container: Container) -> Iterator[tuple[str, Field]]:
    """The words of command and args; a shell script in one of them is split, and variables are filled in."""
    variables = {
        entry.get("name").text: entry.get("value").text
        for entry in container.field.get("env").list_items()
        if entry.get("value").text
    }
    for key in ("command", "args"):
        for field in container.field.get(key).list_items():
            text = _expand(str(field.value), variables)
            words = _split(text) if re.search(r"\s", text) else [text]
            yield from ((word, field) for word in words)


def _expand(text: str, variables: Mapping[str, str]) -> str:
    def fill(match: re.Match[str]) -> str:
        return variables.get(match[1] or match[2] or match[3], match[0])

    return re.sub(r"\$\((\w+)\)|\$\{(\w+)\}|\$(\w+)", fill, text)


def _split(script: str) -> list[str]:
    try:
        return shlex.split(script.replace("\\\n", " "), comments=True)
    except ValueError:  # an open quote: no script that a shell would take either
        return script.split()


def _parse_flags(tokens: Sequence[tuple[str, Field]]) -> Engine:
    """The last of a repeated flag counts, as both engines' parsers have it."""
    sizes: dict[str, int | None] = {}
    flags: set[str] = set()
    values: dict[str, str] = {}
    first: Field | None = None
    for index, (word, field) in enumerate(tokens):
        if not word.startswith("-"):
            continue
        name, equals, value = word.partition("=")
        name = name.replace("_", "-")
        if not equals and index + 1 < len(tokens):
            value = tokens[index + 1][0]
        flags.add(name)
        values[name] = value
        meaning = _FLAGS.get(name)
        if meaning:
            sizes[meaning] = int(value) if re.fullmatch(r"[1-9][0-9]{0,5}", value) else None
            first = first or field
    if flags & _ONE_RANK:
        sizes["data parallel in the pod"] = 1
    return Engine(sizes=sizes, flags=frozenset(flags), values=values, field=first)
