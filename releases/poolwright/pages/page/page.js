/* The page: reads the report, builds its parts, and shows what the address says. */

const MOST_FOUND = 12;

class Page {
  constructor() {
    this.fleet = new Fleet(JSON.parse(byId("data").textContent));
    this.state = new State((now) => this.apply(now));
    setTheme(this.state.now);
    this.paint = new Paint(this.fleet);
    this.buildFleet();
    this.units = new UnitTable(this.fleet, this.paint, (unit) => this.state.go(unit === null ? { unit: "", loss: "", in: "" } : toUnit(unit)));
    put(byId("unit-list"), this.units.element);
    this.buildLosses();
    this.setFilters = buildFilters(byId("filters"), this.fleet, (changes) => this.state.adjust(changes));
    this.listen();
    this.apply(this.state.now);
  }

  buildFleet() {
    const maps = byId("maps");
    this.maps = this.fleet.sides.map((side) => new FleetMap(side, this.paint, {
      choose: (pick) => this.state.go(pick === null ? { loss: "", unit: "", in: "" } : toPick(pick)),
      tell: (text, isSaid) => this.tell(text, isSaid),
    }));
    this.panel = make("aside", { class: "panel", "aria-label": "What was chosen" });
    this.panelText = make("div", { "aria-live": "polite" });
    put(this.panel, this.panelText);
    this.hint = make("p", { class: "hint", "aria-hidden": "true" });
    this.said = make("p", { class: "unseen", role: "status" });
    this.legend = make("ul", { class: "legend", "aria-label": "Legend" });
    const help = make("p", { id: "map-help", class: "small" }, "On the map: left and right go on, down goes into a zone or node, up goes out of it, Enter shows what its loss does, Escape closes that.");
    const one = this.maps.map((map) => this.fleet.isDiff
      ? make("div", { class: "side" }, make("h3", null, map.side.key === "before" ? "Before: " : "After: ", code(map.side.name)), map.element) : map.element);
    put(maps, make("div", { class: this.fleet.isDiff ? "map-column sides" : "map-column" }, one), this.panel);
    maps.before(this.legend, this.buildFamilies(), help, this.said);
    maps.after(this.hint, this.buildTables());
    maps.classList.toggle("of-diff", this.fleet.isDiff);
  }

  /** Families aren't on the map: links to each. */
  buildFamilies() {
    const side = this.fleet.side("after");
    const items = side.clusters.flatMap((cluster) => cluster.list("family").map((pick) => [pickLink(pick), side.clusters.length > 1 ? ` on ${cluster.name}` : ""]));
    return items.length ? make("p", { class: "small" }, "Families of hardware: ", joined(items).flat(), ".") : "";
  }

  buildTables() {
    this.tables = this.fleet.sides.map((side) => {
      const which = this.fleet.isDiff ? ` (${side.key})` : "";
      const box = details(`The map as a table${which}`);
      box.classList.add("map-table");
      box.addEventListener("toggle", () => box.open && this.fillTable(box, side));
      return { box, side };
    });
    return make("div", null, this.tables.map(({ box }) => box));
  }

  /** What the map says, as rows: nodes, and who has each of their devices. */
  fillTable(box, side) {
    if (box.filledFor === this.filter) return;
    box.filledFor = this.filter;
    box.querySelector(".wide")?.remove();
    const rows = side.clusters.flatMap((cluster) => cluster.nodes.map((node) => this.tableRow(cluster, node)).filter((row) => row !== null));
    put(box, table("The map as a table", ["Cluster", "Zone", "Node", "Devices, and who has them"], rows));
  }

  tableRow(cluster, node) {
    const box = placeParts(cluster, node, this.filter);
    if (box === null) return null;
    const zone = node.zone === NONE ? "none" : pickLink(cluster.pickOf("zone", node.zone));
    const name = node.index === NONE ? node.name : [pickLink(cluster.pickOf("node", node.index)), node.isPlanned ? " (planned)" : ""];
    const devices = box.children.filter((one) => one.isShown).map(({ part }) => [pickLink(cluster.pickOf("device", part.row)), `: ${sayHolders([part])}`]);
    return [code(cluster.name), zone, name, devices.length ? joined(devices, "; ").flat() : "none"];
  }

  buildLosses() {
    put(byId("loss-list"), this.fleet.sides.map((side) => (this.fleet.isDiff
      ? [make("h3", null, side.key === "before" ? "Before" : "After"), ...listLosses(side)] : listLosses(side))).flat());
  }

  listen() {
    const theme = byId("theme");
    theme.addEventListener("change", () => this.state.adjust({ theme: theme.value }));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    addEventListener("beforeprint", () => this.startPrint());
    addEventListener("afterprint", () => this.endPrint());
    document.addEventListener("click", (event) => this.follow(event));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && (this.state.now.loss || this.state.now.unit)) this.state.go({ loss: "", unit: "", in: "" });
    });
  }

  /** Links of the page change a part of the state; those to a section change nothing of it. */
  follow(event) {
    const link = event.target.closest?.('a[href^="#"]');
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const href = link.getAttribute("href");
    if (href.includes("=")) {
      this.state.go({ loss: "", unit: "", in: "", side: "", ...parseHash(href) });
      return;
    }
    const section = document.getElementById(href.slice(1));
    const heading = section?.querySelector("h2") ?? section;
    if (heading === null) return;
    heading.setAttribute("tabindex", "-1");
    heading.focus({ preventScroll: true });
    heading.scrollIntoView({ block: "start" });
  }

  apply(now) {
    setTheme(now);
    byId("theme").value = now.theme ?? "";
    const theme = getComputedStyle(document.documentElement).colorScheme;
    if (theme !== this.theme) this.repaint();
    this.theme = theme;
    this.setFilters?.(now);
    const key = JSON.stringify(["q", ...FILTERS].map((name) => now[name] ?? ""));
    if (key !== this.filterKey) this.applyFilter(new Filter(now));
    this.filterKey = key;
    const target = JSON.stringify(["loss", "unit", "in", "side"].map((name) => now[name] ?? ""));
    if (target !== this.targetKey) this.applyTarget(findTarget(this.fleet, now));
    this.targetKey = target;
  }

  applyFilter(filter) {
    this.filter = filter;
    this.maps.forEach((map) => map.show(filter));
    this.tables.forEach(({ box, side }) => box.open && this.fillTable(box, side));
    const units = this.units.show(filter);
    const shownOf = this.maps[this.maps.length - 1].plan;
    byId("found").textContent = filter.isOpen ? "" : `${count(shownOf.shown, "device")} on the map and ${count(units, "workload")} match.`;
    const list = byId("found-list");
    list.replaceChildren();
    if (!filter.query) return;
    const side = this.fleet.side("after");
    const named = side.units.filter((unit) => unit.words.includes(filter.query)).slice(0, MOST_FOUND);
    const { picks, left } = findNamed(side, filter.query, MOST_FOUND);
    put(list, named.map((unit) => make("li", null, "workload ", unitLink(unit), ` on ${unit.cluster}`)),
      picks.map((pick) => make("li", null, `${pick.thing} `, pickLink(pick), ` on ${pick.cluster.name}`)), left ? make("li", null, `${left} more`) : null);
  }

  applyTarget(target) {
    const pick = target?.pick ?? null;
    const loss = pick && pick.cluster.lossOf(pick);
    const units = new Set(target?.unit ? [target.unit] : (loss?.changes ?? []).map((one) => target.side.units[one.unit]));
    const rows = new Set(pick === null ? [] : pick.cluster.rowsOf(pick));
    this.maps.forEach((map) => map.mark({ pick, rows, units }));
    this.showPanel(target);
    const pair = this.units.expand(target?.unit ?? null);
    if (pair !== null) pair.row.scrollIntoView({ block: "start" });
    else if (pick !== null) this.reveal();
  }

  showPanel(target) {
    this.panel.classList.toggle("is-empty", target === null);
    const close = make("button", { type: "button", class: "close", onclick: () => this.state.go({ loss: "", unit: "", in: "" }) }, "Close");
    const texts = target === null ? [make("p", { class: "none" }, "Choose a zone, a node or a device, or a family above: here it says what its loss does, and who has it.")]
      : target.missing ? [close, make("p", { class: "notice" }, "There is no ", code(target.missing), " here.")]
        : target.unit ? [close, make("h3", null, code(target.unit.workload)), make("p", null, wordMark(target.unit.verdict), ` ${target.unit.counts}. Its devices are framed on the map; all of it is said `, make("a", { href: "#units" }, "below"), ".")]
          : [close, ...showLoss(target.side, target.pick)];
    this.panelText.replaceChildren();
    put(this.panelText, texts);
  }

  /** Bring the panel into view if it isn't. */
  reveal() {
    const { top, bottom } = this.panel.getBoundingClientRect();
    if (top < 0 || top > innerHeight - 120 || bottom < 120) this.panel.scrollIntoView({ block: "start" });
  }

  tell(text, isSaid) {
    this.hint.textContent = text === "" ? "\u00a0" : shown(text);
    if (isSaid) this.said.textContent = shown(text);
  }

  repaint() {
    this.paint.refresh();
    this.legend.replaceChildren();
    put(this.legend, this.fleet.envelopes.map((name) => make("li", null, this.paint.swatch(this.fleet.looks.get(name)), " ", code(name))),
      make("li", null, this.paint.swatch(OTHER), " others"), make("li", null, this.paint.swatch(null), " free"));
    this.maps.forEach((map) => map.paintSoon());
  }

  /** On paper all is unfolded, in the light colours. */
  startPrint() {
    document.documentElement.dataset.theme = "light";
    this.repaint();
    this.units.startPrint();
    this.folded = [...document.querySelectorAll("details:not([open])")];
    this.folded.forEach((one) => { one.open = true; });
    this.tables.forEach(({ box, side }) => this.fillTable(box, side));
    this.maps.forEach((map) => map.startPrint());
  }

  endPrint() {
    this.folded?.forEach((one) => { one.open = false; });
    this.units.endPrint();
    setTheme(this.state.now);
    this.repaint();
  }
}

function byId(id) {
  return document.getElementById(id);
}

function setTheme(now) {
  if (now.theme === "light" || now.theme === "dark") document.documentElement.dataset.theme = now.theme;
  else delete document.documentElement.dataset.theme;
}

const page = new Page();
