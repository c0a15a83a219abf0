"use strict";
// Builds the table of tasks, and a conversation when it is opened. Texts of the data enter the page
// as text nodes, or in pieces of HTML in which they are escaped.
(() => {
  const PAGE = 200;
  const OUTCOMES = ["solved", "unsolved", "undecided", "error", "unscored", "unfinished"];

  const byId = (id) => document.getElementById(id);
  const read = (node) => JSON.parse(node.textContent);
  const index = read(document.querySelector("script[data-index]"));
  const lanes = index.lanes.map(([kind, label, colour]) => ({ kind, label, colour }));
  const rows = index.rows.map(([id, text, tags, chats], place) => ({
    id, text, tags, chats, place,
    words: [id, text, ...Object.entries(tags).map((tag) => tag.join("="))].join("\n").toLowerCase(),
  }));

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined && value !== false) {
        node.setAttribute(name, value === true ? "" : value);
      }
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  // A block lists the numbers of its pieces; a block of parts has the number of its first.
  const parts = [...document.querySelectorAll("script[data-parts]")].map((node) => ({ node, first: Number(node.dataset.parts) }));

  function piece(number) {
    const found = parts.findLast((part) => part.first <= number);
    found.values = found.values || read(found.node);
    return found.values[number - found.first];
  }

  const blocks = new Map();
  for (const kind of ["task", "chat"]) {
    for (const node of document.querySelectorAll(`script[data-${kind}]`)) blocks.set(`${kind} ${node.dataset[kind]}`, node);
  }

  // Appends what a block shows; false where the page has no such block.
  function show(node, key) {
    if (!blocks.has(key)) return false;
    const template = document.createElement("template");
    template.innerHTML = read(blocks.get(key)).map(piece).join("");
    node.append(template.content);
    return true;
  }

  // ---- the table -------------------------------------------------------------------------------

  const fields = {
    filter: byId("filter-text"),
    tag: byId("filter-tag"),
    outcome: byId("filter-outcome"),
    lane: byId("filter-lane"),
  };
  let shown = [];
  let drawn = 0;

  const labelsOf = (row, lane) => {
    const labels = row.chats[lane].map((chat) => chat[1]);
    return labels.length ? labels : ["unfinished"];
  };
  const summaryOf = (row, lane) => {
    const labels = labelsOf(row, lane);
    return OUTCOMES.slice(1).find((label) => labels.includes(label)) || "solved";
  };
  const runLanes = lanes.map((lane, place) => place).filter((place) => lanes[place].kind === "run");

  function matches(row) {
    const words = fields.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.every((word) => row.words.includes(word))) return false;
    if (fields.tag.value) {
      const [name, value] = JSON.parse(fields.tag.value);
      if (row.tags[name] !== value) return false;
    }
    const wanted = fields.outcome.value;
    if (!wanted) return true;
    if (wanted === "differs") return new Set(runLanes.map((lane) => summaryOf(row, lane))).size > 1;
    const among = fields.lane.value === "" ? runLanes : [Number(fields.lane.value)];
    return among.some((lane) => labelsOf(row, lane).includes(wanted));
  }

  function outcomeCell(row, lane) {
    const chats = row.chats[lane];
    const cell = make("td", { class: "outcome", "data-lane": lanes[lane].label });
    if (!chats.length) {
      cell.append(make("span", { class: "none" }, "not played"));
      return cell;
    }
    const solved = chats.filter((chat) => chat[1] === "solved").length;
    const label = summaryOf(row, lane);
    const told = chats.length > 1 ? `${solved} of ${chats.length} solved` : label;
    const last = chats[chats.length - 1];
    const calls = `${last[3]} call${last[3] === 1 ? "" : "s"}`;
    cell.append(make("span", { class: `badge ${label}` }, told), make("small", {}, `${last[2]}, ${calls}`));
    return cell;
  }

  function tagList(row) {
    const list = make("ul", { class: "tags" });
    for (const [name, value] of Object.entries(row.tags)) {
      if (value !== "false" && value !== "null" && value !== "") {
        list.append(make("li", { dir: "auto" }, value === "true" ? name : `${name}: ${value}`));
      }
    }
    return list;
  }

  function tableRow(row) {
    const button = make("button", { type: "button", "aria-expanded": "false", dir: "auto" }, row.id);
    const line = make(
      "tr", { id: `task-${row.id}` },
      make("td", { class: "id" }, button),
      make("td", { class: "text" }, make("span", { dir: "auto" }, row.text), tagList(row)),
      ...lanes.map((lane, place) => outcomeCell(row, place)),
    );
    button.addEventListener("click", () => toggle(line, row));
    return line;
  }

  function drawMore(count) {
    const body = byId("task-table").tBodies[0];
    body.append(...shown.slice(drawn, drawn + count).map(tableRow));
    drawn = Math.min(drawn + count, shown.length);
    byId("more").hidden = drawn >= shown.length;
    byId("more").textContent = `Show more (${shown.length - drawn} left)`;
  }

  function redraw() {
    shown = rows.filter(matches);
    drawn = 0;
    byId("task-table").tBodies[0].replaceChildren();
    byId("count").textContent = `${shown.length} of ${rows.length} tasks`;
    drawMore(PAGE);
  }

  // ---- a conversation --------------------------------------------------------------------------

  function toggle(line, row, choice) {
    const button = line.querySelector("button");
    const open = button.getAttribute("aria-expanded") === "true";
    if (open) line.nextElementSibling.remove();
    button.setAttribute("aria-expanded", String(!open));
    if (!open) {
      const cell = make("td", { colspan: lanes.length + 2 }, taskPanel(row, choice || {}));
      line.after(make("tr", { class: "detail" }, cell));
    }
  }

  function taskPanel(row, choice) {
    const panel = make("div", { class: "panel" });
    show(panel, `task ${row.place}`);
    panel.append(laneTabs(row, choice));
    return panel;
  }

  // One check box a lane: those that are checked stand side by side.
  function laneTabs(row, choice) {
    const columns = make("div", { class: "columns" });
    const choose = make("fieldset", { class: "lanes" }, make("legend", {}, "Conversations"));
    lanes.forEach((lane, place) => {
      const box = make("input", { type: "checkbox" });
      box.checked = choice.lane === undefined ? lane.kind === "run" : choice.lane === place;
      const column = make("div", { class: `column ${lane.colour}` });
      const update = () => {
        column.hidden = !box.checked;
        if (box.checked && !column.hasChildNodes()) column.append(laneColumn(row, place, choice));
      };
      box.addEventListener("change", update);
      choose.append(make("label", {}, box, make("span", { class: `swatch ${lane.colour}` }), lane.label));
      columns.append(column);
      update();
    });
    return make("div", {}, lanes.length > 1 ? choose : null, columns);
  }

  function laneColumn(row, place, choice) {
    const chats = row.chats[place];
    const holder = make("div", {});
    const draw = (trial) => holder.replaceChildren(conversation(row, place, trial));
    const heading = make("h4", { dir: "auto" }, lanes[place].label);
    if (!chats.length) return make("div", {}, heading, make("p", { class: "note" }, "Not played."));
    const trials = chats.map((chat) => chat[0]);
    const wanted = trials.includes(choice.trial) ? choice.trial : trials[0];
    draw(wanted);
    if (trials.length === 1) return make("div", {}, heading, holder);
    const select = make("select", {}, ...trials.map((trial) => make("option", { value: trial }, `trial ${trial}`)));
    select.value = wanted;
    select.addEventListener("change", () => draw(Number(select.value)));
    return make("div", {}, heading, make("label", {}, "Trial ", select), holder);
  }

  function conversation(row, lane, trial) {
    const key = `${lane}/${row.place}/${trial}`;
    const result = make("div", { class: "chat" });
    if (!show(result, `chat ${key}`)) {
      result.append(make("p", { class: "note" }, "Left out of this page for its size; read it with "), make("code", {}, `seal view RUN ${row.id}`));
    }
    for (const step of result.querySelectorAll(".step")) step.id = `step-${key}/${step.id}`;
    for (const button of result.querySelectorAll("[data-step]")) {
      button.addEventListener("click", () => showStep(byId(`step-${key}/${button.dataset.step}`)));
    }
    return result;
  }

  // ---- addresses: #task-ID[&lane=..&trial=..&step=..], #filter=..[&tag=..&outcome=..&lane=..] -----

  const decode = (text) => {
    try { return decodeURIComponent(text); } catch { return text; }
  };

  function openTask(id, choice) {
    let line = byId(`task-${id}`);
    if (!line) {
      clear();
      const place = shown.findIndex((row) => row.id === id);
      if (place < 0) return;
      while (drawn <= place) drawMore(PAGE);
      line = byId(`task-${id}`);
    }
    const row = rows.find((candidate) => candidate.id === id);
    if (line.querySelector("button").getAttribute("aria-expanded") === "true") toggle(line, row);
    toggle(line, row, choice);
    const lane = choice.lane === undefined ? runLanes[0] : choice.lane;
    const trial = choice.trial === undefined ? 0 : choice.trial;
    const step = choice.step === undefined ? null : byId(`step-${lane}/${row.place}/${trial}/${choice.step}`);
    if (step) {
      showStep(step);
      return;
    }
    line.scrollIntoView({ block: "start" });
    line.querySelector("button").focus({ preventScroll: true });
  }

  function showStep(step) {
    for (const other of document.querySelectorAll(".step.target")) other.classList.remove("target");
    step.classList.add("target");
    step.scrollIntoView({ block: "center" });
    step.focus({ preventScroll: true });
  }

  function followAddress() {
    const [first, ...rest] = location.hash.slice(1).split("&");
    const told = Object.fromEntries([first, ...rest].map((part) => {
      const [name, ...value] = part.split("=");
      return [name, decode(value.join("="))];
    }));
    const known = (name) => (/^\d+$/.test(told[name] || "") ? Number(told[name]) : undefined);
    if (first.startsWith("task-")) {
      const lane = known("lane") < lanes.length ? known("lane") : undefined;
      openTask(decode(first.slice(5)), { lane, trial: known("trial"), step: known("step") });
    } else if (Object.keys(fields).some((name) => name in told)) {
      for (const [name, field] of Object.entries(fields)) field.value = told[name] || "";
      redraw();
      byId("tasks").scrollIntoView();
    }
  }

  function clear() {
    for (const field of Object.values(fields)) field.value = "";
    redraw();
  }

  // ---- start -------------------------------------------------------------------------------------

  function fillFilters() {
    const tags = new Map();
    for (const row of rows) {
      for (const tag of Object.entries(row.tags)) {
        const key = JSON.stringify(tag);
        tags.set(key, (tags.get(key) || 0) + 1);
      }
    }
    const common = [...tags].filter(([, count]) => count > 1 || tags.size <= 60).slice(0, 500).sort();
    fields.tag.append(...common.map(([key, count]) =>
      make("option", { value: key }, `${JSON.parse(key).join(" = ")} (${count})`)));
    const found = new Set(rows.flatMap((row) => lanes.flatMap((lane, place) => labelsOf(row, place))));
    fields.outcome.append(...OUTCOMES.filter((label) => found.has(label)).map((label) => make("option", { value: label }, label)));
    if (runLanes.length > 1) fields.outcome.append(make("option", { value: "differs" }, "runs differ"));
    fields.lane.append(make("option", { value: "" }, runLanes.length > 1 ? "any run" : "the run"));
    fields.lane.append(...lanes.map((lane, place) => make("option", { value: place }, lane.label)));
  }

  byId("task-table").tHead.append(make(
    "tr", {}, make("th", { scope: "col" }, "task"), make("th", { scope: "col" }, "goal"),
    ...lanes.map((lane) => make("th", { scope: "col" }, make("span", { class: `swatch ${lane.colour}` }), lane.label)),
  ));
  if (index.left_out) {
    byId("left-out").hidden = false;
    byId("left-out").textContent = `${index.left_out} conversations are left out to keep this page usable; \`seal view RUN TASK\` shows them.`;
  }
  fillFilters();
  redraw();
  for (const field of Object.values(fields)) field.addEventListener("input", redraw);
  byId("filter-clear").addEventListener("click", clear);
  byId("more").addEventListener("click", () => drawMore(PAGE));
  window.addEventListener("hashchange", followAddress);
  followAddress();
})();
