"""The functions of a device selector that must be declared, as the scheduler of Kubernetes 1.37 knows them.

One overload a line: `id: (receiver).name(arguments) -> result`, without a receiver for a plain function. Types are
spelled as the library reads them; `~A` stands for any type. Listed is what the library's standard functions and
extensions lack, and every function of which they know only some overloads, because the library takes all overloads
of a function from one place. The authorization functions are declared upstream, though a selector can't reach them.

Source: k8s.io/apiserver/pkg/cel/environment and library of v0.37, cel-go's ext/strings and its cross-type
comparisons; the whole list of that environment was printed by the upstream code and compared with this one.
"""

from __future__ import annotations

# Standard functions declared here with all their overloads, and so taken out of the library's own list.
REDECLARED = ("string", "_<_", "_<=_", "_>_", "_>=_")

_LIBRARIES = """
string_to_quantity: quantity(string) -> kubernetes.Quantity
is_quantity_string: isQuantity(string) -> bool
quantity_sign: sign(kubernetes.Quantity) -> int
quantity_is_integer: (kubernetes.Quantity).isInteger() -> bool
quantity_get_int: (kubernetes.Quantity).asInteger() -> int
quantity_get_float: (kubernetes.Quantity).asApproximateFloat() -> double
quantity_is_greater_than: (kubernetes.Quantity).isGreaterThan(kubernetes.Quantity) -> bool
quantity_is_less_than: (kubernetes.Quantity).isLessThan(kubernetes.Quantity) -> bool
quantity_compare_to: (kubernetes.Quantity).compareTo(kubernetes.Quantity) -> int
quantity_add: (kubernetes.Quantity).add(kubernetes.Quantity) -> kubernetes.Quantity
quantity_add_int: (kubernetes.Quantity).add(int) -> kubernetes.Quantity
quantity_sub: (kubernetes.Quantity).sub(kubernetes.Quantity) -> kubernetes.Quantity
quantity_sub_int: (kubernetes.Quantity).sub(int) -> kubernetes.Quantity

string_to_semver: semver(string) -> kubernetes.Semver
string_bool_to_semver: semver(string, bool) -> kubernetes.Semver
is_semver_string: isSemver(string) -> bool
is_semver_string_bool: isSemver(string, bool) -> bool
semver_is_greater_than: (kubernetes.Semver).isGreaterThan(kubernetes.Semver) -> bool
semver_is_less_than: (kubernetes.Semver).isLessThan(kubernetes.Semver) -> bool
semver_compare_to: (kubernetes.Semver).compareTo(kubernetes.Semver) -> int
semver_major: (kubernetes.Semver).major() -> int
semver_minor: (kubernetes.Semver).minor() -> int
semver_patch: (kubernetes.Semver).patch() -> int

string_find_string: (string).find(string) -> string
string_find_all_string: (string).findAll(string) -> list<string>
string_find_all_string_int: (string).findAll(string, int) -> list<string>

string_char_at_int: (string).charAt(int) -> string
string_format: (string).format(list<dyn>) -> string
string_index_of_string: (string).indexOf(string) -> int
string_index_of_string_int: (string).indexOf(string, int) -> int
string_last_index_of_string: (string).lastIndexOf(string) -> int
string_last_index_of_string_int: (string).lastIndexOf(string, int) -> int
string_lower_ascii: (string).lowerAscii() -> string
string_upper_ascii: (string).upperAscii() -> string
string_replace_string_string: (string).replace(string, string) -> string
string_replace_string_string_int: (string).replace(string, string, int) -> string
string_split_string: (string).split(string) -> list<string>
string_split_string_int: (string).split(string, int) -> list<string>
string_substring_int: (string).substring(int) -> string
string_substring_int_int: (string).substring(int, int) -> string
string_trim: (string).trim() -> string
list_join: (list<string>).join() -> string
list_join_string: (list<string>).join(string) -> string
strings_quote: strings.quote(string) -> string

bool_to_string: string(bool) -> string
bytes_to_string: string(bytes) -> string
double_to_string: string(double) -> string
duration_to_string: string(duration) -> string
int64_to_string: string(int) -> string
string_to_string: string(string) -> string
timestamp_to_string: string(timestamp) -> string
uint64_to_string: string(uint) -> string
ip_to_string: string(net.IP) -> string
cidr_to_string: string(net.CIDR) -> string

list_includes_dyn_dyn: (dyn).includes(dyn) -> bool
list_a_index_of_int: (list<~A>).indexOf(~A) -> int
list_a_last_index_of_int: (list<~A>).lastIndexOf(~A) -> int

string_to_url: url(string) -> kubernetes.URL
is_url_string: isURL(string) -> bool
url_get_scheme: (kubernetes.URL).getScheme() -> string
url_get_host: (kubernetes.URL).getHost() -> string
url_get_hostname: (kubernetes.URL).getHostname() -> string
url_get_port: (kubernetes.URL).getPort() -> string
url_get_escaped_path: (kubernetes.URL).getEscapedPath() -> string
url_get_query: (kubernetes.URL).getQuery() -> map<string,list<string>>

string_to_ip: ip(string) -> net.IP
is_ip: isIP(string) -> bool
ip_is_canonical: ip.isCanonical(string) -> bool
ip_family: (net.IP).family() -> int
ip_is_unspecified: (net.IP).isUnspecified() -> bool
ip_is_loopback: (net.IP).isLoopback() -> bool
ip_is_link_local_multicast: (net.IP).isLinkLocalMulticast() -> bool
ip_is_link_local_unicast: (net.IP).isLinkLocalUnicast() -> bool
ip_is_global_unicast: (net.IP).isGlobalUnicast() -> bool

string_to_cidr: cidr(string) -> net.CIDR
is_cidr: isCIDR(string) -> bool
cidr_contains_ip_ip: (net.CIDR).containsIP(net.IP) -> bool
cidr_contains_ip_string: (net.CIDR).containsIP(string) -> bool
cidr_contains_cidr: (net.CIDR).containsCIDR(net.CIDR) -> bool
cidr_contains_cidr_string: (net.CIDR).containsCIDR(string) -> bool
cidr_ip: (net.CIDR).ip() -> net.IP
cidr_masked: (net.CIDR).masked() -> net.CIDR
cidr_prefix_length: (net.CIDR).prefixLength() -> int

optional_unwrap: optional.unwrap(list<optional_type<~V>>) -> list<~V>
optional_unwrapOpt: (list<optional_type<~V>>).unwrapOpt() -> list<~V>

format-named: format.named(string) -> optional_type<kubernetes.NamedFormat>
format-validate: (kubernetes.NamedFormat).validate(string) -> optional_type<list<string>>

authorizer_path: (authorization.Authorizer).path(string) -> authorization.PathCheck
authorizer_group: (authorization.Authorizer).group(string) -> authorization.GroupCheck
authorizer_serviceaccount: (authorization.Authorizer).serviceAccount(string, string) -> authorization.Authorizer
groupcheck_resource: (authorization.GroupCheck).resource(string) -> authorization.ResourceCheck
resourcecheck_subresource: (authorization.ResourceCheck).subresource(string) -> authorization.ResourceCheck
resourcecheck_namespace: (authorization.ResourceCheck).namespace(string) -> authorization.ResourceCheck
resourcecheck_name: (authorization.ResourceCheck).name(string) -> authorization.ResourceCheck
authorizer_fieldselector: (authorization.ResourceCheck).fieldSelector(string) -> authorization.ResourceCheck
authorizer_labelselector: (authorization.ResourceCheck).labelSelector(string) -> authorization.ResourceCheck
pathcheck_check: (authorization.PathCheck).check(string) -> authorization.Decision
resourcecheck_check: (authorization.ResourceCheck).check(string) -> authorization.Decision
decision_allowed: (authorization.Decision).allowed() -> bool
decision_reason: (authorization.Decision).reason() -> string
decision_errored: (authorization.Decision).errored() -> bool
decision_error: (authorization.Decision).error() -> string
"""

_NAMED_FORMATS = (
    *("byte", "date", "datetime", "dns1035Label", "dns1035LabelPrefix", "dns1123Label", "dns1123LabelPrefix"),
    *("dns1123Subdomain", "dns1123SubdomainPrefix", "labelValue", "qualifiedName", "uri", "uuid"),
)
_COMPARISONS = {"_<_": "less", "_<=_": "less_equals", "_>_": "greater", "_>=_": "greater_equals"}
_NUMBERS = ("int", "uint", "double")
_ID_WORDS = {"int": "int64", "uint": "uint64"}  # how overload ids spell a type
_ORDERED = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_SUMMED = ("int", "uint", "double", "duration")


def build_overloads() -> tuple[str, ...]:
    """Every overload Kubernetes adds, one a line in the notation above, in a fixed order."""
    # The authorization types are shortened in the list above.
    lines = [line.replace("authorization.", "kubernetes.authorization.") for line in _LIBRARIES.splitlines() if line]
    lines += [f"format.{name}: format.{name}() -> kubernetes.NamedFormat" for name in _NAMED_FORMATS]
    for operator, word in _COMPARISONS.items():
        lines += [f"{word}_{_ID_WORDS.get(item, item)}: {operator}({item}, {item}) -> bool" for item in _ORDERED]
        lines += [
            f"{word}_{_ID_WORDS.get(left, left)}_{_ID_WORDS.get(right, right)}: {operator}({left}, {right}) -> bool"
            for left in _NUMBERS
            for right in _NUMBERS
            if left != right
        ]
    for item in _ORDERED:
        lines.append(f"list_{item}_is_sorted_bool: (list<{item}>).isSorted() -> bool")
        lines.append(f"list_{item}_min_{item}: (list<{item}>).min() -> {item}")
        lines.append(f"list_{item}_max_{item}: (list<{item}>).max() -> {item}")
    lines += [f"list_{item}_sum_{item}: (list<{item}>).sum() -> {item}" for item in _SUMMED]
    return tuple(lines)
