"use strict";
// All points at once, by WebGL 2: positions stay on the card, and a pan or a zoom changes three numbers. Where there is
// no such card and software paints, some of the points stand for all while the map moves.

const SOME_POINTS = 20000;
const SLOW_PAINT = 70; // milliseconds of a whole map

const VERTEX_SHADER = `#version 300 es
in vec2 position;
in vec4 color;
in float shape;
uniform vec2 scale;
uniform vec2 offset;
uniform float size;
out vec4 paint;
flat out int form;
out float reach;
void main() {
  gl_Position = color.a > 0.0 ? vec4(position * scale + offset, 0.0, 1.0) : vec4(2.0, 2.0, 0.0, 1.0);
  gl_PointSize = size + 1.0;
  reach = (size + 1.0) / size;
  paint = color;
  form = int(shape + 0.5);
}`;

const FRAGMENT_SHADER = `#version 300 es
precision highp float;
in vec4 paint;
flat in int form;
in float reach;
uniform float size;
out vec4 result;
void main() {
  vec2 p = (gl_PointCoord * 2.0 - 1.0) * reach;
  vec2 q = abs(p);
  float d = length(p) - 0.92;
  if (form == 1) d = max(q.x, q.y) - 0.78;
  else if (form == 2) d = (q.x + q.y - 1.0) * 0.7071;
  else if (form == 3) d = max(p.y - 0.75, (q.x * 0.8727 - (p.y + 0.95) * 0.4883));
  else if (form == 4) d = min(max(q.x - 0.34, q.y - 0.95), max(q.x - 0.95, q.y - 0.34));
  float cover = clamp(0.5 - d * size * 0.5, 0.0, 1.0);
  if (cover == 0.0) discard;
  result = vec4(paint.rgb * paint.a, paint.a) * cover;
}`;

class PointCloud {
  constructor(canvas, points, count) {
    this.gl = canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true });
    if (!this.gl) throw new Error("This page draws with WebGL 2, which this browser does not offer.");
    this.canvas = canvas;
    this.points = points;
    this.count = count;
    this.order = shuffled(count);
    this.lost = false;
    this.slow = false;
    this.cost = 0;
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.lost = true;
    });
    canvas.addEventListener("webglcontextrestored", () => {
      this.lost = false;
      this.prepare();
      if (this.painted) this.paint(...this.painted);
    });
    this.prepare();
  }

  prepare() {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX_SHADER], [gl.FRAGMENT_SHADER, FRAGMENT_SHADER]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    ["position", "color", "shape"].forEach((name, at) => gl.bindAttribLocation(program, at, name));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    gl.useProgram(program);
    this.uniforms = Object.fromEntries(["scale", "offset", "size"].map((name) => [name, gl.getUniformLocation(program, name)]));
    this.buffers = [0, 1, 2].map(() => gl.createBuffer());
    [[2, gl.FLOAT, false], [4, gl.UNSIGNED_BYTE, true], [1, gl.UNSIGNED_BYTE, false]].forEach(([size, kind, unit], at) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[at]);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, kind, unit, 0, 0);
    });
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[0]);
    gl.bufferData(gl.ARRAY_BUFFER, this.points, gl.STATIC_DRAW);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  // paints: four bytes a point; shapes: a byte; ranks: from 0 to 3, what has a higher one is drawn over the others.
  paint(paints, shapes, ranks) {
    this.painted = [paints, shapes, ranks];
    const gl = this.gl;
    const next = [0, 0, 0, 0];
    for (let i = 0; i < this.count; i++) next[ranks[i]]++;
    for (let rank = 0, before = 0; rank < 4; rank++) [next[rank], before] = [before, before + next[rank]];
    const elements = new Uint32Array(this.count + Math.min(SOME_POINTS, this.count));
    for (const i of this.order) elements[next[ranks[i]]++] = i;
    const some = this.order.slice(0, SOME_POINTS).sort((a, b) => ranks[a] - ranks[b]);
    elements.set(some, this.count);
    [paints, shapes].forEach((array, at) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[at + 1]);
      gl.bufferData(gl.ARRAY_BUFFER, array, gl.DYNAMIC_DRAW);
    });
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, elements, gl.DYNAMIC_DRAW);
  }

  // x, y: the middle of the view; perUnit: pixels of the page; radius of a point, in the same; some: not all points.
  draw(x, y, perUnit, radius, ratio, some = false) {
    if (this.lost) return;
    const gl = this.gl;
    const [width, height] = [this.canvas.width, this.canvas.height];
    const [sx, sy] = [(2 * perUnit * ratio) / width, (2 * perUnit * ratio) / height];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform2f(this.uniforms.scale, sx, sy);
    gl.uniform2f(this.uniforms.offset, -x * sx, -y * sy);
    gl.uniform1f(this.uniforms.size, 2 * radius * ratio);
    if (some) gl.drawElements(gl.POINTS, Math.min(SOME_POINTS, this.count), gl.UNSIGNED_INT, 4 * this.count);
    else {
      gl.drawElements(gl.POINTS, this.count, gl.UNSIGNED_INT, 0);
      this.measure();
    }
  }

  // How long the card takes, without waiting for it.
  measure() {
    if (this.measuring || this.count <= SOME_POINTS) return;
    const gl = this.gl;
    const begin = performance.now();
    this.measuring = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    const look = () => {
      const state = this.lost ? gl.WAIT_FAILED : gl.clientWaitSync(this.measuring, 0, 0);
      if (state === gl.TIMEOUT_EXPIRED) return setTimeout(look, 4);
      if (state !== gl.WAIT_FAILED) this.cost = performance.now() - begin;
      this.slow = this.cost > SLOW_PAINT;
      gl.deleteSync(this.measuring);
      this.measuring = undefined;
    };
    setTimeout(look, 4);
  }
}

// 0, ..., count - 1 in an order that is the same every time: no class covers another because it comes later.
function shuffled(count) {
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  let seed = 1;
  for (let i = count - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((seed / 4294967296) * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
