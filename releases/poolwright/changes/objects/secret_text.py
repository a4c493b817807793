"""Secrets in texts: which names say that what stands beside them is one, and what gives one away by its shape.

Rather one value too many is hidden than one too few: a report is read by more people than the cluster is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

HIDDEN: Final = "(hidden)"
_SHORT: Final = 200  # characters: what is remembered stays small

# The last parts of words that name a credential: PGPASSWORD, clientSecret, authtoken. Of several tokens engines count.
_ENDINGS: Final = (
    *("password", "passwd", "passphrase", "secret", "secrets", "credential", "credentials", "token", "apikey"),
    *("accesskey", "secretkey", "privatekey", "authorization", "jwt"),
)
_KEYS_OF: Final = frozenset(
    (
        *("access", "account", "admin", "api", "app", "auth", "client", "encryption", "hmac", "license", "master"),
        *("private", "secret", "service", "session", "shared", "signing", "ssh", "subscription"),
    )
)
# Alone they say something of a variable, and nothing of a flag or of a key in a text.
_OF_VARIABLES: Final = frozenset(("auth", "key", "pass", "pwd"))
# What isn't the credential itself but something about it, by the name's last word.
_ABOUT: Final = frozenset(
    (
        *("algorithm", "audience", "budget", "class", "count", "dir", "directory", "enabled", "endpoint", "expiration"),
        *(
            "expiry",
            "file",
            "files",
            "host",
            "issuer",
            "length",
            "limit",
            "mode",
            "name",
            "names",
            "namespace",
            "parser",
        ),
        *("path", "policy", "port", "provider", "rate", "ref", "seconds", "size", "timeout", "ttl", "type", "uri"),
        *("url", "version"),
    )
)
# A name with one of these is of no credential: public keys, keys of sorting, and tokens of a model.
_OTHERS: Final = frozenset(
    (
        *("batched", "bos", "cache", "eos", "image", "index", "label", "mask", "max", "min", "node", "num", "pad"),
        *("partition", "per", "primary", "public", "routing", "row", "sort", "special", "stop", "taint", "topology"),
        *("completion", "context", "first", "input", "inter", "latency", "next", "output", "prompt", "unk"),
    )
)
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_SHAPES: Final = re.compile(
    r"""-----BEGIN[ ][A-Z0-9 ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z0-9 ]*PRIVATE[ ]KEY-----|\Z)
    |(?<![A-Za-z0-9])(?:
        hf_[A-Za-z0-9]{8,}
        |gh[pousr]_[A-Za-z0-9]{8,} |github_pat_\w{8,} |glpat-[\w-]{8,} |npm_[A-Za-z0-9]{8,} |pypi-[\w-]{16,}
        |sk-[\w-]{16,} |nvapi-[\w-]{8,} |xox[a-z]-[\w-]{8,} |(?:AKIA|ASIA)[A-Z0-9]{8,} |AIza[\w-]{16,}
        |eyJ[\w=-]{8,}(?:\.[\w=-]+){0,4}
    )""",
    re.VERBOSE | re.DOTALL,
)
_IN_URL: Final = re.compile(r"""(://[^\s/?#:@"']*:)[^\s/]+@|(://)[^\s/?#:@"']{20,}@""")
_SCHEME: Final = re.compile(r"""(?i)(?<![\w-])((?:bearer|basic)[ \t]+)([^\s"']{6,})""")
_HINT: Final = re.compile(r"(?i)token|passw|passphrase|secret|key|credential|authorization|jwt")
_QUOTED: Final = r""""(?:[^"\\]|\\.)*"|'[^']*'|\\+"[^"]*"|\\+'[^']*'"""
# What stands before a value: `name: `, `name=`, `"name": `; then `--api-key `, `"--api-key", `, over lines that a shell
# or a list joins; then an entry of a variable list in a text that holds a manifest.
_PAIR: Final = re.compile(r"""(?<![\w.-])-{0,2}(?P<name>[A-Za-z_][\w.-]{0,127})\\*["']?[ \t]*[=:][ \t]*""")
_FLAG: Final = re.compile(
    r"""(?<![\w-])--?(?P<name>[A-Za-z][\w.-]{0,127})(?:(?:\s|\\\n)+(?!--)|\\*["'],?\s*(?:-[ ])?(?=\\*["']))"""
)
_ENTRY: Final = re.compile(
    r"""\bname\\*["']?\s*:\s*\\*["']?(?P<name>[\w.-]{1,128})\\*["']?\s*,?\s*\\*["']?value\\*["']?\s*:\s*"""
)
# The value itself: quoted, a block of YAML to its last line, to the end of the line where a space separates, a word.
_VALUE: Final = re.compile(rf"(?:{_QUOTED})|(?<=[ \t])[|>][^\n]*(?:\n(?:[ \t]+[^\n]*|(?=\n)))*|(?<=[ \t])[^\n]+|\s*\S+")
_WORDS: Final = re.compile(rf"(?:{_QUOTED}|\S+)(?:[ \t]+(?![-&|;<>\\])\S+)*")
_REFERENCE: Final = re.compile(r"""["']?\$(?:\w+|\{\w+\}|\(\w+\))["']?""")


@lru_cache(maxsize=4096)  # a fleet has few names, and each of them many times
def says_credential(name: str, *, is_variable: bool = False) -> bool:
    """Whether what is called so is a secret itself: API_KEY and dbPassword are, TOKEN_FILE and PUBLIC_KEY aren't.

    is_variable: of an environment or a ConfigMap, where KEY, PASS, PWD and AUTH at the end say enough.
    """
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[-1] in _ABOUT or not _OTHERS.isdisjoint(words):
        return False
    if words[-1] == "id" and words[-2:-1] == ["key"]:  # AWS_ACCESS_KEY_ID
        return False
    if any(word.endswith(_ENDINGS) for word in words):
        return True
    if "key" in words and not _KEYS_OF.isdisjoint(words):
        return True
    # PWD and OLDPWD are folders.
    return is_variable and words[-1] in _OF_VARIABLES and words != ["pwd"]


def is_reference(text: str) -> bool:
    """Whether a text is nothing but the name of a variable that the kubelet fills in: `$(API_KEY)`."""
    return re.fullmatch(r"\$\(\w+\)", text) is not None


def mask_text(text: str) -> str:
    """The text with `(hidden)` in the place of every secret in it; the same text if there is none.

    Passwords in URLs, bearer and basic credentials, tokens and private keys of well-known shapes, and what stands
    after a name that says credential: in assignments, YAML, JSON, flags and lists of variables.
    """
    return _mask_short(text) if len(text) <= _SHORT else _mask(text)


@lru_cache(maxsize=8192)  # most texts of a fleet stand in many of its objects, and on both sides
def _mask_short(text: str) -> str:
    return _mask(text)


def _mask(text: str) -> str:
    text = _SHAPES.sub(HIDDEN, text)
    if "@" in text:
        text = _IN_URL.sub(lambda found: f"{found[1] or found[2]}{HIDDEN}@", text)
    text = _SCHEME.sub(_mask_scheme, text)
    if _HINT.search(text):
        text = _mask_after(text, _ENTRY, _VALUE)
        text = _mask_after(text, _PAIR, _VALUE)
        text = _mask_after(text, _FLAG, _WORDS)
    return text


def _mask_scheme(found: re.Match[str]) -> str:
    """A word of plain letters after `bearer` or `basic` is prose, or no secret that is worth one."""
    is_prose = re.fullmatch(r"[a-z]{1,19}[.,;:)]?", found[2]) is not None or found[2].startswith((HIDDEN, "$"))
    return found[0] if is_prose else f"{found[1]}{HIDDEN}"


def _mask_after(text: str, head: re.Pattern[str], value: re.Pattern[str]) -> str:
    """The text with the values hidden that stand after a head whose name says credential."""
    parts: list[str] = []
    done = at = 0
    while found := head.search(text, at):
        at = found.end()
        if not says_credential(found["name"], is_variable=head is _ENTRY):
            continue
        shown = value.match(text, at)
        if shown is None or _REFERENCE.fullmatch(shown[0].strip()) or shown[0].startswith(HIDDEN):
            continue
        parts += (text[done:at], HIDDEN)
        done = at = shown.end()
    return "".join((*parts, text[done:]))
