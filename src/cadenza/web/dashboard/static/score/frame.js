// One drawing: a canvas with the scale, the palette and the filter that all its parts share.
const KNOWN_WIDTHS = 4000;
const widths = new Map();

export class Frame {
  constructor(canvas, { scale, palette, height, ratio, now, only, isClear }) {
    this.g = canvas.getContext("2d", { alpha: isClear });
    Object.assign(this, { scale, palette, height, ratio, now, only, width: scale.width });
    this.g.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (isClear) this.g.clearRect(0, 0, this.width, height);
    else this.fill("paper-raised", 0, 0, this.width, height);
  }

  fill(colour, x, y, width, height, alpha = 1) {
    this.g.globalAlpha = alpha;
    this.g.fillStyle = this.palette[colour] ?? colour;
    this.g.fillRect(x, y, width, height);
    this.g.globalAlpha = 1;
  }

  /** How strongly a family is drawn: what the legend's filter leaves out is still there, faintly. */
  strength(family) {
    return this.only.size && !this.only.has(family) ? 0.16 : 1;
  }

  font(weight = 500, size = 11) {
    this.g.font = `${weight} ${size}px ${this.palette.font}`;
  }

  widthOf(text) {
    const key = `${this.g.font}\n${text}`;
    let width = widths.get(key);
    if (width === undefined) {
      width = this.g.measureText(text).width;
      if (widths.size > KNOWN_WIDTHS) widths.clear();
      widths.set(key, width);
    }
    return width;
  }

  /** Text in so much room: cut with an ellipsis, and left out where too little of it would be left. */
  text(text, x, y, room, colour, { back = false } = {}) {
    if (room < 34 || x > this.width) return;
    this.font();
    const whole = this.widthOf(text);
    const letters = whole > room ? Math.floor((text.length * room) / whole) - 1 : text.length;
    if (letters < Math.min(5, text.length)) return;
    const shown = letters < text.length ? `${text.slice(0, letters).trimEnd()}…` : text;
    if (back) this.fill("paper-raised", x - 4, y - 10, this.widthOf(shown) + 8, 14, 0.92);
    this.g.fillStyle = colour;
    this.g.fillText(shown, x, y);
  }

  /** What is behind everything: the future on other paper, and the marks of the axis. */
  background() {
    const now = this.scale.x(this.now);
    if (now < this.width) this.fill("paper-sunk", Math.max(0, now), 0, this.width, this.height, 0.7);
    for (const at of this.scale.ticks().times) this.fill("rule", Math.round(this.scale.x(at)), 0, 1, this.height, 0.6);
  }

  nowLine() {
    const x = this.scale.x(this.now);
    if (x > 0 && x < this.width) this.fill("ink", Math.round(x) - 0.75, 0, 1.5, this.height);
  }
}
