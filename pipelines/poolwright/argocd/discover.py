"""Whether the plugin is for an Application that names none: what a discovery command prints, or nothing.

Argo CD asks for every Application of any repository that says no type, so this loads next to nothing, and looks at two
names.
"""

import os
from collections.abc import Mapping

# As in specs.parse, trees.folder and argocd.sent, which load other modules first.
_PROJECT_FILE = "poolwright.yaml"
_MANIFEST = "poolwright-manifest.json"
_TREE = "overlays"
_NO_CLUSTER, _NO_UNIT = "base", "argocd"  # folders of the tree that are no cluster's, or no unit's


def find_marker(folder: str, environ: Mapping[str, str]) -> str:
    """The file by which an Application is one of ours; empty: it isn't.

    folder: the Application's own, where Argo CD runs this; not the repository's root.
    Note:   a unit's rendered folder is ours by its path. A project's is only where the Application has a plugin
            section, which may say the unit: without one there are no parameters, and the variable isn't set.
    """
    names = [name for name in environ.get("ARGOCD_APP_SOURCE_PATH", "").split("/") if name not in ("", ".")]
    is_unit = len(names) > 2 and names[-3] == _TREE and names[-2] != _NO_CLUSTER and names[-1] != _NO_UNIT
    if is_unit and os.path.isfile(os.path.join(folder, _MANIFEST)):  # noqa: PTH113, PTH118 (start-up: no pathlib)
        return _MANIFEST
    has_section = "ARGOCD_APP_PARAMETERS" in environ
    if has_section and os.path.isfile(os.path.join(folder, _PROJECT_FILE)):  # noqa: PTH113, PTH118
        return _PROJECT_FILE
    return ""
