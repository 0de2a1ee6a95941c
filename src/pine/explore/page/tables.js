"use strict";
// Nodes worth a look, a row each; a click chooses the node.

class Tables {
  constructor(explorer) {
    this.explorer = explorer;
    this.tabs = document.getElementById("tabs");
    this.place = document.getElementById("table");
    for (const table of explorer.data.about.tables) {
      const tab = element("button", table.title);
      tab.type = "button";
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", "table");
      tab.dataset.key = table.key;
      tab.addEventListener("click", () => explorer.showTable(table.key));
      this.tabs.append(tab);
    }
    this.tabs.addEventListener("keydown", (event) => this.walkTabs(event));
    this.place.addEventListener("keydown", (event) => this.walk(event));
  }

  show(key) {
    for (const tab of this.tabs.children) {
      tab.setAttribute("aria-selected", String(tab.dataset.key === key));
      tab.tabIndex = tab.dataset.key === key ? 0 : -1;
    }
    const table = this.explorer.data.about.tables.find((each) => each.key === key);
    this.place.replaceChildren(element("p", table.note, "note"));
    if (!table.rows.length) return;
    const made = element("table");
    const head = element("tr");
    head.append(...table.columns.map((name) => element("th", name)));
    const body = element("tbody");
    body.append(...table.rows.map((row) => this.row(row)));
    const top = element("thead");
    top.append(head);
    made.append(top, body);
    const scroll = element("div", "", "scroll");
    scroll.append(made);
    this.place.append(scroll);
    this.choose(this.explorer.selected);
  }

  row([number, ...cells]) {
    const row = element("tr");
    row.dataset.number = number;
    const button = element("button");
    button.type = "button";
    button.append(idElement(this.explorer.data.ids[number]));
    const first = element("td");
    first.append(button);
    row.append(first, ...cells.map((words) => {
      const cell = element("td");
      cell.append(idElement(words, ""));
      return cell;
    }));
    row.addEventListener("click", () => this.explorer.select(number, true));
    return row;
  }

  choose(number) {
    for (const row of this.place.querySelectorAll("tbody tr")) row.classList.toggle("chosen", Number(row.dataset.number) === number);
  }

  walk(event) {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const row = event.target.closest("tbody tr");
    if (!step || !row) return;
    event.preventDefault();
    event.stopPropagation();
    row[step]?.querySelector("button").focus();
  }

  walkTabs(event) {
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    event.preventDefault();
    event.stopPropagation();
    const other = [...this.tabs.children].find((tab) => tab.getAttribute("aria-selected") !== "true");
    if (!other) return;
    this.explorer.showTable(other.dataset.key);
    other.focus();
  }
}
