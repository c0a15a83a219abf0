"""The small benchmark of a stateful world that ships: scenarios on a phone, of our own making.

`authored/` holds the worlds and scenarios as they were written
(`seal.benchmarks.toolsandbox.scenarios`), one file a category; beside it lies the pool that they
compile to:

    seal import scenarios authored --out POOL -T benchmark=toolsandbox-sample

`limits/` holds six scenarios that are not of that pool: three ask for confirmation before a call
(`confirmations.json`), and a timer rings in the others (`timers.json`). They are imported alike:

    seal import scenarios limits/timers.json --out TIMERS

Each scenario has a gold sequence, which the model `oracle` plays, and at least one wrong one, which
`recorded:wrong` plays. Persons, companies, messages and the web's answers are invented.
"""
