// Nodes of the page, and the blocks of data that stand in it or are fetched from beside it. Texts of
// the data enter the page as text nodes, or in pieces of HTML in which they are escaped.

const byId = (id) => document.getElementById(id);
const all = (selector, node = document) => [...node.querySelectorAll(selector)];

function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter(Boolean));
  return node;
}

function on(node, event, action) {
  node.addEventListener(event, action);
  return node;
}

// Where a long name parts, and where a call does, whose names stay whole.
const NAMES = /(?<=\S[_/+])(?=\S)/;
const CALLS = /(?<=\S[(=])(?=\S)/;

const partable = (text, joint) => text.split(joint).flatMap((part, place) => (place ? [make("wbr", {}), part] : [part]));

function letPart(nodes, joint) {
  for (const node of nodes) {
    for (const child of [...node.childNodes]) if (child.nodeType === Node.TEXT_NODE) child.replaceWith(...partable(child.data, joint));
  }
}

const counted = (count) => count.toLocaleString("en");

const read = (node) => JSON.parse(node.textContent);
const blocks = new Map();
for (const kind of ["task", "chat", "rows", "index", "start"]) {
  for (const node of all(`script[data-${kind}]`)) blocks.set(`${kind}/${node.dataset[kind]}`, node);
}
// A block of HTML lists the numbers of its pieces; a block of parts has the number of its first.
const parts = all("script[data-parts]").map((node) => ({ node, first: Number(node.dataset.parts) }));

function piece(number) {
  const found = parts.findLast((part) => part.first <= number);
  found.values ??= read(found.node);
  return found.values[number - found.first];
}

// A page that is one file has no script that asks for what lies beside it.
const fetched = document.body.dataset.source ? globalThis.sealBlock : async () => null;

async function values(key) {
  if (blocks.has(key)) return read(blocks.get(key));
  return JSON.parse(await fetched(`${key}.json`) || "[]");
}

// Appends what a block shows; false where there is no such block.
async function show(node, key) {
  const html = blocks.has(key) ? read(blocks.get(key)).map(piece).join("") : await fetched(`${key}.html`);
  if (html !== null) node.insertAdjacentHTML("beforeend", html);
  return html !== null;
}
