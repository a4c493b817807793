/* What is looked at, in the address after `#`: it can be linked to, and the browser's back button goes by it. */

const KEYS = ["loss", "unit", "in", "side", "cluster", "envelope", "verdict", "class", "mode", "q", "theme"];

/** The state that an address says: {key: text}. Paths of `loss` and `unit` stay as they are written. */
function parseHash(hash) {
  const state = {};
  for (const pair of hash.replace(/^#/, "").split("&")) {
    const at = pair.indexOf("=");
    const key = pair.slice(0, Math.max(0, at));
    if (!KEYS.includes(key)) continue;
    const value = pair.slice(at + 1);
    state[key] = key === "loss" || key === "unit" ? value : decode(value);
  }
  return state;
}

function formatHash(state) {
  const pairs = KEYS.filter((key) => state[key]).map((key) => {
    const value = key === "loss" || key === "unit" ? state[key] : encodeURIComponent(state[key]);
    return `${key}=${value}`;
  });
  return `#${pairs.join("&")}`;
}

/** Names as a path: `node/h100-a-0`. */
function formatPath(names) {
  return names.map(encodeURIComponent).join("/");
}

function parsePath(path) {
  return path.split("/").map(decode);
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The present state, and who wants to know of another one. */
class State {
  constructor(apply) {
    this.apply = apply;
    this.now = parseHash(location.hash);
    addEventListener("hashchange", () => this.read());
    addEventListener("popstate", () => this.read());
  }

  read() {
    const said = parseHash(location.hash);
    if (formatHash(said) === formatHash(this.now)) return;
    this.now = said;
    this.apply(this.now);
  }

  /** Look at something else: the back button returns. */
  go(changes) {
    this.move(changes, "pushState");
  }

  /** The same place seen otherwise. */
  adjust(changes) {
    this.move(changes, "replaceState");
  }

  move(changes, method) {
    const next = { ...this.now, ...changes };
    if (formatHash(next) !== formatHash(this.now)) history[method](null, "", formatHash(next));
    this.now = next;
    this.apply(this.now);
  }
}

/** What a state has in view: {side, pick} or {side, unit} or {missing}; null: nothing in particular. */
function findTarget(fleet, state) {
  const side = fleet.side(state.side);
  if (state.loss) {
    const path = parsePath(state.loss);
    const clusters = side.clusters.filter((cluster) => !state.in || cluster.name === state.in);
    const pick = clusters.map((cluster) => cluster.findPath(path)).find((one) => one !== null);
    return pick ? { side, pick } : { side, missing: path.join(" ") };
  }
  if (state.unit) {
    const [cluster, ...rest] = parsePath(state.unit);
    const unit = side.find(cluster, rest.join("/"));
    return unit ? { side, unit } : { side, missing: [cluster, ...rest].join(" ") };
  }
  return null;
}

/** The changes of state that look at something. */
function toPick(pick) {
  const { cluster } = pick;
  return { unit: "", loss: formatPath(cluster.pathOf(pick)), in: cluster.name, side: cluster.side.key === "before" ? "before" : "" };
}

function toUnit(unit) {
  return { loss: "", in: "", unit: formatPath([unit.cluster, unit.workload]), side: unit.side.key === "before" ? "before" : "" };
}

function linkTo(changes, ...children) {
  return make("a", { href: formatHash(changes) }, ...children);
}

function pickLink(pick) {
  return linkTo(toPick(pick), code(pick.name));
}

function unitLink(unit) {
  return linkTo(toUnit(unit), code(unit.workload));
}
