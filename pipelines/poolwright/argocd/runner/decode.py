"""A plugin's stdout as Argo CD decodes it: a stream of YAML documents or of JSON objects, whichever it begins as."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from poolwright.argocd.runner.go_yaml import YamlError, parse_yaml
from poolwright.specs.document import Plain

_FIRST: Final = 4096  # bytes that say whether it is JSON
_SPACE: Final = " \t\n\v\f\r\x85\xa0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """What came out of a stream; with an error nothing of it counts."""

    objects: tuple[Mapping[str, Plain], ...] = ()
    error: str = ""  # in Argo CD's words


class StreamError(Exception):
    """What argocd-cmp-server says of a stream that it can't take apart."""


def decode_stream(data: bytes) -> Decoded:
    """The objects of a stream, in order; empty documents and nulls dropped, lists expanded."""
    try:
        return expand_documents(split_stream(data))
    except StreamError as error:
        return Decoded(error=str(error))


def split_stream(data: bytes) -> tuple[Plain, ...]:
    """The documents of a stream, which is argocd-cmp-server's part.

    Raises: StreamError.
    """
    text = data.decode("utf-8", "replace").removesuffix("\n")
    try:
        return tuple(value for value in _split(text) if value is not None)
    except (YamlError, ValueError) as error:
        raise StreamError(f"failed to unmarshal manifest: {error}") from None


def measure_message(documents: Sequence[Plain]) -> int:
    """Bytes of the gRPC message that documents are sent back in."""
    size = 0
    for document in documents:
        length = len(_encode(document).encode("utf-8", "surrogatepass"))
        size += 1 + (max(length.bit_length(), 1) + 6) // 7 + length
    return size


def expand_documents(documents: Sequence[Plain]) -> Decoded:
    """The objects of documents, which is the repo-server's part."""
    objects: list[Mapping[str, Plain]] = []
    for document in documents:
        if wrong := _check_document(document):
            return Decoded(error=wrong)
        for one in _expand(document) if isinstance(document, dict) else ():
            if not isinstance(one, dict):
                return Decoded(error="items member is not an object: map[string]interface {}")
            objects.append(one)
    return Decoded(objects=tuple(objects))


def _encode(document: Plain) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _check_document(document: Plain) -> str:
    if not isinstance(document, dict):
        kind = {list: "array", str: "string", bool: "bool"}.get(type(document), "number")
        return _unmarshal_error(f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}")
    if not isinstance(document.get("kind"), str) or not document["kind"]:
        return _unmarshal_error(f"Object 'Kind' is missing in '{_encode(document)[:200]}'")
    return ""


def _expand(document: dict[str, Plain]) -> list[Plain]:
    """Whatever has a list called `items` is a list, by any kind; one of nothing counts as none."""
    items = document.get("items")
    if isinstance(items, list):
        return items
    if "items" in document and items is None and "spec" not in document and "status" not in document:
        return []
    return [document]


def _unmarshal_error(what: str) -> str:
    return (
        "failed to convert CMP manifests to unstructured objects: failed to unmarshal manifest: "
        f"error unmarshaling JSON: while decoding JSON: {what}"
    )


def check_object(document: Mapping[str, Plain]) -> str:
    """Why no API server would take an object that the decoder let through; empty: nothing is to be said."""
    for key in ("apiVersion", "kind"):
        if not isinstance(document.get(key), str) or not document[key]:
            return f"an object has no {key}: {json.dumps(document)[:200]}"
    given = document.get("metadata")
    metadata = given if isinstance(given, dict) else {}
    for key in ("name", "generateName", "namespace"):
        value = metadata.get(key)
        if not isinstance(value, str | None):  # quotes are needed where goyaml sees a number or, in `n`, a boolean
            return f"metadata.{key} of a {document['kind']} is read as {json.dumps(value)[:200]}, which is no string"
    if not metadata.get("name") and not metadata.get("generateName"):
        return f"a {document['kind']} has no metadata.name"
    return ""


def _split(text: str) -> Iterator[Plain]:
    if not _is_json(text):
        yield from _split_yaml(text)
        return
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    at, count = 0, 0
    while True:
        start = at
        while at < len(text) and text[at] in " \t\r\n":
            at += 1
        if at == len(text):
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            if count > 1:  # two objects make it a stream of JSON; before, it may be YAML that looks like it
                raise ValueError(str(error)) from None
            try:
                yield from _split_yaml(_skip_line_end(text[start:]))
            except YamlError:
                raise ValueError(f"json: {error}") from None
            return
        count += 1
        yield value


def _is_json(text: str) -> bool:
    return text[:_FIRST].lstrip(_SPACE).startswith("{")


def _refuse_constant(name: str) -> float:
    raise ValueError(f"invalid character {name[:1]!r} looking for beginning of value")


def _skip_line_end(text: str) -> str:
    """Text without the blanks in front of it, up to the first line's end."""
    for at, char in enumerate(text):
        if char == "\n":
            return text[at + 1 :]
        if char not in _SPACE:
            return text[at:]
    return ""


def _split_yaml(text: str) -> Iterator[Plain]:
    """Documents between lines that begin with `---`; on such a line only a comment may follow."""
    pending: list[str] = []
    for ended in text.split("\n"):
        line = ended.removesuffix("\r")
        if line.startswith("---"):
            rest = line[3:].strip()
            if rest and not rest.startswith("#"):
                raise YamlError(f"invalid Yaml document separator: {rest}")
            if pending:
                yield _parse(pending)
                pending = []
        else:
            pending.append(line)
    if pending:
        yield _parse(pending)


def _parse(lines: list[str]) -> Plain:
    try:
        return parse_yaml("\n".join(lines) + "\n")
    except YamlError as error:
        text = str(error)
        raise YamlError(text if text.startswith("error ") else f"error converting YAML to JSON: {text}") from None
