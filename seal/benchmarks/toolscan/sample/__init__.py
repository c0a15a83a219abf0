"""The benchmark of similar tools that ships: 6 environments, all of our own making.

`authored/` holds what was written. `tools.json` has tools in ToolScan's neutral list.
`queries.jsonl` has queries in its input format (`seal.benchmarks.toolscan.tasks`). `answers.json`
has the tables out of which the tools answer (`seal.benchmarks.toolscan.world`). Beside it
lies the pool that they compile to:

    python perf/samples/compile_samples.py toolscan-sample AUTHORED POOL

The compiler makes every gold call and refuses a query one of whose plans brings nothing, or does
not bring the answer (`perf/samples/toolscan_sample.py`). The tags `environment`,
`alternative_plans` and `irrelevance` say what a task is. If no tool serves a task, `irrelevance`
names the reason, and its metadata `seed` names the task that it was made of.

Works, persons, places, sailings and companies are invented.
"""
