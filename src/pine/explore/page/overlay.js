"use strict";
// Over the points: the chosen node, the one under the pointer, and lines to what is near them.

class Overlay {
  constructor(canvas, explorer) {
    this.context = canvas.getContext("2d");
    this.canvas = canvas;
    this.explorer = explorer;
  }

  draw() {
    const { camera, selected, hovered, peeked } = this.explorer;
    const context = this.context;
    context.setTransform(camera.ratio, 0, 0, camera.ratio, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    this.colors = getComputedStyle(document.documentElement);
    const main = selected ?? hovered;
    if (selected !== null) {
      context.globalAlpha = 0.55;
      context.fillStyle = this.color("--ground");
      context.fillRect(0, 0, camera.width, camera.height);
      context.globalAlpha = 1;
    }
    if (main !== null) this.drawNear(main, selected !== null);
    for (const other of [hovered, peeked]) if (other !== null && other !== main) this.mark(other, 1.5, "--accent", 1.5);
  }

  color(name) {
    return this.colors.getPropertyValue(name).trim();
  }

  drawNear(number, chosen) {
    const near = this.explorer.nearOf(number);
    if (near) {
      const linked = near.neighbors ?? [];
      const nearest = (near.nearest ?? []).map(([other]) => other);
      this.lines(number, nearest, "--accent", [], chosen ? 2 : 1.4);
      this.lines(number, linked, "--link", [5, 4], chosen ? 1.4 : 1.1);
      for (const other of linked) this.mark(other, 1.05, "--link", 1);
      for (const other of nearest) this.mark(other, 1.25, "--accent", 1);
    }
    this.mark(number, chosen ? 2 : 1.5, "--text", chosen ? 2.2 : 1.6);
    if (chosen) this.name(number);
  }

  place(number) {
    const { data, camera } = this.explorer;
    return camera.toScreen(data.points[2 * number], data.points[2 * number + 1]);
  }

  lines(number, others, color, dashes, width) {
    const context = this.context;
    const [x, y] = this.place(number);
    context.strokeStyle = this.color(color);
    context.lineWidth = width;
    context.setLineDash(dashes);
    context.globalAlpha = others.length > 30 ? 0.45 : 0.8;
    context.beginPath();
    for (const other of others) {
      context.moveTo(x, y);
      context.lineTo(...this.place(other));
    }
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  mark(number, scale, ring, width) {
    const context = this.context;
    const { color, shape } = this.explorer.styleOfNode(number);
    const radius = Math.min(12, Math.max(4, this.explorer.radius) * scale);
    tracePath(context, shape, ...this.place(number), radius);
    context.fillStyle = color;
    context.fill();
    context.lineWidth = width;
    context.strokeStyle = this.color(ring);
    context.stroke();
  }

  // The id beside the chosen node, where it has room.
  name(number) {
    const context = this.context;
    const { camera, data } = this.explorer;
    const [x, y] = this.place(number);
    const id = data.ids[number].replace(/[\p{C}\p{Z}]+/gu, " ");
    const text = id.length > 32 ? `${id.slice(0, 31)}…` : id;
    context.font = "600 13px system-ui, 'Noto Sans', 'Liberation Sans', sans-serif";
    context.textBaseline = "middle";
    const gap = Math.min(12, Math.max(4, this.explorer.radius) * 2) + 7;
    const width = context.measureText(text).width;
    const left = x + gap + width > camera.width - 8 ? x - gap - width : x + gap;
    context.lineWidth = 4;
    context.lineJoin = "round";
    context.strokeStyle = this.color("--ground");
    context.strokeText(text, left, y);
    context.fillStyle = this.color("--text");
    context.fillText(text, left, y);
  }
}
