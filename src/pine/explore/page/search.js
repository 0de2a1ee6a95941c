"use strict";
// Nodes by their ids: the same first, then those that begin with the words, then those that hold them.

const MOST_FOUND = 30;

class Search {
  constructor(explorer) {
    this.explorer = explorer;
    this.input = document.getElementById("search");
    this.list = document.getElementById("found");
    this.input.addEventListener("input", () => this.find());
    this.input.addEventListener("focus", () => this.find());
    this.input.addEventListener("blur", () => this.close());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the input keeps the focus
      const row = event.target.closest("li[data-number]");
      if (row) this.choose(Number(row.dataset.number));
    });
  }

  find() {
    const words = folded(this.input.value);
    if (!words) return this.close();
    const { data } = this.explorer;
    this.folded ??= data.ids.map(folded);
    const kinds = [[], [], []];
    let total = 0;
    for (let i = 0; i < data.count; i++) {
      const at = this.folded[i].indexOf(words);
      if (at < 0) continue;
      total++;
      const kind = at > 0 ? 2 : this.folded[i].length === words.length ? 0 : 1;
      if (kinds[kind].length < MOST_FOUND) kinds[kind].push(i);
    }
    this.show(kinds.flat().slice(0, MOST_FOUND), total);
  }

  show(found, total) {
    const { data } = this.explorer;
    this.rows = found.map((number, i) => {
      const row = element("li");
      row.id = `found-${i}`;
      row.setAttribute("role", "option");
      row.dataset.number = number;
      row.append(swatch(this.explorer.styleOfNode(number)), idElement(data.ids[number]), element("span", data.typeOf(number), "side"));
      return row;
    });
    const rest = total - found.length;
    const said = total === 0 ? "No node has an id like that." : rest > 0 ? `and ${rest.toLocaleString("en")} more` : "";
    this.list.replaceChildren(...this.rows, ...(said ? [element("li", said, "more")] : []));
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.mark(0);
  }

  mark(at) {
    this.at = at;
    this.rows.forEach((row, i) => row.setAttribute("aria-selected", String(i === at)));
    if (this.rows[at]) {
      this.input.setAttribute("aria-activedescendant", this.rows[at].id);
      this.rows[at].scrollIntoView({ block: "nearest" });
    }
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      event.stopPropagation();
      this.input.value = "";
      this.close();
      this.input.blur();
    } else if (!this.list.hidden && step && this.rows.length) {
      event.preventDefault();
      this.mark((this.at + step + this.rows.length) % this.rows.length);
    } else if (event.key === "Enter" && !this.list.hidden && this.rows.length) {
      this.choose(Number(this.rows[this.at].dataset.number));
    }
  }

  choose(number) {
    this.close();
    this.input.blur();
    this.explorer.select(number, true);
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}

// What looks alike is found alike: letters of either case, accents however they are stored, any blanks.
function folded(text) {
  return text.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim();
}
