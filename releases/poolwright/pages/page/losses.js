/* What a loss does: in the panel beside the map for what was chosen, and as a list of all of them. */

const MOST_NAMES = 12;
const MOST_DEVICES = 60;

/** The panel of one thing. */
function showLoss(side, pick) {
  const { cluster } = pick;
  const loss = cluster.lossOf(pick);
  return [
    make("h3", { tabindex: "-1" }, `If ${pick.thing} `, code(pick.name), " is lost"),
    make("p", { class: "small" }, placeOf(pick)),
    ...(loss === null ? sayNotJudged(cluster) : sayLoss(side, loss)),
    make("h4", null, "What it has"),
    ...showHolders(pick),
  ];
}

function sayNotJudged(cluster) {
  const why = cluster.data.lossesJudged ? "Nothing was judged of this." : "Losses weren't judged here.";
  return [make("p", { class: "none" }, why)];
}

function sayLoss(side, loss) {
  const unsatisfied = loss.unsatisfied.map((index) => side.units[index]);
  const rows = loss.changes.map((one) => {
    const unit = side.units[one.unit];
    return [unitLink(unit), [wordMark(unit.verdict), ` ${unit.counts}`], [wordMark(one.verdict), ` ${one.counts}`], prose(one.sentence)];
  });
  const alike = loss.members > 1 ? `The same is true of each of ${count(loss.members, loss.thing, plural(loss.thing))}: of any one, not of all together.` : "";
  return [
    make("p", { class: unsatisfied.length ? "lead bad" : "lead" }, prose(loss.sentence)),
    unsatisfied.length
      ? make("div", null, make("h4", null, "Who can't have all replicas then"), listOf(unsatisfied.map((unit) => unitLink(unit))))
      : make("p", null, loss.changes.length ? "Nobody is certain to be left without; it depends on who starts first." : "Nobody is left without."),
    make("p", null, `${count(loss.lost, "device")} lost; replicas without devices: ${loss.shortfall || "0"}.`, alike ? ` ${alike}` : ""),
    rows.length ? table("Verdicts that change", ["Workload", "Now", "Then", "What it means"], rows) : null,
  ];
}

function plural(thing) {
  return thing === "family" ? "families" : `${thing}s`;
}

/** Where a thing is, with links to what is around it. */
function placeOf(pick) {
  const { cluster, thing, index } = pick;
  const parts = [["cluster ", code(cluster.name)]];
  const node = thing === "node" ? index : thing === "device" ? cluster.devices.node[index] : NONE;
  const zone = node === NONE ? NONE : cluster.data.nodes[node].zone;
  if (zone !== NONE) parts.push(["zone ", pickLink(cluster.pickOf("zone", zone))]);
  if (thing === "device") {
    if (node !== NONE) parts.push(["node ", pickLink(cluster.pickOf("node", node))]);
    const family = cluster.devices.family[index];
    if (family !== NONE) parts.push(["family ", pickLink(cluster.pickOf("family", family))]);
    const source = cluster.data.sources[cluster.devices.source[index]];
    parts.push(["driver ", code(source.driver)], ["pool ", code(source.pool)], [`mode ${MODES[cluster.devices.mode[index]]}`]);
  }
  return joined(parts, "; ").flat();
}

/** Units that have devices of a thing; of one device, each claim. */
function showHolders(pick) {
  const { cluster } = pick;
  const rows = cluster.rowsOf(pick);
  if (pick.thing === "device") return [showPiece(cluster, rows)];
  const counts = new Map();
  for (const row of rows) for (const unit of cluster.unitsOf(row)) counts.set(unit, (counts.get(unit) ?? 0) + 1);
  const items = [...counts].map(([unit, number]) => [unitLink(unit), `: ${count(number, "device")}`]);
  const total = make("p", null, `${count(rows.length, "device")} published.`, counts.size ? "" : " Nobody has one.");
  return [total, counts.size ? listOf(items) : null];
}

function showPiece(cluster, rows) {
  const some = rows.slice(0, MOST_DEVICES).map((row) => {
    const units = cluster.unitsOf(row);
    const slots = (cluster.slotsOf.get(row) ?? []).map((slot) => describeSlot(cluster, slot));
    return [pickLink(cluster.pickOf("device", row)), ": ", ...(slots.length ? joined(slots) : units.length ? joined(units.map(unitLink)) : ["free"])];
  });
  if (rows.length > MOST_DEVICES) some.push(`${rows.length - MOST_DEVICES} more`);
  return listOf(some);
}

function describeSlot(cluster, slot) {
  const { unit, ordinal, pod } = cluster.data.slots;
  const holder = cluster.side.units[unit[slot]];
  return make("span", null, unitLink(holder), ` replica ${ordinal[slot]}${pod[slot] ? `, pod ${pod[slot]}` : ""}`);
}

/** All losses of a side, the worst first. */
function listLosses(side) {
  const losses = side.clusters.flatMap((cluster) => {
    const members = gatherMembers(cluster);
    return cluster.data.lossClasses.map((loss, index) => ({ cluster, loss, members: members.get(index) ?? [] }));
  });
  const order = (one) => [-one.loss.unsatisfied.length, -one.loss.changes.length, THINGS.indexOf(one.loss.thing)];
  losses.sort((one, other) => order(one).map((value, index) => value - order(other)[index]).find((value) => value) ?? 0);
  const harmful = losses.filter((one) => one.loss.unsatisfied.length || one.loss.changes.length);
  const harmless = losses.filter((one) => !harmful.includes(one));
  const unjudged = side.clusters.filter((cluster) => !cluster.data.lossesJudged);
  const rows = (some) => some.map(({ cluster, loss, members }) => [nameMembers(loss, members), code(cluster.name),
    loss.unsatisfied.length ? joined(loss.unsatisfied.map((index) => unitLink(side.units[index]))) : loss.changes.length ? "nobody for certain" : "nobody", prose(loss.sentence)]);
  const head = ["What is lost: any one of", "Cluster", "Who can't have all replicas then", "In words"];
  return [
    unjudged.length ? make("p", { class: "none" }, "Losses weren't judged of ", joined(unjudged.map((one) => code(one.name))), ".") : null,
    losses.length && !harmful.length ? make("p", null, "No single loss leaves anybody without.") : null,
    harmful.length ? table("Losses that leave somebody without, or change a verdict", head, rows(harmful)) : null,
    harmless.length ? details(`Losses that change nothing (${harmless.length})`, table("Losses that change nothing", head, rows(harmless))) : null,
  ];
}

/** By loss class the things in it; of devices of one piece only the first. */
function gatherMembers(cluster) {
  const members = new Map();
  const pieces = new Set();
  for (const thing of THINGS) {
    for (const pick of cluster.list(thing)) {
      if (pick.lossClass === NONE) continue;
      if (thing === "device") {
        const piece = cluster.devices.piece[pick.index];
        if (pieces.has(piece)) continue;
        pieces.add(piece);
      }
      if (!members.has(pick.lossClass)) members.set(pick.lossClass, []);
      members.get(pick.lossClass).push(pick);
    }
  }
  return members;
}

function nameMembers(loss, members) {
  const word = (members.length > 1 ? plural(loss.thing) : loss.thing) + " ";
  const named = members.slice(0, MOST_NAMES).map((pick) => (loss.thing === "device" ? [pickLink(pick), onNode(pick)] : [pickLink(pick)]));
  const rest = members.length - named.length;
  return [word, ...joined(named).flat(), rest > 0 ? ` and ${rest} more` : ""];
}

function onNode(pick) {
  const node = pick.cluster.nodeOf(pick.index);
  return node ? ` of ${node.name}` : "";
}
