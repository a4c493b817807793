"""What each finding's code means: the rule behind it and what usually mends it. Shown by `poolwright explain CODE`."""

from __future__ import annotations

from typing import Final

CODES: Final[dict[str, str]] = {
    "admin-access": (
        "A claim asks for adminAccess in a namespace that isn't labelled for it; the API server refuses it there."
    ),
    "api-not-served": (
        "An object's API version or kind isn't served by the pinned Kubernetes, which refuses the object."
    ),
    "attribute-values": (
        "The values listed for an attribute are of different types. A device publishes an attribute with one type, so "
        "a value of another type never matches. Write only strings, only integers, or only true and false."
    ),
    "capacity-bounds": (
        "A capacity of a device class has no bound, or bounds that no device can meet. Memory is what the driver "
        "publishes, not the marketing size: an 80 GB part has 79.6Gi."
    ),
    "cel-invalid": (
        "A raw selector isn't a CEL expression that Kubernetes takes for a device. The official parser and type "
        "checker say why; the API server would refuse the class for the same reason."
    ),
    "cel-memory-size": (
        "A selector asks for as many Gi of memory as a part is sold with GB. The part publishes less, so it never "
        "matches."
    ),
    "cel-never-matches": (
        "A selector compares values of different types, or has a text or number that no device can have: the "
        "comparison is never true, always true, or fails and aborts scheduling."
    ),
    "cel-unguarded": (
        "A selector reads an attribute or capacity that not every device it meets is known to have. Reading what "
        "isn't there is an error that aborts the pod's scheduling attempt; check with has() first."
    ),
    "cel-unpublished": (
        "A selector reads an attribute or capacity that no device of its driver is known to have, often for its domain."
    ),
    "claim-shared": ("Pods share one claim: all of them run on the same devices, and only where those are."),
    "claim-source": ("A pod's claim names both a ResourceClaim and a template, or neither of them. It takes one."),
    "claim-too-many-devices": (
        "A claim asks for more devices than one allocation can hold, so it can never be allocated."
    ),
    "claim-unknown": ("A container uses a claim that its pod doesn't have, or a request that isn't in the claim."),
    "claim-unused": (
        "No container uses a claim of its pod. Its devices are allocated all the same, and nobody sees them."
    ),
    "class-attribute-type": (
        "A class compares an attribute with a value of another type than drivers publish it with. In CEL such a "
        "comparison is false, or an error that aborts scheduling; versions are compared with compareTo(semver(...))."
    ),
    "class-identity": (
        "A class selects on what names one device (uuid, index, PCI address). A class is policy and outlives devices: "
        "select on what the device is."
    ),
    "class-unpublished": (
        "A class reads an attribute or capacity that no captured device of its driver has, so it matches none of "
        "them. Often a misspelled name, or one that another driver version publishes."
    ),
    "cluster-unknown": ("A cluster was named that the Project doesn't have."),
    "compute-class": (
        "An envelope asks for native arithmetic (fp8, say) on a class whose driver isn't in the fact table, so no "
        "selector can make sure of it."
    ),
    "constraint-choice": (
        "A constraint says that devices share an attribute's value, or that no two do; not both, nor neither."
    ),
    "count-with-all": ("A request for all matching devices has a count, which the API server refuses."),
    "dangling-claim": (
        "A pod names a claim or template that isn't among the objects. Unless the cluster has it, the pod waits."
    ),
    "dangling-class": (
        "A claim names a DeviceClass that isn't among the objects although others are. Without it in the cluster, "
        "every scheduling attempt ends with an error."
    ),
    "dangling-reference": (
        "A spec names another one, or an entry of one, that doesn't exist. The fix lists what does."
    ),
    "device-config": (
        "The configuration of a claim or class can't be handed to its driver, or the driver would refuse it on the "
        "node."
    ),
    "disk-error": (
        "The file system refused an operation. What was written before is whole; the next run finishes the rest."
    ),
    "double-request": (
        "A container has a claim for GPUs and asks for a GPU as an extended resource too. The two are added up."
    ),
    "duplicate-name": ("Two specs, or two entries of a list that is keyed by name, have one name."),
    "explain-unknown": ("The subject of `poolwright explain` is no code, field or object."),
    "file-missing": ("A spec names a file that isn't in the project."),
    "file-too-large": (
        "A file is larger than what is read, which is bounded so that no repository can exhaust memory."
    ),
    "file-unreadable": (
        "A file can't be read: it isn't there, is a link, is no regular file, or is too large. Links are never "
        "followed, because a repository must not make poolwright read what isn't in it."
    ),
    "folder-absent": ("A unit's folder below overlays/ isn't there; `poolwright render` writes it."),
    "folder-edited": (
        "A rendered file was changed by hand. The change belongs in the specs; what they can't say can't be changed in "
        "this version. `poolwright render --discard-edits` gives it up."
    ),
    "folder-foreign": ("A file that poolwright didn't write stands in a rendered folder. It is never touched."),
    "folder-interrupted": ("A render of the folder was stopped before its end; the next one finishes it."),
    "folder-record": ("The record that a rendered folder keeps of its files can't be used."),
    "folder-stale": ("A unit's folder isn't what the specs give, or nothing gives it any more; render and commit."),
    "image-floating": (
        "An image is named by a tag that is meant to move, or by none. Name a version, or better a digest."
    ),
    "init-exists": ("`poolwright init` would overwrite a file. It never does."),
    "invalid-value": ("A text isn't what its field's format says. The fix shows the format and an example."),
    "inventory-unreadable": ("Captured Nodes or ResourceSlices aren't what `kubectl get -o yaml` prints."),
    "kubernetes-range": ("A stack's Kubernetes version spans several minor releases; a cluster runs one."),
    "kubernetes-unsupported": ("A stack's Kubernetes isn't in the fact table; what it serves is not guessed."),
    "kustomize-missing": (
        "`render --verify` builds with real Kustomize, and none was found. The extra `poolwright[kustomize]` brings "
        "one."
    ),
    "lane-consent": (
        "A placement on an experiment pool must say `lane: experiment`, and only such a one may: that workloads run "
        "on alpha features is a choice that shows in a review."
    ),
    "misplaced-kind": ("The Project stands in poolwright.yaml, alone; every other kind below specs/."),
    "missing-field": ("A required field isn't there."),
    "name-reserved": ("A name that the rendered tree uses itself."),
    "namespace-not-admitted": ("An envelope's namespace isn't among those that the pool admits."),
    "node-contract": (
        "An object names nodes, node labels other than the zone, the device plugin's GPU resources, or what names "
        "one device. Workloads say which devices they need, and nothing of where those are."
    ),
    "not-a-spec": (
        "A document below specs/ isn't a map with apiVersion, kind, metadata and spec, or poolwright.yaml has no "
        "Project."
    ),
    "not-an-object": ("A document among Kubernetes objects has no apiVersion or no kind."),
    "objects-empty": (
        "A file that was to hold Kubernetes objects holds none; what was to print them most likely failed."
    ),
    "out-of-range": ("A number is below the least or above the most that its field takes."),
    "parallel-alternatives": (
        "An engine's parallel sizes are fixed while the alternatives of its claim give different numbers of devices."
    ),
    "parallel-idle": ("A claim gives an engine more devices than its parallel sizes use."),
    "parallel-too-few": (
        "An engine's parallel sizes need more devices than its claim gives, so it stops at its start."
    ),
    "project-missing": ("No poolwright.yaml in the folder or any above it, or no such folder."),
    "project-too-large": (
        "Below specs/ are more files, folders in one another or bytes than what is read, which is bounded so that no "
        "repository can exhaust memory or time."
    ),
    "request-choice": (
        "A request asks for one thing, or for the first of several that is available; not both, nor neither."
    ),
    "request-layout": (
        "A request is laid out as in resource.k8s.io/v1beta1 and says another version; what is left asks for no class."
    ),
    "secret-inline": ("A Secret is written out among the objects. Its values are never shown."),
    "startup-probe-missing": (
        "A container that loads a model has a liveness probe and no start-up probe, so that it can be restarted "
        "for ever before it has loaded."
    ),
    "taint-rule-all": ("A DeviceTaintRule without a field in its selector taints every device of the cluster."),
    "toleration-value": ("A toleration with operator Exists has a value, which the API server refuses."),
    "tree-locked": ("Another poolwright is writing the same tree."),
    "tree-stale": (
        "The committed folder of a unit isn't what the specs give: rendered from other specs, left half-written, or "
        "edited. `generate` doesn't emit what nobody reviewed; run `poolwright render` and commit."
    ),
    "unit-unknown": ("A cluster has no unit of the name: a unit is a placement on one of its pools, or `platform`."),
    "unknown-field": ("A field isn't in the schema. It would have no effect, so it is refused."),
    "unknown-kind": ("A document's kind isn't one of this API."),
    "unknown-value": ("A value isn't among those that its field takes."),
    "wrong-api-version": ("A document's apiVersion isn't the one that this release reads."),
    "wrong-length": ("A list has too few or too many entries."),
    "wrong-type": (
        "A value has another type than its field. YAML decides types by looks: 1.36 is a number until it is quoted."
    ),
    "yaml-alias": ("A YAML alias. It can expand without bound, and what it brings has no place of its own."),
    "yaml-character": ("A control, line-separating or direction-changing character."),
    "yaml-depth": ("A value is nested too deep."),
    "yaml-duplicate-key": ("A key stands twice in one map; readers disagree on which counts."),
    "yaml-encoding": ("The file isn't UTF-8."),
    "yaml-key": ("A map key that YAML doesn't read as a string."),
    "yaml-number": ("A number of more digits than are read."),
    "yaml-syntax": ("The file isn't YAML."),
    "yaml-tag": ("A YAML tag that builds something else than plain data."),
    "zone-unknown": ("A placement must run in a zone that no captured node is in."),
}
