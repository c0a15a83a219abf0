"""The small benchmark that ships: 65 tools in 8 domains and 80 tasks, all of our own making.

The folder is a pool like any other, and its two files are the source: one record a line.

- tools.jsonl: `Tool.returns` is a JSON Schema, so that a simulator can answer by shape. Eight tools
  are never called: they lie close to others, so that retrieval and choice are no formality.
- tasks.jsonl: the tag `group` is single, parallel, dependent, chat (no tool needed) or clarify
  (a required argument is missing: the agent should ask); `domain` is one of eight. A gold call's
  `Milestone.result` is its recorded answer, the same for the same call everywhere. Of clarify tasks
  `relevant` names the tool that lacks an argument, and the label `missing` that argument.

Persons, companies and all results are invented.
"""

from pathlib import Path

from seal.pools.benchmark import Benchmark

SAMPLE = Benchmark("sample", folder=Path(__file__).parent)

__all__ = ["SAMPLE"]
