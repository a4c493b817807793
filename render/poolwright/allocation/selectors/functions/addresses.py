"""IP and CIDR objects.

Source: k8s.io/apiserver v0.37 pkg/cel/library/ip.go and cidr.go; Go's net/netip.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from poolwright.allocation.selectors.functions.overload import Overload
from poolwright.allocation.selectors.values import Cidr, Failure, IpAddress, Value

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_GROUP = r"[0-9a-fA-F]{1,4}"


def parse_ip(text: str) -> IpAddress:
    """Read an address. Neither a zone nor an IPv4 address mapped into IPv6 is allowed.

    Raises: ValueError saying so, or that it is no address.
    """
    address = parse_any_ip(text)
    if address.version == 6 and address.number >> 32 == 0xFFFF:
        raise ValueError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return address


def parse_any_ip(text: str) -> IpAddress:
    """Read an address without a zone, mapped ones included. Raises: ValueError."""
    if re.fullmatch(_IPV4, text):
        return IpAddress(4, _read_octets(text))
    if "%" in text:
        raise ValueError(f'IP address "{text}" with zone value is not allowed')
    head, tail = text, ""
    if "::" in text:
        head, _, tail = text.partition("::")
    before, after = _read_groups(head, is_last=not tail and "::" not in text), _read_groups(tail, is_last=True)
    missing = 8 - len(before) - len(after)
    if ("::" in text and missing < 1) or ("::" not in text and missing != 0):
        raise ValueError(f'"{text}" is no IP address')
    number = 0
    for group in (*before, *[0] * missing, *after):
        number = number << 16 | group
    return IpAddress(6, number)


def render_ip(address: IpAddress) -> str:
    """The canonical text."""
    if address.version == 4:
        return ".".join(str(address.number >> shift & 255) for shift in (24, 16, 8, 0))
    groups = [address.number >> shift & 0xFFFF for shift in range(112, -1, -16)]
    start, length = _find_zeros(groups)
    if length < 2:
        return ":".join(f"{group:x}" for group in groups)
    before, after = groups[:start], groups[start + length :]
    return f"{':'.join(f'{group:x}' for group in before)}::{':'.join(f'{group:x}' for group in after)}"


def render_cidr(cidr: Cidr) -> str:
    """Address and prefix length."""
    return f"{render_ip(cidr.address)}/{cidr.prefix}"


def _parse_cidr(text: str) -> Cidr:
    address, slash, prefix = text.rpartition("/")
    if not slash or not re.fullmatch(r"0|[1-9][0-9]{0,2}", prefix):
        raise ValueError(f'"{text}" is no network address such as 10.0.0.0/8')
    found = parse_ip(address)
    if int(prefix) > _bits(found):
        raise ValueError(f'"{text}" has a prefix length that is out of range')
    return Cidr(found, int(prefix))


def _read_octets(text: str) -> int:
    number = 0
    for octet in text.split("."):
        number = number << 8 | int(octet)
    return number


def _read_groups(text: str, *, is_last: bool) -> tuple[int, ...]:
    """The 16-bit groups of a part of an IPv6 address; the last two may be written as an IPv4 address."""
    if not text:
        return ()
    groups: list[int] = []
    parts = text.split(":")
    for at, part in enumerate(parts):
        if re.fullmatch(_GROUP, part):
            groups.append(int(part, 16))
        elif is_last and at == len(parts) - 1 and re.fullmatch(_IPV4, part):
            octets = _read_octets(part)
            groups += (octets >> 16, octets & 0xFFFF)
        else:
            raise ValueError(f'"{text}" is no part of an IP address')
    return tuple(groups)


def _find_zeros(groups: list[int]) -> tuple[int, int]:
    """Where the first of the longest runs of zeros starts, and its length."""
    best = (0, 0)
    for start in range(len(groups)):
        length = 0
        while start + length < len(groups) and not groups[start + length]:
            length += 1
        if length > best[1]:
            best = (start, length)
    return best


def _bits(address: IpAddress) -> int:
    return 32 if address.version == 4 else 128


def _masked(cidr: Cidr) -> Cidr:
    host_bits = _bits(cidr.address) - cidr.prefix
    return Cidr(IpAddress(cidr.address.version, cidr.address.number >> host_bits << host_bits), cidr.prefix)


def _contains_ip(cidr: Cidr, address: IpAddress) -> bool:
    return address.version == cidr.address.version and _masked(Cidr(address, cidr.prefix)) == _masked(cidr)


def _contains_cidr(cidr: Cidr, other: Cidr) -> bool:
    return cidr.prefix <= other.prefix and _contains_ip(cidr, other.address)


def _reading(parse: Callable[[str], Value]) -> Callable[[str], Value]:
    def read(text: str) -> Value:
        try:
            return parse(text)
        except ValueError as error:
            return Failure(str(error))

    return read


def _also_text(contains: Callable[[Cidr, Value], bool], parse: Callable[[str], Value]) -> Callable[[Cidr, str], Value]:
    def test(cidr: Cidr, text: str) -> Value:
        other = _reading(parse)(text)
        return other if isinstance(other, Failure) else contains(cidr, other)

    return test


def _is_valid(parse: Callable[[str], Value]) -> Callable[[str], bool]:
    return lambda text: not isinstance(_reading(parse)(text), Failure)


def _is_canonical(text: str) -> Value:
    address = _reading(parse_ip)(text)
    return address if isinstance(address, Failure) else render_ip(address) == text


def _is_loopback(address: IpAddress) -> bool:
    return address.number >> 24 == 127 if address.version == 4 else address.number == 1


def _is_link_local_multicast(address: IpAddress) -> bool:
    if address.version == 4:
        return address.number >> 8 == 0xE00000
    return address.number >> 112 & 0xFF0F == 0xFF02


def _is_link_local_unicast(address: IpAddress) -> bool:
    return address.number >> 16 == 0xA9FE if address.version == 4 else address.number >> 118 == 0x3FA


def _is_global_unicast(address: IpAddress) -> bool:
    if address.version == 4 and address.number in (0, 0xFFFFFFFF):
        return False
    is_multicast = address.number >> 28 == 0xE if address.version == 4 else address.number >> 120 == 0xFF
    return address.number != 0 and not (_is_loopback(address) or is_multicast or _is_link_local_unicast(address))


_IP, _CIDR, _S = "ip", "cidr", "string"
OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "ip": (
        Overload("string_to_ip", (_S,), _reading(parse_ip)),
        Overload("cidr_ip", (_CIDR,), lambda cidr: cidr.address),
    ),
    "isIP": (Overload("is_ip", (_S,), _is_valid(parse_ip)),),
    "ip.isCanonical": (Overload("ip_is_canonical", (_S,), _is_canonical),),
    "family": (Overload("ip_family", (_IP,), lambda address: address.version),),
    "isUnspecified": (Overload("ip_is_unspecified", (_IP,), lambda address: address.number == 0),),
    "isLoopback": (Overload("ip_is_loopback", (_IP,), _is_loopback),),
    "isLinkLocalMulticast": (Overload("ip_is_link_local_multicast", (_IP,), _is_link_local_multicast),),
    "isLinkLocalUnicast": (Overload("ip_is_link_local_unicast", (_IP,), _is_link_local_unicast),),
    "isGlobalUnicast": (Overload("ip_is_global_unicast", (_IP,), _is_global_unicast),),
    "cidr": (Overload("string_to_cidr", (_S,), _reading(_parse_cidr)),),
    "isCIDR": (Overload("is_cidr", (_S,), _is_valid(_parse_cidr)),),
    "containsIP": (
        Overload("cidr_contains_ip_ip", (_CIDR, _IP), _contains_ip),
        Overload("cidr_contains_ip_string", (_CIDR, _S), _also_text(_contains_ip, parse_ip)),
    ),
    "containsCIDR": (
        Overload("cidr_contains_cidr", (_CIDR, _CIDR), _contains_cidr),
        Overload("cidr_contains_cidr_string", (_CIDR, _S), _also_text(_contains_cidr, _parse_cidr)),
    ),
    "masked": (Overload("cidr_masked", (_CIDR,), _masked),),
    "prefixLength": (Overload("cidr_prefix_length", (_CIDR,), lambda cidr: cidr.prefix),),
}
