"""Certificates for servers on loopback, which nobody trusts unasked."""

from __future__ import annotations

import subprocess
from pathlib import Path

from needs import needs


def make_certificate(folder: Path, names: str) -> Path:
    """A file with a key and its certificate; names as subjectAltName has them."""
    command = (needs("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=a")
    command += ("-addext", f"subjectAltName={names}", "-keyout", "key.pem", "-out", "cert.pem")
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (folder / "both.pem").write_text((folder / "key.pem").read_text() + (folder / "cert.pem").read_text())
    return folder / "both.pem"
