"use strict";
// The page as a whole: what is chosen, hidden and seen; kept in the address, so that a link opens the same view.

const GHOST_HUE = { light: [120, 130, 145], dark: [150, 160, 175] }; // of what is filtered out
const SAVE_AFTER = 250; // milliseconds: browsers allow few changes of the address
const REST_AFTER = 200; // milliseconds without a change, at least, after which a slow map is drawn whole
const PAN_PIXELS = 80;
const CLOSE_UP = [1, 8]; // between these is the zoom at which a node is looked at, with what is near it
const PICK_PIXELS = { mouse: 12, touch: 24 };

class Explorer {
  constructor(data) {
    this.data = data;
    this.selected = null;
    this.hovered = null;
    this.peeked = null;
    this.near = new Map();
    this.coloring = data.colorings[0];
    this.hidden = Object.fromEntries(data.colorings.map((each) => [each.key, new Set()]));
    this.table = data.about.tables[0].key;
    this.visible = new Uint8Array(data.count).fill(1);
    this.numVisible = data.count;
    this.grid = new PointGrid(data.points, data.count);
    this.stage = document.getElementById("map");
    this.tip = document.getElementById("tip");
    const canvas = document.getElementById("overlay");
    this.camera = new Camera(this.stage, canvas, () => this.viewChanged());
    this.camera.onHover = (left, top) => this.hover(left, top);
    this.camera.onLeave = () => this.leave();
    this.camera.onClick = (left, top, touch) => this.click(left, top, touch);
    this.canvases = [document.getElementById("points"), canvas];
    this.overlay = new Overlay(canvas, this);
    this.darkWanted = matchMedia("(prefers-color-scheme: dark)");
    this.darkWanted.addEventListener("change", () => this.themeChanged());
    this.readAddress();
    this.theme = this.currentTheme();
    document.documentElement.dataset.theme = this.theme;
    this.legend = new Legend(this);
    this.card = new Card(this);
    this.search = new Search(this);
    this.tables = new Tables(this);
    this.showAbout();
    this.listen();
    try {
      this.cloud = new PointCloud(this.canvases[0], data.points, data.count);
      this.say("");
    } catch (problem) {
      this.say(problem.message); // search, card and tables work all the same
    }
    this.resize();
    this.filterChanged();
    this.tables.show(this.table);
    this.select(this.selected);
  }

  say(words) {
    const status = document.getElementById("status");
    status.textContent = words;
    status.hidden = !words;
  }

  showAbout() {
    const { about } = this.data;
    document.title = `${about.title} · pine explore`;
    document.querySelector("#title bdi").textContent = about.title;
    const types = about.types.length ? `, ${about.types.length} types` : "";
    document.getElementById("about").textContent = `${about.method} · ${this.data.count.toLocaleString("en")} nodes${types} · ${about.map}`;
    document.querySelector("#notes ul").replaceChildren(...about.notes.map((note) => element("li", note)));
    document.getElementById("linked").hidden = !this.data.arrays.degrees;
  }

  // ---- colors and filters ----

  colorBy(key) {
    this.coloring = this.data.colorings.find((each) => each.key === key) ?? this.coloring;
    this.legend.show();
    this.repaint();
    this.card.show(this.selected);
  }

  toggle(key, code) {
    const hidden = this.hidden[key];
    if (!hidden.delete(code)) hidden.add(code);
    this.legend.keepFocus(() => this.filterChanged());
  }

  showOnly(key, code) {
    const coloring = this.data.colorings.find((each) => each.key === key);
    const others = [...coloring.names.keys(), coloring.names.length].filter((each) => each !== code);
    this.hidden[key] = new Set(others);
    this.legend.keepFocus(() => this.filterChanged());
  }

  showAll() {
    for (const key of Object.keys(this.hidden)) this.hidden[key].clear();
    this.filterChanged();
  }

  filterChanged() {
    this.visible.fill(1);
    for (const coloring of this.data.colorings) {
      const hidden = this.hidden[coloring.key];
      if (!hidden.size) continue;
      for (let i = 0; i < this.data.count; i++) if (hidden.has(coloring.codes[i])) this.visible[i] = 0;
    }
    this.numVisible = this.visible.reduce((sum, each) => sum + each, 0);
    this.legend.show();
    this.repaint();
  }

  styleOfNode(number) {
    const { scale, names, codes } = this.coloring;
    return styleOf(scale, names, codes[number], this.theme);
  }

  repaint() {
    const { scale, names, codes } = this.coloring;
    const count = this.data.count;
    const alpha = count > 50000 ? 190 : count > 5000 ? 215 : 235;
    const ghost = [...GHOST_HUE[this.theme], count > 50000 ? 5 : count > 5000 ? 12 : 22]; // many lie upon each other
    const styles = [0, ...names.map((_, i) => i + 1)].map((code) => {
      const { color, shape } = styleOf(scale, names, code, this.theme);
      const nothing = code === 0 || (scale === "sets" && code === names.length);
      const rank = nothing ? 1 : scale === "verdict" && code > 1 ? 3 : 2;
      return { paint: [...rgb(color), code === 0 ? Math.round(alpha * 0.75) : alpha], shape, rank };
    });
    const [paints, shapes, ranks] = [new Uint8Array(4 * count), new Uint8Array(count), new Uint8Array(count)];
    for (let i = 0; i < count; i++) {
      const style = styles[codes[i]];
      paints.set(this.visible[i] ? style.paint : ghost, 4 * i);
      shapes[i] = style.shape;
      ranks[i] = this.visible[i] ? style.rank : 0;
    }
    this.cloud?.paint(paints, shapes, ranks);
    this.viewChanged(false);
  }

  currentTheme() {
    return this.wantedTheme ?? (this.darkWanted.matches ? "dark" : "light");
  }

  themeChanged() {
    this.theme = this.currentTheme();
    document.documentElement.dataset.theme = this.theme;
    this.legend.show();
    this.repaint();
    this.card.show(this.selected);
  }

  // ---- drawing ----

  // A point: smaller where there are many, larger from near.
  get radius() {
    const base = Math.min(6, Math.max(1.1, 60 / this.data.count ** 0.36));
    return Math.min(9, base * Math.min(1, Math.min(this.camera.width, this.camera.height) / 700 + 0.25) * this.camera.zoom ** 0.35);
  }

  resize() {
    this.camera.resize();
    for (const canvas of this.canvases) {
      canvas.width = Math.round(this.camera.width * this.camera.ratio);
      canvas.height = Math.round(this.camera.height * this.camera.ratio);
    }
    this.viewChanged(false);
  }

  // The points move, or look different; moved: they will probably move again at once.
  viewChanged(moved = true) {
    this.stale = true;
    this.moved = moved;
    this.redraw();
    this.saveSoon();
  }

  drawPoints() {
    const { x, y, perUnit, ratio } = this.camera;
    const some = this.moved && this.cloud.slow;
    this.cloud.draw(x, y, perUnit, this.radius, ratio, some);
    clearTimeout(this.resting);
    if (some) this.resting = setTimeout(() => this.viewChanged(false), Math.max(REST_AFTER, 2 * this.cloud.cost));
  }

  // Pointing changes what lies over the points, and leaves them alone.
  redraw() {
    this.drawing ??= requestAnimationFrame(() => {
      this.drawing = undefined;
      if (this.stale && this.cloud) this.drawPoints();
      this.stale = false;
      this.overlay.draw();
      this.placeTip();
    });
  }

  // ---- pointing and choosing ----

  pick(left, top, pixels) {
    const [x, y] = this.camera.toMap(left, top);
    return this.grid.nearest(x, y, Math.max(pixels, this.radius + 2) / this.camera.perUnit, (i) => this.visible[i] === 1);
  }

  hover(left, top) {
    const found = this.pick(left, top, PICK_PIXELS.mouse);
    const number = found < 0 ? null : found;
    this.canvases[1].classList.toggle("over", number !== null);
    if (number === this.hovered) return;
    this.hovered = number;
    clearTimeout(this.asking);
    if (number !== null && this.selected === null) this.asking = setTimeout(() => this.askNear(number), 90);
    this.redraw();
  }

  leave() {
    this.hovered = null;
    clearTimeout(this.asking);
    this.redraw();
  }

  click(left, top, touch) {
    const found = this.pick(left, top, touch ? PICK_PIXELS.touch : PICK_PIXELS.mouse);
    this.select(found < 0 ? null : found);
  }

  select(number, center = false) {
    this.selected = number;
    this.peeked = null;
    this.card.show(number);
    this.tables.choose(number);
    document.getElementById("lines").hidden = number === null;
    if (number !== null) this.askNear(number);
    if (number !== null && center) this.frame(number);
    this.redraw();
    this.saveSoon();
  }

  // A node beside the chosen one, from the list of the nearest.
  peek(number, byKey = false) {
    this.peeked = number;
    if (number !== null && byKey) {
      const [left, top] = this.overlay.place(number);
      if (left < 0 || top < 0 || left > this.camera.width || top > this.camera.height) this.center(number, this.camera.zoom);
    }
    this.redraw();
  }

  center(number, zoom) {
    this.camera.moveTo(this.data.points[2 * number], this.data.points[2 * number + 1], zoom);
  }

  // The node and most of what is near it, as large as they fit: some of that may be far on the map.
  async frame(number) {
    const found = await this.data.near(number).catch(() => ({}));
    if (this.selected !== number) return;
    const at = (each) => [this.data.points[2 * each], this.data.points[2 * each + 1]];
    const [x, y] = at(number);
    const apart = ([a, b]) => Math.max(Math.abs(a - x), Math.abs(b - y));
    const others = [...(found.nearest ?? []).map(([other]) => other), ...(found.neighbors ?? [])].map(at);
    const shown = [[x, y], ...others.sort((a, b) => apart(a) - apart(b)).slice(0, Math.ceil(0.85 * others.length))];
    const [left, right, low, high] = [0, 1].flatMap((axis) => [Math.min, Math.max].map((end) => end(...shown.map((each) => each[axis]))));
    const reach = others.length ? Math.max(right - left, high - low) / 2 : 0.3;
    const zoom = Math.min(CLOSE_UP[1], Math.max(CLOSE_UP[0], 0.75 / Math.max(reach, 1e-6)));
    const inside = 1 - 1 / zoom; // no further out, so that the view is full of the map
    const middle = (a, b) => Math.max(-inside, Math.min(inside, (a + b) / 2));
    this.camera.moveTo(middle(left, right), middle(low, high), zoom);
  }

  askNear(number) {
    this.data.near(number).then((found) => {
      if (this.near.size > 500) this.near.clear();
      this.near.set(number, found);
      this.redraw();
    }, () => {});
  }

  nearOf(number) {
    return this.near.get(number);
  }

  placeTip() {
    const number = this.hovered ?? this.peeked;
    this.tip.hidden = number === null;
    if (number === null) return;
    if (this.tipped !== number) fillTip(this.tip, this.data, number);
    this.tipped = number;
    const [left, top] = this.overlay.place(number);
    const [width, height] = [this.tip.offsetWidth, this.tip.offsetHeight];
    const x = left + 16 + width > this.camera.width ? left - 16 - width : left + 16;
    const y = Math.min(Math.max(8, top - height / 2), this.camera.height - height - 8);
    this.tip.style.transform = `translate(${Math.round(Math.max(4, x))}px, ${Math.round(y)}px)`;
  }

  // ---- tables ----

  showTable(key) {
    this.table = key;
    this.tables.show(key);
    this.saveSoon();
  }

  // ---- the address ----

  saveSoon() {
    this.saving ??= setTimeout(() => {
      this.saving = undefined;
      this.written = this.address();
      try {
        history.replaceState(null, "", this.written || location.pathname);
      } catch {
        // Some browsers give files no history: the button still copies the link.
      }
    }, SAVE_AFTER);
  }

  address() {
    const parts = new URLSearchParams();
    const { x, y, zoom } = this.camera;
    if (this.coloring !== this.data.colorings[0]) parts.set("color", this.coloring.key);
    if (x !== 0 || y !== 0 || zoom !== 1) [["x", x], ["y", y], ["zoom", zoom]].forEach(([name, value]) => parts.set(name, Number(value.toPrecision(6))));
    if (this.selected !== null) parts.set("node", this.selected);
    for (const [key, codes] of Object.entries(this.hidden)) if (codes.size) parts.set(`hide-${key}`, [...codes].sort((a, b) => a - b).join("."));
    if (this.wantedTheme) parts.set("theme", this.wantedTheme);
    if (this.table !== this.data.about.tables[0].key) parts.set("table", this.table);
    const text = parts.toString();
    return text ? `#${text}` : "";
  }

  // What makes no sense in an address is left out.
  readAddress() {
    const parts = new URLSearchParams(location.hash.slice(1));
    const number = (name) => {
      const value = Number.parseFloat(parts.get(name));
      return Number.isFinite(value) ? value : null;
    };
    this.coloring = this.data.colorings.find((each) => each.key === parts.get("color")) ?? this.data.colorings[0];
    for (const { key, names } of this.data.colorings) {
      const codes = (parts.get(`hide-${key}`) ?? "").split(".").filter((text) => /^\d+$/.test(text)).map(Number);
      this.hidden[key] = new Set(codes.filter((code) => code <= names.length));
    }
    const node = number("node");
    this.selected = node !== null && Number.isInteger(node) && node >= 0 && node < this.data.count ? node : null;
    const theme = parts.get("theme");
    this.wantedTheme = theme === "dark" || theme === "light" ? theme : null;
    this.table = (this.data.about.tables.find((each) => each.key === parts.get("table")) ?? this.data.about.tables[0]).key;
    this.camera.set(number("x") ?? 0, number("y") ?? 0, number("zoom") ?? 1);
  }

  // Someone pasted another link.
  addressChanged() {
    if (location.hash === (this.written ?? "")) return;
    this.readAddress();
    this.themeChanged();
    this.filterChanged();
    this.tables.show(this.table);
    this.select(this.selected);
  }

  // ---- keys and buttons ----

  listen() {
    new ResizeObserver(() => this.resize()).observe(this.stage);
    window.addEventListener("hashchange", () => this.addressChanged());
    document.addEventListener("keydown", (event) => this.key(event));
    const on = (id, act) => document.getElementById(id).addEventListener("click", act);
    on("nearer", () => this.camera.zoomBy(1.6));
    on("farther", () => this.camera.zoomBy(1 / 1.6));
    on("fit", () => this.camera.fit());
    on("theme", () => this.switchTheme());
    on("help", () => document.getElementById("keys").showModal());
    on("copy", () => this.copyLink());
  }

  switchTheme() {
    this.wantedTheme = this.theme === "dark" ? "light" : "dark";
    this.themeChanged();
  }

  async copyLink() {
    const button = document.getElementById("copy");
    const link = location.href.split("#")[0] + this.address();
    try {
      await navigator.clipboard.writeText(link);
      button.textContent = "Copied";
    } catch {
      button.textContent = "In the address";
    }
    setTimeout(() => (button.textContent = "Link"), 1500);
  }

  key(event) {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest?.("input, select, dialog")) return;
    const acts = {
      "/": () => this.search.input.focus(),
      Escape: () => this.clear(),
      ArrowLeft: () => this.camera.pan(PAN_PIXELS, 0),
      ArrowRight: () => this.camera.pan(-PAN_PIXELS, 0),
      ArrowUp: () => this.camera.pan(0, PAN_PIXELS),
      ArrowDown: () => this.camera.pan(0, -PAN_PIXELS),
      "+": () => this.camera.zoomBy(1.4),
      "=": () => this.camera.zoomBy(1.4),
      "-": () => this.camera.zoomBy(1 / 1.4),
      0: () => this.camera.fit(),
      n: () => this.card.step(1),
      p: () => this.card.step(-1),
      c: () => this.colorBy(this.data.colorings[(this.data.colorings.indexOf(this.coloring) + 1) % this.data.colorings.length].key),
      t: () => this.switchTheme(),
      "?": () => document.getElementById("keys").showModal(),
    };
    if (event.key === "Enter" && this.peeked !== null && !target.closest?.("button")) acts.Enter = () => this.select(this.peeked, true);
    if (!Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    acts[event.key]();
  }

  clear() {
    if (this.peeked !== null) {
      this.peeked = null;
      this.card.rows.forEach((row) => row.classList.remove("peek"));
      this.redraw();
    } else {
      this.select(null);
    }
  }
}

let explorer;
loadRun().then(
  (data) => {
    explorer = new Explorer(data);
    document.documentElement.dataset.ready = "true";
  },
  (problem) => {
    document.getElementById("status").textContent = `The page cannot be shown: ${problem.message}`;
  },
);
