"use strict";
// Draws the table of tasks, and a task when it is opened; sorts and filters lists of runs. Texts of
// the data enter the page as text nodes, or in pieces of HTML in which they are escaped.
(() => {
  const OUTCOMES = ["solved", "unsolved", "undecided", "error", "unscored", "unfinished"];
  const byId = (id) => document.getElementById(id);
  const all = (selector, node = document) => [...node.querySelectorAll(selector)];

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  function on(node, event, action) {
    node.addEventListener(event, action);
    return node;
  }

  // ---- blocks: in the page, or beside it -----------------------------------------------------

  const read = (node) => JSON.parse(node.textContent);
  const blocks = new Map();
  for (const kind of ["task", "chat", "rows", "index", "start"]) {
    for (const node of all(`script[data-${kind}]`)) blocks.set(`${kind}/${node.dataset[kind]}`, node);
  }
  // A block of HTML lists the numbers of its pieces; a block of parts has the number of its first.
  const parts = all("script[data-parts]").map((node) => ({ node, first: Number(node.dataset.parts) }));

  function piece(number) {
    const found = parts.findLast((part) => part.first <= number);
    found.values = found.values || read(found.node);
    return found.values[number - found.first];
  }

  // A page that is one file has no script that asks for what lies beside it.
  const fetched = globalThis.sealBlock || (async () => null);

  async function values(key) {
    if (blocks.has(key)) return read(blocks.get(key));
    const text = await fetched(`${key}.json`);
    return text === null ? [] : JSON.parse(text);
  }

  // Appends what a block shows; false where there is no such block.
  async function show(node, key) {
    const html = blocks.has(key) ? read(blocks.get(key)).map(piece).join("") : await fetched(`${key}.html`);
    if (html === null) return false;
    const template = document.createElement("template");
    template.innerHTML = html;
    node.append(template.content);
    return true;
  }

  // ---- the address: #task-ID[&lane=..&trial=..&step=..], or #filter=..&sort=.. ---------------------

  const decode = (text) => {
    try { return decodeURIComponent(text); } catch { return text; }
  };

  function address() {
    const words = location.hash.slice(1).split("&");
    const task = words[0].startsWith("task-") ? decode(words[0].slice(5)) : null;
    const told = Object.fromEntries(words.map((part) => {
      const [name, ...value] = part.split("=");
      return [name, decode(value.join("="))];
    }));
    return { task, told, first: words[0] };
  }

  const number = (text) => (/^\d+$/.test(text || "") ? Number(text) : undefined);

  // Fields of a search whose values stand in the address, the sorting with them.
  function search(fields, draw) {
    const state = { sort: "" };
    const clear = () => {
      for (const field of Object.values(fields)) field.value = "";
      state.sort = "";
    };
    const keep = () => {
      const told = { ...Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value])), sort: state.sort };
      const hash = Object.entries(told).filter(([, value]) => value).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
      history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
      state.hash = hash;
      return draw();
    };
    const follow = (told) => {
      for (const [name, field] of Object.entries(fields)) field.value = told[name] || "";
      state.sort = told.sort || "";
      state.hash = location.hash.slice(1);
      return draw();
    };
    const sortBy = (name, most) => {
      const first = most ? `-${name}` : name;
      const second = most ? name : `-${name}`;
      state.sort = state.sort === first ? second : state.sort === second ? "" : first;
      return keep();
    };
    const isTold = (told) => [...Object.keys(fields), "sort"].some((name) => name in told);
    for (const field of Object.values(fields)) on(field, "input", keep);
    return { state, keep, follow, sortBy, isTold, clear };
  }

  const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

  function compare(one, other, down) {
    if (one === other) return 0;
    if (one === null || one === "") return 1; // what has no value stands last, in either direction
    if (other === null || other === "") return -1;
    const order = typeof one === "number" ? one - other : one.localeCompare(other, "en", { numeric: true });
    return down ? -order : order;
  }

  function mark(head, sort) {
    for (const button of all("button[data-sort]", head)) {
      const way = sort === button.dataset.sort ? "ascending" : sort === `-${button.dataset.sort}` ? "descending" : null;
      if (way) button.parentNode.setAttribute("aria-sort", way);
      else button.parentNode.removeAttribute("aria-sort");
    }
  }

  // ---- keyboard ------------------------------------------------------------------------------------

  const typing = (node) => node && (/^(INPUT|SELECT|TEXTAREA)$/.test(node.tagName) && node.type !== "checkbox");
  const keys = {};

  on(document, "keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const action = keys[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });

  // Moves the focus among nodes; the first one gets it where none has.
  function move(nodes, by) {
    const place = nodes.indexOf(document.activeElement);
    const next = nodes[place < 0 ? 0 : Math.min(Math.max(place + by, 0), nodes.length - 1)];
    if (next) {
      next.focus();
      next.scrollIntoView({ block: "nearest" });
    }
  }

  // ---- a list of runs -------------------------------------------------------------------------------

  function runList(table) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const fields = Object.fromEntries(all(".filters [data-field]").map((field) => [field.dataset.field, field]));
    const list = search(fields, draw);

    function draw() {
      const wanted = wordsOf(fields.filter.value);
      const name = list.state.sort.replace(/^-/, "");
      const value = (row) => {
        const told = row.querySelector(`[data-name="${CSS.escape(name)}"]`);
        const text = told ? told.dataset.value : "";
        return text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;
      };
      const kept = rows.filter((row) => wanted.every((word) => row.textContent.toLowerCase().includes(word))
        && Object.entries(fields).every(([field, node]) => field === "filter" || !node.value || row.dataset[field] === node.value));
      if (name) kept.sort((one, other) => compare(value(one), value(other), list.state.sort.startsWith("-")));
      body.replaceChildren(...kept);
      mark(table.tHead, list.state.sort);
      byId("count").textContent = `${kept.length} of ${rows.length} runs`;
    }

    for (const button of all("button[data-sort]", table.tHead)) {
      on(button, "click", () => list.sortBy(button.dataset.sort, button.dataset.most !== undefined));
    }
    const follow = () => list.follow(address().told);
    on(window, "hashchange", follow);
    const links = () => all("a.run", body);
    Object.assign(keys, { j: () => move(links(), 1), k: () => move(links(), -1), "/": () => fields.filter.focus() });
    follow();
  }

  // ---- the table of tasks ----------------------------------------------------------------------------

  async function taskTable(table) {
    // A server makes the index while the first rows, which the page brings, are read.
    const start = blocks.has("start/0") ? read(blocks.get("start/0")) : await values("index/0");
    let index = start;
    const ready = (async () => { if (start.rows) index = await values("index/0"); })();
    const lanes = start.lanes.map(([kind, label, colour]) => ({ kind, label, colour }));
    const runLanes = lanes.map((lane, place) => place).filter((place) => lanes[place].kind === "run");
    const fields = { filter: byId("filter-text"), tag: byId("filter-tag"), outcome: byId("filter-outcome"), lane: byId("filter-lane") };
    const list = search(fields, redraw);
    const rows = [];
    let portions = 0;
    let shown = [];
    let drawn = 0;
    let opened = null;

    function rowOf([id, text, tags, chats], place) {
      const words = [id, text, ...Object.entries(tags).map((tag) => tag.join("="))].join("\n").toLowerCase();
      return { id, text, tags, chats, words, place };
    }

    // Loads one portion after the other, whoever asks meanwhile.
    let loading = ready;
    function load(whole) {
      loading = loading.then(async () => {
        while (portions < (whole ? index.portions : 1)) {
          for (const told of await values(`rows/${portions}`)) rows.push(rowOf(told, rows.length));
          portions += 1;
        }
      });
      return loading;
    }

    const labelsOf = (row, lane) => {
      const labels = row.chats[lane].map((chat) => chat[1]);
      return labels.length ? labels : ["unfinished"];
    };
    const summaryOf = (row, lane) => OUTCOMES.slice(1).find((label) => labelsOf(row, lane).includes(label)) || "solved";

    function valueOf(row, lane, column) {
      const found = row.chats[lane].map((chat) => chat[3][column]).filter((value) => value !== null);
      return found.length ? found.reduce((sum, value) => sum + value, 0) / found.length : null;
    }

    function matches(row) {
      if (!wordsOf(fields.filter.value).every((word) => row.words.includes(word))) return false;
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

    function sortValue(row, name) {
      const [what, lane, column] = name.split(".");
      if (!lanes[lane]) return row.id;
      return what === "score" ? valueOf(row, lane, column) : OUTCOMES.indexOf(summaryOf(row, lane));
    }

    function outcomeCells(row, lane) {
      const chats = row.chats[lane];
      const cell = make("td", { class: "outcome", "data-label": lanes[lane].label });
      if (!chats.length) {
        cell.append(make("span", { class: "none" }, "not played"));
      } else {
        const label = summaryOf(row, lane);
        const solved = chats.filter((chat) => chat[1] === "solved").length;
        const told = chats.length > 1 ? `${solved} of ${chats.length} solved` : label;
        cell.append(make("span", { class: `badge ${label}` }, told), make("small", {}, chats[chats.length - 1][2]));
      }
      const scores = lanes[lane].kind !== "run" ? [] : start.columns.map((name, column) => {
        const value = valueOf(row, lane, column);
        return make("td", { class: "figure score", "data-label": name }, value === null ? make("span", { class: "none" }, "n/a") : value.toFixed(3));
      });
      return [cell, ...scores];
    }

    function tagList(row) {
      const told = Object.entries(row.tags).filter(([, value]) => value !== "false" && value !== "null" && value !== "");
      return make("ul", { class: "tags" }, ...told.map(([name, value]) => make("li", { dir: "auto" }, value === "true" ? name : `${name}: ${value}`)));
    }

    const href = (row) => `#task-${encodeURIComponent(row.id).replaceAll("%2F", "/")}`;

    function tableRow(row) {
      return make(
        "tr", { id: `task-${row.id}` },
        make("td", { class: "id" }, make("a", { href: href(row), dir: "auto" }, row.id)),
        make("td", { class: "text" }, make("span", { dir: "auto" }, row.text), tagList(row)),
        ...lanes.flatMap((lane, place) => outcomeCells(row, place)),
      );
    }

    async function drawMore(count) {
      if (drawn + count > shown.length && portions < index.portions) await redraw(true);
      table.tBodies[0].append(...shown.slice(drawn, drawn + count).map(tableRow));
      drawn = Math.min(drawn + count, shown.length);
      const left = (portions < index.portions ? index.count : shown.length) - drawn;
      byId("more").hidden = left <= 0;
      byId("more").textContent = `Show more (${left} left)`;
    }

    // Only the first rows are loaded until others are asked for.
    async function redraw(keeps = false) {
      const sort = list.state.sort;
      const whole = keeps === true || sort || Object.values(fields).some((field) => field.value);
      await load(whole);
      shown = rows.filter(matches);
      if (sort) shown.sort((one, other) => compare(sortValue(one, sort.replace(/^-/, "")), sortValue(other, sort.replace(/^-/, "")), sort.startsWith("-")));
      byId("count").textContent = `${whole || portions >= index.portions ? shown.length : index.count} of ${index.count} tasks`;
      if (keeps === true) return;
      drawn = 0;
      const focused = table.contains(document.activeElement) && document.activeElement.closest("tbody tr");
      table.tBodies[0].replaceChildren();
      mark(table.tHead, sort);
      await drawMore(Math.min(100, shown.length));
      if (focused && byId(focused.id)) byId(focused.id).querySelector("a").focus();
    }

    // ---- a task ----------------------------------------------------------------------------------

    const reader = byId("reader");

    async function openTask(id, choice) {
      const found = () => rows.find((candidate) => candidate.id === id);
      if (!found()) await load(true);
      const row = found();
      if (!row) return close();
      opened = row;
      const place = shown.indexOf(row);
      const beside = (by, text) => {
        const other = place < 0 ? rows[row.place + by] : shown[place + by];
        return other ? make("a", { href: href(other), class: by < 0 ? "previous" : "next" }, text) : null;
      };
      const title = make("h2", { dir: "auto", tabindex: "-1" }, row.id);
      reader.replaceChildren(
        make("p", { class: "ways" }, make("a", { href: `#${list.state.hash || "tasks"}`, class: "back" }, "← All tasks"), beside(-1, "Previous"), beside(1, "Next")),
        title, tagList(row),
      );
      byId("overview").hidden = true;
      reader.hidden = false;
      await show(reader, `task/${row.place}`);
      await laneColumns(row, choice);
      trees(reader);
      const lane = choice.lane === undefined ? runLanes[0] : choice.lane;
      const step = choice.step === undefined ? null : byId(`step-${lane}/${row.place}/${choice.trial || 0}/${choice.step}`);
      if (step) showStep(step);
      else {
        window.scrollTo(0, 0);
        title.focus({ preventScroll: true });
      }
    }

    function close() {
      const row = opened;
      opened = null;
      reader.hidden = true;
      reader.replaceChildren();
      byId("overview").hidden = false;
      const link = row && byId(`task-${row.id}`);
      if (link) link.querySelector("a").focus();
    }

    // One check box a lane: those that are checked stand side by side.
    async function laneColumns(row, choice) {
      const columns = make("div", { class: "columns" });
      const choose = make("fieldset", { class: "lanes" }, make("legend", {}, "Conversations"));
      const told = make("p", { class: "parted note", role: "status" });
      reader.append(...(lanes.length > 1 ? [choose, told] : []), columns);
      for (const [place, lane] of lanes.entries()) {
        const box = make("input", { type: "checkbox" });
        box.checked = choice.lane === undefined ? lane.kind === "run" : choice.lane === place;
        const column = make("div", { class: `column ${lane.colour}` });
        const update = async () => {
          column.hidden = !box.checked;
          if (box.checked && !column.hasChildNodes()) await laneColumn(column, row, place, choice);
          part(columns, told);
        };
        on(box, "change", update);
        choose.append(make("label", {}, box, make("span", { class: `swatch ${lane.colour}` }), lane.label));
        columns.append(column);
        await update();
      }
    }

    async function laneColumn(column, row, place, choice) {
      const chats = row.chats[place];
      column.append(make("h3", { dir: "auto" }, lanes[place].label));
      if (!chats.length) return void column.append(make("p", { class: "note" }, "Not played."));
      const holder = make("div", {});
      const trials = chats.map((chat) => chat[0]);
      const wanted = trials.includes(choice.trial) ? choice.trial : trials[0];
      if (trials.length > 1) {
        const select = make("select", {}, ...trials.map((trial) => make("option", { value: trial }, `trial ${trial}`)));
        select.value = wanted;
        on(select, "change", async () => holder.replaceChildren(await conversation(row, place, Number(select.value))));
        column.append(make("label", {}, "Trial ", select));
      }
      holder.append(await conversation(row, place, wanted));
      column.append(holder);
    }

    async function conversation(row, lane, trial) {
      const key = `${lane}/${row.place}/${trial}`;
      const chat = make("div", { class: "chat" });
      if (!(await show(chat, `chat/${key}`))) {
        chat.append(make("p", { class: "note" }, "Left out of this page for its size; read it with "), make("code", {}, `seal view RUN ${row.id}`));
        return chat;
      }
      for (const step of all(".step", chat)) step.id = `step-${key}/${step.id}`;
      for (const button of all("[data-step]", chat)) on(button, "click", () => showStep(byId(`step-${key}/${button.dataset.step}`)));
      trees(chat);
      sights(chat);
      stepper(chat);
      return chat;
    }

    // ---- start -----------------------------------------------------------------------------------

    async function followAddress() {
      const { task, told, first } = address();
      if (task !== null) {
        const lane = number(told.lane) < lanes.length ? number(told.lane) : undefined;
        if (!portions) await redraw();
        return openTask(task, { lane, trial: number(told.trial), step: number(told.step) });
      }
      if (opened) close();
      if (list.isTold(told)) {
        await list.follow(told);
        byId("tasks").scrollIntoView();
      } else if (!portions || (first === "" && list.state.hash)) {
        await list.follow({});
      }
      return undefined;
    }

    const button = (name, text, most) => on(make("button", { type: "button", "data-sort": name }, text), "click", () => list.sortBy(name, most));
    const swatch = (lane) => make("span", { class: `swatch ${lane.colour}` });
    table.tHead.append(make(
      "tr", {}, make("th", { scope: "col" }, button("id", "task")), make("th", { scope: "col" }, "goal"),
      ...lanes.flatMap((lane, place) => [
        make("th", { scope: "col" }, swatch(lane), button(`outcome.${place}`, lane.label)),
        ...(lane.kind !== "run" ? [] : start.columns.map((name, column) => make("th", { scope: "col", class: "figure" }, runLanes.length > 1 ? swatch(lane) : null, button(`score.${place}.${column}`, name, true)))),
      ]),
    ));
    if (start.rows) table.tBodies[0].append(...start.rows.map(rowOf).map(tableRow));
    on(byId("filter-clear"), "click", () => { list.clear(); list.keep(); });
    on(byId("more"), "click", () => drawMore(200));
    on(window, "hashchange", followAddress);

    const links = () => all("tbody .id a", table);
    const steps = () => all(".column:not([hidden]) .step", reader);
    const step = (by) => {
      const found = steps();
      const place = found.findIndex((one) => one.classList.contains("target"));
      const next = found[place < 0 ? 0 : Math.min(Math.max(place + by, 0), found.length - 1)];
      if (next) showStep(next);
    };
    const follow = (kind) => {
      const link = reader.querySelector(`a.${kind}`);
      if (link) location.hash = link.getAttribute("href");
    };
    Object.assign(keys, {
      j: () => (opened ? step(1) : move(links(), 1)),
      k: () => (opened ? step(-1) : move(links(), -1)),
      n: () => follow("next"),
      p: () => follow("previous"),
      Escape: () => follow("back"),
      "/": () => { if (opened) follow("back"); fields.filter.focus(); },
    });
    await ready;
    fields.tag.append(...index.tags.map(([name, value, count]) => make("option", { value: JSON.stringify([name, value]) }, `${name} = ${value} (${count})`)));
    fields.outcome.append(...OUTCOMES.filter((label) => index.outcomes.includes(label)).map((label) => make("option", { value: label }, label)));
    if (runLanes.length > 1) fields.outcome.append(make("option", { value: "differs" }, "runs differ"));
    fields.lane.append(make("option", { value: "" }, runLanes.length > 1 ? "any run" : "the run"), ...lanes.map((lane, place) => make("option", { value: place }, lane.label)));
    if (index.left_out) {
      byId("left-out").hidden = false;
      byId("left-out").textContent = `${index.left_out} conversations are left out to keep this page usable; \`seal view RUN TASK\` and \`seal serve\` show them.`;
    }
    await followAddress();
  }

  // ---- a conversation ------------------------------------------------------------------------------

  function showStep(step) {
    for (const other of all(".step.target")) other.classList.remove("target");
    step.classList.add("target");
    const range = step.closest(".chat").querySelector(".stepper input");
    if (range && Number(range.value) < Number(range.max)) {
      range.value = all(".step", step.closest(".chat")).indexOf(step);
      range.dispatchEvent(new Event("input"));
    }
    step.scrollIntoView({ block: "center" });
    step.focus({ preventScroll: true });
  }

  // A slider that shows the chat up to a step: later steps fade, milestones are lit as they are
  // reached, and the tables of the world stand open after the step that changed them last.
  function stepper(chat) {
    const steps = all(".step", chat);
    if (steps.length < 2) return;
    const range = make("input", { type: "range", min: 0, max: steps.length - 1, value: steps.length - 1, "aria-label": "Steps shown" });
    const told = make("output", {});
    const number = (step) => Number(step.id.slice(step.id.lastIndexOf("/") + 1));
    const draw = () => {
      const at = Number(range.value);
      const whole = at === steps.length - 1;
      told.textContent = whole ? `all ${steps.length} steps` : `up to step ${number(steps[at])}`;
      steps.forEach((step, place) => step.classList.toggle("later", place > at));
      for (const node of all(".graph [data-at]", chat)) node.classList.toggle("lit", Number(node.dataset.at) <= number(steps[at]));
      const worlds = steps.map((step) => step.querySelector(":scope > .world"));
      const last = worlds.slice(0, at + 1).findLast(Boolean);
      for (const world of worlds) if (world) world.open = !whole && world === last;
    };
    on(range, "input", draw);
    chat.querySelector(".steps").before(make("label", { class: "stepper" }, "Step by step ", range, told));
    draw();
  }

  // Fades what one role does not see.
  function sights(chat) {
    const buttons = all(".role[data-role]", chat);
    for (const button of buttons) {
      on(button, "click", () => {
        const role = button.getAttribute("aria-pressed") === "true" ? null : button.dataset.role;
        for (const other of buttons) other.setAttribute("aria-pressed", String(other.dataset.role === role));
        for (const step of all(".step", chat)) {
          const own = role === step.dataset.from || role === step.dataset.to;
          step.classList.toggle("unseen", role !== null && button.dataset.sees === "own" && !own);
          step.classList.toggle("mine", role !== null && own);
        }
      });
    }
  }

  // Marks where the first two chats that are shown part.
  function part(columns, told) {
    for (const step of all(".parting", columns)) step.classList.remove("parting");
    told.replaceChildren();
    const chats = all(".column:not([hidden]) .chat", columns).map((chat) => all(".step", chat));
    if (chats.length < 2) return;
    const [one, other] = chats;
    const most = Math.max(one.length, other.length);
    let place = 0;
    while (place < most && one[place] && other[place] && one[place].dataset.same === other[place].dataset.same) place += 1;
    const parted = [one[place], other[place]].filter(Boolean);
    if (place === most) return void told.append("The first two say and do the same.");
    for (const step of parted) step.classList.add("parting");
    told.append(`The first two part after ${place} steps. `, on(make("button", { type: "button" }, "Show where"), "click", () => showStep(parted[0])));
  }

  // ---- JSON as trees -------------------------------------------------------------------------------

  // Numbers are shown as they were written, which JavaScript could not hold.
  const written = (key, value, context) => (typeof value === "number" && context ? { number: context.source, [LEAF]: true } : value);
  const LEAF = Symbol("leaf");

  function leaf(value) {
    if (value !== null && typeof value === "object") return LEAF in value ? make("span", { class: "literal" }, value.number) : JSON.stringify(value);
    return make("span", { class: typeof value === "string" ? "text" : "literal", dir: "auto" }, JSON.stringify(value));
  }

  function tree(value, depth) {
    const entries = Object.entries(value);
    return make("ul", { class: "tree" }, ...entries.map(([key, inner]) => {
      const name = Array.isArray(value) ? make("span", { class: "key place" }, key) : make("span", { class: "key", dir: "auto" }, key);
      const count = inner !== null && typeof inner === "object" && !(LEAF in inner) ? Object.keys(inner).length : 0;
      if (!count) return make("li", {}, name, " ", leaf(inner));
      const size = Array.isArray(inner) ? `[${count}]` : `{${count}}`;
      return make("li", {}, make("details", { open: depth < 2 && entries.length <= 12 }, make("summary", {}, name, make("small", {}, ` ${size}`)), tree(inner, depth + 1)));
    }));
  }

  function trees(node) {
    for (const text of all("pre.said", node)) {
      if (!/^\s*[[{]/.test(text.textContent)) continue;
      try {
        const value = JSON.parse(text.textContent, written);
        if (Object.keys(value).length) text.replaceWith(tree(value, 0));
      } catch { /* no JSON, or cut: it stays as it came */ }
    }
  }

  // ---- sections that are loaded when a reader comes to them ---------------------------------------

  function lateSections() {
    const watcher = new IntersectionObserver((entries) => {
      for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
        watcher.unobserve(target);
        fillSection(target);
      }
    });
    for (const section of all("section[data-section]")) watcher.observe(section);
  }

  async function fillSection(section) {
    const said = section.querySelector("[role=status]");
    const found = await show(section, `section/${section.dataset.section}`);
    said.remove();
    if (!found) section.append(make("p", { class: "note" }, "It could not be loaded. Load the page again: it may have moved or be damaged."));
    else if (!section.textContent.replace(section.querySelector("h2").textContent, "").trim()) {
      for (const link of all(`nav a[href="#${section.id}"]`)) link.remove();
      section.remove();
    }
  }

  if (byId("task-table")) taskTable(byId("task-table"));
  if (byId("run-table")) runList(byId("run-table"));
  lateSections();
})();
