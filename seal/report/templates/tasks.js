// The table of tasks. Its rows are loaded in portions, and drawn as far as they are asked for.

const OUTCOMES = ["solved", "unsolved", "undecided", "error", "unscored", "unfinished"];
const addressOf = (row) => `#task-${encodeURIComponent(row.id).replaceAll("%2F", "/")}`;
const swatch = (lane) => make("span", { class: `swatch ${lane.colour}` });
const option = (value, text) => make("option", { value }, text);

function tagList(row) {
  const told = Object.entries(row.tags).filter(([, value]) => !["false", "null", ""].includes(value));
  return make("ul", { class: "tags" }, ...told.map(([name, value]) => make("li", { dir: "auto" }, ...partable(value === "true" ? name : `${name}: ${value}`, NAMES))));
}

// Where a chat tells what is known of it beside outcome and scores.
const DETAILS = { why: 4, answer: 5, calls: 6, cost: 7 };
const isFigure = (name) => name === "calls" || name === "cost";

function rowOf([id, text, tags, chats, target], place) {
  const said = chats.flat().flatMap((chat) => [chat[DETAILS.why], chat[DETAILS.answer]]);
  const words = [id, text, target, ...said, ...Object.entries(tags).map((tag) => tag.join("="))].filter(Boolean).join("\n").toLowerCase();
  return { id, text, tags, chats, target, words, place };
}

// What is known of the chats of a row: the mean of figures, else the text of the last that has one.
function detail(chats, name) {
  const told = chats.map((chat) => chat[DETAILS[name]]).filter((value) => value !== undefined && !lacks(value));
  if (!told.length) return null;
  return isFigure(name) ? told.reduce((sum, value) => sum + value, 0) / told.length : told.at(-1);
}

function taskTable(table, start) {
  const lanes = start.lanes.map(([kind, label, colour, folder]) => ({ kind, label, colour, folder }));
  const runLanes = [...lanes.keys()].filter((place) => lanes[place].kind === "run");
  const placed = [...runLanes, ...[...lanes.keys()].filter((place) => lanes[place].kind !== "run")];
  const atOnce = matchMedia("(max-width: 1000px)").matches ? 25 : 100;
  const columnsOf = (lane) => (lanes[lane].kind === "run" ? start.columns : []);
  const detailsOf = (lane) => (lanes[lane].kind === "run" ? Object.entries(start.details) : []);
  const list = search(table, redraw);
  const { filter, tag, outcome, stage, lane: ofLane } = list.fields;
  const tasks = { lanes, runLanes, list, load, find, beside, redraw, drawMore, refresh, fill, portions: 0 };
  const rows = [];
  let index = start;
  let shown = [];
  let drawn = 0;
  // A server makes the index while the first rows, which the page brings, are read.
  const ready = (async () => { if (start.rows) index = await values("index/0"); })();

  // Loads one portion after the other until these are enough, whoever asks meanwhile.
  let loading = ready;
  function load(isEnough) {
    loading = loading.then(async () => {
      while (tasks.portions < index.portions && !isEnough()) {
        byId("count").textContent = `Loading … ${counted(rows.length)} of ${counted(index.count)} tasks`;
        for (const told of await values(`rows/${tasks.portions}`)) rows.push(rowOf(told, rows.length));
        tasks.portions += 1;
      }
    });
    return loading;
  }

  async function find(id) {
    const found = () => rows.find((row) => row.id === id);
    await load(found);
    return found();
  }

  // The row before or after another: of those that are shown, if it is among them.
  function beside(row, by) {
    const place = shown.indexOf(row);
    return place < 0 ? rows[row.place + by] : shown[place + by];
  }

  const labelsOf = (row, lane) => (row.chats[lane].length ? row.chats[lane].map((chat) => chat[1]) : ["unfinished"]);
  const summaryOf = (row, lane) => OUTCOMES.slice(1).find((label) => labelsOf(row, lane).includes(label)) || "solved";

  function valueOf(row, lane, column) {
    const found = row.chats[lane].map((chat) => chat[3][column]).filter((value) => value !== null);
    return found.length ? found.reduce((sum, value) => sum + value, 0) / found.length : null;
  }

  function matches(row) {
    if (!wordsOf(filter.value).every((word) => row.words.includes(word))) return false;
    if (tag.value) {
      const [name, value] = JSON.parse(tag.value);
      if (row.tags[name] !== value) return false;
    }
    const among = ofLane.value === "" ? runLanes : [Number(ofLane.value)];
    const failedAt = (lane) => row.chats[lane].some((chat) => chat[DETAILS.why]?.startsWith(stage.value));
    if (stage.value && !among.some(failedAt)) return false;
    if (outcome.value === "differs") return new Set(runLanes.map((lane) => summaryOf(row, lane))).size > 1;
    return !outcome.value || among.some((lane) => labelsOf(row, lane).includes(outcome.value));
  }

  function sortValue(row, name) {
    const [what, lane, column] = name.split(".");
    if (what === "target") return row.target;
    if (!lanes[lane]) return row.id;
    if (DETAILS[what]) return detail(row.chats[lane], what);
    return what === "score" ? valueOf(row, lane, column) : OUTCOMES.indexOf(summaryOf(row, lane));
  }

  function detailText(chats, name, heading) {
    const value = detail(chats, name);
    if (value === null) return [];
    if (typeof value !== "number") return partable(value, CALLS);
    return [heading === "dollars" ? `$${value.toFixed(value < 0.01 ? 4 : 2)}` : value.toLocaleString("en", { maximumFractionDigits: 1 })];
  }

  function cells(row, lane) {
    const chats = row.chats[lane];
    const label = summaryOf(row, lane);
    const solved = chats.filter((chat) => chat[1] === "solved").length;
    const told = chats.length > 1 ? `${solved} of ${chats.length} solved` : label;
    const details = detailsOf(lane);
    const stop = chats.at(-1)?.[2];
    const below = (!details.length && detail(chats, "why")) || (stop !== "done" && stop);
    const shown = chats.length
      ? [make("span", { class: `badge ${label}` }, told), below && make("small", {}, below)]
      : [make("span", { class: "none" }, "not played")];
    const figure = (value) => (value === null ? make("span", { class: "none" }, "n/a") : value.toFixed(3));
    return [
      make("td", { class: "outcome", "data-label": lanes[lane].label }, ...shown),
      ...details.map(([name, heading]) => make("td", { class: isFigure(name) ? "figure" : "detail", "data-label": heading, dir: "auto" }, ...detailText(chats, name, heading))),
      ...columnsOf(lane).map((name, column) => make("td", { class: "figure score", "data-label": name }, figure(valueOf(row, lane, column)))),
    ];
  }

  function tableRow(row) {
    return make(
      "tr", { id: `task-${row.id}` },
      make("td", { class: "id" }, make("a", { href: addressOf(row), dir: "auto" }, ...partable(row.id, NAMES))),
      make("td", { class: "text" }, make("span", { dir: "auto" }, row.text), tagList(row)),
      make("td", { class: "detail", "data-label": "target", dir: "auto" }, ...partable(row.target ?? "", CALLS)),
      ...placed.flatMap((lane) => cells(row, lane)),
    );
  }

  async function drawMore(count) {
    if (drawn + count > shown.length && tasks.portions < index.portions) await redraw(true);
    table.tBodies[0].append(...shown.slice(drawn, drawn + count).map(tableRow));
    drawn = Math.min(drawn + count, shown.length);
    const left = (tasks.portions < index.portions ? index.count : shown.length) - drawn;
    byId("more").hidden = left <= 0;
    byId("more").textContent = `Show more (${counted(left)} left)`;
  }

  // Only the first rows are loaded until others are asked for.
  async function redraw(keeps = false) {
    const whole = keeps === true || list.sort || Object.values(list.fields).some((field) => field.value);
    await load(() => tasks.portions > 0 && !whole);
    shown = list.sorted(rows.filter(matches), sortValue);
    const among = whole || tasks.portions >= index.portions ? shown.length : index.count;
    byId("count").textContent = `${counted(among)} of ${counted(index.count)} tasks`;
    if (keeps === true) return;
    drawn = 0;
    const focused = table.contains(document.activeElement) && document.activeElement.closest("tbody tr");
    table.tBodies[0].replaceChildren();
    list.mark();
    await drawMore(Math.min(atOnce, shown.length));
    if (focused) byId(focused.id)?.querySelector("a").focus();
  }

  // Takes in what became of tasks since they were loaded.
  async function refresh() {
    const now = await values("index/0");
    const told = await Promise.all([...Array(tasks.portions).keys()].map((portion) => values(`rows/${portion}`)));
    if (!now.portions || told.some((some) => !some.length)) return;
    index = now;
    rows.splice(0, rows.length, ...told.flat().map(rowOf));
    const before = drawn;
    await redraw();
    if (before > drawn) await drawMore(before - drawn);
  }

  // Fills what needs the index: the fields of the search.
  async function fill() {
    await ready;
    tag.append(...index.tags.map(([name, value, count]) => option(JSON.stringify([name, value]), `${name} = ${value} (${counted(count)})`)));
    outcome.append(...OUTCOMES.filter((label) => index.outcomes.includes(label)).map((label) => option(label, label)));
    if (runLanes.length > 1) outcome.append(option("differs", "runs differ"));
    byId("left-out").hidden = !index.left_out;
    byId("left-out").textContent = `${counted(index.left_out)} conversations, those of floor and ceiling first, are left out to keep this page usable; 'seal view RUN TASK' and 'seal serve' show them.`;
  }

  if (start.rows) table.tBodies[0].append(...start.rows.slice(0, atOnce).map(rowOf).map(tableRow));
  return tasks;
}
