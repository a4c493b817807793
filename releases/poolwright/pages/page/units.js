/* The table of workloads, and all that is said of one. */

const MOST_SLOTS = 24;

/** Rows for the table: of a diff both sides of a workload together. */
function pairUnits(fleet) {
  const pairs = new Map();
  for (const side of fleet.sides) {
    for (const unit of side.units) {
      const key = formatPath([unit.cluster, unit.workload]);
      if (!pairs.has(key)) pairs.set(key, { key, sides: {} });
      pairs.get(key).sides[side.key] = unit;
    }
  }
  return [...pairs.values()];
}

/** The table; open: called with a pair's unit, or null to close it. */
class UnitTable {
  constructor(fleet, paint, open) {
    Object.assign(this, { fleet, paint, open });
    this.pairs = pairUnits(fleet);
    const head = ["Workload", "Cluster", ...(fleet.isDiff ? ["Before", "After"] : ["Verdict"]), "Envelope", "Model", "Price"];
    this.body = make("tbody");
    const classes = { Envelope: "extra", Model: "extra" };
    const cells = head.map((name) => make("th", { scope: "col", class: classes[name] ?? null }, name));
    this.none = make("p", { class: "none", hidden: true }, "Nothing matches.");
    this.columns = head.length;
    this.element = make("div", null, this.none, make("div", { class: "wide", role: "region", "aria-label": "Table of workloads", tabindex: "0" },
      make("table", { class: "units" }, make("thead", null, make("tr", null, cells)), this.body)));
    this.pairs.forEach((pair) => this.addRow(pair));
  }

  addRow(pair) {
    const unit = pair.sides.after ?? pair.sides.before;
    const id = `unit-${this.pairs.indexOf(pair)}`;
    pair.button = make("button", { type: "button", class: "opener", "aria-expanded": "false", "aria-controls": id,
      onclick: () => this.open(pair.isOpen ? null : unit) }, code(unit.workload));
    const verdict = (one) => make("td", null, one ? [wordMark(one.verdict), ` ${one.counts}`] : "not there");
    const look = unit.envelope === null ? [] : [code(unit.envelope)];
    pair.row = make("tr", null, make("th", { scope: "row" }, pair.button), make("td", null, code(unit.cluster)),
      this.fleet.isDiff ? [verdict(pair.sides.before), verdict(pair.sides.after)] : verdict(unit),
      make("td", { class: "extra" }, look.length ? look : unit.kind), make("td", { class: "extra" }, unit.model ? code(unit.model.name) : ""),
      make("td", null, sayPrice(unit)));
    pair.cell = make("td", { colspan: this.columns });
    pair.more = make("tr", { id, class: "more", hidden: true }, pair.cell);
    put(this.body, pair.row, pair.more);
  }

  show(filter) {
    let number = 0;
    for (const pair of this.pairs) {
      const units = Object.values(pair.sides);
      const takes = units.some((unit) => filter.takesUnit(unit, unit.side.clusters.find((one) => one.name === unit.cluster)));
      pair.isHidden = !takes;
      number += takes ? 1 : 0;
      pair.row.hidden = !takes;
      pair.more.hidden = !takes || !pair.isOpen;
    }
    this.none.hidden = number > 0;
    return number;
  }

  /** Open one, and close the others. */
  expand(unit) {
    const key = unit === null ? null : formatPath([unit.cluster, unit.workload]);
    for (const pair of this.pairs) this.setOpen(pair, pair.key === key);
    return this.pairs.find((pair) => pair.key === key) ?? null;
  }

  setOpen(pair, isOpen) {
    pair.isOpen = isOpen;
    pair.button.setAttribute("aria-expanded", String(isOpen));
    if (isOpen && !pair.cell.hasChildNodes()) put(pair.cell, showPair(this.fleet, pair));
    pair.more.hidden = !isOpen || Boolean(pair.isHidden);
  }

  startPrint() {
    this.wasOpen = this.pairs.filter((pair) => pair.isOpen);
    this.pairs.forEach((pair) => this.setOpen(pair, true));
  }

  endPrint() {
    this.pairs.forEach((pair) => this.setOpen(pair, this.wasOpen.includes(pair)));
  }
}

function sayPrice(unit) {
  if (!unit.prices.length) return "not priced";
  const no = unit.prices.filter((one) => one.admission !== "admitted");
  if (!no.length) return "admitted";
  return no.length === unit.prices.length ? wordMark(no[0].admission) : `admitted on ${unit.prices.length - no.length} of ${unit.prices.length} classes`;
}

function showPair(fleet, pair) {
  if (!fleet.isDiff) return make("div", { class: "unit" }, showUnit(pair.sides.after));
  return make("div", { class: "sides" }, fleet.sides.map(({ key }) => make("div", { class: "side unit" },
    make("h3", null, key === "before" ? "Before" : "After"), pair.sides[key] ? showUnit(pair.sides[key]) : make("p", { class: "none" }, "It isn't there."))));
}

/** Everything of one workload. */
function showUnit(unit) {
  const cluster = unit.side.clusters.find((one) => one.name === unit.cluster);
  const more = [
    `${count(unit.replicas, "replica")} at the peak, at least ${unit.minimum} must serve.`,
    unit.headroom === null ? "" : `${count(unit.headroom, "further replica")} would always fit.`,
  ].filter(Boolean);
  return [
    make("h4", null, "Verdict"),
    make("p", null, wordMark(unit.verdict), ` ${unit.counts}. ${more.join(" ")}`),
    unit.reasons.length ? listOf(unit.reasons.map(prose)) : null,
    unit.qualifiers.length ? [make("p", { class: "label" }, "What is left open"), listOf(unit.qualifiers.map(prose))] : null,
    unit.witness ? showWitness(unit) : null,
    unit.mends.length ? [make("p", { class: "label" }, "What helps"), listOf(unit.mends.map(prose))] : null,
    unit.landsOn.length ? make("p", null, "It may get: ", joined(unit.landsOn.map(prose)), ".") : null,
    unit.origin ? make("p", null, "Written in ", code(unit.origin), ".") : null,
    make("h4", null, "Price"),
    unit.prices.length ? unit.prices.map(showPrice) : make("p", { class: "none" }, "It isn't priced."),
    make("h4", null, "From the router to the device"),
    showLineage(unit, cluster),
  ];
}

function showWitness(unit) {
  const { witness, side } = unit;
  const steps = witness.steps.map((step) => make("li", null, code(side.units[step.unit].workload), `, replica ${step.replicas}: ${count(step.devices, "device")}`,
    step.node ? [" on ", code(step.node)] : ""));
  if (witness.stepsLeft) steps.push(make("li", null, count(witness.stepsLeft, "further step")));
  steps.push(make("li", null, `Nothing is left for ${count(witness.leftOut, "replica")} of `, code(unit.workload), "."));
  return details(`An order that leaves ${witness.leftOut} out, step by step`, make("p", null, prose(witness.sentence)), make("ol", null, steps));
}

/** Need beside budget, on one scale. */
function showPrice(price) {
  const { needBytes: need, budgetBytes: budget } = price;
  const isKnown = need !== null && budget !== null;
  const scale = Math.max(need ?? 0, budget ?? 0, 1);
  const bar = (name, bytes, className) => {
    const fill = make("span", { class: `fill ${className}` });
    fill.style.width = `${Math.max(0, Math.min(100, (100 * bytes) / scale))}%`;
    return make("div", { class: "bar-row" }, make("span", { class: "bar-name" }, name), make("span", { class: "track" }, fill), make("span", { class: "bar-figure" }, gib(bytes)));
  };
  const thresholds = price.thresholds;
  return make("div", { class: "price" },
    make("p", null, "On class ", code(price.className), ", device ", prose(price.device), ": ", wordMark(price.admission),
      price.isExtrapolated ? " (beyond what was measured)" : "", price.reason ? [": ", prose(price.reason)] : ""),
    isKnown ? make("div", { class: "bars" }, bar("KV needed", need, need > budget ? "over" : "need"), bar("KV budget", budget, "budget")) : null,
    thresholds ? make("p", null, sayThresholds(thresholds)) : null,
    price.maxConcurrency === null ? null : make("p", null, `There is room for ${count(price.maxConcurrency, "request")} of the declared length at once.`),
    price.mends ? make("p", null, "What helps: ", prose(price.mends)) : null,
    price.otherClasses.length ? make("p", null, "It would be admitted on ", joined(price.otherClasses.map(code)), ".") : null,
    price.lines.length ? details(`The price by line, of ${price.memoryBytes === null ? "a device" : gib(price.memoryBytes)}`,
      table(`Price on ${price.className}`, ["What", "Memory", "Where the figure is from"], price.lines.map((line) => [prose(line.name), gib(line.bytes), prose(line.source)]))) : null);
}

function sayThresholds(one) {
  const requests = one.mostConcurrency === null ? "any number of requests at once" : `at most ${count(one.mostConcurrency, "request")} at once`;
  return `Admitted: ${requests} (declared: ${one.concurrency ?? "none"}), or at most ${count(one.mostContextTokens, "token")} a request (declared: ${one.contextTokens.toLocaleString("en")}).`;
}

/** The chain from where requests come in to the devices. */
function showLineage(unit, cluster) {
  const { router, services, workload, claims } = unit.lineage;
  const steps = [];
  if (router) {
    steps.push(["Router pool ", code(router.pool), router.hostnames.length ? [", hosts ", ...joined(router.hostnames.map(code))] : ", no host name"]);
    if (router.route) steps.push(["Route ", code(router.route), router.backend ? [" to ", code(router.backend)] : ""]);
  } else steps.push(["In no router pool"]);
  if (services.length) steps.push(["Service ", ...joined(services.map(code))]);
  steps.push(["Pods of ", workload ? code(workload) : "an unknown workload"]);
  claims.forEach((claim) => steps.push(["Claim ", code(claim.name), " by ", code(claim.object), ", class ", ...joined(claim.classes.map(code), ", else ")]));
  steps.push(["Devices, in one packing:", showSlots(unit, cluster)]);
  return make("ol", { class: "chain" }, steps.map((step) => make("li", null, step)));
}

function showSlots(unit, cluster) {
  if (!unit.slots.length) return " none are known";
  const { ordinal, pod, claim, node, devices, note } = cluster.data.slots;
  const items = unit.slots.map((slot) => {
    const name = unit.lineage.claims[claim[slot]]?.name;
    const where = cluster.data.nodes[node[slot]];
    const rows = devices[slot].map((row) => pickLink(cluster.pickOf("device", row)));
    return [`replica ${ordinal[slot]}${pod[slot] ? `, pod ${pod[slot]}` : ""}${name ? `, claim ${name}` : ""}: `,
      ...(rows.length ? joined(rows) : [prose(cluster.data.notes[note[slot]] ?? "no devices")]),
      ...(where ? [" of ", pickLink(cluster.pickOf("node", node[slot]))] : [])];
  });
  if (items.length <= MOST_SLOTS) return listOf(items);
  return [listOf(items.slice(0, MOST_SLOTS)), details(count(items.length - MOST_SLOTS, "more claim"), listOf(items.slice(MOST_SLOTS)))];
}
