from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from poolwright.specs.digest import Digest, digest_bytes, digest_folder, digest_value, short_hex

# SHA-256 of nothing and of `abc`: the test vectors of FIPS 180.
OF_NOTHING = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
OF_ABC = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_bytes() -> None:
    assert (digest_bytes(b""), digest_bytes(b"abc")) == (OF_NOTHING, OF_ABC)


def test_value_is_digested_as_canonical_json() -> None:
    assert digest_value({"b": (1, None), "a": "é"}) == digest_bytes('{"a":"é","b":[1,null]}'.encode())


def test_short_hex_leaves_the_algorithm_out() -> None:
    assert (short_hex(Digest(OF_ABC)), short_hex(Digest(OF_ABC), 4)) == ("ba7816bf8f", "ba78")


def _hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


FOLDERS: dict[str, tuple[dict[str, bytes], dict[str, str], str]] = {
    "empty": ({}, {}, ""),
    "one-file": ({"a": b"1"}, {}, f"{_hex(b'1')}  a\n"),
    # `a-b` before `a/b`: a path is one text, folders don't sort first.
    "by-path-bytes": (
        {"b": b"2", "a/b": b"1", "a-b": b"3", "B": b"4"},
        {},
        f"{_hex(b'4')}  B\n{_hex(b'3')}  a-b\n{_hex(b'1')}  a/b\n{_hex(b'2')}  b\n",
    ),
    "name-that-would-break-the-line": (
        {"a\nb": b"", "a\\b": b"", "a\rb": b"", "a b\t": b""},
        {},
        f"\\{_hex(b'')}  a\\nb\n\\{_hex(b'')}  a\\rb\n{_hex(b'')}  a b\t\n\\{_hex(b'')}  a\\\\b\n",
    ),
    "link-by-its-text": ({"a": b"1"}, {"l": "a"}, f"{_hex(b'1')}  a\n{_hex(b'a')} @l\n"),
    "link-to-nothing-is-still-a-text": ({}, {"l": "gone"}, f"{_hex(b'gone')} @l\n"),
    "link-up-but-not-out": ({}, {"a/b/l": "../../x"}, f"{_hex(b'../../x')} @a/b/l\n"),
    "link-to-the-folder-itself": ({}, {"a/l": ".."}, f"{_hex(b'..')} @a/l\n"),
    "link-through-a-link": ({}, {"d": "x/y", "l": "d/../z"}, f"{_hex(b'x/y')} @d\n{_hex(b'd/../z')} @l\n"),
}


@pytest.mark.parametrize(("files", "links", "printed"), FOLDERS.values(), ids=FOLDERS)
def test_folder(files: Mapping[str, bytes], links: Mapping[str, str], printed: str) -> None:
    assert digest_folder(files, links) == digest_bytes(printed.encode("utf-8"))


def test_a_link_is_not_a_file_with_the_same_text() -> None:
    assert digest_folder({"l": b"a"}) != digest_folder({}, {"l": "a"})


REFUSED: dict[str, tuple[dict[str, bytes], dict[str, str], str]] = {
    "absolute-link": ({}, {"a/l": "/etc/passwd"}, "link 'a/l' leads outside its folder, to '/etc/passwd'"),
    "link-out": ({}, {"a/l": "../../x"}, "link 'a/l' leads outside its folder, to '../../x'"),
    "link-out-and-in-again": ({}, {"l": "../folder/x"}, "link 'l' leads outside its folder, to '../folder/x'"),
    # As texts both stay inside: p leads to the folder itself, and `..` from there leaves it.
    "link-out-through-a-link": (
        {},
        {"m/n/p": "../..", "q": "m/n/p/../x"},
        "link 'q' leads outside its folder, to 'm/n/p/../x'",
    ),
    "link-out-by-another-that-is-absolute": ({}, {"a": "b", "b": "/"}, "link 'a' leads outside its folder, to 'b'"),
    "link-to-itself": ({}, {"l": "l"}, "link 'l' leads round in a circle, by 'l'"),
    "links-in-a-circle": ({}, {"a": "b/x", "b": "a"}, "link 'a' leads round in a circle, by 'b/x'"),
    "file-and-link": ({"a": b""}, {"a": "b"}, "'a' is given as a file and as a link"),
    "absolute-path": ({"/a": b""}, {}, "'/a' is no path inside a folder"),
    "path-out": ({"a/../../b": b""}, {}, "'a/../../b' is no path inside a folder"),
    "path-with-a-dot": ({"./a": b""}, {}, "'./a' is no path inside a folder"),
    "path-of-a-folder": ({"a/": b""}, {}, "'a/' is no path inside a folder"),
    "link-at-a-path-out": ({}, {"../l": "a"}, "'../l' is no path inside a folder"),
    "control-characters-are-shown-as-escapes": ({"/\x1b": b""}, {}, r"'/\x1b' is no path inside a folder"),
}


@pytest.mark.parametrize(("files", "links", "message"), REFUSED.values(), ids=REFUSED)
def test_folder_refused(files: Mapping[str, bytes], links: Mapping[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}\Z"):
        digest_folder(files, links)


NAMES = ("a", "a-b", "a/b", "B", "é", "a b", "tab\t", "new\nline", "back\\slash", "both\\\n", "-x", "*", "\udcff")


def test_folder_is_what_sha256sum_prints(tmp_path: Path) -> None:
    if shutil.which("sha256sum") is None:
        pytest.skip("needs the sha256sum program")
    files = {f"{name}.d/{name.replace('/', '_')}": name.encode("utf-8", "surrogateescape") for name in NAMES}
    for path, data in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    command = "find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum -- | sha256sum"
    assert command in str(digest_folder.__doc__)  # the one that is promised
    printed = subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert digest_folder(files) == f"sha256:{printed.split()[0]}"
