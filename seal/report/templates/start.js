// The start: what the page has is drawn, and sections are loaded when a reader comes to them.

async function taskPage(table) {
  const start = await values(blocks.has("start/0") ? "start/0" : "index/0");
  if (!start.lanes) return void (byId("count").textContent = "The table could not be loaded.");
  const tasks = taskTable(table, start);
  const { list } = tasks;
  const reader = taskReader(byId("reader"), tasks);
  const number = (text) => (/^\d+$/.test(text || "") ? Number(text) : undefined);

  // One address after the other: the first is followed when the page has its rows, and a reader may
  // have opened a task by then.
  let followed = Promise.resolve();
  const followAddress = () => (followed = followed.then(followLast, followLast));

  async function followLast() {
    const { task, told, first } = address();
    if (task !== null) {
      const lane = number(told.lane) < tasks.lanes.length ? number(told.lane) : undefined;
      if (!tasks.portions) await tasks.redraw();
      return reader.open(task, { lane, trial: number(told.trial), step: number(told.step) });
    }
    if (reader.isOpen()) reader.close();
    if (list.isTold(told)) {
      await list.follow(told);
      return byId("tasks").scrollIntoView();
    }
    return !tasks.portions || (first === "" && list.hash) ? list.follow({}) : undefined;
  }

  on(byId("filter-clear"), "click", list.clear);
  on(byId("more"), "click", () => tasks.drawMore(200));
  on(window, "hashchange", followAddress);
  const step = (by) => (reader.isOpen() ? reader.step(by) : move(all("tbody .id a", table), by));
  Object.assign(keys, {
    j: () => step(1),
    k: () => step(-1),
    n: () => reader.follow("next"),
    p: () => reader.follow("previous"),
    Escape: () => reader.follow("back"),
    "/": () => { reader.follow("back"); list.fields.filter.focus(); },
  });
  await tasks.fill();
  await followAddress();
  if (byId("live")) await follow(byId("live"), tasks);
}

const linksTo = (section) => all(`nav a[href="#${section.id}"]`);

function drop(section) {
  for (const link of linksTo(section)) link.remove();
  section.remove();
}

// Sections that may have nothing to say are announced once it is known that they say something.
async function announce(sections) {
  for (const section of sections) {
    if ((await values(`holds/${section.dataset.section}`)) === false) drop(section);
    else for (const node of [section, ...linksTo(section)]) node.hidden = false;
  }
}

function readied(table) {
  letPart(all("tbody th, tbody th *", table), NAMES);
  sortable(table);
}

async function fillSection(section) {
  const found = await show(section, `section/${section.dataset.section}`);
  section.querySelector("[role=status]").remove();
  all("table.summary", section).forEach(readied);
  if (!found) section.append(make("p", { class: "note" }, "It could not be loaded. Load the page again: it may have moved or be damaged."));
  else if (section.textContent.trim() === section.querySelector("h2").textContent.trim()) drop(section);
}

if (byId("task-table")) taskPage(byId("task-table"));
for (const node of all("[data-key]")) keys[node.dataset.key] = () => node.click();
if (byId("run-table")) runList(byId("run-table"));
const watcher = new IntersectionObserver((entries) => {
  for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
    watcher.unobserve(target);
    fillSection(target);
  }
});
for (const section of all("section[data-section]")) watcher.observe(section);
announce(all("section[data-unsure]"));
all("table.summary").forEach(readied);
