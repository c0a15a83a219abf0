// JSON as trees. Numbers are shown as they were written, which JavaScript could not hold.

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

