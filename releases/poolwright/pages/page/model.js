/* The report, and what is looked up in it: who has a device, what a node has, what is lost together. */

const MODES = ["full", "mig", "share"];
const MIG = 1;
const NONE = -1;
const SLICES = 7; // of a GPU that is cut in parts
const THINGS = ["zone", "family", "node", "device"];
const WORST_FIRST = ["error", "unsatisfied", "order-dependent", "undecided", "always-fits"];

/** One of the two sides of a report. key: "before" or "after". */
class Side {
  constructor(data, key) {
    this.key = key;
    this.name = data.name;
    this.units = data.units.map((unit, index) => ({
      ...unit, index, side: this, slots: [], rows: [],
      classes: new Set([...unit.prices.map((one) => one.className), ...unit.lineage.claims.flatMap((one) => one.classes)]),
      words: [unit.workload, unit.name, unit.model?.name ?? "", unit.envelope ?? ""].join("\n").toLowerCase(),
    }));
    this.clusters = data.clusters.map((one) => new Cluster(one, this));
  }

  find(cluster, workload) {
    return this.units.find((unit) => unit.cluster === cluster && unit.workload === workload) ?? null;
  }
}

/** A cluster with its hardware. A device is known by its row in the columns. */
class Cluster {
  constructor(data, side) {
    this.data = data;
    this.side = side;
    this.name = data.name;
    this.devices = data.devices;
    this.slotsOf = new Map(); // rows that somebody has
    this.readSlots();
    this.nodes = this.readNodes();
    this.nodeWords = data.nodes.map((node) => node.name.toLowerCase());
    this.deviceWords = data.devices.name.map((name) => name.toLowerCase());
  }

  readSlots() {
    const { unit, devices } = this.data.slots;
    for (let slot = 0; slot < unit.length; slot += 1) {
      const holder = this.side.units[unit[slot]];
      holder?.slots.push(slot);
      for (const row of devices[slot]) {
        holder?.rows.push(row);
        if (!this.slotsOf.has(row)) this.slotsOf.set(row, []);
        this.slotsOf.get(row).push(slot);
      }
    }
  }

  /** Nodes in the report's order, each with its pieces of hardware; last what is on no single node. */
  readNodes() {
    const nodes = this.data.nodes.map((node, index) => ({ ...node, index, cluster: this, pieces: [], rows: [] }));
    const elsewhere = { name: "on no single node", zone: NONE, lossClass: NONE, isPlanned: false, index: NONE };
    Object.assign(elsewhere, { cluster: this, pieces: [], rows: [] });
    const pieces = new Map();
    this.devices.node.forEach((index, row) => {
      const node = nodes[index] ?? elsewhere;
      const key = this.devices.piece[row];
      node.rows.push(row);
      if (!pieces.has(key)) {
        pieces.set(key, []);
        node.pieces.push(pieces.get(key));
      }
      pieces.get(key).push(row);
    });
    const all = elsewhere.rows.length ? [...nodes, elsewhere] : nodes;
    for (const node of all) node.pieces = node.pieces.map((rows) => this.splitPiece(rows));
    return all;
  }

  /**
   * A piece of hardware as parts to draw: {row, weight, units}, the weight in slices of a GPU.
   * Partitions of which not all can be there at once are drawn as those that somebody has, and the rest of the GPU.
   */
  splitPiece(rows) {
    const { mode } = this.devices;
    const part = (row, weight = SLICES) => ({ row, weight, units: this.unitsOf(row) });
    const cut = rows.filter((row) => mode[row] === MIG);
    const whole = rows.filter((row) => mode[row] !== MIG);
    if (!cut.length || whole.some((row) => this.unitsOf(row).length)) return (cut.length ? whole : rows).map((row) => part(row));
    const weigh = (some) => some.reduce((sum, row) => sum + this.slices(row), 0);
    if (!whole.length && weigh(cut) <= SLICES) return cut.map((row) => part(row, this.slices(row)));
    const used = cut.filter((row) => this.unitsOf(row).length);
    const rest = whole[0] ?? cut.find((row) => !used.includes(row)) ?? null;
    const left = SLICES - weigh(used);
    const parts = used.map((row) => part(row, this.slices(row)));
    if (rest !== null && left > 0) parts.push({ row: rest, weight: left, units: [] });
    return parts;
  }

  slices(row) {
    const found = /(\d+)g/.exec(this.data.profiles[this.devices.profile[row]] ?? "");
    return found ? Math.min(SLICES, Math.max(1, Number(found[1]))) : 1;
  }

  /** Units that have a device, each once. */
  unitsOf(row) {
    const slots = this.slotsOf.get(row);
    if (slots) return [...new Set(slots.map((slot) => this.data.slots.unit[slot]))].map((one) => this.side.units[one]);
    const unit = this.devices.unit[row];
    return unit === NONE ? [] : [this.side.units[unit]];
  }

  nameRow(row) {
    const profile = this.data.profiles[this.devices.profile[row]];
    return this.devices.name[row] + (profile ? ` (${profile})` : "");
  }

  nodeOf(row) {
    return this.data.nodes[this.devices.node[row]] ?? null;
  }

  /** Everything of one sort that can be lost: {thing, cluster, index, name, lossClass}. */
  list(thing) {
    const named = (items) => items.map((item, index) => this.pick(thing, index, item.name, item.lossClass));
    if (thing === "zone") return named(this.data.zones);
    if (thing === "family") return named(this.data.families);
    if (thing === "node") return named(this.data.nodes);
    return this.devices.name.map((name, row) => this.pick(thing, row, this.nameRow(row), this.devices.lossClass[row]));
  }

  pick(thing, index, name, lossClass) {
    return { thing, cluster: this, index, name, lossClass };
  }

  pickOf(thing, index) {
    if (thing === "device") return this.pick(thing, index, this.nameRow(index), this.devices.lossClass[index]);
    const items = { zone: this.data.zones, family: this.data.families, node: this.data.nodes }[thing];
    return this.pick(thing, index, items[index].name, items[index].lossClass);
  }

  lossOf(pick) {
    return this.data.lossClasses[pick.lossClass] ?? null;
  }

  /** Rows that go with a thing; with a device its whole piece. */
  rowsOf({ thing, index }) {
    const { node, family, piece } = this.devices;
    const goes = {
      zone: (row) => this.data.nodes[node[row]]?.zone === index,
      family: (row) => family[row] === index,
      node: (row) => node[row] === index,
      device: (row) => piece[row] === piece[index],
    }[thing];
    return this.devices.name.map((_, row) => row).filter(goes);
  }

  /** How an address names a thing. */
  pathOf({ thing, index }) {
    if (thing !== "device") return [thing, this.pickOf(thing, index).name];
    const source = this.data.sources[this.devices.source[index]];
    return [thing, source.driver, source.pool, this.devices.name[index]];
  }

  /** What a path names; of a device its name alone will do. Null: nothing here. */
  findPath([thing, ...names]) {
    if (!THINGS.includes(thing) || !names.length) return null;
    const last = names[names.length - 1];
    if (thing !== "device") {
      const items = { zone: this.data.zones, family: this.data.families, node: this.data.nodes }[thing];
      const index = items.findIndex((item) => item.name === last);
      return index < 0 ? null : this.pickOf(thing, index);
    }
    const is = (name, row) => {
      const { driver, pool } = this.data.sources[this.devices.source[row]];
      return name === last && (names.length < 3 || (driver === names[0] && pool === names[1]));
    };
    const row = this.devices.name.findIndex(is);
    return row < 0 ? null : this.pickOf("device", row);
  }
}

/** Both sides, and how envelopes look on them. */
class Fleet {
  constructor(report) {
    this.report = report;
    this.sides = [];
    if (report.before) this.sides.push(new Side(report.before, "before"));
    this.sides.push(new Side(report.after, "after"));
    const names = new Set(this.sides.flatMap((side) => side.units.map((unit) => unit.envelope).filter((one) => one !== null)));
    this.envelopes = [...names].sort();
    this.sides.forEach((side) => { side.isOfDiff = this.isDiff; });
    this.looks = new Map(this.envelopes.map((name, index) => [name, { index, letter: letters(index) }]));
  }

  side(key) {
    return this.sides.find((side) => side.key === key) ?? this.sides[this.sides.length - 1];
  }

  get isDiff() {
    return this.sides.length > 1;
  }
}

/** A, B, ..., Z, AA, AB, ... */
function letters(index) {
  const rest = Math.floor(index / 26);
  return (rest ? letters(rest - 1) : "") + String.fromCharCode(65 + (index % 26));
}
