/* One side's map: a canvas that is as large as what is seen of it, in a frame that scrolls. */

const MOST_PRINTED = 6000; // px of height; a higher map is printed as its table alone

class FleetMap {
  /** choose: called with what was clicked on; tell: with what the keyboard or the mouse is at, in words. */
  constructor(side, paint, { choose, tell }) {
    Object.assign(this, { side, paint, choose, tell });
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.space = make("div", { class: "map-space" }, this.canvas);
    this.frame = make("div", {
      class: "map", role: "application", tabindex: "0", "aria-roledescription": "map", "aria-describedby": "map-help",
      "aria-label": `Map of the fleet${side.key === "before" ? " before" : ""}`,
    }, this.space);
    this.none = make("p", { class: "none", hidden: true }, "Nothing matches.");
    this.element = make("div", { class: "map-part" }, this.none, this.frame);
    this.filter = new Filter({});
    this.marks = { rows: new Set(), units: new Set(), pick: null };
    this.focus = null;
    this.listen();
  }

  listen() {
    this.frame.addEventListener("scroll", () => this.paintSoon(), { passive: true });
    this.frame.addEventListener("keydown", (event) => this.press(event));
    this.frame.addEventListener("focus", () => {
      if (this.focus === null && this.frame.matches(":focus-visible")) this.moveTo(this.stops(0)[0] ?? this.stops(1)[0] ?? null);
      this.paintSoon();
    });
    this.frame.addEventListener("blur", () => this.paintSoon());
    this.canvas.addEventListener("click", (event) => {
      const item = this.at(event);
      if (item === null) return;
      this.focus = item;
      this.pickItem(item);
    });
    this.canvas.addEventListener("mousemove", (event) => {
      const item = this.at(event);
      this.canvas.style.cursor = item && pickItemOf(item) ? "pointer" : "default";
      if (item !== this.hovered) this.tell(item === null ? "" : describeItem(item), false);
      this.hovered = item;
    });
    new ResizeObserver(() => {
      if (this.frame.clientWidth !== this.plan?.width && this.frame.clientWidth) this.show(this.filter);
      else this.paintSoon();
    }).observe(this.frame);
  }

  stops(level) {
    return this.plan.levels[level];
  }

  /** Lay out what a filter takes. */
  show(filter) {
    this.filter = filter;
    this.plan = layOut(this.side, filter, this.frame.clientWidth || 600);
    this.space.style.height = `${this.plan.height}px`;
    this.none.hidden = this.plan.bands.length > 0;
    this.frame.hidden = this.plan.bands.length === 0;
    this.focus = this.focus && this.again(this.focus);
    this.paintSoon();
  }

  /** The same thing in another layout. */
  again(item) {
    const same = (one) => one.cluster === item.cluster && one.index === item.index;
    return item.level === NONE ? null : (this.stops(item.level).find(same) ?? null);
  }

  /** marks: {pick, rows: devices that are lost, units: whose devices stand out}. */
  mark(marks) {
    this.marks = marks;
    const pick = marks.pick;
    const level = { zone: 0, node: 1, device: 2 }[pick?.thing];
    const item = level === undefined ? null : this.stops(level).find((one) => one.cluster === pick.cluster && one.index === pick.index);
    if (item) {
      this.focus = item;
      this.reveal(item);
    }
    this.paintSoon();
  }

  paintSoon() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => {
      this.waits = false;
      this.paintNow();
    });
  }

  /** Draw what is seen. whole: all of it, for paper. */
  paintNow(whole = false) {
    if (!this.plan || this.frame.hidden) return;
    const width = this.plan.width;
    const height = whole ? this.plan.height : Math.min(this.plan.height, this.frame.clientHeight || this.plan.height);
    const top = whole ? 0 : this.frame.scrollTop;
    const scale = whole ? 2 : devicePixelRatio || 1;
    const size = [Math.round(width * scale), Math.round(height * scale)];
    if (this.canvas.width !== size[0] || this.canvas.height !== size[1]) [this.canvas.width, this.canvas.height] = size;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext("2d", { alpha: false });
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = this.paint.colours.page;
    context.fillRect(0, 0, width, height);
    context.translate(0, -top);
    const { bands } = this.plan;
    for (let index = bandAt(bands, top); index < bands.length && bands[index].y < top + height; index += 1) {
      for (const item of bands[index].items) this.paintItem(context, item);
    }
    if (this.focus && document.activeElement === this.frame) {
      this.paint.frame(context, this.focus, "page", 6);
      this.paint.frame(context, this.focus, "accent", 3);
    }
  }

  paintItem(context, item) {
    const isPicked = this.isPicked(item);
    if (item.kind === "node") {
      this.paintNode(context, item, isPicked);
      return;
    }
    const middle = item.y + item.h / 2 + 2;
    if (item.kind === "zone") this.paint.text(context, item.label, item.x, middle, item.w, { font: `600 ${FONT}`, colour: "soft" });
    else {
      this.paint.text(context, item.label, item.x, middle, item.w * 0.7, { font: `600 ${FONT.replace("11px", "15px")}` });
      const after = context.measureText(shown(item.label)).width + 2 * PAD;
      this.paint.text(context, item.more, item.x + after, middle + 1, item.w - after, { colour: "soft" });
    }
    if (isPicked) this.paint.frame(context, item, "bad", 2);
  }

  paintNode(context, item, isPicked) {
    context.fillStyle = this.paint.colours.tint;
    context.fillRect(item.x, item.y, item.w, item.h);
    this.paint.frame(context, item, isPicked ? "bad" : "line", isPicked ? 3 : 1, item.node.isPlanned ? [4, 3] : []);
    const label = item.node.isPlanned ? `${item.label} (planned)` : item.label;
    this.paint.text(context, label, item.x + PAD, item.y + PAD + TITLE / 2 - 2, item.w - PAD);
    for (const part of item.children) this.paintPart(context, part);
  }

  paintPart(context, part) {
    const { units, row } = part.part;
    this.paint.cell(context, part, units.map((unit) => this.paint.lookOf(unit)));
    if (units.some((unit) => this.marks.units.has(unit))) this.paint.frame(context, part, "text", 2);
    if (this.marks.pick?.cluster === part.cluster && this.marks.rows.has(row)) this.paint.cross(context, part);
    if (this.isPicked(part)) this.paint.frame(context, part, "bad", 3);
  }

  isPicked(item) {
    const pick = this.marks.pick;
    return pick !== null && pick.cluster === item.cluster && pick.thing === item.kind && pick.index === item.index;
  }

  at(event) {
    return this.plan ? hit(this.plan, event.offsetX, event.offsetY + this.frame.scrollTop) : null;
  }

  pickItem(item) {
    const pick = pickItemOf(item);
    if (pick !== null) this.choose(pick);
  }

  press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const item = this.focus;
    const row = item === null ? [] : this.stops(item.level);
    const to = {
      ArrowRight: () => row[item.place + 1] ?? item,
      ArrowLeft: () => row[item.place - 1] ?? item,
      ArrowDown: () => item.children.find((child) => child.isShown !== false) ?? item,
      ArrowUp: () => item.parent ?? item,
      Home: () => row[0],
      End: () => row[row.length - 1],
    }[event.key];
    if (to) this.moveTo(item === null ? (this.stops(0)[0] ?? null) : to());
    else if (event.key === "Enter" || event.key === " ") item && this.pickItem(item);
    else if (event.key === "Escape") this.choose(null);
    else return;
    event.preventDefault();
  }

  moveTo(item) {
    this.focus = item;
    if (item === null) return;
    this.reveal(item);
    this.tell(describeItem(item), true);
    this.paintSoon();
  }

  reveal(item) {
    const { scrollTop, clientHeight } = this.frame;
    const height = Math.min(item.h, clientHeight - 2 * PAD);
    if (item.y < scrollTop) this.frame.scrollTop = item.y - PAD;
    else if (item.y + height > scrollTop + clientHeight) this.frame.scrollTop = item.y + height + PAD - clientHeight;
  }

  /** For paper: all of it if that isn't too much. */
  startPrint() {
    const isLong = this.plan.height > MOST_PRINTED;
    this.element.classList.toggle("too-long", isLong);
    if (!isLong) this.paintNow(true);
  }
}

function pickItemOf(item) {
  return item.index === NONE || item.kind === "cluster" ? null : item.cluster.pickOf(item.kind, item.index);
}

/** What stands at a place of the map, in words. */
function describeItem(item) {
  const { cluster } = item;
  if (item.kind === "zone") return `${item.label} of ${cluster.name}: ${count(item.children.length, "node")}`;
  if (item.kind === "node") return `${item.node.isPlanned ? "planned " : ""}node ${item.label}: ${sayHolders(item.children.map((one) => one.part))}`;
  const node = cluster.nodeOf(item.index);
  const mode = { full: "", mig: ", a partition", share: ", shared" }[MODES[cluster.devices.mode[item.index]]];
  return `device ${cluster.nameRow(item.index)}${mode}${node ? ` of node ${node.name}` : ""}: ${sayHolders([item.part])}`;
}

/** Who has parts of hardware: `chat-70b 4, free 4`. */
function sayHolders(parts) {
  const counts = new Map();
  const add = (name) => counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const part of parts) {
    if (!part.units.length) add("free");
    for (const unit of part.units) add(unit.workload);
  }
  if (!counts.size) return "no devices";
  return [...counts].map(([name, number]) => (parts.length === 1 ? name : `${name} ${number}`)).join(", ");
}
