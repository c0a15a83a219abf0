// A table that is filtered and sorted, by fields whose values stand in the address; and the keyboard.

const keys = {};

on(document, "keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches?.("select, textarea, input:not([type=checkbox])")) {
    if (event.key === "Escape") event.target.blur();
  } else if (keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
});

// The node that lies so many places on, within the list; the first one where no place is known.
const further = (nodes, place, by) => nodes[place < 0 ? 0 : Math.min(Math.max(place + by, 0), nodes.length - 1)];

function move(nodes, by) {
  const next = further(nodes, nodes.indexOf(document.activeElement), by);
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

const decode = (text) => {
  try { return decodeURIComponent(text); } catch { return text; }
};

// #task-ID[&lane=..&trial=..&step=..], or #filter=..&sort=..
function address() {
  const words = location.hash.slice(1).split("&");
  const task = words[0].startsWith("task-") ? decode(words[0].slice(5)) : null;
  const told = Object.fromEntries(words.map((word) => {
    const [name, ...value] = word.split("=");
    return [name, decode(value.join("="))];
  }));
  return { task, told, first: words[0] };
}

const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

const lacks = (value) => value === null || value === "";

function compare(one, other) {
  return typeof one === "number" ? one - other : one.localeCompare(other, "en", { numeric: true });
}

// Rows by the value of each, of a column's name, or of -name the other way round; what has no value
// stands last, in either direction.
function ordered(rows, sort, valueOf) {
  const name = sort.replace(/^-/, "");
  const way = sort.startsWith("-") ? -1 : 1;
  const order = (one, other) => (
    lacks(one) || lacks(other) ? lacks(one) - lacks(other) : way * compare(one, other)
  );
  return name ? [...rows].sort((one, other) => order(valueOf(one, name), valueOf(other, name))) : rows;
}

// Figures are compared as such, with whatever stands behind them; words as words.
function cellValue(row, place) {
  const cell = row.cells[place];
  const text = (cell?.querySelector("strong") || cell)?.textContent.trim() ?? "";
  const figure = /^[-+\u2212]?\d[\d,]*(\.\d+)?/.exec(text);
  if (text === "n/a") return null;
  return figure ? Number(figure[0].replaceAll(",", "").replace("\u2212", "-")) : text;
}

// A table of three rows or more is sorted by its headings, and a third click brings its own order.
function sortable(table) {
  const body = table.tBodies[0];
  const rows = [...(body?.rows ?? [])];
  if (rows.length < 3 || !table.tHead || table.tHead.querySelector("button")) return;
  const heads = [...table.tHead.rows[0].cells];
  for (const [place, head] of heads.entries()) {
    const button = make("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    on(button, "click", () => {
      const ways = ["", "ascending", "descending"];
      const way = ways[(ways.indexOf(head.getAttribute("aria-sort") ?? "") + 1) % 3];
      for (const other of heads) other.removeAttribute("aria-sort");
      if (way) head.setAttribute("aria-sort", way);
      body.append(...ordered(rows, way && (way === "descending" ? `-${place}` : `${place}`), cellValue));
    });
  }
}

function search(table, draw) {
  const fields = Object.fromEntries(all(".filters [data-field]").map((field) => [field.dataset.field, field]));
  const list = { fields, sort: "", hash: "" };
  const fill = (told) => {
    for (const [name, field] of Object.entries(fields)) field.value = told[name] || "";
    list.sort = told.sort || "";
  };
  list.follow = (told) => {
    fill(told);
    list.hash = location.hash.slice(1);
    return draw();
  };
  list.keep = () => {
    const told = [...Object.entries(fields).map(([name, field]) => [name, field.value]), ["sort", list.sort]];
    list.hash = told.filter(([, value]) => value).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    history.replaceState(null, "", list.hash ? `#${list.hash}` : location.pathname + location.search);
    return draw();
  };
  list.clear = () => {
    fill({});
    return list.keep();
  };
  list.isTold = (told) => "sort" in told || Object.keys(fields).some((name) => name in told);
  list.sorted = (rows, valueOf) => ordered(rows, list.sort, valueOf);
  const buttons = all("button[data-sort]", table.tHead);
  list.mark = () => {
    const order = list.sort || table.dataset.order;
    for (const { dataset, parentNode } of buttons) {
      parentNode.removeAttribute("aria-sort");
      if (order === dataset.sort) parentNode.setAttribute("aria-sort", "ascending");
      if (order === `-${dataset.sort}`) parentNode.setAttribute("aria-sort", "descending");
    }
  };
  for (const button of buttons) {
    const { sort, most } = button.dataset;
    const ways = most === undefined ? [sort, `-${sort}`, ""] : [`-${sort}`, sort, ""];
    on(button, "click", () => {
      list.sort = ways[(ways.indexOf(list.sort) + 1) % 3];
      list.keep();
    });
  }
  for (const field of Object.values(fields)) on(field, "input", list.keep);
  return list;
}
