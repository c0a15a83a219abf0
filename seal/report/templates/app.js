"use strict";
// Builds the table of tasks, and a conversation when it is opened. Texts of the data enter the page
// as text nodes only.
(() => {
  const PAGE = 200;
  const FOLD = 500;
  const OUTCOMES = ["solved", "unsolved", "unsure", "error", "unscored", "unfinished"];

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

  // A text "@12" stands for part 12; a block of parts has the number of its first.
  const parts = [...document.querySelectorAll("script[data-parts]")].map((node) => ({ node, first: Number(node.dataset.parts), values: null }));

  function part(number) {
    let low = 0;
    let high = parts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (parts[middle].first <= number) low = middle;
      else high = middle - 1;
    }
    const found = parts[low];
    found.values = found.values || read(found.node);
    const value = found.values[number - found.first];
    return typeof value === "string" ? value : whole(value);
  }

  function whole(value) {
    if (typeof value === "string") return value[0] === "@" ? part(Number(value.slice(1))) : value;
    if (Array.isArray(value)) return value.map(whole);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, whole(inner)]));
  }

  const blocks = new Map();
  const KINDS = ["task", "chat", "scores", "table"];
  for (const node of document.querySelectorAll(KINDS.map((kind) => `script[data-${kind}]`).join())) {
    const kind = KINDS.find((name) => node.dataset[name] !== undefined);
    const key = `${kind} ${node.dataset[kind]}`;
    if (!blocks.has(key)) blocks.set(key, []);
    blocks.get(key).push(node);
  }
  const block = (key) => (blocks.has(key) ? whole(read(blocks.get(key)[0])) : null);
  const scoresOf = (key) => (blocks.get(`scores ${key}`) || []).flatMap((node) => whole(read(node)));

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

  const cutNote = (left) =>
    left ? make("p", { class: "note" }, `${left.toLocaleString("en")} more characters in the run's files`) : null;

  // [text, characters left out] as a block; long ones are folded.
  function textBlock(tag, [text, left]) {
    const body = make(tag, { class: "said", dir: "auto" }, text);
    if (text.length <= FOLD) return make("div", {}, body, cutNote(left));
    const start = text.slice(0, 160).replace(/\s+/g, " ");
    return make(
      "details", { class: "long" },
      make("summary", { dir: "auto" }, `${start}… `, make("small", {}, `(${(text.length + left).toLocaleString("en")} characters)`)),
      body, cutNote(left),
    );
  }

  function taskPanel(row, choice) {
    const panel = make("div", { class: "panel" });
    const task = block(`task ${row.place}`);
    if (task) panel.append(...task.goals.map((goal, place) => goalBlock(goal, place, task.goals.length)));
    if (task && task.persona) {
      panel.append(make("details", {}, make("summary", {}, "Brief of the user"), textBlock("pre", task.persona)));
    }
    panel.append(laneTabs(row, choice));
    return panel;
  }

  function goalBlock(goal, place, count) {
    const gold = goal.gold.length
      ? make("ol", { class: "gold" }, ...goal.gold.map((line) => make("li", { dir: "auto" }, line)))
      : make("p", { class: "note" }, goal.annotated ? "No tool needed." : "Not annotated with gold calls.");
    return make(
      "div", { class: "goal" },
      make("h4", {}, count > 1 ? `Goal ${place}` : "Goal"), textBlock("p", goal.text),
      make("details", { open: !goal.world && goal.gold.length <= 8 }, make("summary", {}, "Gold"), gold),
    );
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
    const chat = block(`chat ${key}`);
    const scores = scoresOf(key);
    const result = make("div", { class: "chat" });
    if (!chat) {
      result.append(make("p", { class: "note" }, "Left out of this page for its size; read it with "), make("code", {}, `seal view RUN ${row.id}`));
      return result;
    }
    chat.offered.forEach((tools, goal) => result.append(make(
      "details", {}, make("summary", {}, `Offered tools${chat.offered.length > 1 ? ` for goal ${goal}` : ""} (${tools.length})`),
      make("ul", { class: "offered" }, ...tools.map((tool) => make("li", { dir: "auto" }, tool))),
    )));
    result.append(...chat.goals.map((goal) => outcomeBlock(goal, chat.goals.length, key)));
    if (chat.world.length) result.append(worldBlock(chat.world));
    const steps = make("ol", { class: "steps" }, ...chat.steps.map((step) => stepItem(step, key)));
    result.append(steps, ending(chat, outcomeOf(row, lane, trial), scores), scoreTable(scores));
    return result;
  }

  function stepItem(step, key) {
    const kind = step.call ? "call" : step.result ? "result" : "said";
    const item = make("li", { class: `step ${kind}`, id: `step-${key}/${step.index}`, tabindex: "-1" });
    const heading = make(
      "p", { class: "who" }, make("span", { class: "number" }, String(step.index)),
      make("strong", {}, step.author), make("span", { class: "to" }, ` → ${step.recipient}`),
      make("small", {}, ` · goal ${step.goal}, turn ${step.turn}${tokensOf(step)}`),
      step.time ? make("small", { class: "time" }, ` · ${step.time}`) : null,
    );
    item.append(heading);
    if (step.content) item.append(textBlock("p", step.content));
    if (step.call) item.append(...callParts(step.call));
    if (step.result) item.append(...resultParts(step.result));
    if (step.world) item.append(changeBlock(step.world));
    if (step.marks) item.append(make("ul", { class: "marks" }, ...step.marks.map(([mark, text]) => make("li", { class: `mark ${mark}`, dir: "auto" }, text))));
    return item;
  }

  // ---- milestones and the world ------------------------------------------------------------------

  function outcomeBlock(goal, count, key) {
    const heading = make("h5", {}, count > 1 ? `Milestones of goal ${goal.goal}` : "Milestones");
    const block = make("section", { class: "milestones", "aria-label": heading.textContent }, heading);
    if (goal.note) {
      block.append(make("p", { class: "note", dir: "auto" }, `Not told: ${goal.note}`));
      return block;
    }
    const [plan, plans] = goal.plan;
    const ofSeveral = plans > 1 ? `, plan ${plan} of ${plans}` : "";
    heading.append(make("small", {}, ` similarity ${Number(goal.similarity).toFixed(3)}, by the rules ${goal.match}${ofSeveral}`));
    if (!goal.nodes.length) block.append(make("p", { class: "note" }, "None: nothing is asked and nothing forbidden."));
    block.append(make("ol", { class: "nodes" }, ...goal.nodes.map((node) => nodeItem(node, key))));
    return block;
  }

  function nodeItem(node, key) {
    const after = node.after.length ? make("small", {}, ` after ${node.after.join(", ")}`) : null;
    const status = node.step === null ? make("span", { class: "status" }, node.status) : stepButton(node.status, key, node.step);
    const item = make(
      "li", { class: `node ${node.kind}` },
      make("p", { class: "who" }, make("strong", {}, node.title), " ", status, after),
      ...node.asks.map((line) => make("p", { class: "asks", dir: "auto" }, line)),
    );
    if (node.faults.length) item.append(make("ul", { class: "faults" }, ...node.faults.map(faultItem)));
    if (node.keeps) item.append(make("p", { class: "note", dir: "auto" }, `keeps ${node.keeps}`));
    return item;
  }

  function stepButton(text, key, step) {
    const button = make("button", { type: "button", class: "status" }, text);
    button.addEventListener("click", () => showStep(byId(`step-${key}/${step}`)));
    return button;
  }

  function faultItem([place, expected, found, similarity]) {
    const item = make("li", { dir: "auto" });
    if (place) item.append(make("code", {}, place), " ");
    if (expected) item.append("expected ", make("ins", {}, expected), found ? ", found " : "");
    if (found) item.append(make("del", {}, found));
    if (similarity) item.append(make("small", {}, ` (${similarity.toFixed(2)})`));
    return item;
  }

  function worldBlock(world) {
    const rowsOf = world.reduce((sum, [, , count]) => sum + count, 0);
    const fold = make("details", { class: "world" }, make("summary", {}, `World at the start (${world.length} tables, ${rowsOf} rows)`));
    fold.addEventListener("toggle", () => {
      if (fold.open && fold.children.length === 1) fold.append(...world.map(tableBlock));
    });
    return fold;
  }

  function tableBlock([name, number, count]) {
    const data = block(`table ${number}`);
    const holder = make("div", { class: "scroll" });
    if (!data) {
      holder.append(make("p", { class: "note", dir: "auto" }, `${name}: ${count} rows, left out of this page for its size`));
      return holder;
    }
    const head = make("tr", {}, ...data.columns.map((column) => make("th", { scope: "col", dir: "auto" }, column)));
    const body = data.rows.map((row) => make("tr", {}, ...row.map((cell) => make("td", { dir: "auto" }, cell))));
    holder.append(make(
      "table", { class: "rows" }, make("caption", { dir: "auto" }, count ? name : `${name}: no rows`),
      make("thead", {}, head), make("tbody", {}, ...body),
    ));
    if (data.left) holder.append(make("p", { class: "note" }, `${data.left.toLocaleString("en")} more rows in the run's files`));
    return holder;
  }

  const SIGNS = { "+": ["added", "+ "], "-": ["removed", "− "], "~": ["changed", "~ "] };

  function changeBlock({ tables, same }) {
    const result = make("div", { class: "changes" });
    for (const [name, changes, left] of tables) {
      result.append(make("p", { class: "table", dir: "auto" }, make("strong", {}, name), changes.length ? null : ": the same rows in another order"));
      result.append(make("ul", {}, ...changes.map(([sign, cells]) => {
        const [kind, shown] = SIGNS[sign];
        return make("li", { class: kind }, shown, ...cells.map(cellText));
      })));
      if (left) result.append(make("p", { class: "note" }, `${left.toLocaleString("en")} more rows in the run's files`));
    }
    if (same) result.append(make("details", {}, make("summary", {}, make("small", {}, "unchanged tables")), make("p", { class: "note", dir: "auto" }, same)));
    return result;
  }

  function cellText([name, ...values]) {
    const cell = make("span", { class: "cell", dir: "auto" }, make("code", {}, name), " ");
    if (values.length === 1) cell.append(values[0]);
    else cell.append(make("del", {}, values[0]), " → ", make("ins", {}, values[1]));
    return cell;
  }

  const tokensOf = (step) =>
    step.tokens ? `, ${step.tokens[2] ? "about " : ""}${step.tokens[0]} tokens in, ${step.tokens[1]} out` : "";

  function callParts(call) {
    const parts = [make("p", { class: "function" }, make("code", { class: "callid" }, call.id), " ", make("code", { dir: "auto" }, call.name))];
    if (!call.tool) parts.push(make("p", { class: "fault" }, "No offered tool has this name."));
    if (!call.parsed) parts.push(make("p", { class: "fault" }, "The arguments are no JSON object:"));
    parts.push(textBlock("pre", call.arguments));
    if (call.repairs) {
      parts.push(make("p", { class: "repaired" }, `Repaired to be read (${call.repairs.join(", ")}); written as:`), textBlock("pre", call.written));
    }
    return parts;
  }

  function resultParts(result) {
    const failed = result.error ? `failed: ${result.error}${result.executed ? "" : ", not executed"}` : "answered";
    return [
      make("p", { class: "function" }, make("code", { class: "callid" }, result.id), " ", make("span", { class: result.error ? "fault" : "fine" }, failed)),
      textBlock("pre", result.content),
    ];
  }

  const outcomeOf = (row, lane, trial) => row.chats[lane].find((chat) => chat[0] === trial)[1];

  function ending(chat, outcome, scores) {
    const node = make("div", { class: "ending" });
    node.append(make("p", {}, "Outcome: ", make("span", { class: `badge ${outcome}` }, outcome)));
    for (const [metric, , value, reason] of scores) {
      if (index.decisive.includes(metric) && value !== null && reason) {
        node.append(make("p", { dir: "auto" }, make("small", {}, `${metric}: `), reason));
      }
    }
    chat.stops.forEach(([reason, error], goal) => {
      node.append(make("p", {}, `${chat.stops.length > 1 ? `Goal ${goal} s` : "S"}topped: ${reason}`));
      if (error[0]) node.append(textBlock("pre", error));
    });
    chat.answers.forEach((answer, goal) => {
      const title = chat.answers.length > 1 ? `Final answer to goal ${goal}` : "Final answer";
      node.append(make("h5", {}, title), answer === null ? make("p", { class: "note" }, "none") : textBlock("p", answer));
    });
    return node;
  }

  const textOf = (details) => (Array.isArray(details) ? details : [JSON.stringify(details, null, 2), 0]);

  function scoreTable(scores) {
    if (!scores.length) return make("p", { class: "note" }, "No scores.");
    const goals = new Set(scores.map((score) => score[1])).size;
    const heads = ["metric", ...(goals > 1 ? ["goal"] : []), "value", "reason"];
    const body = make("tbody", {}, ...scores.map(([metric, goal, value, reason, details]) => make(
      "tr", {}, make("th", { scope: "row" }, metric), goals > 1 ? make("td", {}, String(goal)) : null,
      make("td", { class: "figure" }, value === null ? "n/a" : Number(value).toFixed(3)),
      make("td", { dir: "auto" }, reason, details ? make("details", {}, make("summary", {}, "details"), textBlock("pre", textOf(details))) : null),
    )));
    const head = make("tr", {}, ...heads.map((name) => make("th", { scope: "col" }, name)));
    const table = make("table", { class: "scores" }, make("thead", {}, head), body);
    return make("details", { open: scores.length <= 12 }, make("summary", {}, `${scores.length} scores`), table);
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
