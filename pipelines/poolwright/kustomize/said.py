"""Kustomize's own words for an error, without the layers it puts around them and without what files hold."""

from __future__ import annotations

import re
from typing import Final

# What it was doing when something failed, from the outside in: where, and what is inside. The first quotes as Go does.
_LAYERS: Final = (
    re.compile(
        r"accumulating components: accumulateDirectory: "
        r"""\"(?:recursed accumulation of|couldn't make target for) path '([^']*)': (.*)\""""
    ),
    re.compile(
        r"accumulating resources: accumulation err='accumulating resources from '[^']*': .*': "
        r"recursed accumulation of path '([^']*)': (.*)"
    ),
    re.compile(
        r"accumulating resources: accumulation err='accumulating resources from '([^']*)': (.*)': "
        r"(?:must build at directory: .*|new root '.*' cannot be absolute)"
    ),
    re.compile(r"accumulating resources: accumulating resources from '([^']*)': (.*)"),
)
# Where it repeats what stands in a file: a whole object, a patch, a generator's values.
_CONTENTS: Final = (
    (re.compile(r"map\[string\]interface \{\}\{.*\}"), "an object"),
    (re.compile(r"trouble configuring builtin (\w+) with config: `.*`: "), r"\1: "),
    (re.compile(r"(unable to parse SM or JSON patch) from \[.*\]"), r"\1"),
    (re.compile(r"literal sources \[.*\]: invalid literal source .*, expected"), "invalid literal source, expected"),
)


_MAX_CHARACTERS: Final = 16_000  # the patterns take time with the square of a text that is made for it


def shorten_error(text: str) -> str:
    """An error in the words that matter.

    text:    one line, with controls escaped; it may be shown to people who can't read the files (Argo CD shows it).
    Returns: the innermost place and error; contents of files are left out where Kustomize 4.5 to 5.8 is known to repeat
             them. What isn't known stays as it is.
    """
    if len(text) > _MAX_CHARACTERS:  # a large patch or generator, repeated
        return f"an error of {len(text):,} characters: build it with Kustomize to read them"
    where = ""
    while found := next((match for layer in _LAYERS if (match := layer.fullmatch(text))), None):
        where, text = f"{found[1]}: ", found[2].replace('\\"', '"').removesuffix("\\n")
    for content, instead in _CONTENTS:
        text = content.sub(instead, text)
    return where + text
