"use strict";
// The entries of a coloring: a click hides or shows one, "only" hides all others.

class Legend {
  constructor(explorer) {
    this.explorer = explorer;
    this.list = document.getElementById("entries");
    this.choice = document.getElementById("coloring");
    for (const coloring of explorer.data.colorings) {
      const option = element("option", coloring.title);
      option.value = coloring.key;
      this.choice.append(option);
    }
    this.choice.addEventListener("change", () => explorer.colorBy(this.choice.value));
    document.getElementById("all").addEventListener("click", () => explorer.showAll());
    this.list.addEventListener("keydown", (event) => this.walk(event));
    this.counts = Object.fromEntries(explorer.data.colorings.map((each) => [each.key, countCodes(each)]));
  }

  show() {
    const { coloring, theme } = this.explorer;
    this.choice.value = coloring.key;
    const hidden = this.explorer.hidden[coloring.key];
    const counts = this.counts[coloring.key];
    const codes = coloring.names.map((_, i) => i + 1).filter((code) => counts[code] || coloring.names.length <= 40);
    if (counts[0]) codes.push(0);
    this.list.replaceChildren(...codes.map((code) => this.entry(coloring, code, counts[code], !hidden.has(code), theme)));
    const note = document.getElementById("legend-note");
    note.textContent = coloring.note;
    note.hidden = !coloring.note;
    this.showOthers();
  }

  entry(coloring, code, count, on, theme) {
    const row = element("li");
    const button = element("button", "", "entry");
    const name = code === 0 ? coloring.unknown : coloring.names[code - 1];
    button.type = "button";
    button.dataset.code = code;
    button.setAttribute("role", "switch");
    button.setAttribute("aria-checked", String(on));
    button.append(swatch(styleOf(coloring.scale, coloring.names, code, theme)), idElement(name));
    button.append(element("span", count.toLocaleString("en"), "side"));
    button.addEventListener("click", () => this.explorer.toggle(coloring.key, code));
    const only = element("button", "only", "only");
    only.type = "button";
    only.setAttribute("aria-label", `only ${name}`);
    only.addEventListener("click", () => this.explorer.showOnly(coloring.key, code));
    row.append(button, only);
    return row;
  }

  // Filters of other colorings go on; say so.
  showOthers() {
    const { data, hidden, coloring, numVisible } = this.explorer;
    const any = data.colorings.some((each) => hidden[each.key].size);
    document.getElementById("all").disabled = !any;
    const others = data.colorings.filter((each) => each !== coloring && hidden[each.key].size);
    const line = document.getElementById("also");
    const also = others.length ? `, also filtered by ${others.map((each) => each.title.toLowerCase()).join(" and ")}` : "";
    line.textContent = `${numVisible.toLocaleString("en")} of ${data.count.toLocaleString("en")} nodes shown${also}`;
    line.hidden = !any;
  }

  // Redrawing replaces the buttons: the one that had the focus gets it again.
  keepFocus(change) {
    const before = document.activeElement;
    const inside = this.list.contains(before);
    const at = inside ? [...this.list.querySelectorAll("button")].indexOf(before) : -1;
    const scrolled = this.list.scrollTop;
    change();
    this.list.scrollTop = scrolled;
    if (at >= 0) this.list.querySelectorAll("button")[at]?.focus({ preventScroll: true });
  }

  walk(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const all = [...this.list.querySelectorAll(".entry")];
    const row = event.target.closest("li");
    all[all.indexOf(row?.querySelector(".entry")) + step]?.focus();
  }
}

function countCodes(coloring) {
  const counts = new Uint32Array(coloring.names.length + 1);
  for (const code of coloring.codes) counts[code]++;
  return counts;
}
