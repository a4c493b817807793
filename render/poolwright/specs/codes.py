"""What each finding's code means: the rule behind it and what usually mends it. Shown by `poolwright explain CODE`."""

from __future__ import annotations

from typing import Final

CODES: Final[dict[str, str]] = {
    "adapter-rank": ("An adapter's rank is above maxRank, the largest that fits a slot of the engine."),
    "adapters-volume": ("An envelope has adapters and a model from a hub. Adapters are folders of the model's volume."),
    "admin-access": (
        "A claim asks for adminAccess in a namespace that isn't labelled for it; the API server refuses it there."
    ),
    "admin-access-assumed": (
        "A claim asks for adminAccess, and its namespace isn't among the objects given: it is taken to be labelled "
        "for it."
    ),
    "alternatives-gate": (
        "A placement names several classes, and its cluster's Kubernetes has the gate DRAPrioritizedList off: the API "
        "server would drop firstAvailable from the claim."
    ),
    "alternatives-paired": (
        "A placement has several classes, and its envelope pairs a device with each of several accelerators. Each "
        "accelerator then chooses its class by itself, and one replica could run on unlike devices."
    ),
    "alternatives-tier": (
        "The classes of a placement are of different tiers. A unit has one tier, which decides its priority, queueing "
        "and alerts."
    ),
    "api-not-served": (
        "An object's API version or kind isn't served by the pinned Kubernetes, which refuses the object."
    ),
    "application-clash": (
        "Two Applications of a project would have one name. They stand in one namespace of Argo CD, so that the "
        "second would overwrite the first: a placement called like a chart, or CLUSTER-UNIT that reads in two ways."
    ),
    "args-priced": (
        "An engine argument that one of the envelope's own fields decides, or the tool. The last of two equal"
        " arguments counts, so what runs would differ from what the envelope says; with a key or TLS no probe gets an"
        " answer."
    ),
    "attestation-invalid": (
        "A file of `attestations/` is no envelope of one signature, isn't named after its key, or says "
        "something else than a statement about a packet. What a packet's attestations may be is one form, "
        "byte for byte."
    ),
    "attribute-values": (
        "The values listed for an attribute are of different types. A device publishes an attribute with one type, so "
        "a value of another type never matches. Write only strings, only integers, or only true and false."
    ),
    "base-missing": (
        "The base of a comparison has no poolwright.yaml where the head has one, so that everything counts as new. "
        "Where a project was moved, what was there before isn't compared."
    ),
    "budget-removed": (
        "A change removes a PodDisruptionBudget whose pods stay. Draining nodes may then evict all of them at once."
    ),
    "capacity-bounds": (
        "A capacity of a device class has no bound, or bounds that no device can meet. Memory is what the driver "
        "publishes, not the marketing size: an 80 GB part has 79.6Gi."
    ),
    "cdi-off": ("A stack has DRA drivers and CDI off: containers would start without their devices."),
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
    "chart-unknown": (
        "A driver is to be installed by a chart, or by the GPU operator, and the facts have no chart of it. Let "
        "somebody else install it, and write `install: external`."
    ),
    "chart-values": (
        "Which values a chart takes at this version isn't known. Helm ignores values that a chart doesn't have, so "
        "none is set that isn't in the fact tables."
    ),
    "claim-consumer": (
        "A workload uses the named claim of a unit and isn't one of the consumers that the envelope lists. Everyone on "
        "a claim computes on the same devices, so each of them is counted."
    ),
    "claim-container": (
        "The containers that an envelope's claim is for aren't those of its pod, or the engine's isn't among them."
    ),
    "claim-pattern": (
        "A field of a claim belongs to another claim pattern, or is missing from its own; or several pods would share "
        "a named claim, which is one set of devices on one node."
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
    "class-driver-unknown": ("A class selects devices of a driver that no driver of the cluster's stack publishes."),
    "class-identity": (
        "A class selects on what names one device (uuid, index, PCI address). A class is policy and outlives devices: "
        "select on what the device is."
    ),
    "class-lost-devices": (
        "A change makes a device class select devices no longer that it selected, and workloads claim by it. Pods"
        " that run keep what they have; who restarts chooses among what is left."
    ),
    "class-twice": ("A placement names a class twice. The second try finds what the first one found."),
    "class-unpublished": (
        "A class reads an attribute or capacity that no captured or planned device of its driver has, or several that "
        "none has together, so it matches none of them. Often a misspelled name, or one that another driver version "
        "publishes."
    ),
    "cluster-unknown": ("A cluster was named that the Project doesn't have."),
    "cmp-application-invalid": (
        "`cmp test` can't say from a file what Argo CD would render: it holds no Application, or one with a field "
        "of another type, or several sources of which not exactly one has a plugin."
    ),
    "cmp-plugin-invalid": (
        "The server of plugins, argocd-cmp-server, doesn't start with this plugin.yaml. It wants the kind "
        "ConfigManagementPlugin, a name, and a command to generate with; what else it doesn't know it passes over."
    ),
    "cmp-test-input": (
        "`cmp test` lacks what it is to try: the Application, the repository, or a file that was named."
    ),
    "commit-unsafe": (
        "A commit between the two ends of a change isn't safe by itself: it can't be read, or something is wrong "
        "there that isn't wrong on the base. Two safe ends can hide it, and a cluster may be synced to it."
    ),
    "companion-attribute": (
        "A planned node's companion is said to have an attribute twice, one that it has anyway, or too many."
    ),
    "compute-class": (
        "An envelope asks for native arithmetic (fp8, say) on a class whose driver isn't in the fact table, so no "
        "selector can make sure of it."
    ),
    "constraint-choice": (
        "A constraint says that devices share an attribute's value, or that no two do; not both, nor neither."
    ),
    "count-with-all": ("A request for all matching devices has a count, which the API server refuses."),
    "credential-in-arguments": (
        "A container that a change adds or touches has a credential among its plain arguments, where the repository, "
        "the object and the node's list of processes show it. Take it from a Secret by a variable."
    ),
    "custom-build": (
        "Kustomize can't build a unit with its team's own component, or the component isn't one that may be built: it "
        "has no kustomization.yaml, or refers to something outside its folder."
    ),
    "custom-forbidden": (
        "A team's own component in custom/ changes what the specs decide: claims, classes, replicas, placement, the "
        "engine. It may add objects to the unit's namespace, labels, annotations, variables, volumes, sidecars without "
        "devices and tolerations. The fix names the spec field to use instead."
    ),
    "custom-unchecked": (
        "A unit has a component of its team's own and no Kustomize is installed, so what the component does wasn't "
        "judged."
    ),
    "custom-unused": ("A folder in custom/ belongs to no unit, so nothing in it has an effect."),
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
    "delivery-release": (
        "A cluster is delivered by packet and names no release, or names one and is delivered otherwise."
    ),
    "destination-changed": (
        "What is rendered goes to another cluster than on the base, comes from another repository, or the project has "
        "another name. All of it moves at once, and what ran at the old place runs on."
    ),
    "device-access": (
        "A workload reaches devices past any claim: by a privileged container, by a variable that the container "
        "runtime reads, or by a volume with device files."
    ),
    "device-config": (
        "The configuration of a claim or class can't be handed to its driver, or the driver would refuse it on the "
        "node."
    ),
    "device-name-shared": (
        "Devices on several nodes have the same driver, pool and name. Kubernetes knows a device by nothing else: once "
        "one of them is allocated, all are held."
    ),
    "disk-error": (
        "The file system refused an operation. What was written before is whole; the next run finishes the rest."
    ),
    "double-request": (
        "A container has a claim for GPUs and asks for a GPU as an extended resource too. The two are added up."
    ),
    "driver-minimum": (
        "The NVIDIA DRA driver asks for a later Kubernetes, GPU driver or container toolkit than the stack has. A "
        "warning where only one of two sources says so."
    ),
    "driver-names-missing": (
        "The facts don't know what a driver is called in ResourceSlices, and the stack doesn't say."
    ),
    "driver-release-unknown": (
        "A release of the NVIDIA DRA driver isn't in the fact table; what it publishes is not guessed."
    ),
    "driver-setting-unknown": (
        "A driver has no such setting under its installer, or can't be told this value. The fix lists what it can be "
        "told."
    ),
    "duplicate-name": ("Two specs, or two entries of a list that is keyed by name, have one name."),
    "engine-unable": (
        "An envelope asks what a version of its engine has no argument, or no value, for; the engine would refuse "
        "to start."
    ),
    "engine-unlisted": (
        "The arguments of a serving image's engine version aren't in the fact tables. Those of the newest version "
        "before it are rendered, which may be wrong."
    ),
    "envelope-changed": (
        "An envelope version has another meaning than on the base. Versions are immutable: receipts, records and "
        "roll-backs go by them."
    ),
    "exactly-one": ("Exactly one of several fields must be written."),
    "explain-unknown": ("The subject of `poolwright explain` is no code, field or object."),
    "extended-resource-gate": (
        "A class has an extended resource name on a cluster whose Kubernetes has the gate DRAExtendedResource off: the "
        "API server would drop the name."
    ),
    "extra-request-match": (
        "An extra request shares an attribute with each accelerator and doesn't say how many devices go with one."
    ),
    "extra-tier": ("An extra request is for a class of another tier than the placement's."),
    "fact-inconsistent": (
        "A row in facts/ names what no table has, such as a release of a line that isn't known, or contradicts another "
        "row or itself."
    ),
    "fact-repeated": (
        "Two rows in facts/ are about the same thing. What other sources say of it stands in the disagreements of one "
        "row."
    ),
    "fact-table-unknown": (
        "A file in facts/ isn't called as a table of facts, or lies in a folder below. `poolwright facts` lists the "
        "tables."
    ),
    "field-dropped": (
        "A field's feature gate is off, so the API server drops the field when the object is created; the object is "
        "judged without it. An object from a cluster may have it all the same: what was stored before stays."
    ),
    "file-missing": ("A spec names a file that isn't in the project."),
    "file-too-large": (
        "A file is larger than what is read, which is bounded so that no repository can exhaust memory."
    ),
    "file-unreadable": (
        "A file can't be read: it isn't there, is a link, is no regular file, or is too large. Links are never "
        "followed, because a repository must not make poolwright read what isn't in it."
    ),
    "fit-worse": (
        "A workload's verdict is worse than on the base, or it is new and doesn't fit in every order. An error if"
        " in no order all its replicas find devices; a warning if that depends on the order or isn't proven."
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
    "gate-conflict": (
        "Gates or settings of a driver exclude each other, or one needs another that is off. Gates that are on by "
        "default count too. A warning where it is only documented, or where a gate is turned off silently."
    ),
    "gate-kubernetes": (
        "A gate of the driver is on that needs a gate of Kubernetes, or a later release, than the stack has."
    ),
    "gate-off": (
        "A class needs a gate of its driver that the stack doesn't have on: it would match nothing. It says so "
        "(`features`), or asks for what only the gate publishes: shares, GPUs for virtual machines, an attribute."
    ),
    "gate-unknown": (
        "The release of the driver, or of Kubernetes, has no gate of the name, or refuses it to be set so. The fix "
        "lists the known."
    ),
    "git-limit": (
        "Git takes longer than it may, or says more: its time, memory and answers are bounded, so that no repository "
        "can hold up who reads it."
    ),
    "git-missing": "Revisions are to be compared, and git isn't on PATH, doesn't start or is older than 2.30.",
    "git-object": (
        "An object of a revision isn't in the repository, or can't be read: a partial clone, in which nothing is "
        "fetched here, or a damaged one."
    ),
    "git-path": (
        "A revision doesn't have the project's folder. Both sides of a comparison are read at the path where the "
        "project stands now."
    ),
    "git-range": "Two commits have no common ancestor, or more commits between them than are looked at one by one.",
    "git-repository": (
        "No Git repository holds the project's folder, or git can't open it. A bare repository inside a working tree "
        "isn't taken for one: it may have been committed there."
    ),
    "git-revision": (
        "A name means no commit of the repository, or several: a branch and a tag of one name, the start of several "
        "ids."
    ),
    "git-shallow": (
        "What is asked for may be in the part of the history that a shallow clone doesn't have. `fetch-depth: 0` of "
        "actions/checkout, `GIT_DEPTH: 0` in GitLab CI or `git fetch --unshallow` brings it."
    ),
    "git-tree": (
        "A revision's files can't be laid out in a folder: a name that no file can have, folders too deep in one "
        "another, or too much of it all."
    ),
    "hardware-unknown": (
        "Planned nodes have an accelerator that the fact table doesn't have. What they will publish isn't guessed."
    ),
    "headroom-empty": (
        "A pool's headroom names no loss. It says how many nodes, devices or zones may be lost, each by itself."
    ),
    "headroom-short": (
        "A pool says which losses every minReplicas placed on it survives, and after one of them some aren't sure of "
        "their devices. Every workload of the cluster is counted at its minimum, and reservations whole. An error if "
        "no order serves them, or one leaves out a stable replica; a warning where others would have to make room for "
        "a relocatable one, or where it isn't proven. A queueable one may wait its turn."
    ),
    "image-floating": (
        "An image is named by a tag that is meant to move, or by none. Name a version, or better a digest."
    ),
    "image-not-pinned": (
        "A stack's image is pinned less firmly than the project's policy asks: by a tag that can move, or, where the "
        "policy is digests, by no digest, neither in the stack nor in the lock as its registry gave it."
    ),
    "immutable-field": (
        "A change of a field that the API server lets nobody change once the object exists. The update is refused and "
        "the sync fails; an object of a new name, or one that is deleted first, isn't."
    ),
    "import-path": (
        "Python loaded Poolwright, or what it reads YAML with, from inside a project. A project's files are read and "
        "never run: run an installed `poolwright`, or `python -I -m poolwright`."
    ),
    "init-exists": ("`poolwright init` would overwrite a file. It never does."),
    "invalid-value": ("A text isn't what its field's format says. The fix shows the format and an example."),
    "inventory-empty": (
        "A file that was to hold a cluster's Nodes and ResourceSlices holds no object; what was to capture them most "
        "likely failed."
    ),
    "inventory-nodeless": (
        "A capture has ResourceSlices and no Node, so that `plan` would say of every pod that it fits nowhere."
    ),
    "inventory-unreadable": ("Captured Nodes or ResourceSlices aren't what `kubectl get -o yaml` prints."),
    "isolation-weaker": (
        "A class gives less of a device than the envelope's isolation asks for (a partition or a share), and the "
        "placement doesn't consent; or it consents to what needs no consent. A class that doesn't say which type it "
        "takes may give partitions."
    ),
    "key-revoked": (
        "A packet is signed by a key that the trust file lists as revoked. Its signature counts for nothing, "
        "whenever it was made; that is an error where too few other keys signed."
    ),
    "key-taken": ("The file that a new private key would be written to is there already. No key is overwritten."),
    "key-untrusted": (
        "A packet is signed by a key that the trust file doesn't list for the project. Its signature counts "
        "for nothing; that is an error where too few trusted keys signed."
    ),
    "key-unusable": (
        "A key isn't an Ed25519 key, or one of ECDSA with P-256, in PEM: PKCS#8 and unencrypted for the "
        "private key, SPKI for the public one. The message repeats nothing of it."
    ),
    "known-trap": (
        "A stack has versions of which it is known that something goes wrong, and what it takes besides. `poolwright "
        "facts known-traps` has them all, with their sources. What goes wrong only on the way from one version to "
        "another isn't said here."
    ),
    "kubernetes-range": ("A stack's Kubernetes version spans several minor releases; a cluster runs one."),
    "kubernetes-unsupported": ("A stack's Kubernetes isn't in the fact table; what it serves is not guessed."),
    "kustomize-missing": (
        "`render --verify` builds with real Kustomize, and none was found. The extra `poolwright[kustomize]` brings "
        "one."
    ),
    "kv-budget": (
        "An envelope's load.kvBudget is less than its load needs, or more than the smallest device of a class leaves."
    ),
    "lane-changed": (
        "A pool's lane, or a placement's consent to a lane or to weaker isolation, is another one than on the base."
    ),
    "lane-consent": (
        "A placement on an experiment pool must say `lane: experiment`, and only such a one may: that workloads run "
        "on alpha features is a choice that shows in a review."
    ),
    "lane-feature": (
        "A class of a baseline pool, or a claim placed on it, finds no device unless a gate is on that is alpha, off "
        "by default, or not known. Whether the stack has it on makes no difference: the baseline holds without it."
    ),
    "lane-stack": (
        "A gate that is alpha, or off unless somebody turns it on, is on in the stack of a cluster with a baseline "
        "pool. A gate is on for the whole cluster: experiments have clusters of their own."
    ),
    "ledger-disputed": (
        "Sources disagree about a feature in use: its stage, its default, or what it excludes. Each is shown with who "
        "says so; the feature ledger settles it with a fact of its own (`facts`), a source and an owner."
    ),
    "ledger-evidence": ("The feature ledger names a file as evidence that isn't in the project."),
    "ledger-fact": (
        "A fact in the feature ledger that settles nothing: no source disagrees about the field, or its value isn't of "
        "the field's type. Where sources agree they speak alone."
    ),
    "ledger-incomplete": (
        "An alpha or beta feature is in use, and its row in the feature ledger is missing, has an empty field, or "
        "shows no recovery and rollback with the driver that the stack has: by records that aren't refused, with the "
        "gate on, carried out on its test cluster. An empty field is a decision that nobody took: it never stops a "
        "sync, and stops a promotion."
    ),
    "ledger-test-cluster": (
        "A row of the feature ledger names a test cluster whose stack doesn't have the feature on, or isn't known to: "
        "nothing can be tried of it there, and no rehearsal on it is evidence. The fix lists clusters that have it on."
    ),
    "ledger-unknown": (
        "The feature ledger has a row for a component that no stack has, or for a gate that the component never had. "
        "The fix lists the known ones."
    ),
    "ledger-unused": (
        "The feature ledger has a row for a feature that nothing uses, or that is stable by now. It can go."
    ),
    "lock-stale": (
        "The lock isn't what `poolwright pin` would write: a stack, an image or an envelope was changed since, "
        "or a claim needs more memory than the lock says. What is rendered is sound; it isn't what was pinned."
    ),
    "lock-unreadable": (
        "`poolwright.lock` isn't what `poolwright pin` writes, or a newer release wrote it. Restore it from Git, or "
        "pin again."
    ),
    "matrix-unresolved": (
        "A combination that is in use isn't one exact combination: a version is a range that nothing pins, or hardware "
        "that no facts know. No rehearsal can be equal to it, so it isn't promoted."
    ),
    "misplaced-kind": ("The Project stands in poolwright.yaml, alone; every other kind below specs/."),
    "missing-field": ("A required field isn't there."),
    "model-unreadable": (
        "A model's config.json, or its measured profile, isn't what it must be, so that nothing can be priced by it."
    ),
    "name-reserved": ("A name that the rendered tree uses itself."),
    "namespace-assumed": (
        "An object names no namespace. kubectl puts it into that of its context, which isn't known; it is read as one "
        "of `default`."
    ),
    "namespace-not-admitted": ("An envelope's namespace isn't among those that the pool admits."),
    "namespace-removed": (
        "A change removes a Namespace. Kubernetes deletes everything in it, what others keep there as well."
    ),
    "node-contract": (
        "An object names nodes, node labels other than the zone, the device plugin's GPU resources, or what names "
        "one device. Workloads say which devices they need, and nothing of where those are."
    ),
    "not-a-spec": (
        "A document below specs/ isn't a map with apiVersion, kind, metadata and spec, or poolwright.yaml has no "
        "Project."
    ),
    "not-allowed": (
        "The trust file doesn't let the Argo CD project have this unit rendered, or the cluster delivered as its "
        "Project says. Parameters and specs stand in repositories; who may have what is said outside of them."
    ),
    "not-an-object": ("A document among Kubernetes objects has no apiVersion or no kind."),
    "object-duplicate": (
        "Two objects of one kind, namespace and name differ. A cluster has one, and which of the two isn't known."
    ),
    "object-refused": (
        "The API server refuses an object: a list is too long, a name stands twice or leads nowhere, or values don't "
        "go together. Nothing would be allocated for it."
    ),
    "object-unreadable": (
        "A Kubernetes object that decides an allocation isn't what its API version has: a field is missing or of "
        "another type, or the API version isn't read."
    ),
    "objects-empty": (
        "A file that was to hold Kubernetes objects holds none; what was to print them most likely failed."
    ),
    "objects-passed-over": (
        "Objects of kinds that don't decide which devices a claim gets; they are counted and not judged."
    ),
    "operator-driver": (
        "The GPU operator's release carries another release of the DRA driver than the stack says, or isn't listed "
        "with it. A warning where only one of two sources says so."
    ),
    "operator-gpu-driver": (
        "The GPU operator doesn't list the GPU driver: an error for a branch that it doesn't list, a warning for "
        "another patch, and where two sources disagree."
    ),
    "operator-kubernetes": (
        "The GPU operator doesn't list the stack's Kubernetes. A warning where no line lists it, which isn't known to "
        "fail, and where two sources disagree."
    ),
    "operator-mode": (
        "A stack leaves a part to nobody or to two: the GPU operator deploys either a ClusterPolicy or a GPUCluster, "
        "and only the latter brings the DRA driver, while only the former installs toolkit and device plugin."
    ),
    "operator-release-unknown": (
        "A release of the GPU operator isn't in the fact table; what it carries and runs on is not guessed."
    ),
    "operator-runtime": (
        "The support page of the stack's GPU Operator doesn't list its container runtime: NVIDIA doesn't test the two. "
        "Or two sources disagree about that."
    ),
    "out-of-range": ("A number is below the least or above the most that its field takes."),
    "owner-changed": (
        "An object belongs to another release, Application, unit or owner after a change. Both owners may write it, "
        "and the removal of the first one may delete it."
    ),
    "packet-added": (
        "A packet holds something that its packet.json doesn't name: a file, a link, or what is no "
        "attestation in `attestations/`."
    ),
    "packet-changed": (
        "A file of a packet has other bytes than its packet.json says, perhaps those of another file of the packet."
    ),
    "packet-commit": (
        "The commit that a packet was made from isn't in the repository, so that it can't be made again here."
    ),
    "packet-elsewhere": ("A packet is of another project than the one it is asked for."),
    "packet-index": (
        "A packet's packet.json isn't one: no JSON, an unknown version, lists out of order, or another form "
        "than the canonical one. Its bytes are the packet's digest, so it has one form."
    ),
    "packet-rebuilt": (
        "A file of a packet isn't what its commit gives. Another tool, another Kustomize, inputs that aren't the "
        "commit's, or somebody who changed it: which it is stands beside it."
    ),
    "packet-removed": ("A file that a packet's packet.json names, or SHA256SUMS, isn't there."),
    "packet-renamed": ("A packet's folder isn't called like the release in it."),
    "packet-replayed": (
        "A packet is validly signed and older than the oldest that the trust file takes (minSequence)."
    ),
    "packet-sums": ("A packet's SHA256SUMS isn't what follows from its packet.json."),
    "packet-tar": (
        "A tar isn't the one form that a packet's tar has: it is cut off or goes on, has links, folders or "
        "other paths, is out of order, or has other owners, modes, times or headers."
    ),
    "packet-unit": (
        "A release doesn't hold a unit that is to be delivered from it, or no objects of it. A warning in `check`, "
        "where a later release may bring what specs have now; an error where nothing of the cluster can be delivered."
    ),
    "packet-unreadable": (
        "There is no packet to read at the path: no folder and no tar, none with a packet.json, no "
        "permission, or more than any packet has."
    ),
    "packet-unreleasable": (
        "A packet is what its commit gives, and something in that commit stops a release that no waiver covers. "
        "The packet was made by a tool that doesn't judge as this one does."
    ),
    "parallel-alternatives": (
        "An engine's parallel sizes are fixed while the alternatives of its claim give different numbers of devices."
    ),
    "parallel-count": (
        "The devices of a replica, tensorParallel x pipelineParallel x dataParallel, can't be spread evenly over its "
        "nodes."
    ),
    "parallel-idle": ("A claim gives an engine more devices than its parallel sizes use."),
    "parallel-too-few": (
        "An engine's parallel sizes need more devices than its claim gives, so it stops at its start."
    ),
    "partition-count": ("The layouts of planned nodes cut more accelerators than a node has."),
    "partition-layout": (
        "Planned partitions can't be on the accelerator: a profile it doesn't have, more than lie side by side on its "
        "memory slices, or a layout where the driver makes the partitions itself. The fix says what fits."
    ),
    "partition-parallel": (
        "An envelope spreads its layers over several devices (tensorParallel above 1) on a class that gives partitions."
    ),
    "partition-unexpected": (
        "A node that was planned is captured now, with other partitions than its pool expects. Partitions are made by "
        "the host; what is planned on them waits until the two agree."
    ),
    "peak-short": (
        "A router pool's peakConcurrency is more than its placements carry at minReplicas without their spare "
        "replicas, or stands on a placement that joins another one's pool."
    ),
    "plan-of-another": (
        "A plan to be replayed names clusters, workloads or nodes that this project doesn't have, or was made for "
        "another scenario, as for a cluster that runs."
    ),
    "plan-unreadable": (
        "A file to be replayed isn't a plan as this version of `poolwright plan --format json` prints it."
    ),
    "planned-driver": ("Planned nodes have devices that no driver of the cluster's stack publishes."),
    "planned-limit": (
        "A planned node has more devices than its driver can publish: Kubernetes refuses the whole slice."
    ),
    "plugin-api": (
        "The destination cluster of an Argo CD Application serves a built-in kind in other versions than the rendered "
        "one: its Kubernetes isn't what the stack pins."
    ),
    "plugin-destination": (
        "The destination namespace of an Argo CD Application isn't one that its unit is rendered into."
    ),
    "plugin-output": ("A unit's objects are more than Argo CD takes from a plugin in one message."),
    "plugin-parameters": (
        "The parameters of an Argo CD Application aren't a list of strings called cluster and unit, each given once."
    ),
    "plugin-release": (
        "The release that an Argo CD Application asks for isn't the one that the Project delivers the cluster from."
    ),
    "plugin-request": (
        "An Argo CD Application doesn't say which unit it is: by both parameters, or by the path "
        "overlays/CLUSTER/UNIT, and the two agree."
    ),
    "pool-crowded": (
        "Placements on a pool take more devices than there are, all together at their peak with surge and spare "
        "replicas, or at minReplicas after a loss that the pool tolerates. It is a count: what it refuses is certain."
    ),
    "price-close": (
        "What an envelope costs on a class is so close to what its devices have that figures may be wrong either way: "
        "measure it, and name what the engine printed as model.measuredProfile."
    ),
    "price-refused": (
        "An envelope doesn't fit the smallest device of a class that its placement names: it won't start, or can't "
        "carry the load that it declares, or may run out of memory later. The fix names changes that were priced."
    ),
    "price-unsupported": (
        "An envelope has no price: its model, engine or options aren't among those that the formulas cover. What the "
        "engine printed, as model.measuredProfile, is one. On devices that several pods share nothing has a price."
    ),
    "price-worse": (
        "A placement that was admitted on a class isn't any more, or a new one isn't: its device has no memory "
        "for the load that its envelope promises."
    ),
    "project-missing": ("No poolwright.yaml in the folder or any above it."),
    "project-too-large": (
        "The specs of a project, or the files that they name, are more than what is read of one project."
    ),
    "project-untrusted": (
        "The trust file has no entry for the project of a packet, so it can't say whose signatures count."
    ),
    "quota-short": (
        "A namespace's quota of a class is below what the placements in it may claim at once: (maxReplicas + surge) x "
        "devices. A placement with several classes counts in each of them."
    ),
    "recovery-short": (
        "An envelope is to recover faster than its replicas may take to start, and has no spare replica that serves "
        "meanwhile."
    ),
    "registry-denied": (
        "`poolwright pin --online`: a registry shows an image or chart only to those it knows, and Poolwright sends "
        "no credentials. Many say so of what they don't have, too. Write the digest in the stack."
    ),
    "registry-differs": (
        "`poolwright pin --online`: a stack's image has a tag and a digest, and its registry has another image under "
        "the tag. The digest decides what runs."
    ),
    "registry-lacks": (
        "`poolwright pin --online`: a registry or chart repository has nothing under that name, tag or version."
    ),
    "registry-nonsense": (
        "`poolwright pin --online`: a server answers with what can't be used: a page in the place of a manifest, a "
        "digest that its own bytes don't have, an answer without end, redirects in a circle or to plain http. Captive "
        "portals and proxies in between do so too."
    ),
    "registry-silent": (
        "`poolwright pin --online`: a registry can't be reached or isn't trusted by its certificate, doesn't answer "
        "in time, has an error of its own or wants to be asked later."
    ),
    "registry-unnamed": (
        "`poolwright pin --online`: an image's name doesn't begin with a registry's host. Container runtimes have a "
        "default of their own for it, which can be set on each node."
    ),
    "rehearsal-claims": (
        "A claim in a rehearsal's snapshot has devices that the allocator of its Kubernetes can't give it: taken "
        "twice, not published, or not matched."
    ),
    "rehearsal-file": (
        "A file under rehearsals/ isn't one Rehearsal. Records are added as files of their own and never edited."
    ),
    "rehearsal-missing": (
        "A combination that is in use has no record of a step (install, upgrade, rollback, recovery). It is rendered "
        "and not promoted; `poolwright pin --matrix` lists what is owed."
    ),
    "rehearsal-refused": (
        "A record that proves nothing: nodes were changed by hand, it is of a day to come or of one before its "
        "versions were released, of a cluster that the project doesn't have, made up, without the other end of an "
        "upgrade or rollback, or its snapshots aren't those that it names."
    ),
    "rehearsal-stale": (
        "A combination that is in use has records of a step, and each differs from it in the fields that are said. A "
        "record proves what it was carried out on, so the step is owed again."
    ),
    "release-base": (
        "A release was made from a commit that isn't in the repository, so that what the next one changes can't "
        "be said."
    ),
    "release-dirty": (
        "The working tree isn't what the commit has, byte by byte. A release is made from the commit, so that "
        "anybody can make it again."
    ),
    "release-path": (
        "A file of evidence has a name that no packet's file can have. Packets are unpacked on every system."
    ),
    "release-short": (
        "Replicas of a cluster can't have devices at the same time, whoever of them is left out, and no single "
        "workload is certain to be. A release promises each of them a device."
    ),
    "release-taken": ("A release of this name is there. A name stands for one packet, for good."),
    "release-unpinned": (
        "A project without poolwright.lock is released. Which versions, and which render format, it would be of "
        "isn't fixed."
    ),
    "release-unreadable": (
        "A release in the commit has no index that can be read, stands in a folder of another name, or has the number "
        "of another one. Which release comes before the next isn't known."
    ),
    "release-unsatisfied": (
        "A workload of a release has replicas that get no device in any order, or its pods can't be scheduled at "
        "all. A release promises each of them a device."
    ),
    "removed-in-use": (
        "A change removes an object that others still name: a class, claim, template, namespace, priority class, "
        "account, ConfigMap, Secret or volume claim. New pods of theirs don't start."
    ),
    "replica-bounds": ("A placement's maxReplicas is below its minReplicas."),
    "request-choice": (
        "A request asks for one thing, or for the first of several that is available; not both, nor neither."
    ),
    "request-layout": (
        "A request is laid out as in resource.k8s.io/v1beta1 and says another version; what is left asks for no class."
    ),
    "restart-stranded": (
        "Replicas that run keep their devices, and after the change couldn't be placed again. Nothing shows until"
        " one of them restarts."
    ),
    "review-author": (
        "`poolwright comment`: who writes with the token isn't who comments are looked for by, so the next run "
        "wouldn't find its own comment. A GitHub App's token doesn't say whose it is: --author does."
    ),
    "review-denied": (
        "`poolwright comment`: GitHub or GitLab doesn't know the token, or doesn't let it read or write comments there."
    ),
    "review-event": (
        "`poolwright comment --workflow-run`: the file isn't the event of a job `on: workflow_run`, or is of another "
        "repository. GitHub writes it and puts its path into GITHUB_EVENT_PATH."
    ),
    "review-locked": (
        "`poolwright comment`: the conversation is locked, or its project archived, and takes no comments."
    ),
    "review-missing": (
        "`poolwright comment`: the server shows the token no such repository, pull request or merge request. One that "
        "is private and one that isn't there look the same."
    ),
    "review-moved": (
        "`poolwright comment`: the server sends on to another address, as for a repository that was renamed. The token "
        "would go along, so redirects aren't followed."
    ),
    "review-nonsense": (
        "`poolwright comment`: an answer that isn't what the API of GitHub or GitLab gives, or is too large. Often a "
        "proxy or a page to sign in stands between."
    ),
    "review-refused": (
        "`poolwright comment`: the server doesn't take the text of a comment, most likely as it allows shorter ones."
    ),
    "review-report": (
        "`poolwright comment`: the report can't be read, isn't what `poolwright diff --format json` prints, or is of "
        "another project than --name says. Whoever opens a pull request can have made it."
    ),
    "review-setup": (
        "`poolwright comment`: an option or variable doesn't name a repository, project, artifact, address or proxy "
        "that can be meant, or nothing says where the comment belongs."
    ),
    "review-silent": (
        "`poolwright comment`: the server can't be reached or isn't trusted by its certificate, doesn't answer in "
        "time, has errors of its own, asks for more patience than there is, or somebody else changes the same "
        "comments. The next run goes on from what is there."
    ),
    "review-token": (
        "`poolwright comment`: there is no token, or it isn't one. It comes from the environment alone, so that it is "
        "in no list of processes."
    ),
    "rollout-stuck": (
        "A change replaces the pods of a workload, and its rollout may not complete: old replicas hold devices "
        "that new ones wait for."
    ),
    "route-gateway": (
        "A placement has hostnames on a cluster without a gateway. A route is attached to a Gateway, which the Project "
        "names for each cluster; without one the names would lead nowhere."
    ),
    "route-joined": (
        "A placement has hostnames and joins the router pool of another. A pool has one route: that of its owner."
    ),
    "router-pool-chain": (
        "A placement joins the router pool of one that joins another's itself, and so has none of its own."
    ),
    "router-pool-namespace": (
        "A placement joins a router pool of another namespace. An InferencePool selects pods of its own namespace only."
    ),
    "router-pool-picker": (
        "A placement joins the router pool of a unit whose envelope has no endpoint picker. That unit has no pool: its "
        "Service reaches its own replicas only."
    ),
    "secret-inline": ("A Secret is written out among the objects. Its values are never shown."),
    "shortfall-grew": (
        "Of all replicas of a cluster together more are without devices than on the base, in any order, though "
        "each workload alone may still be served. Two pull requests that are both green can be jointly short in "
        "this way."
    ),
    "side-unbuilt": (
        "A folder that is to be compared holds a kustomization: what is applied is what Kustomize builds of it, "
        "so build both sides first. Or a project stands in a folder below it: pass --project DIR."
    ),
    "side-unknown": (
        "What is to be compared is no folder and no revision, is both, or is a folder where history is asked for."
    ),
    "sidecar-clash": ("A sidecar has the name, the port or the image of something else in the pod."),
    "signature-elsewhere": (
        "An attestation is validly signed by a trusted key, and is about another packet, or about this one "
        "before packet.json was changed."
    ),
    "signature-missing": ("A packet has no attestation: nobody signed it, or the signatures were taken away."),
    "signature-threshold": ("Fewer trusted keys signed a packet than the trust file asks for. A key counts once."),
    "signature-wrong": (
        "An attestation names a trusted key, and the signature isn't that key's: it, or what it is of, was changed."
    ),
    "silent-move": (
        "A workload may get other hardware than on the base, though none of its own objects changes: its class "
        "does, or the devices do."
    ),
    "slo-unmeasured": (
        "An envelope promises latencies of a custom engine. Which series such an engine reports them in isn't known, "
        "so the promise would have no alert."
    ),
    "snapshot-unreadable": (
        "A snapshot isn't in its one form, or holds what none may: Secrets, managedFields, literal values of "
        "environment variables. It is never edited; capture the cluster again."
    ),
    "startup-probe-missing": (
        "A container that loads a model has a liveness probe and no start-up probe, so that it can be restarted "
        "for ever before it has loaded."
    ),
    "step-too-large": (
        "A spec's version took a larger step than its change deserves. That is allowed, and readers will look for a "
        "break that isn't there."
    ),
    "step-too-small": (
        "A spec's version took a smaller step than its change deserves, none, or one back. Major: something that "
        "others rely on goes away or narrows, or a verdict gets worse. Minor: rendered objects differ otherwise. "
        "Patch: nothing differs outside labels and annotations."
    ),
    "surge-short": (
        "A placement has surge, and its replicas aren't sure of their devices at maxReplicas and surge together: a "
        "rollout may wait for a device, and stands still with the old replicas serving. An error where the devices are "
        "never there, or some order takes them from a stable envelope; else a warning."
    ),
    "surge-tier": ("An interactive placement must write its surge, 0 included; a batch one has none."),
    "taint-reaches": (
        "A node or device has a new taint, and workloads that could use it don't tolerate that. Pods that run there "
        "keep their devices or must leave, by the taint's effect; new ones stay away."
    ),
    "taint-rule-all": ("A DeviceTaintRule without a field in its selector taints every device of the cluster."),
    "template-decides": (
        "A workload template sets what a cluster decides: replicas, roll-out, claims, placement, priority. A base is "
        "the same on every cluster."
    ),
    "template-drops-claim": (
        "A workload template's container uses the pod's devices where the envelope doesn't say so, or doesn't where it "
        "does; or the engine's container isn't there."
    ),
    "template-error": (
        "A Jinja2 template can't be rendered. Undefined names are errors, and there are no includes, no files and no "
        "way to Python's own objects."
    ),
    "template-limit": (
        "A template takes more time or memory, or prints more, than one may: 2 s, 256 MiB, 1 MiB. It runs in a process "
        "of its own that ends then."
    ),
    "template-missing": ("A custom engine needs the team's template: nothing is known of how it is started or probed."),
    "template-part": (
        "A workload template drops or changes a part that other objects rest on: names, labels, the selector, volumes, "
        "a container."
    ),
    "template-result": ("A workload template gives something else than exactly the one workload of its unit."),
    "templates-off": (
        "An envelope's workload is a template, and POOLWRIGHT_TEMPLATES=off switches templates off where this runs."
    ),
    "tier-behavior": (
        "An envelope's replicaBehavior doesn't go with the tier that it is placed on: interactive takes stable and "
        "relocatable, batch takes relocatable and queueable."
    ),
    "toleration-value": ("A toleration with operator Exists has a value, which the API server refuses."),
    "tree-locked": ("Another poolwright is writing the same tree."),
    "tree-stale": (
        "The committed folder of a unit isn't what the specs give: rendered from other specs, left half-written, or "
        "edited. `generate` doesn't emit what nobody reviewed; run `poolwright render` and commit."
    ),
    "trust-inside": (
        "The trust file lies in a project, in what Argo CD sent, or in the repository of the packet that it judges: "
        "who may write there would decide whom to trust."
    ),
    "trust-missing": (
        "There is no trust file that can be read: nobody may have anything rendered by the sidecar, and no packet can "
        "be verified."
    ),
    "unbounded-load": (
        "An envelope says how long requests are and not how many a replica carries at once, so its KV cache has no "
        "upper bound and no price."
    ),
    "unit-unknown": ("A cluster has no unit of the name: a unit is a placement on one of its pools, or `platform`."),
    "unknown-field": ("A field isn't in the schema. It would have no effect, so it is refused."),
    "unknown-kind": ("A document's kind isn't one of this API."),
    "unknown-value": ("A value isn't among those that its field takes."),
    "verdict-short": (
        "A placement's verdict is less than its envelope's replicaBehavior demands. stable may neither move nor wait: "
        "always-fits at maxReplicas. relocatable may move: always-fits at minReplicas, and a warning if others would "
        "have to be moved first. queueable may wait: in some order at least one replica fits. All others are counted "
        "at their peak."
    ),
    "version-bounds": ("A version of a device class has no bound, or bounds that no version can meet."),
    "version-unresolved": (
        "A stack writes a range of versions in which none is known, so `poolwright pin` can't choose one; versions are "
        "never made up."
    ),
    "waiver-expired": (
        "A waiver's last day has passed. Its findings are what they were again, and it is one itself until it is "
        "removed or somebody answers for another day."
    ),
    "waiver-forbidden": (
        "A waiver of a rule that has no exceptions. Only risks have: what people owe, and what may turn out short. "
        "What can't be read, found, rendered or started isn't made good by a reason."
    ),
    "waiver-too-long": (
        "A waiver counts for longer than the project's policy.waiverMaxAge allows, from the day that is judged on."
    ),
    "waiver-unknown": ("A waiver of a rule that doesn't exist. The fix names rules like it."),
    "waiver-unused": (
        "A waiver that waives nothing: what it was for is mended, or stands elsewhere, or at another path. It would "
        "hide the next one without anybody having agreed to that."
    ),
    "workload-gone": (
        "A workload, or a cluster with all of its workloads, isn't there any more after a change. Where pruning is on, "
        "its pods end with the next sync."
    ),
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
    "zone-unknown": ("A placement must run in a zone that no captured or planned node is in."),
}

# The rules that a waiver may make a warning until a day: risks, which block a promotion and never a sync. None says
# that something can't be read, found or rendered, or won't start.
WAIVABLE: Final[frozenset[str]] = frozenset(
    (
        *("headroom-short", "peak-short", "pool-crowded", "quota-short", "recovery-short", "surge-short"),
        *("verdict-short", "price-close", "price-unsupported", "image-not-pinned", "known-trap"),
        *("ledger-disputed", "ledger-evidence", "ledger-incomplete", "ledger-test-cluster"),
        *("release-short", "release-unsatisfied"),
        *("matrix-unresolved", "rehearsal-claims", "rehearsal-missing", "rehearsal-refused", "rehearsal-stale"),
    )
)


def explain_code(code: str) -> str:
    """What a known code means, and whether it can be waived."""
    return CODES[code] + (" A waiver can make it a warning until a day." if code in WAIVABLE else "")
