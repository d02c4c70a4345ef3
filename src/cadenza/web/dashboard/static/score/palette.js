// The tokens of the theme in force, for a canvas.
import { FAMILIES } from "./families.js";

const NAMES = ["paper", "paper-raised", "paper-sunk", "rule", "ink", "ink-2", "ink-3", "danger", "focus", "once-text", "flag"];

export function paletteOf(element) {
  const style = getComputedStyle(element);
  const token = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ...Object.fromEntries(NAMES.map((name) => [name, token(name)])),
    families: FAMILIES.map(({ key }) => token(key)),
    shade: Number(token("shade")),
    font: token("font"),
    hatch: hatched(token("ink-3")),
  };
}

/** Diagonal lines, as a pattern that any canvas may fill with. */
function hatched(colour) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const g = tile.getContext("2d");
  g.strokeStyle = colour;
  g.globalAlpha = 0.5;
  g.lineWidth = 1.1;
  g.beginPath();
  for (const [fromX, fromY, toX, toY] of [[-2, 10, 10, -2], [-2, 2, 2, -2], [6, 10, 10, 6]]) {
    g.moveTo(fromX, fromY);
    g.lineTo(toX, toY);
  }
  g.stroke();
  return g.createPattern(tile, "repeat");
}
