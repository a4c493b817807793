"""The messages of argocd-cmp-server, read out of the very binary that is talked to.

It lists its services by reflection, but answers no question about their messages: those are registered with another
library than reflection asks. What protoc described stands in the binary all the same, gzipped, as that one wants it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, empty_pb2, message_factory
from google.protobuf.message import DecodeError
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

SERVICE = "plugin.ConfigManagementPluginService"
_GZIP = b"\x1f\x8b\x08"
_MOST = 1 << 20  # of a description, unpacked
_WANTED = {"plugin": None, "repository": {"ParameterAnnouncement"}}  # package: its messages, None for all


@dataclass(frozen=True, slots=True)
class Protocol:
    """The messages that a plugin service takes and gives, by name."""

    messages: dict[str, type[Any]]

    def stub(self, channel: grpc.Channel, method: str, answer: str) -> Any:
        """A method that takes a stream of requests."""
        return channel.stream_unary(
            f"/{SERVICE}/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=self.messages[answer].FromString,
        )


def check_service(channel: grpc.Channel) -> None:
    """See by reflection that the server has the service."""
    services = list(ProtoReflectionDescriptorDatabase(channel).get_services())
    if SERVICE not in services:
        raise SystemExit(f"the server has no {SERVICE}; it has: {', '.join(services)}")


def read_protocol(binary: Path) -> Protocol:
    """The messages that a binary describes."""
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(empty_pb2.DESCRIPTOR.serialized_pb)
    files = {file.package: file for file in _find_files(binary.read_bytes()) if _is_wanted(file)}
    if set(files) != set(_WANTED):
        raise SystemExit(f"{binary} doesn't describe the messages of {SERVICE}: is it argocd-cmp-server?")
    names = []
    for package, wanted in reversed(_WANTED.items()):  # what the other one imports comes first
        file = files[package]
        kept = [message for message in file.message_type if wanted is None or message.name in wanted]
        made = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax=file.syntax)
        made.message_type.extend(kept)
        made.dependency.extend(["repository.proto", "google/protobuf/empty.proto"] if package == "plugin" else [])
        pool.AddSerializedFile(made.SerializeToString())
        names += [f"{package}.{message.name}" for message in kept]
    classes = {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for name in names}
    return Protocol({name.rpartition(".")[2]: one for name, one in classes.items()})


def _is_wanted(file: descriptor_pb2.FileDescriptorProto) -> bool:
    names = {message.name for message in file.message_type}
    return (file.package == "plugin" and "AppStreamRequest" in names) or (
        file.package == "repository" and "ParameterAnnouncement" in names
    )


def _find_files(data: bytes) -> Iterator[descriptor_pb2.FileDescriptorProto]:
    at = data.find(_GZIP)
    while at >= 0:
        try:
            unpacked = zlib.decompressobj(31).decompress(data[at : at + _MOST], _MOST)
            yield descriptor_pb2.FileDescriptorProto.FromString(unpacked)
        except (zlib.error, DecodeError):  # other data that begins alike
            pass
        at = data.find(_GZIP, at + 1)
