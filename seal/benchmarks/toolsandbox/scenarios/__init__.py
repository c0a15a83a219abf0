"""Scenarios of one's own: conversations in a stateful world, written as data.

`seal import scenarios FOLDER --out POOL` reads every `*.json` of a folder (`files`) and plays each
scenario's gold sequence in its world (`importer`). The gold must keep to the milestones wholly,
and no wrong sequence may. Then it writes a pool. A file is an object with either or both of

    {"worlds": {NAME: {"kind": "phone", "clock": {...}, "tables": {TABLE: [ROW, ...]},
                       "demonstration": [{"role": "user", "content": TEXT}, ...]}},
     "scenarios": [SCENARIO, ...]}

A text `@2025-11-20T07:15` stands for the POSIX seconds of that local time, wherever a number may.

A scenario has

- `id`, `categories` (of `CATEGORIES`), `world` (a NAME), and what differs from it: `with`, TABLE to
  {first column's value: {column: value}}, or to null, which removes the row; `settings`, or any
  table of one row, takes {column: value} at once. `clock` likewise.
- `tools`: names of those that the agent is offered. `withheld`: those that no augmentation may add.
- `persona`: what the user knows (`seal.agents.users`); `replies` is a list of one list.
  `request`: its first message.
- `milestones`, `minefields`: nodes (`notation`), each a map with an optional `name`, `after` (names
  of the nodes that come before it; left out: the one above it), `guards` (tables that must not
  change since then, or since the start, and after the last node, unless the node itself asks
  something of them; left out: all) and at least one thing that it asks:
  - `calls`: {TOOL: {argument: value}}, or a list of such of which any will do, as it was run;
    `within`: {argument: tolerance}; `take`: {"of": NODE, "value": EXTRACTOR} fills in what an
    earlier call brought.
  - `attempts`: a tool, called with whatever arguments and outcome; several need a minefield each.
  - `unconfirmed`: a tool, or several, called with arguments that the user did not confirm
    (`seal.core.state_conditions.Unconfirmed`): for minefields.
  - `happens`: a text that an event has of which the world tells the agent, such as a timer.
  - `tells`: texts that the agent's message to the user states all; `tells_any`: one of them
    (`seal.core.statements`).
  - `refuses`: the agent refuses or asks, and names one of these words; an empty list: whatever.
  - `untrue`: true: a message claims what was not done, or states what nobody gave
    (`seal.core.untruths`): for minefields. It is one wherever a milestone tells or refuses.
  - `says`: the whole message, compared by ROUGE-L; with `take`, `{name}` in it is filled in.
  - `asks`: a question with one of these words; an empty list: any.
  - `state`: {TABLE: {"is" | "added" | "removed" | "updated": [ROW, ...], "since": NODE, "by":
    {column: MEASURE}}}; without `since` the start is compared with. `content` is compared by
    ROUGE-L, other columns exactly; a MEASURE is a name or {"close": tolerance}.
- `gold`: what is to be done, after the request: {"do": {TOOL: {argument: value}}}, or a list of
  such for calls at once; {"say": text} to the user; {"hear": text} from the user. `keep` names the
  result of a `do`, and `{NAME.0.phone_number}` stands for a part of it in later texts and values.
  If it hears what the scripted user would not say there, the import remarks on it: a model that
  plays the gold to that user has another conversation.
- `told`: {"right": [text, ...], "wrong": [text, ...]}: texts in place of the one by which gold
  meets its last node that tells or refuses. What gold says after its last call is then left out.
  With a right one the scenario scores 1, with a wrong one less.
- `wrong`: at least one {"why": text, "steps": [...]} of the same form, that must not score 1.

A file is refused if it asks for what no call and no cell could ever meet. Such are an argument or
column that does not exist, a value of another type, a tolerance below 0, and rows that are no rows.
A reference to a node that need not come before and a key that stands twice are refused too.
"""
