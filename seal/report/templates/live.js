// A run that goes on: what it does now is asked for again and again, and its table follows.

const ASK_MS = 2_000;
const TABLE_MS = 10_000;

async function follow(section, tasks, before = { done: "", at: 0 }) {
  const answer = await globalThis.sealNow(section.dataset.live);
  if (answer?.status === 410) return location.reload();
  if (answer?.ok) {
    section.lastElementChild.innerHTML = await answer.text();
    const { done } = section.querySelector("[data-done]").dataset;
    if (done !== before.done && Date.now() - before.at >= TABLE_MS) {
      await tasks.refresh();
      before = { done, at: Date.now() };
    }
  }
  return setTimeout(follow, ASK_MS, section, tasks, before);
}

// The list is loaded anew while a run of it goes on, unless a reader is choosing or typing.
function followList(table) {
  if (!table.querySelector("tr[data-state=running]")) return;
  setTimeout(() => {
    if (table.querySelector(":checked") || document.activeElement.matches("input, select")) followList(table);
    else location.reload();
  }, TABLE_MS);
}
