"use strict";
// The chosen node: what it is, what it is predicted as and how surely, what is near it, what it is linked to.

class Card {
  constructor(explorer) {
    this.explorer = explorer;
    this.place = document.getElementById("card");
  }

  show(number) {
    this.place.hidden = number === null;
    this.place.replaceChildren();
    this.rows = [];
    if (number === null) return;
    const { data } = this.explorer;
    const top = element("div", "", "top");
    const title = element("h2");
    title.append(idElement(data.ids[number], ""));
    const close = element("button", "×", "close");
    close.type = "button";
    close.setAttribute("aria-label", "Clear");
    close.addEventListener("click", () => this.explorer.select(null));
    top.append(title, close);
    this.place.append(top, this.facts(number));
    if (data.topOf(number).length) this.place.append(this.bars(number));
    const near = element("div");
    near.append(element("p", "Looking …", "note"));
    this.place.append(near);
    data.near(number).then(
      (found) => this.explorer.selected === number && this.showNear(near, found),
      () => near.replaceChildren(element("p", "The server no longer answers: what is near is not known.", "note")),
    );
  }

  facts(number) {
    const { data } = this.explorer;
    const list = element("dl");
    const add = (name, ...parts) => {
      const value = element("dd");
      value.append(...parts);
      list.append(element("dt", name), value);
    };
    if (data.typeOf(number)) add("type", element("span", data.typeOf(number)));
    const [label, prediction] = ["label", "prediction"].map((what) => data.valueOf(what, number));
    if (data.answerOf(number) >= 0) {
      if (label === null) add("label", element("span", "not known", "note"));
      else {
        const source = data.isTrained(number) ? "trained with" : "";
        add("label", ...this.value(label), element("span", source, "side"));
      }
    }
    if (prediction !== null) add("prediction", ...this.value(prediction), ...this.verdict(label, prediction));
    if (data.degreeOf(number) !== null) add("degree", element("span", data.degreeOf(number).toLocaleString("en")));
    return list;
  }

  value(value) {
    const { data, theme } = this.explorer;
    const words = idElement(data.textOf(value), "");
    if (typeof value === "number" || value.length !== 1) return [words];
    return [swatch(styleOf("classes", data.answers.classes, value[0] + 1, theme)), words];
  }

  verdict(label, prediction) {
    if (label === null || typeof label === "number") return [];
    const shared = label.filter((each) => prediction.includes(each)).length;
    const same = shared === label.length && shared === prediction.length;
    const said = same ? "right" : shared ? "right in part" : "wrong";
    return [element("span", said, `verdict ${said.split(" ").at(-1)}`)];
  }

  bars(number) {
    const { data, theme } = this.explorer;
    const place = element("div", "", "bars");
    for (const [at, share] of data.topOf(number)) {
      const track = element("div", "", "track");
      const fill = element("div", "", "fill");
      fill.style.width = `${100 * share}%`;
      fill.style.background = styleOf("classes", data.answers.classes, at + 1, theme).color;
      track.append(fill);
      place.append(idElement(data.answers.classes[at], "name"), track, element("span", percent(share), "value"));
    }
    return place;
  }

  showNear(place, found) {
    const { data } = this.explorer;
    place.replaceChildren();
    this.rows = [];
    if (found.nearest === null) place.append(element("p", "Nearest vectors are left out of this file.", "note"));
    else {
      place.append(this.heading("Nearest vectors", "cosine"));
      this.rows = found.nearest.map(([other, cosine]) => this.row(other, (Math.round(1000 * cosine) / 1000 + 0).toFixed(3)));
      place.append(this.list(this.rows), ...(this.rows.length ? [] : [element("p", "No other node.", "note")]));
    }
    if (found.neighbors === null) {
      const said = data.arrays.degrees ? "Neighbors in the graph are left out of this file." : "Neighbors in the graph are not known: no edges were given.";
      place.append(element("p", said, "note"));
    } else {
      place.append(this.heading("Neighbors in the graph", found.degree.toLocaleString("en")));
      place.append(this.list(found.neighbors.map((other) => this.row(other, data.typeOf(other)))));
      const rest = found.degree - found.neighbors.length;
      if (rest > 0) place.append(element("p", `and ${rest.toLocaleString("en")} more`, "note"));
      if (found.degree === 0) place.append(element("p", "None.", "note"));
    }
    this.explorer.redraw();
  }

  heading(words, side) {
    const made = element("h3", words);
    made.append(element("span", side, "side"));
    return made;
  }

  list(rows) {
    const list = element("ol");
    for (const row of rows) {
      const item = element("li");
      item.append(row);
      list.append(item);
    }
    return list;
  }

  row(number, side) {
    const button = element("button");
    button.type = "button";
    button.dataset.number = number;
    button.append(swatch(this.explorer.styleOfNode(number)), idElement(this.explorer.data.ids[number]), element("span", side, "side"));
    button.addEventListener("click", () => this.explorer.select(number, true));
    button.addEventListener("pointerenter", () => this.explorer.peek(number));
    button.addEventListener("pointerleave", () => this.explorer.peek(null));
    return button;
  }

  // The next or previous of the nearest, without leaving the node.
  step(by) {
    if (!this.rows.length) return;
    const before = this.rows.findIndex((row) => row.classList.contains("peek"));
    const at = before < 0 ? (by > 0 ? 0 : this.rows.length - 1) : (before + by + this.rows.length) % this.rows.length;
    this.rows.forEach((row, i) => row.classList.toggle("peek", i === at));
    this.rows[at].scrollIntoView({ block: "nearest" });
    this.explorer.peek(Number(this.rows[at].dataset.number), true);
  }
}

function percent(share) {
  return share > 0.9995 && share < 1 ? ">99.9%" : `${(100 * share).toFixed(share < 0.0995 || share > 0.995 ? 1 : 0)}%`;
}

// What stands beside the pointer.
function fillTip(place, data, number) {
  const name = idElement(data.ids[number], "name");
  name.removeAttribute("title");
  const parts = [name];
  if (data.typeOf(number)) parts.push(element("div", data.typeOf(number), "kind"));
  const list = element("dl");
  for (const what of ["label", "prediction"]) {
    const value = data.valueOf(what, number);
    if (value === null) continue;
    const top = what === "prediction" && data.answers.task === "classes" ? `  ${percent(data.topOf(number)[0][1])}` : "";
    const words = element("dd");
    words.append(element("bdi", data.textOf(value)), top);
    list.append(element("dt", what), words);
  }
  if (list.children.length) parts.push(list);
  place.replaceChildren(...parts);
}
