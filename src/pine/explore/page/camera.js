"use strict";
// What part of the map is seen, and how pointer, wheel and fingers change it.

const STEP_SECONDS = 0.28;
const CLICK_PIXELS = 5;

class Camera {
  constructor(stage, canvas, changed) {
    this.stage = stage;
    this.canvas = canvas;
    this.changed = changed;
    this.x = 0;
    this.y = 0;
    this.zoom = 1;
    this.pointers = new Map();
    this.travel = 0;
    this.resize();
    this.listen();
  }

  resize() {
    this.width = Math.max(1, this.stage.clientWidth);
    this.height = Math.max(1, this.stage.clientHeight);
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
  }

  get perUnit() {
    return 0.46 * Math.min(this.width, this.height) * this.zoom;
  }

  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.perUnit, this.height / 2 - (y - this.y) * this.perUnit];
  }

  toMap(left, top) {
    return [this.x + (left - this.width / 2) / this.perUnit, this.y - (top - this.height / 2) / this.perUnit];
  }

  set(x, y, zoom) {
    this.zoom = Math.min(5000, Math.max(0.5, zoom));
    this.x = Math.min(1.5, Math.max(-1.5, x));
    this.y = Math.min(1.5, Math.max(-1.5, y));
    this.changed();
  }

  // Smoothly, unless the reader asked for less motion.
  moveTo(x, y, zoom) {
    cancelAnimationFrame(this.moving);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.set(x, y, zoom);
    const from = [this.x, this.y, Math.log(this.zoom)];
    const to = [x, y, Math.log(zoom)];
    const begin = performance.now();
    const step = (now) => {
      const share = Math.min(1, Math.max(0, (now - begin) / 1000 / STEP_SECONDS));
      const eased = 1 - (1 - share) ** 3;
      const [atX, atY, atZoom] = from.map((each, i) => each + (to[i] - each) * eased);
      this.set(atX, atY, Math.exp(atZoom));
      if (share < 1) this.moving = requestAnimationFrame(step);
    };
    this.moving = requestAnimationFrame(step);
  }

  pan(dx, dy) {
    this.set(this.x - dx / this.perUnit, this.y + dy / this.perUnit, this.zoom);
  }

  // What is under (left, top) stays there.
  zoomBy(factor, left = this.width / 2, top = this.height / 2) {
    const [x, y] = this.toMap(left, top);
    const before = this.perUnit;
    this.zoom = Math.min(5000, Math.max(0.5, this.zoom * factor));
    const share = before / this.perUnit;
    this.set(x + (this.x - x) * share, y + (this.y - y) * share, this.zoom);
  }

  fit() {
    this.moveTo(0, 0, 1);
  }

  listen() {
    const place = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      cancelAnimationFrame(this.moving);
      this.canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, place(event));
      if (this.pointers.size === 1) this.travel = 0;
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const at = place(event);
      const before = this.pointers.get(event.pointerId);
      if (!before) return this.onHover(...at);
      const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, each]) => each);
      this.pointers.set(event.pointerId, at);
      if (others.length === 0) {
        this.travel += Math.abs(at[0] - before[0]) + Math.abs(at[1] - before[1]);
        if (this.travel > CLICK_PIXELS) {
          this.canvas.classList.add("moving");
          this.onLeave();
        }
        this.pan(at[0] - before[0], at[1] - before[1]);
      } else {
        this.pinch(others[0], before, at);
      }
    });
    const end = (event) => {
      const known = this.pointers.delete(event.pointerId);
      this.canvas.classList.remove("moving");
      if (known && event.type === "pointerup" && this.pointers.size === 0 && this.travel <= CLICK_PIXELS) {
        this.onClick(...place(event), event.pointerType === "touch");
      }
    };
    this.canvas.addEventListener("pointerup", end);
    this.canvas.addEventListener("pointercancel", end);
    this.canvas.addEventListener("pointerleave", () => this.onLeave());
    this.canvas.addEventListener("dblclick", (event) => this.zoomBy(event.shiftKey ? 0.5 : 2, ...place(event)));
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      this.zoomBy(Math.exp(-Math.max(-120, Math.min(120, event.deltaY * lines)) * 0.0022), ...place(event));
    }, { passive: false });
  }

  // One finger rests at `still`, the other moves.
  pinch(still, before, now) {
    this.travel = Infinity;
    const apart = ([a, b], [c, d]) => Math.max(1, Math.hypot(a - c, b - d));
    const middle = [(still[0] + now[0]) / 2, (still[1] + now[1]) / 2];
    this.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    this.zoomBy(apart(still, now) / apart(still, before), ...middle);
  }
}
