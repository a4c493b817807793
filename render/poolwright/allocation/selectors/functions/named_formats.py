"""The format library: named formats and what a text breaks of them.

Source: k8s.io/apiserver v0.37 pkg/cel/library/format.go, k8s.io/apimachinery api/validate/content, kube-openapi's
strfmt.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from poolwright.allocation.selectors.functions.overload import Overload
from poolwright.allocation.selectors.functions.urls import check_url
from poolwright.allocation.selectors.values import NONE, NamedFormat, Optional

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_DNS1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_KEY})?"
_UUID = "(?i:[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})"
_BASE64 = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
_TIME = r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))"
# Upstream's messages, which a selector can compare.
_ENDS = "and must start and end with an alphanumeric character"
_LABEL_RULE = f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ENDS}"
_SUBDOMAIN_RULE = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {_ENDS}"
)
_DNS1035_RULE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character"
)
_KEY_RULE = f"must consist of alphanumeric characters, '-', '_' or '.', {_ENDS}"
_VALUE_RULE = f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', {_ENDS}"


def _explain(rule: str, pattern: str, *examples: str) -> str:
    named = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {named}regex used for validation is '{pattern}')"


def _check_length(text: str, limit: int) -> tuple[str, ...]:
    return (f"must be no more than {limit} bytes",) if len(text.encode()) > limit else ()


def _check_label(text: str) -> tuple[str, ...]:
    problems = _check_length(text, 63)
    if re.fullmatch(_LABEL, text):
        return problems
    if re.fullmatch(_SUBDOMAIN, text):
        return (*problems, "must not contain dots")
    return (*problems, _explain(_LABEL_RULE, _LABEL, "my-name", "123-abc"))


def _check_subdomain(text: str) -> tuple[str, ...]:
    problems = _check_length(text, 253)
    is_valid = re.fullmatch(_SUBDOMAIN, text)
    return problems if is_valid else (*problems, _explain(_SUBDOMAIN_RULE, _SUBDOMAIN, "example.com"))


def _check_dns1035(text: str) -> tuple[str, ...]:
    problems = _check_length(text, 63)
    is_valid = re.fullmatch(_DNS1035, text)
    return problems if is_valid else (*problems, _explain(_DNS1035_RULE, _DNS1035, "my-name", "abc-123"))


def _check_key(text: str) -> tuple[str, ...]:
    rule = _explain(_KEY_RULE, _KEY, "MyName", "my.name", "123-abc")
    problems: list[str] = []
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        return (f"a valid label key {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",)
    if slash and not prefix:
        problems.append("prefix part must be non-empty")
    elif slash:
        problems += (f"prefix part {problem}" for problem in _check_subdomain(prefix))
    if not name:
        problems.append("name part must be non-empty")
    else:
        problems += (f"name part {problem}" for problem in _check_length(name, 63))
    if not re.fullmatch(_KEY, name):
        problems.append(f"name part {rule}")
    return tuple(problems)


def _check_value(text: str) -> tuple[str, ...]:
    problems = _check_length(text, 63)
    is_valid = re.fullmatch(_VALUE, text)
    return problems if is_valid else (*problems, _explain(_VALUE_RULE, _VALUE, "MyValue", "my_value", "12345"))


def _check_uri(text: str) -> tuple[str, ...]:
    try:
        check_url(text)
    except ValueError as error:
        return (str(error),)
    return ()


def _is_date(text: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    year, month, day = map(int, text.split("-"))
    try:
        date(year or 4, month, day)  # Go knows the year 0, a leap year
    except ValueError:
        return False
    return True


def _is_datetime(text: str) -> bool:
    day, letter, rest = text.lower().partition("t")
    time = re.fullmatch(_TIME, rest.partition("t")[0])
    if not letter or not time or not _is_date(day):
        return False
    return time[1] <= "23" and time[2] <= "59" and time[3] <= "59"


def _fully(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


def _checking(test: Callable[[str], bool], message: str) -> Callable[[str], tuple[str, ...]]:
    return lambda text: () if test(text) else (message,)


def _as_prefix(check: Callable[[str], tuple[str, ...]]) -> Callable[[str], tuple[str, ...]]:
    """A name that something is to be added to may end with a dash; upstream replaces one byte more than that."""

    def check_prefix(text: str) -> tuple[str, ...]:
        return check(f"{text[:-2]}a" if len(text.encode()) > 1 and text.endswith("-") else text)

    return check_prefix


FORMATS = {
    "dns1123Label": NamedFormat("DNS1123Label", 30, _check_label),
    "dns1123Subdomain": NamedFormat("DNS1123Subdomain", 60, _check_subdomain),
    "dns1035Label": NamedFormat("DNS1035Label", 30, _check_dns1035),
    "qualifiedName": NamedFormat("QualifiedName", 60, _check_key),
    "dns1123LabelPrefix": NamedFormat("DNS1123LabelPrefix", 30, _as_prefix(_check_label)),
    "dns1123SubdomainPrefix": NamedFormat("DNS1123SubdomainPrefix", 60, _as_prefix(_check_subdomain)),
    "dns1035LabelPrefix": NamedFormat("DNS1035LabelPrefix", 30, _as_prefix(_check_dns1035)),
    "labelValue": NamedFormat("LabelValue", 40, _check_value),
    "uri": NamedFormat("URI", 1103, _check_uri),
    "uuid": NamedFormat("uuid", 70, _checking(_fully(_UUID), "does not match the UUID format")),
    "byte": NamedFormat("byte", 84, _checking(_fully(_BASE64), "invalid base64")),
    "date": NamedFormat("date", 71, _checking(_is_date, "invalid date")),
    "datetime": NamedFormat("datetime", 71, _checking(_is_datetime, "invalid datetime")),
}


def _validate(named: NamedFormat, text: str) -> Optional:
    problems = named.validate(text)
    return Optional(problems) if problems else NONE


def _find_format(name: str) -> Optional:
    return Optional(FORMATS[name]) if name in FORMATS else NONE


def _giving(named: NamedFormat) -> Callable[[], NamedFormat]:
    return lambda: named


OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "format.named": (Overload("format-named", ("string",), _find_format),),
    "validate": (Overload("format-validate", ("format", "string"), _validate),),
    **{f"format.{name}": (Overload(f"format.{name}", (), _giving(named)),) for name, named in FORMATS.items()},
}
