// A conversation that is shown: its steps, what one role sees of it, and where two part.

const isFolded = (step) => step.matches(".outline .answers:not(.open), .outline .relay:not(.open)");

// A call on one line opens with what answered it.
function openCall(step, open = true) {
  const chat = step.closest(".chat");
  const own = (one) => Number(one.id.slice(one.id.lastIndexOf("/") + 1));
  const first = step.dataset.of ?? String(own(step));
  for (const one of all(".step", chat)) {
    if (one !== step && one.dataset.of !== first && String(own(one)) !== first) continue;
    one.classList.toggle("open", open);
    one.querySelector(".line button")?.setAttribute("aria-expanded", String(open));
  }
}

// The chat as an outline: calls on one line each, without what only passes on.
function outline(chat) {
  if (!chat.querySelector(".step.call")) return;
  const whole = make("button", { type: "button", class: "whole", "aria-pressed": "false" }, "Open all calls");
  chat.classList.add("outline");
  on(whole, "click", () => {
    const folded = chat.classList.toggle("outline");
    whole.setAttribute("aria-pressed", String(!folded));
  });
  for (const button of all(".line button", chat)) {
    on(button, "click", () => openCall(button.closest(".step"), button.getAttribute("aria-expanded") !== "true"));
  }
  chat.querySelector(".steps").before(make("p", { class: "jumps" }, whole));
}

function showStep(step) {
  if (step.matches(".outline .call, .outline .answers, .outline .relay")) openCall(step);
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

