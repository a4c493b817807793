"""Random selectors on random devices, one question a line: python questions.py COUNT SEED > questions.jsonl.

They are typed loosely on purpose: an attribute can be of any kind, so many fail at run time, and `dyn()` lets some
through that the checker would refuse.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

DOMAINS = ("gpu.example.com", "net.example.org", "no.such")
NAMES = ("model", "index", "ready", "version", "roots", "uuid", "numa", "absent")
STRINGS = ("", "a", "A100", "A100-SXM4-80GB", "pci0000", "1.2.3", "10.9.8.7", "éa😀", "a b\tc", "2024-05-01T12:00:00Z")
TEXTS = (
    *STRINGS,
    "v1.2",
    "80Gi",
    "1h30m",
    "https://u@h.example:80/p%20a/b?x=1&y=2#f",
    "fe80::1",
    "10.0.0.0/8",
    "a,b,,c",
)
PATTERNS = ("^A[0-9]+", "[0-9]+", "a|b", "", "(?i)sxm", "x*", r"\\d{2,}", "[é-ü]", "^$")
VERSIONS = ("1.2.3", "1.2.3-rc.1", "1.2.4+build", "10.0.0", "0.0.1-alpha.10")
QUANTITIES = ("1", "40Gi", "500m", "0", "1e3", "-5", "81920Mi", "1500", "12345678901234567890")
CANONICAL = ("1", "40Gi", "500m", "0", "1e3", "-5", "1500", "80Gi", "108")  # as an API server stores them
FORMATS = ("dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "labelValue", "uri", "uuid", "byte")
FORMATS += ("date", "datetime", "dns1123LabelPrefix")


FORMATTED = ("dyn", "int", "double", "string", "list", "map", "timestamp", "bytes", "uint")
TYPES = ("int", "string", "list", "map", "bool", "double", "type", "optional_type")


class Writer:
    """Writes expressions of a wanted type; `depth` bounds how they nest."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.variables: list[str] = []

    def write(self, kind: str, depth: int) -> str:
        if depth <= 0 or self.chance.random() < 0.12:
            return self.leaf(kind)
        return self.chance.choice(BUILDERS[kind])(self, depth - 1)

    def leaf(self, kind: str) -> str:
        if kind in ("string", "int", "bool", "list", "dyn") and self.chance.random() < 0.5:
            return (
                self.chance.choice(self.variables)
                if self.variables and self.chance.random() < 0.5
                else self.attribute()
            )
        return self.chance.choice(LEAVES[kind])(self)

    def attribute(self) -> str:
        domain, name = self.chance.choice(DOMAINS), self.chance.choice(NAMES)
        place = f'device.attributes["{domain}"]'
        return self.chance.choice(
            (f"{place}.{name}", f'{place}["{name}"]', f"{place}.?{name}.orValue({self.pick(LITERALS)})")
        )

    def pick(self, values: tuple[str, ...]) -> str:
        return self.chance.choice(values)

    def fold(self, pattern: str, kind: str, depth: int, names: tuple[str, ...] = ("x",)) -> str:
        target = self.write(self.pick(("list", "list", "map")), depth)
        names = tuple(f"{name}{len(self.variables)}" for name in names)
        self.variables += names
        try:
            return pattern.format(target, ", ".join(names), self.write(kind, depth), self.write("bool", depth))
        finally:
            del self.variables[-len(names) :]


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _of(pattern: str, *kinds: str) -> Callable[[Writer, int], str]:
    return lambda writer, depth: pattern.format(*(writer.write(kind, depth) for kind in kinds))


def _fold(pattern: str, kind: str, *names: str) -> Callable[[Writer, int], str]:
    return lambda writer, depth: writer.fold(pattern, kind, depth, names or ("x",))


def _one_of(*texts: str) -> Callable[[Writer], str]:
    return lambda writer: writer.pick(texts)


LITERALS = ('"A100"', "2", "true", "1.5", "3u", "null", "[1, 2]", '["a"]', '""', "0")
LEAVES: dict[str, Callable[[Writer], str]] = {}
LEAVES = {
    "bool": (_one_of("true", "false", "device.allowMultipleAllocations"), lambda w: w.attribute()),
    "int": (_one_of("0", "1", "2", "-1", "7", "9223372036854775807", "-9223372036854775808", "100"),),
    "uint": (_one_of("0u", "1u", "2u", "18446744073709551615u"),),
    "double": (_one_of("0.0", "1.0", "2.5", "-1.5", "1e20", "(0.0 / 0.0)", "123456.789"),),
    "string": (lambda w: _quote(w.pick(TEXTS)), _one_of("device.driver")),
    "bytes": (_one_of('b"ab"', 'b""', 'bytes("é")', r'b"\xff"'),),
    "list": (
        _one_of(
            "[]", "[1, 2, 3]", '["a", "b", "a"]', "[true]", "[3, 1, 2]", "[2.0, 1.0]", "[[1], [2, 3]]", "lists.range(4)"
        ),
    ),
    "map": (
        _one_of(
            '{"a": 1, "b": 2}',
            "{}",
            '{1: "x"}',
            "{2.0: 1}",
            "device.attributes",
            'device.attributes["gpu.example.com"]',
            'device.capacity["gpu.example.com"]',
        ),
    ),
    "dyn": (lambda w: w.attribute(), lambda w: f"dyn({w.pick(LITERALS)})"),
    "optional": (
        _one_of("optional.none()", "optional.of(1)", 'optional.of("a")', "optional.ofNonZeroValue(0)"),
        lambda w: f'device.attributes["{w.pick(DOMAINS)}"].?{w.pick(NAMES)}',
        lambda w: f'device.attributes[?"{w.pick(DOMAINS)}"].{w.pick(NAMES)}',
        lambda w: f'device.attributes[?"{w.pick(DOMAINS)}"][?"{w.pick(NAMES)}"]',
    ),
    "quantity": (
        lambda w: f'quantity("{w.pick(QUANTITIES)}")',
        lambda w: f'device.capacity["{w.pick(DOMAINS)}"].{w.pick(("memory", "cores", "absent"))}',
    ),
    "semver": (
        lambda w: f'semver("{w.pick(VERSIONS)}")',
        lambda w: f'device.attributes["{w.pick(DOMAINS)}"].version',
        lambda w: f"semver({_quote(w.pick(TEXTS))}, true)",
    ),
    "timestamp": (
        _one_of(
            'timestamp("2024-05-01T12:00:00Z")',
            'timestamp("0001-01-01T00:00:00Z")',
            "timestamp(1700000000)",
            'timestamp("2023-12-31T23:59:59.999+05:30")',
        ),
    ),
    "duration": (_one_of('duration("1h30m")', 'duration("-1.5s")', 'duration("0s")', 'duration("2562047h")'),),
    "ip": (
        _one_of(
            'ip("10.9.8.7")',
            'ip("fe80::1")',
            'ip("::")',
            'ip("127.0.0.1")',
            'ip("224.0.0.1")',
            'ip("2001:db8:0:0:1::1")',
        ),
    ),
    "cidr": (_one_of('cidr("10.0.0.0/8")', 'cidr("10.9.8.7/24")', 'cidr("fe80::/10")', 'cidr("0.0.0.0/0")'),),
    "url": (
        _one_of(
            'url("https://u:p@h.example:80/p%20a/b?x=1&y=2&x=3#f")',
            'url("http://[::1]/é")',
            'url("/just/a path")',
            'url("mailto:x@y")',
        ),
    ),
    "format": (
        lambda w: f"format.{w.pick(FORMATS)}()",
        lambda w: f'format.named("{w.pick((*FORMATS, "none"))}").value()',
    ),
}  # type: ignore[assignment]
_SAME = (
    "int",
    "double",
    "uint",
    "string",
    "bytes",
    "list",
    "map",
    "quantity",
    "semver",
    "ip",
    "cidr",
    "url",
    "duration",
)
_SAME += ("timestamp", "optional", "dyn", "bool", "format")


def _comparison(operator: str) -> Callable[[Writer, int], str]:
    def write(writer: Writer, depth: int) -> str:
        kind = writer.pick(_SAME)
        other = kind if writer.chance.random() < 0.7 else "dyn"
        pair = [writer.write(kind, depth), writer.write(other, depth)]
        writer.chance.shuffle(pair)
        return f"({pair[0]} {operator} {pair[1]})"

    return write


def _membership(writer: Writer, depth: int) -> str:
    literal = writer.pick(
        ('["A100", "a"]', "[1, 2, 3]", "[1.0, 2.5]", "[]", "[1u]", "[true]", '[b"ab"]', "[[1]]", "[dyn(1), dyn('a')]")
    )
    where = literal if writer.chance.random() < 0.5 else writer.write(writer.pick(("list", "map", "dyn")), depth)
    return f"({writer.write(writer.pick(('dyn', 'string', 'int', 'semver', 'bytes', 'double')), depth)} in {where})"


def _has(writer: Writer, _: int) -> str:
    place = writer.pick(("attributes", "capacity"))
    return f'has(device.{place}["{writer.pick(DOMAINS)}"].{writer.pick((*NAMES, "memory"))})'


def _format(writer: Writer, depth: int) -> str:
    clauses = writer.pick(("%s", "%s|%d", "%d", "%f", "%.2f", "%e", "%x", "%X", "%o", "%b", "%%", "%.3e", "%s %s"))
    values = [f"dyn({writer.write(writer.pick(FORMATTED), depth)})" for _ in range(2)]
    return (
        f'"{clauses}".format([{", ".join(values)}, dyn(1)])'
        if writer.chance.random() < 0.2
        else f'dyn("{clauses}").format([{", ".join(values)}])'
    )


BUILDERS: dict[str, tuple[Callable[[Writer, int], str], ...]] = {
    "bool": (
        *(_comparison(operator) for operator in ("==", "==", "!=", "<", "<=", ">", ">=")),
        *([_of("({} && {})", "bool", "bool"), _of("({} || {})", "bool", "bool"), _of("!{}", "bool")] * 2),
        _of("({} ? {} : {})", "bool", "bool", "bool"),
        _membership,
        _membership,
        _has,
        _has,
        _of("{}.startsWith({})", "string", "string"),
        _of("{}.endsWith({})", "string", "string"),
        _of("{}.contains({})", "string", "string"),
        lambda w, d: f"{w.write('string', d)}.matches({_quote(w.pick(PATTERNS))})",
        _of("{}.matches({})", "string", "string"),
        _fold("{0}.all({1}, {2})", "bool"),
        _fold("{0}.exists({1}, {2})", "bool"),
        _fold("{0}.exists_one({1}, {2})", "bool"),
        _fold("{0}.exists({1}, {2})", "bool", "k", "v"),
        _fold("{0}.all({1}, {2})", "bool", "k", "v"),
        _of("{}.isSorted()", "list"),
        _of("{}.includes({})", "dyn", "dyn"),
        _of("sets.contains({}, {})", "list", "list"),
        _of("sets.equivalent({}, {})", "list", "list"),
        _of("sets.intersects({}, {})", "list", "list"),
        _of("{}.hasValue()", "optional"),
        _of("{}.isGreaterThan({})", "quantity", "quantity"),
        _of("{}.isLessThan({})", "semver", "semver"),
        _of("dyn({}).isGreaterThan({})", "quantity", "quantity"),
        _of("{}.isLessThan({})", "dyn", "semver"),
        _of("{}.isInteger()", "quantity"),
        _of("isQuantity({})", "string"),
        _of("isSemver({})", "string"),
        _of("isSemver({}, {})", "string", "bool"),
        _of("isURL({})", "string"),
        _of("isIP({})", "string"),
        _of("isCIDR({})", "string"),
        _of("ip.isCanonical({})", "string"),
        _of("{}.isLoopback()", "ip"),
        _of("{}.isGlobalUnicast()", "ip"),
        _of("{}.isLinkLocalUnicast()", "ip"),
        _of("{}.isUnspecified()", "ip"),
        _of("{}.isLinkLocalMulticast()", "ip"),
        _of("{}.containsIP({})", "cidr", "ip"),
        _of("{}.containsIP({})", "cidr", "string"),
        _of("{}.containsCIDR({})", "cidr", "cidr"),
        _of("{}.containsCIDR({})", "cidr", "string"),
        _of("{}.validate({}).hasValue()", "format", "string"),
        _of("bool({})", "string"),
        _of("(type({}) == type({}))", "dyn", "dyn"),
        lambda w, d: f"(type({w.write(w.pick(_SAME), d)}) == {w.pick(TYPES)})",
        _of("{}.orValue({})", "optional", "bool"),
        _of("cel.bind(b, {}, b == {})", "dyn", "dyn"),
    ),
    "int": (
        *(_of(f"({{}} {operator} {{}})", "int", "int") for operator in "+-*/%"),
        _of("-{}", "int"),
        _of("size({})", "string"),
        _of("{}.size()", "list"),
        _of("size({})", "map"),
        _of("{}.size()", "dyn"),
        _of("({} ? {} : {})", "bool", "int", "int"),
        _of("int({})", "string"),
        _of("int({})", "double"),
        _of("int({})", "uint"),
        _of("int({})", "timestamp"),
        _of("int({})", "duration"),
        _of("{}.indexOf({})", "string", "string"),
        _of("{}.indexOf({}, {})", "string", "string", "int"),
        _of("{}.lastIndexOf({})", "string", "string"),
        _of("{}.lastIndexOf({}, {})", "string", "string", "int"),
        _of("{}.indexOf({})", "list", "dyn"),
        _of("{}.lastIndexOf({})", "list", "dyn"),
        _of("{}.compareTo({})", "quantity", "quantity"),
        _of("{}.compareTo({})", "semver", "semver"),
        _of("{}.asInteger()", "quantity"),
        _of("sign({})", "quantity"),
        _of("{}.major()", "semver"),
        _of("{}.patch()", "semver"),
        _of("{}.family()", "ip"),
        _of("{}.prefixLength()", "cidr"),
        *(
            _of(f"{{}}.{name}()", "timestamp")
            for name in (
                "getFullYear",
                "getMonth",
                "getDayOfYear",
                "getDayOfMonth",
                "getDate",
                "getDayOfWeek",
                "getHours",
                "getMinutes",
                "getSeconds",
                "getMilliseconds",
            )
        ),
        *(_of(f"{{}}.{name}()", "duration") for name in ("getHours", "getMinutes", "getSeconds", "getMilliseconds")),
        _of("{}.getHours('-02:30')", "timestamp"),
        _of("{}.getDayOfYear('+13:00')", "timestamp"),
        _of("dyn({}).getMinutes()", "timestamp"),
        _of("{}.orValue({})", "optional", "int"),
        _of("lists.range({}).sum()", "int"),
        _of("{}.max()", "list"),
    ),
    "uint": (
        *(_of(f"({{}} {operator} {{}})", "uint", "uint") for operator in "+-*/%"),
        _of("uint({})", "int"),
        _of("uint({})", "double"),
        _of("uint({})", "string"),
    ),
    "double": (
        *(_of(f"({{}} {operator} {{}})", "double", "double") for operator in "+-*/"),
        _of("-{}", "double"),
        _of("double({})", "int"),
        _of("double({})", "string"),
        _of("double({})", "uint"),
        _of("{}.asApproximateFloat()", "quantity"),
    ),
    "string": (
        _of("({} + {})", "string", "string"),
        _of("({} ? {} : {})", "bool", "string", "string"),
        *(
            _of("string({})", kind)
            for kind in ("int", "uint", "double", "bool", "bytes", "timestamp", "duration", "ip", "cidr", "dyn")
        ),
        _of("{}.charAt({})", "string", "int"),
        _of("{}.lowerAscii()", "string"),
        _of("{}.upperAscii()", "string"),
        _of("{}.replace({}, {})", "string", "string", "string"),
        _of("{}.replace({}, {}, {})", "string", "string", "string", "int"),
        _of("{}.substring({})", "string", "int"),
        _of("{}.substring({}, {})", "string", "int", "int"),
        _of("{}.trim()", "string"),
        _of("strings.quote({})", "string"),
        _of("{}.split({}).join({})", "string", "string", "string"),
        _format,
        _format,
        lambda w, d: f"{w.write('string', d)}.find({_quote(w.pick(PATTERNS))})",
        *(
            _of(f"{{}}.{name}()", "url")
            for name in ("getScheme", "getHost", "getHostname", "getPort", "getEscapedPath")
        ),
        _of("url({}).getHost()", "string"),
        _of("{}.orValue({})", "optional", "string"),
        _of("{}.validate({}).orValue(['ok'])[0]", "format", "string"),
    ),
    "bytes": (_of("bytes({})", "string"), _of("({} + {})", "bytes", "bytes")),
    "list": (
        _of("({} + {})", "list", "list"),
        _of("[{}, {}]", "int", "int"),
        _of("[{}]", "dyn"),
        _of("[?{}]", "optional"),
        _of("[?{}, {}]", "optional", "dyn"),
        _fold("{0}.map({1}, {2})", "dyn"),
        _fold("{0}.filter({1}, {2})", "bool"),
        _fold("{0}.map({1}, {3}, {2})", "int"),
        _fold("{0}.transformList({1}, {2})", "dyn", "k", "v"),
        _fold("{0}.transformList({1}, {3}, {2})", "dyn", "k", "v"),
        _of("{}.reverse()", "list"),
        _of("{}.distinct()", "list"),
        _of("{}.slice({}, {})", "list", "int", "int"),
        _of("{}.sort()", "list"),
        _of("{}.flatten()", "list"),
        _of("{}.flatten({})", "list", "int"),
        _fold("{0}.sortBy({1}, {2})", "int"),
        _of("{}.split({})", "string", "string"),
        _of("{}.split({}, {})", "string", "string", "int"),
        lambda w, d: f"{w.write('string', d)}.findAll({_quote(w.pick(PATTERNS))}{w.pick(('', ', 1', ', 0', ', -1'))})",
        _of("lists.range({})", "int"),
        _of("optional.unwrap([{}, {}])", "optional", "optional"),
        _of("({} ? {} : {})", "bool", "list", "list"),
        _of('{}.getQuery()[?"x"].orValue([])', "url"),
        _of("[{}].unwrapOpt()", "optional"),
        _of("dyn({}).sort()", "list"),
    ),
    "map": (
        _of("{{{}: {}}}", "string", "dyn"),
        _of("{{{}: {}, {}: {}}}", "int", "int", "int", "int"),
        _of("{{?'o': {}}}", "optional"),
        _fold("{0}.transformMap({1}, {2})", "dyn", "k", "v"),
        _fold("{0}.transformMapEntry({1}, {{k0: {2}}})", "dyn", "k", "v"),
    ),
    "dyn": (
        *(
            _of("dyn({})", kind)
            for kind in (
                "int",
                "uint",
                "double",
                "string",
                "bytes",
                "list",
                "map",
                "quantity",
                "semver",
                "timestamp",
                "duration",
                "ip",
                "url",
                "optional",
                "bool",
            )
        ),
        _of("{}[{}]", "list", "int"),
        _of("{}[{}]", "dyn", "dyn"),
        _of("dyn({})[{}]", "map", "dyn"),
        _of("{}.a", "map"),
        _of("{}[{}]", "map", "string"),
        _of("({} ? {} : {})", "bool", "dyn", "dyn"),
        _of("({} ? {} : {}).x", "bool", "dyn", "dyn"),
        _of("{}.value()", "optional"),
        _of("{}.orValue({})", "optional", "dyn"),
        _of("dyn({}).min()", "list"),
        _of("dyn({}).sum()", "list"),
        _of("cel.bind(b, {}, [b, b])", "dyn"),
        _of("({} + {})", "dyn", "dyn"),
        _of("type({})", "dyn"),
        _of("({} - {})", "dyn", "dyn"),
        _of("-{}", "dyn"),
    ),
    "optional": (
        _of("optional.of({})", "dyn"),
        _of("optional.ofNonZeroValue({})", "dyn"),
        _of("{}[?{}]", "list", "int"),
        _of("{}.first()", "list"),
        _of("{}.last()", "list"),
        _of("{}.or({})", "optional", "optional"),
        _of("{}.optMap(o, [o, {}])", "optional", "dyn"),
        _of("{}.optFlatMap(o, {})", "optional", "optional"),
        _of("{}[?{}]", "map", "string"),
        _of("{}.?a", "map"),
        _of("{}[0]", "optional"),
        _of("{}.a", "optional"),
    ),
    "quantity": (
        _of("{}.add({})", "quantity", "quantity"),
        _of("{}.sub({})", "quantity", "quantity"),
        _of("{}.add({})", "quantity", "int"),
        _of("{}.sub({})", "quantity", "int"),
        _of("quantity({})", "string"),
    ),
    "semver": (_of("semver({})", "string"), _of("semver({}, {})", "string", "bool")),
    "timestamp": (
        _of("({} + {})", "timestamp", "duration"),
        _of("({} - {})", "timestamp", "duration"),
        _of("timestamp({})", "string"),
        _of("timestamp({})", "int"),
    ),
    "duration": (
        _of("({} + {})", "duration", "duration"),
        _of("({} - {})", "timestamp", "timestamp"),
        _of("({} - {})", "duration", "duration"),
        _of("duration({})", "string"),
    ),
    "ip": (_of("ip({})", "string"), _of("{}.ip()", "cidr")),
    "cidr": (_of("cidr({})", "string"), _of("{}.masked()", "cidr")),
    "url": (_of("url({})", "string"),),
    "format": (_of("format.named({}).value()", "string"),),
}


def build_device(chance: random.Random) -> dict[str, Any]:
    """A device whose attributes are now of this kind, now of that."""
    values: tuple[Callable[[], dict[str, Any]], ...] = (
        lambda: {"string": chance.choice(STRINGS)},
        lambda: {"int": chance.choice((0, 1, 2, 7, -1, 2**63 - 1))},
        lambda: {"bool": chance.random() < 0.5},
        lambda: {"version": chance.choice(VERSIONS)},
        lambda: {"strings": chance.choice((["a"], ["pci0000", "pci0001"], ["b", "a", "b"]))},
        lambda: {"ints": chance.choice(([0, 1], [3, 1, 2], [7]))},
        lambda: {"bools": [True, False]},
        lambda: {"versions": ["1.2.3", "1.2.4+build"]},
    )
    usual = {"model": 0, "index": 1, "ready": 2, "version": 3, "roots": 4, "uuid": 0, "numa": 5}
    attributes: dict[str, Any] = {}
    for domain in DOMAINS[:2]:
        for name in NAMES[:-1]:
            if chance.random() < 0.6:
                make = values[usual[name]] if chance.random() < 0.7 else chance.choice(values)
                attributes[name if domain == DOMAINS[0] and chance.random() < 0.5 else f"{domain}/{name}"] = make()
    capacity = {
        name: {"value": chance.choice(QUANTITIES[:-1])} for name in ("memory", "cores") if chance.random() < 0.8
    }
    return {
        "driver": DOMAINS[0],
        "attributes": attributes,
        "capacity": capacity,
        "allowMultipleAllocations": chance.random() < 0.5,
    }


def write_questions(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """So many questions; the same for the same seed."""
    chance = random.Random(seed)
    for _ in range(count):
        expression = Writer(chance).write(
            "bool" if chance.random() < 0.95 else "dyn", chance.choice((1, 2, 2, 3, 3, 4))
        )
        yield {"expression": expression, "device": build_device(chance)}


if __name__ == "__main__":
    for question in write_questions(int(sys.argv[1]), int(sys.argv[2])):
        print(json.dumps(question, ensure_ascii=False))
