"use strict";
// Fetches the blocks of a page that lie beside it: at `data-source`, in which {key} stands for one.
globalThis.sealBlock = async (key) => {
  const answer = await fetch(document.body.dataset.source.replace("{key}", key)).catch(() => null);
  if (!answer && location.protocol === "file:" && !document.querySelector(".as-file")) {
    const told = document.createElement("p");
    told.className = "notice as-file";
    told.textContent = "A browser reads what lies beside this page from a web server alone. Run `python -m http.server` in the folder of the site, and open http://localhost:8000.";
    document.querySelector("main").prepend(told);
  }
  return answer && answer.ok ? answer.text() : null;
};
// What a running run does now; null where nobody answers.
globalThis.sealNow = (address) => fetch(address).catch(() => null);
