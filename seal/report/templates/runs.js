// The list of runs.

function runList(table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const list = search(table, draw);
  const { filter, ...chosen } = list.fields;

  function valueOf(row, name) {
    const text = row.querySelector(`[data-name="${CSS.escape(name)}"]`)?.dataset.value ?? "";
    return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
  }

  function draw() {
    const wanted = wordsOf(filter.value);
    const kept = rows.filter((row) => wanted.every((word) => row.textContent.toLowerCase().includes(word))
      && Object.entries(chosen).every(([name, field]) => !field.value || row.dataset[name] === field.value));
    body.replaceChildren(...list.sorted(kept, valueOf));
    list.mark();
    const by = list.sort.replace(/^-/, "");
    byId("count").textContent = `${counted(kept.length)} of ${counted(rows.length)} runs, ${by ? `by ${by}` : table.dataset.told}`;
  }

  const followAddress = () => list.follow(address().told);
  const step = (by) => move(all("a.run", body), by);
  on(window, "hashchange", followAddress);
  Object.assign(keys, { j: () => step(1), k: () => step(-1), "/": () => filter.focus() });
  followAddress();
  followList(table);
}
