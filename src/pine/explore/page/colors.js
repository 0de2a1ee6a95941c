"use strict";
// Colors and shapes of entries. Hues after Okabe and Ito, which color-blind readers tell apart, one set for each ground;
// after eight entries the shape changes, so that forty look different.

const CLASS_HUES = {
  light: ["#0072b2", "#d98a00", "#009e73", "#c2609a", "#d55e00", "#4fb0e6", "#6b4fb3", "#8a6a1f"],
  dark: ["#4ea5e0", "#f2b134", "#2bc79b", "#e58fc1", "#ff8552", "#9bdcff", "#b29cf5", "#cdb06a"],
};
const VERDICT_HUES = {
  light: ["#7fb0d8", "#d94f00", "#e3a008"],
  dark: ["#5288bd", "#ff7d45", "#f2b84b"],
};
// From near the ground to far from it: the more, the plainer.
const RAMPS = {
  light: ["#a9d46a", "#4fb57f", "#23908b", "#31688e", "#443a83", "#3a0b52"],
  dark: ["#52489b", "#3b6fa5", "#2a9d8f", "#5fc76e", "#b6df3c", "#fdf06a"],
};
const UNKNOWN_HUE = { light: "#c2c8d0", dark: "#4b535e" };
const EMPTY_HUE = { light: "#8b95a3", dark: "#747f8d" };
const NUM_SHAPES = 5;

function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function along(ramp, share) {
  const place = share * (ramp.length - 1);
  const before = Math.min(Math.floor(place), ramp.length - 2);
  const [a, b] = [channels(ramp[before]), channels(ramp[before + 1])];
  return `rgb(${a.map((each, i) => Math.round(each + (b[i] - each) * (place - before))).join(" ")})`;
}

function rgb(color) {
  return color.startsWith("#") ? channels(color) : color.match(/\d+/g).map(Number);
}

// The style of an entry of a coloring, 0 for what is unknown: {color, shape}.
function styleOf(scale, names, code, theme) {
  if (code === 0) return { color: UNKNOWN_HUE[theme], shape: 0 };
  const at = code - 1;
  if (scale === "sets" && code === names.length) return { color: EMPTY_HUE[theme], shape: 2 };
  if (scale === "verdict") return { color: VERDICT_HUES[theme][at % 3], shape: 0 };
  if (scale === "ordered") return { color: along(RAMPS[theme], names.length > 1 ? at / (names.length - 1) : 1), shape: 0 };
  const hues = CLASS_HUES[theme];
  return { color: hues[at % hues.length], shape: Math.floor(at / hues.length) % NUM_SHAPES };
}

// Corners of a shape around 0 0 with radius 1; none for a circle. The same as in points.js.
const SHAPE_CORNERS = [
  null,
  [[-0.78, -0.78], [0.78, -0.78], [0.78, 0.78], [-0.78, 0.78]],
  [[0, -1], [1, 0], [0, 1], [-1, 0]],
  [[0, -0.95], [0.95, 0.75], [-0.95, 0.75]],
  [[-0.34, -0.95], [0.34, -0.95], [0.34, -0.34], [0.95, -0.34], [0.95, 0.34], [0.34, 0.34], [0.34, 0.95], [-0.34, 0.95], [-0.34, 0.34], [-0.95, 0.34], [-0.95, -0.34], [-0.34, -0.34]],
];

function tracePath(context, shape, x, y, radius) {
  context.beginPath();
  if (shape === 0) context.arc(x, y, radius * 0.92, 0, 2 * Math.PI);
  else SHAPE_CORNERS[shape].forEach(([u, v], i) => context[i ? "lineTo" : "moveTo"](x + u * radius, y + v * radius));
  context.closePath();
}

function swatch({ color, shape }) {
  const names = "http://www.w3.org/2000/svg";
  const image = document.createElementNS(names, "svg");
  image.setAttribute("viewBox", "-1.1 -1.1 2.2 2.2");
  image.setAttribute("class", "swatch");
  image.setAttribute("aria-hidden", "true");
  const form = document.createElementNS(names, shape === 0 ? "circle" : "polygon");
  if (shape === 0) form.setAttribute("r", "0.92");
  else form.setAttribute("points", SHAPE_CORNERS[shape].map((corner) => corner.join(",")).join(" "));
  form.setAttribute("fill", color);
  image.append(form);
  return image;
}
