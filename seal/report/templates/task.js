// A task: its goals, and its conversations in columns, one for each lane.

function taskReader(reader, tasks) {
  const { lanes } = tasks;
  let opened = null;

  async function open(id, choice) {
    const row = await tasks.find(id);
    if (!row) return close();
    opened = row;
    const way = (kind, address, text) => make("a", { href: address, class: kind }, text);
    const beside = (kind, by, text) => {
      const other = tasks.beside(row, by);
      return other && way(kind, addressOf(other), text);
    };
    const title = make("h2", { dir: "auto", tabindex: "-1" }, row.id);
    const back = way("back", `#${tasks.list.hash || "tasks"}`, "← All tasks");
    reader.replaceChildren(make("p", { class: "ways" }, back, beside("previous", -1, "Previous"), beside("next", 1, "Next")), title, tagList(row));
    byId("overview").hidden = true;
    reader.hidden = false;
    await show(reader, `task/${row.place}`);
    await laneColumns(row, choice);
    trees(reader);
    const lane = choice.lane ?? tasks.runLanes[0];
    const step = byId(`step-${lane}/${row.place}/${choice.trial || 0}/${choice.step}`);
    if (step) return showStep(step);
    window.scrollTo(0, 0);
    return title.focus({ preventScroll: true });
  }

  function close() {
    const row = opened;
    opened = null;
    reader.hidden = true;
    reader.replaceChildren();
    byId("overview").hidden = false;
    if (row) byId(`task-${row.id}`)?.querySelector("a").focus();
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
        if (box.checked && !column.hasChildNodes()) await fillColumn(column, row, place, choice);
        part(columns, told);
      };
      on(box, "change", update);
      choose.append(make("label", {}, box, swatch(lane), lane.label));
      columns.append(column);
      await update();
    }
  }

  async function fillColumn(column, row, place, choice) {
    const trials = row.chats[place].map((chat) => chat[0]);
    column.append(make("h3", { dir: "auto" }, lanes[place].label));
    if (!trials.length) return void column.append(make("p", { class: "note" }, "Not played."));
    const holder = make("div", {});
    const wanted = trials.includes(choice.trial) ? choice.trial : trials[0];
    if (trials.length > 1) {
      const select = make("select", {}, ...trials.map((trial) => option(trial, `trial ${trial}`)));
      select.value = wanted;
      on(select, "change", async () => holder.replaceChildren(await conversation(row, place, select.value)));
      column.append(make("label", {}, "Trial ", select));
    }
    holder.append(await conversation(row, place, wanted));
    return column.append(holder);
  }

  async function conversation(row, lane, trial) {
    const key = `${lane}/${row.place}/${trial}`;
    const chat = make("div", { class: "chat" });
    if (!(await show(chat, `chat/${key}`))) {
      chat.append(make("p", { class: "note" }, "Left out of this page for its size; read it with "), make("code", {}, `seal view ${lanes[lane].folder} ${row.id}`));
      return chat;
    }
    for (const step of all(".step", chat)) step.id = `step-${key}/${step.id}`;
    for (const button of all("[data-step]", chat)) on(button, "click", () => showStep(byId(`step-${key}/${button.dataset.step}`)));
    letPart(all(".beside code", chat), CALLS);
    trees(chat);
    sights(chat);
    stepper(chat);
    outline(chat);
    return chat;
  }

  function step(by) {
    const steps = all(".column:not([hidden]) .step", reader).filter((one) => !isFolded(one));
    const next = further(steps, steps.findIndex((one) => one.classList.contains("target")), by);
    if (next) showStep(next);
  }

  function follow(kind) {
    const link = reader.querySelector(`a.${kind}`);
    if (link) location.hash = link.getAttribute("href");
  }

  return { open, close, step, follow, isOpen: () => opened !== null };
}
