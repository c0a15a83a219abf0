"""DialogTool, from the Schema-Guided Dialogue corpus."""

from dataclasses import replace
from pathlib import Path

from seal.lazy import give_names
from seal.pools import Benchmark

give_names(__name__)

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
    measures=f"{_HERE}.metrics.dialogue.metrics:measures",
    is_request=f"{_HERE}.tool_life:is_request",
    decided_by=f"{_HERE}.tool_life:decided_by",
    cause_of=f"{_HERE}.metrics.dialogue.metrics:cause_of",
    rated=f"{_HERE}.choices:rated",
    runs_code=f"{_HERE}.tool_life:creates",
    options={"on_policy": "measure", "tools": "system"},
    creator=f"{_HERE}.choices:creator",
    players={
        "lexical": f"{_HERE}.players.offline:by_words",
        "oracle": f"{_HERE}.players.offline:by_gold",
        "gold_calls": f"{_HERE}.players.offline:by_gold",
        "random": f"{_HERE}.players.offline:by_chance",
    },
    settings=f"{_HERE}.choices:completed",
    view=f"{_HERE}.choices:view",
    ablations=(f"{_HERE}.choices:TOOLS", f"{_HERE}.choices:APPS"),
    sections=(f"{_HERE}.report.dialogue:DialogueSection",),
    published=f"{_HERE}.report.paper:TABLES",
)
MULTIWOZ = replace(DIALOGTOOL, name="multiwoz", importer=f"{_HERE}.multiwoz:import_multiwoz")
SAMPLE = replace(
    DIALOGTOOL, name="dialogtool-sample", importer=None, folder=Path(__file__).parent / "sample"
)
