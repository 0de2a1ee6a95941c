"use strict";
// What the page knows: the bytes of page_data.py, taken apart; and what is near a node, asked of the server or looked up.

const ARRAY_KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array };
const FULL_SCALE = 65535;
const NEAREST = 10;
const MOST_NEIGHBORS = 100;

function takeApart(buffer) {
  const view = new DataView(buffer);
  if (view.getUint32(0) !== 0x50494e45) throw new Error("these are not the data of a run");
  const length = view.getUint32(4, true);
  const about = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const arrays = {};
  for (const [name, [kind, begin, count]] of Object.entries(about.arrays)) {
    arrays[name] = new ARRAY_KINDS[kind](buffer, 8 + length + begin, count);
  }
  return [about, arrays];
}

async function readBytes() {
  const inside = document.getElementById("data");
  if (inside === null) {
    const answer = await fetch("/data");
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    return answer.arrayBuffer();
  }
  const text = atob(inside.textContent.trim());
  inside.remove();
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).arrayBuffer();
}

class RunData {
  constructor(about, arrays, served) {
    this.about = about;
    this.arrays = arrays;
    this.served = served;
    this.count = about.count;
    this.ids = about.ids;
    this.points = arrays.points;
    this.answers = about.answers;
    this.colorings = about.colorings.map((each) => ({ ...each, codes: arrays[`color.${each.key}`] }));
    this.asked = new Map();
  }

  typeOf(number) {
    return this.about.types.length ? this.about.types[this.arrays.types[number]] : "";
  }

  degreeOf(number) {
    return this.arrays.degrees ? this.arrays.degrees[number] : null;
  }

  // The place of a node among those that can have a label, or -1.
  answerOf(number) {
    const at = this.answers ? number - this.answers.first : -1;
    return at >= 0 && at < this.answers.count ? at : -1;
  }

  // A list of class numbers, or a number, or null where nothing is known: of the "label" or the "prediction".
  valueOf(what, number) {
    const at = this.answerOf(number);
    if (at < 0 || (what === "label" && !this.arrays.known[at])) return null;
    if (what === "prediction" && !this.answers.predicts) return null;
    if (this.answers.task === "numbers") return this.arrays[`${what}.numbers`][at];
    if (this.answers.task === "classes") {
      return what === "label" ? [this.arrays["label.classes"][at]] : [this.arrays["top.classes"][at * this.answers.top]];
    }
    const starts = this.arrays[`${what}.starts`];
    return Array.from(this.arrays[`${what}.members`].subarray(starts[at], starts[at + 1]));
  }

  textOf(value) {
    if (typeof value === "number") return String(Number(value.toPrecision(4)));
    return value.map((number) => this.answers.classes[number]).join(", ") || "empty set";
  }

  isTrained(number) {
    const at = this.answerOf(number);
    return at >= 0 && this.arrays.trained[at] === 1;
  }

  // The most probable classes: [class number, probability].
  topOf(number) {
    const at = this.answerOf(number);
    if (at < 0 || !this.answers.top) return [];
    return Array.from({ length: this.answers.top }, (_, i) => {
      const place = at * this.answers.top + i;
      return [this.arrays["top.classes"][place], this.arrays["top.shares"][place] / FULL_SCALE];
    });
  }

  // {nearest: [[number, cosine]], neighbors: [number], degree}; null in place of what this page does not have.
  near(number) {
    if (!this.asked.has(number)) {
      const answer = this.served ? this.ask(number) : Promise.resolve(this.lookUp(number));
      this.asked.set(number, answer);
      answer.catch(() => this.asked.delete(number));
    }
    return this.asked.get(number);
  }

  async ask(number) {
    const answer = await fetch(`/node?number=${number}`);
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const found = await answer.json();
    return this.arrays.degrees ? found : { ...found, neighbors: null };
  }

  lookUp(number) {
    const found = { nearest: null, neighbors: null, degree: this.degreeOf(number) };
    const near = this.arrays["near.numbers"];
    if (near) {
      const places = Array.from({ length: NEAREST }, (_, i) => number * NEAREST + i).filter((place) => near[place] >= 0);
      found.nearest = places.map((place) => [near[place], (2 * this.arrays["near.shares"][place]) / FULL_SCALE - 1]);
    }
    const starts = this.arrays["links.starts"];
    if (starts) {
      const own = this.arrays["links.members"].subarray(starts[number], starts[number + 1]);
      found.neighbors = Array.from(own.subarray(0, MOST_NEIGHBORS));
    }
    return found;
  }
}

async function loadRun() {
  const served = document.getElementById("data") === null;
  const [about, arrays] = takeApart(await readBytes());
  return new RunData(about, arrays, served);
}

// An element with words in it; words never become markup.
function element(tag, words = "", className = "") {
  const made = document.createElement(tag);
  if (words !== "") made.textContent = words;
  if (className) made.className = className;
  return made;
}

// An id, apart from the direction of what it stands in.
function idElement(id, className = "id") {
  const made = element("bdi", id, className);
  made.title = id;
  return made;
}
