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
        *("role", "recall", "mrr", "call_recall", "call_precision", "call_f1", "param_acc_gold"),
        *("param_acc_matched", "planted_dropped", "planted_invented", "planted_template"),
    ),
    measures=f"{_HERE}.metrics:measures",
    is_request=f"{_HERE}.tool_life:is_request",
    decided_by=f"{_HERE}.tool_life:decided_by",
    cause_of=f"{_HERE}.metrics:cause_of",
    rated=f"{_HERE}.play:rated",
    runs_code=f"{_HERE}.tool_life:creates",
    options={"on_policy": "measure", "tools": "system"},
    creator=f"{_HERE}.play:creator",
    players={
        "lexical": f"{_HERE}.offline_speech:by_words",
        "oracle": f"{_HERE}.offline_speech:by_gold",
        "gold_calls": f"{_HERE}.offline_speech:by_gold",
        "random": f"{_HERE}.offline_speech:by_chance",
    },
    settings=f"{_HERE}.play:completed",
    view=f"{_HERE}.play:view",
    ablations=(f"{_HERE}.play:TOOLS", f"{_HERE}.play:APPS"),
    sections=(f"{_HERE}.tables:DialogueSection",),
    published=f"{_HERE}.tables:TABLES",
)
MULTIWOZ = replace(DIALOGTOOL, name="multiwoz", importer=f"{_HERE}.multiwoz:import_multiwoz")
SAMPLE = replace(
    DIALOGTOOL, name="dialogtool-sample", importer=None, folder=Path(__file__).parent / "sample"
)
