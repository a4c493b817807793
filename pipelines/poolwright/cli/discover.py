"""`poolwright cmp discover`: a line if the Application is one of ours, and not a word if it isn't."""

import os
import sys

from poolwright.argocd.discover import find_marker


def run_discover() -> int:
    """Print the file that shows it. The exit code is 0 either way: Argo CD goes by whether anything was printed."""
    marker = find_marker(os.getcwd(), os.environ)  # noqa: PTH109 (start-up: no pathlib)
    if marker:
        sys.stdout.write(f"{marker}\n")
    return 0
