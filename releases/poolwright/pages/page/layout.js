/* Where things stand on the map: clusters, in them zones, in them nodes, in them devices. */

const PAD = 8;
const CELL = 22;
const SLIVER = 13; // a part of a GPU is never narrower
const GAP = 3;
const TITLE = 17;
const CHAR = 6.7;
const PER_ROW = 8;
const HEADS = { cluster: 34, zone: 26 };

/**
 * The map's bands from top to bottom, {y, h, items}, which drawing and finding go by; and its stops, what the keyboard
 * goes to: zones, nodes and parts of devices, each with its parent and children.
 */
function layOut(side, filter, width) {
  const plan = { bands: [], height: PAD, width, levels: [[], [], []], shown: 0, total: 0 };
  for (const cluster of side.clusters) {
    const nodes = cluster.nodes.map((node) => placeParts(cluster, node, filter, width - 4 * PAD)).filter((one) => one !== null);
    plan.total += cluster.devices.name.length;
    if (!nodes.length) continue;
    addHead(plan, { kind: "cluster", cluster, label: cluster.name, more: sayCluster(cluster) });
    let zone = null;
    for (const box of nodes) {
      const label = nameZone(cluster, box.node);
      if (zone?.label !== label) {
        zone = { kind: "zone", cluster, index: box.node.zone, children: [], label };
        addHead(plan, zone);
        plan.levels[0].push(zone);
      }
      addBox(plan, zone, box);
    }
    plan.height += PAD;
  }
  plan.levels.forEach((stops) => stops.forEach((stop, place) => { stop.place = place; }));
  return plan;
}

function sayCluster(cluster) {
  const { kubernetes, devices, nodes } = cluster.data;
  return `Kubernetes ${kubernetes}, ${count(nodes.length, "node")}, ${count(devices.name.length, "device")}`;
}

function nameZone(cluster, node) {
  if (node.index === NONE) return "Devices on no single node";
  return node.zone === NONE ? "Nodes without a zone" : `zone ${cluster.data.zones[node.zone].name}`;
}

function addHead(plan, item) {
  Object.assign(item, { x: PAD, y: plan.height, w: plan.width - 2 * PAD, h: HEADS[item.kind], level: item.kind === "zone" ? 0 : NONE });
  plan.bands.push({ y: item.y, h: item.h, items: [item] });
  plan.height += item.h;
}

/** A node's box with its parts from its own corner, none wider than `most`; null: nothing of it is to be shown. */
function placeParts(cluster, node, filter, most = Infinity) {
  const box = { kind: "node", cluster, node, index: node.index, level: 1, children: [], label: node.name };
  let [x, y, widest, inRow, matches] = [0, 0, 0, 0, 0];
  for (const piece of node.pieces) {
    const widths = piece.length === 1 ? [CELL] : piece.map((part) => SLIVER * Math.max(1, part.weight * 0.75));
    const isFull = inRow === PER_ROW || x + widths.reduce((sum, one) => sum + one, 0) > most;
    if (inRow && isFull) [x, y, inRow] = [0, y + CELL + GAP, 0];
    piece.forEach((part, index) => {
      const isShown = filter.takesDevice(cluster, part.row, part.units);
      matches += isShown ? 1 : 0;
      box.children.push({ kind: "device", cluster, part, index: part.row, x, y, w: widths[index], h: CELL, isShown, level: 2, parent: box, children: [] });
      x += widths[index];
    });
    widest = Math.max(widest, x);
    x += GAP;
    inRow += 1;
  }
  if (!node.pieces.length) matches = filter.isOpen || (filter.takesCluster(cluster) && filter.query && node.name.toLowerCase().includes(filter.query)) ? 1 : 0;
  if (!matches) return null;
  const title = Math.min(node.name.length, 26) * CHAR + (node.isPlanned ? 9 * CHAR : 0);
  return Object.assign(box, { w: Math.max(widest, title, 60) + 2 * PAD, h: TITLE + y + CELL + 2 * PAD });
}

function addBox(plan, zone, box) {
  box.w = Math.min(box.w, plan.width - 2 * PAD);
  let band = plan.bands[plan.bands.length - 1];
  const last = band.items[band.items.length - 1];
  const x = last.kind === "node" ? last.x + last.w + PAD : PAD;
  if (last.kind !== "node" || x + box.w > plan.width - PAD) {
    band = { y: plan.height, h: 0, items: [] };
    plan.bands.push(band);
  }
  box.x = band.items.length ? x : PAD;
  box.y = band.y;
  band.items.push(box);
  band.h = Math.max(band.h, box.h + PAD);
  plan.height = band.y + band.h;
  box.parent = zone;
  zone.children.push(box);
  plan.levels[1].push(box);
  for (const part of box.children) {
    part.x += box.x + PAD;
    part.y += box.y + PAD + TITLE;
    plan.shown += part.isShown ? 1 : 0;
    if (part.isShown) plan.levels[2].push(part);
  }
}

/** The first band that ends below a height. */
function bandAt(bands, y) {
  let [low, high] = [0, bands.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bands[middle].y + bands[middle].h <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What is at a point: a device's part, its node, a zone; null: nothing that can be chosen. */
function hit(plan, x, y) {
  const band = plan.bands[bandAt(plan.bands, y)];
  const within = (item) => x >= item.x && x < item.x + item.w && y >= item.y && y < item.y + item.h;
  const item = band?.items.find(within) ?? null;
  if (item === null || item.kind === "cluster") return null;
  return item.kind === "node" ? (item.children.find((part) => part.isShown && within(part)) ?? item) : item;
}
