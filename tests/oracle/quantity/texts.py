"""The quantity texts that upstream is asked about: `python texts.py | go run .` prints its answers.

With `--record FILE` the texts are answered by `go run .` and written down, compressed, below a line that says how.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SEED = 20261130
RANDOM_TEXTS = 2200

SUFFIXES = ("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
EXPONENTS = (
    "e0",
    "e3",
    "e-3",
    "E6",
    "E-6",
    "e+9",
    "e09",
    "e-9",
    "e-10",
    "e-12",
    "e18",
    "e19",
    "e21",
    "e30",
    "e1",
    "e2",
)
NUMBERS = (
    *(
        "0",
        "1",
        "-1",
        "+1",
        "5",
        "7",
        "8",
        "10",
        "16",
        "80",
        "99",
        "100",
        "999",
        "1000",
        "1001",
        "1023",
        "1024",
        "1025",
    ),
    *(
        "00",
        "007",
        "-007",
        "+0",
        "-0",
        "0.0",
        ".5",
        "5.",
        "-.5",
        "+5.",
        "0.5",
        "1.5",
        "1.500",
        "1.0",
        "0.001",
        "0.0001",
    ),
    *("12345", "81559", "81920", "1048576", "1000000", "1500000", "85520809984", "79.6474609375", "123.456789"),
    *(
        "999999999999",
        "1000000000000",
        "99999999999999",
        "123456789012345",
        "999999999999999999",
        "1000000000000000000",
    ),
    *(
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "9223372036854775807.5",
        "18446744073709551616",
    ),
    *("0.000000001", "0.0000000001", "0.1234567891", "-0.0000000001", "1.0000000001", "0.0009765625", "1.1", "-1.1"),
    *(
        "123456789012345678901234567890",
        "1000000000000000000000",
        "0.12345678901234567890123",
        "000000000000000000000001.5",
    ),
)
ODD = (
    *(
        "",
        " ",
        "-",
        "+",
        ".",
        "-.",
        "Gi",
        "m",
        "E",
        "e",
        "Ki",
        "-Ki",
        ".Gi",
        "e5",
        "e-5",
        "e-10",
        "+-1",
        "--1",
        "1-",
        "1+",
    ),
    *(
        "80GB",
        "80GiB",
        "80gb",
        "80 Gi",
        " 80Gi",
        "80Gi ",
        "80Gi\n",
        "\t1",
        "1e3Gi",
        "80gi",
        "80KI",
        "80K",
        "80ki",
        "80B",
    ),
    *(
        "1e",
        "1e+",
        "1e-",
        "1ee3",
        "1e3e3",
        "1e1.5",
        "1e 3",
        "1E3i",
        "1Eim",
        "1mm",
        "1Kii",
        "1iK",
        "1i",
        "1kk",
        "1Mi1",
        "1k5",
    ),
    *(
        "1,000",
        "1_000",
        "1'000",
        "1,5",
        "1.2.3",
        "1..2",
        "0x10",
        "1e0x1",
        "inf",
        "NaN",
        "1/2",
        "50%",
        "٣",
        "１",
        "1\u0000",
        "é",
    ),
    *(
        "1e999",
        "1e-999",
        "1e1000",
        "-1e-1000",
        "1e99999999999999999999",
        "1e4294967296",
        "0e5",
        "0e-20",
        "0Ei",
        "0.000Ki",
    ),
    *(
        "8191Pi",
        "8192Pi",
        "7Ei",
        "8Ei",
        "9Ei",
        "-8Ei",
        "-9Ei",
        "7.9999Ei",
        "9.2E",
        "9.3E",
        "1000E",
        "999999E",
        "10E",
        "0.5n",
    ),
    *(
        "0.9Ki",
        "0.0001Ki",
        "-0.0001Ki",
        "1.0001Ki",
        "0.0009765625Ki",
        "1023.999Ki",
        "-1023.999Ki",
        "1.5Gi",
        "0.1Ti",
        "1u",
        "1n",
    ),
    *(
        "1" * 257,
        "0" * 200 + "1",
        "1" + "0" * 100,
        "9" * 60 + "Ki",
        "0." + "0" * 50 + "1",
        "1e0000000000000000000000003",
    ),
)

# Upstream writes such a number out: it takes minutes and gigabytes for a text of ten characters.
UNANSWERABLE = re.compile(r"[eE][+-]?0*[1-9][0-9]{4,}$")


def build_texts() -> list[str]:
    """Every text once: each number with each suffix and some exponents, the odd ones, and random ones."""
    rng = random.Random(SEED)
    texts = [number + suffix for number in NUMBERS for suffix in (*SUFFIXES, *rng.sample(EXPONENTS, 3))]
    texts += ODD
    while len(texts) < RANDOM_TEXTS + 1000:
        text = _random_quantity(rng)
        text = _damaged(rng, text) if rng.random() < 0.2 else text
        if not UNANSWERABLE.search(text):
            texts.append(text)
    return list(dict.fromkeys(texts))


def _random_quantity(rng: random.Random) -> str:
    whole = "0" * rng.choice((0, 0, 0, 1, 3)) + "".join(
        rng.choices("0123456789", k=rng.choice((0, 1, 1, 2, 3, 5, 9, 14, 19)))
    )
    zeros = "0" * rng.choice((0, 0, 0, 1, 2, 3, 6))
    fraction = (
        "." + "".join(rng.choices("0123456789", k=rng.choice((0, 1, 2, 3, 6, 9, 10, 12))))
        if rng.random() < 0.35
        else ""
    )
    exponent = rng.choice("eE") + rng.choice(("", "+", "-")) + str(rng.choice((0, 1, 2, 3, 6, 9, 12, 15, 18, 24)))
    return (
        rng.choice(("", "", "", "+", "-"))
        + whole
        + zeros
        + fraction
        + rng.choice((*SUFFIXES, exponent, exponent, exponent))
    )


def _damaged(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(" .+-eEinumkKMGTPB0x") + text[at + rng.randrange(2) :]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", type=Path, metavar="FILE")
    record = parser.parse_args().record
    lines = "".join(json.dumps(text) + "\n" for text in build_texts())
    if record is None:
        sys.stdout.write(lines)
        return
    answers = subprocess.run(
        ["go", "run", "."], input=lines, cwd=HERE, check=True, capture_output=True, text=True
    ).stdout
    module = next(line.split() for line in (HERE / "go.mod").read_text().splitlines() if "k8s.io/apimachinery" in line)
    header = {"made": "python tests/oracle/quantity/texts.py --record FILE", "by": " ".join(module), "seed": SEED}
    record.write_bytes(gzip.compress((json.dumps(header) + "\n" + answers).encode("utf-8"), mtime=0))


if __name__ == "__main__":
    main()
