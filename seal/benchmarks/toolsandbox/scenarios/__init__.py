"""Scenarios of one's own: conversations in a stateful world, written as data.

`seal import scenarios FOLDER --out POOL` reads every `*.json` of a folder (`files`) and plays the
gold sequence of each scenario in its world (`importer`). From its calls follows how the world must
end. The sequences in `right` and `wrong` are played against that: each right one solves the
scenario as a run scores it (`pass_rate`), and no wrong one does. Then it writes a pool, with these
sequences as the recordings `right` and `wrong`. A file is an object with either or both of

    {"worlds": {NAME: {"kind": "phone", "clock": {...}, "tables": {TABLE: [ROW, ...]},
                       "cells": {COLUMN: TYPE}, "ignore": [COLUMN, ...],
                       "system": TEXT, "max_messages": NUMBER,
                       "demonstration": [{"role": "user", "content": TEXT}, ...]}},
     "scenarios": [SCENARIO, ...]}

`kind` names a world, or several that `+` joins. Tables that are left out begin as its own. The
agent is told its policy, then `system`; a sequence that breaks a rule of it solves nothing.

A text `@2025-11-20T07:15` stands for the POSIX seconds of that local time, wherever a number may.

A scenario has

- `id`, `categories` (of `CATEGORIES`), `world` (a NAME), and what differs from it: `with`, TABLE to
  {first column's value: {column: value}}, or to null, which removes the row; `settings`, or any
  table of one row, takes {column: value} at once. `clock` likewise.
- `tools`: names of those that the agent is offered; left out: all. `withheld`: those that no
  augmentation may add. `tags`: further tags of its task.
- `persona`: what the user knows (`seal.agents.users`); `replies` is a list of one list.
  `request`: its first message.
- `gold`: what is to be done, after the request: {"do": {TOOL: {argument: value}}}, or a list of
  such for calls at once; {"say": text} to the user; {"hear": text} from the user. `keep` names the
  result of a `do`, and `{NAME.0.phone_number}` stands for a part of it in later texts and values.
  If it hears what the scripted user would not say there, the import remarks on it: a model that
  plays the gold to that user has another conversation.
- `end`: [{TOOL: {argument: value}}, ...], the calls that leave the world as it must end. Left out:
  those of gold that changed it. Name them where gold takes ids that the world makes anew.
- `tells`: what the agent must tell the user: {NAME: VALUE}, a value, or a list of values. A value
  is a text, a number, true or false, or {"value": ..., "type": ..., "unit": ..., "also": [...],
  "optional": true} (`seal.core.slots`). "lack" has words of which a refusal or question names one:
  {"type": "lack", "value": ["number", "contact"]}.
- `cells`: {TABLE.COLUMN: TYPE}, columns that people or models write, which are compared as values
  of that type: "text", "time", "phone" (`seal.core.cells.is_alike`). `ignore`: tables and
  TABLE.COLUMN that may end in any way, such as new ids. Both add to those of the world.
- `right`, and `wrong` (at least one): sequences {"why": text, "steps": [...]} of the form of gold.
  Or texts: each stands in place of the one by which gold has told all that it must tell, and what
  gold says after its last call is left out.
- `milestones`, `minefields`: what the end and `tells` do not say. They are nodes, each
  a map with an optional `name`, `after` (names of the nodes that come before it; left out: the one
  above it), and at least one thing that it asks:
  - `calls`: {TOOL: {argument: value}}, or a list of such of which any will do, as it was run;
    `within`: {argument: tolerance}. A milestone that asks for a call which only reads is refused,
    unless what the scenario tells comes of it: whoever knows it otherwise may do without.
  - `attempts`: a tool, called with whatever arguments and outcome; several need a minefield each.
  - `unconfirmed`: a tool, or several, called with arguments that the user did not confirm
    (`seal.core.state_conditions.Unconfirmed`): for minefields.
  - `happens`: a text that an event has of which the world tells the agent, such as a timer.
  - `asks`: a question with one of these words; an empty list: any.

A file is refused if it asks for what no call and no cell could ever meet. Such are an argument or
column that does not exist, a value of another type, and a tolerance below 0. A key that stands
twice is refused too.
"""
