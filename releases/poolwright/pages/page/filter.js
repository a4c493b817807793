/* What is shown of the fleet: choices of the form, and the search. */

const FILTERS = ["cluster", "envelope", "verdict", "class", "mode"];
const FREE = "(free)"; // an envelope is name@version

/** Which devices and units go with what was chosen. state: {cluster, envelope, verdict, class, mode, q}. */
class Filter {
  constructor(state) {
    this.state = state;
    this.query = (state.q ?? "").trim().toLowerCase();
    this.isOpen = !this.query && FILTERS.every((name) => !state[name]);
    this.ofUnits = Boolean(state.envelope || state.verdict || state.class);
  }

  takesCluster(cluster) {
    return !this.state.cluster || this.state.cluster === cluster.name;
  }

  takesDevice(cluster, row, units) {
    if (this.isOpen) return true;
    if (!this.takesCluster(cluster)) return false;
    if (this.state.mode && MODES[cluster.devices.mode[row]] !== this.state.mode) return false;
    if (this.state.envelope === FREE ? units.length : this.ofUnits && !units.some((unit) => this.takesWords(unit))) return false;
    return !this.query || this.saysDevice(cluster, row) || units.some((unit) => unit.words.includes(this.query));
  }

  takesUnit(unit, cluster) {
    if (this.isOpen) return true;
    if (this.state.envelope === FREE || (this.state.cluster && this.state.cluster !== unit.cluster)) return false;
    if (!this.takesWords(unit)) return false;
    if (this.state.mode && !unit.rows.some((row) => MODES[cluster.devices.mode[row]] === this.state.mode)) return false;
    return !this.query || unit.words.includes(this.query) || unit.rows.some((row) => this.saysDevice(cluster, row));
  }

  takesWords(unit) {
    const { envelope, verdict, class: name } = this.state;
    return (!envelope || unit.envelope === envelope) && (!verdict || unit.verdict === verdict) && (!name || unit.classes.has(name));
  }

  saysDevice(cluster, row) {
    const node = cluster.devices.node[row];
    return cluster.deviceWords[row].includes(this.query) || (node !== NONE && cluster.nodeWords[node].includes(this.query));
  }
}

/** Things whose name has the search's text in it: at most so many, whole names and nodes first. */
function findNamed(side, query, most) {
  const found = [];
  for (const cluster of side.clusters) {
    for (const thing of ["zone", "family", "node", "device"]) {
      for (const pick of cluster.list(thing)) if (pick.name.toLowerCase().includes(query)) found.push(pick);
    }
  }
  const rank = (pick) => (pick.name.toLowerCase() === query ? 0 : 1);
  found.sort((one, other) => rank(one) - rank(other));
  return { picks: found.slice(0, most), left: Math.max(0, found.length - most) };
}

/** The form of filters. change: called with {name: value} of what was chosen. */
function buildFilters(form, fleet, change) {
  const units = fleet.sides.flatMap((side) => side.units);
  const clusters = fleet.sides.flatMap((side) => side.clusters);
  const sorted = (values) => [...new Set(values)].sort();
  const values = {
    cluster: sorted(clusters.map((one) => one.name)),
    envelope: [...fleet.envelopes, FREE],
    verdict: WORST_FIRST.filter((word) => units.some((unit) => unit.verdict === word)),
    class: sorted(units.flatMap((unit) => [...unit.classes])),
    mode: MODES.filter((_, index) => clusters.some((one) => one.devices.mode.includes(index))),
  };
  const search = make("input", { type: "search", id: "q", autocomplete: "off", spellcheck: "false",
    oninput: () => change({ q: search.value }) });
  put(form, make("p", { class: "field wide-field" }, make("label", { for: "q" }, "Find a node, device, workload or model"), search));
  const selects = FILTERS.map((name) => {
    const select = make("select", { id: `by-${name}`, onchange: () => change({ [name]: select.value }) },
      make("option", { value: "" }, "all"));
    for (const value of values[name]) {
      const option = make("option", null, value);
      option.value = value;
      put(select, option);
    }
    const label = name[0].toUpperCase() + name.slice(1);
    put(form, make("p", { class: "field" }, make("label", { for: `by-${name}` }, label), select));
    return select;
  });
  const clear = make("button", { type: "button", onclick: () => change(Object.fromEntries(["q", ...FILTERS].map((name) => [name, ""]))) }, "Show all");
  put(form, make("p", { class: "field" }, clear));
  form.addEventListener("submit", (event) => event.preventDefault());
  return (state) => {
    if (search.value !== (state.q ?? "")) search.value = state.q ?? "";
    selects.forEach((select, index) => { select.value = state[FILTERS[index]] ?? ""; });
    clear.disabled = new Filter(state).isOpen;
  };
}
