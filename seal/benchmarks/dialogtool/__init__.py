"""DialogTool, from the Schema-Guided Dialogue corpus."""

from dataclasses import replace
from pathlib import Path

from seal.pools.benchmark import Benchmark

_HERE = "seal.benchmarks.dialogtool"

DIALOGTOOL = Benchmark(
    "dialogtool",
    importer=f"{_HERE}.importer:import_dialogtool",
    world_files=("mobile.json",),
    headline=(
        *("similarity", "pass_rate", "tooleval", "sopr", "fac", "success", "goal_state"),
        *("goal_state_due", "awareness", "selection", "execution", "creation", "bleu", "rouge_l"),
        *("role", "role_reply", "recall", "mrr", "call_recall", "call_precision", "call_f1"),
        *("param_acc_gold", "param_acc_matched"),
    ),
    measures=f"{_HERE}.metrics:measures",
    is_request=f"{_HERE}.tool_life:is_request",
    decided_by=f"{_HERE}.tool_life:decided_by",
    cause_of=f"{_HERE}.metrics:cause_of",
    rated=f"{_HERE}.play:rated",
    runs_code=f"{_HERE}.tool_life:creates",
    options={"tools": "system"},
    creator=f"{_HERE}.play:creator",
    players={
        "lexical": f"{_HERE}.offline:by_words",
        "oracle": f"{_HERE}.offline:by_gold",
        "gold_calls": f"{_HERE}.offline:by_gold",
        "random": f"{_HERE}.offline:by_chance",
    },
    settings=f"{_HERE}.play:completed",
    view=f"{_HERE}.play:view",
    ablations=(f"{_HERE}.play:TOOLS", f"{_HERE}.play:APPS"),
    sections=(f"{_HERE}.tables:DialogueSection",),
    published=f"{_HERE}.tables:TABLES",
)
SAMPLE = replace(
    DIALOGTOOL, name="dialogtool-sample", importer=None, folder=Path(__file__).parent / "sample"
)
"""The small benchmark of whole dialogues that ships: a phone's apps, all of our own making.

`sample/authored/` holds what was written: the apps with what they know (`apps.json`), and the
dialogues in a short notation (`dialogues.txt`, read by `perf/samples/dialogtool_notation.py`).
Beside it lies the pool that they compile to:

    python perf/samples/compile_samples.py dialogtool-sample AUTHORED POOL

Each dialogue becomes a record in the form of the Schema-Guided Dialogue corpus, and the importer of
that corpus makes the pool. Calls and results are not written but computed: the arguments are what
was said, the rows what the app knows of them.

The library, `Loans`, asks for a card number and a PIN in every call, which no app of the corpus
does. Towns, persons, works and companies are invented.
"""
