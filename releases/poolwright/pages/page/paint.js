/* How the map looks: a colour, a pattern and a letter for each envelope, so that none of them has to do it alone. */

const COLOURS = 8;
const PATTERNS = 5; // has no divisor in common with COLOURS: forty looks before one returns
const FONT = '11px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const SMALL = '600 10px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const OTHER = { index: NONE, letter: "\u2022" };

/** Colours of the theme as it is now, and patterns made of them. */
class Paint {
  constructor(fleet) {
    this.fleet = fleet;
    this.probe = make("span", { hidden: true });
    document.body.append(this.probe);
    this.refresh();
  }

  refresh() {
    const names = ["page", "text", "soft", "line", "tint", "accent", "bad", "free", "other", "mark"];
    this.colours = Object.fromEntries(names.map((name) => [name, this.read(`--${name}`)]));
    this.fills = Array.from({ length: COLOURS }, (_, index) => this.read(`--fill-${index}`));
    this.patterns = new Map();
  }

  read(name) {
    this.probe.style.color = `var(${name})`;
    return getComputedStyle(this.probe).color;
  }

  lookOf(unit) {
    return (unit.envelope !== null && this.fleet.looks.get(unit.envelope)) || OTHER;
  }

  fill(context, look) {
    if (look.index === NONE) return this.colours.other;
    const key = look.index % (COLOURS * PATTERNS);
    if (!this.patterns.has(key)) this.patterns.set(key, this.makePattern(context, key));
    return this.patterns.get(key);
  }

  makePattern(context, key) {
    const tile = make("canvas", { width: 8, height: 8 });
    const pen = tile.getContext("2d");
    pen.fillStyle = this.fills[key % COLOURS];
    pen.fillRect(0, 0, 8, 8);
    pen.strokeStyle = pen.fillStyle = this.colours.mark;
    const lines = [
      [],
      [[0, 8, 8, 0], [-2, 2, 2, -2], [6, 10, 10, 6]],
      [[0, 4, 8, 4]],
      [[4, 0, 4, 8]],
      [[0, 0, 8, 8], [-2, 6, 2, 10], [6, -2, 10, 2]],
    ][key % PATTERNS];
    pen.beginPath();
    for (const [x, y, toX, toY] of lines) {
      pen.moveTo(x, y);
      pen.lineTo(toX, toY);
    }
    pen.stroke();
    return context.createPattern(tile, "repeat");
  }

  /** A small picture of a look, for the legend. */
  swatch(look) {
    const canvas = make("canvas", { width: 24, height: 24, class: "swatch", "aria-hidden": "true" });
    this.cell(canvas.getContext("2d"), { x: 1, y: 1, w: 22, h: 22, isShown: true }, look === null ? [] : [look]);
    return canvas;
  }

  /** A device's part: filled for each that has it, one above the other. */
  cell(context, { x, y, w, h, isShown }, looks) {
    context.globalAlpha = isShown ? 1 : 0.25;
    context.fillStyle = this.colours.free;
    context.fillRect(x, y, w, h);
    looks.forEach((look, index) => {
      const height = h / looks.length;
      const top = y + index * height;
      context.fillStyle = this.fill(context, look);
      context.fillRect(x, top, w, height);
      if (height >= 10 || index === 0) this.letter(context, look.letter, x, top, w, height);
    });
    context.strokeStyle = this.colours.soft;
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    context.globalAlpha = 1;
  }

  letter(context, text, x, y, w, h) {
    context.font = SMALL;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 3;
    context.strokeStyle = this.colours.page;
    context.strokeText(text, x + w / 2, y + h / 2 + 0.5, w);
    context.fillStyle = this.colours.text;
    context.fillText(text, x + w / 2, y + h / 2 + 0.5, w);
  }

  text(context, text, x, y, width, { colour = "text", font = FONT } = {}) {
    context.font = font;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillStyle = this.colours[colour];
    context.fillText(shorten(shown(text), Math.floor(width / CHAR)), x, y);
  }

  frame(context, { x, y, w, h }, colour, width, dashes = []) {
    context.strokeStyle = this.colours[colour];
    context.lineWidth = width;
    context.setLineDash(dashes);
    context.strokeRect(x - width / 2 + 1, y - width / 2 + 1, w + width - 2, h + width - 2);
    context.setLineDash([]);
  }

  cross(context, { x, y, w, h }) {
    for (const [colour, width] of [["page", 4], ["bad", 2]]) {
      context.strokeStyle = this.colours[colour];
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(x + 2, y + 2);
      context.lineTo(x + w - 2, y + h - 2);
      context.moveTo(x + w - 2, y + 2);
      context.lineTo(x + 2, y + h - 2);
      context.stroke();
    }
  }
}

/** A name cut in its middle: names of a fleet begin alike. */
function shorten(text, most) {
  if (text.length <= most) return text;
  if (most < 3) return text.slice(0, Math.max(0, most));
  const tail = Math.ceil((most - 1) / 2);
  return `${text.slice(0, most - 1 - tail)}\u2026${text.slice(text.length - tail)}`;
}
