"""Tell why the failed goals of a run failed: a waterfall over stages, with examples."""

from pathlib import Path

from seal.cli.groups import argument, option, verb
from seal.cli.options import JSON
from seal.cli.output import output


@verb("explain")
def explain_command(
    run: Path = argument("Run folder; it must be scored.", metavar="RUN"),
    metric: str | None = option(
        None,
        "Metric that decides what failed.  [default: the one that the benchmark declares as "
        "success; else mission_accuracy for missions, awareness, selection and execution "
        "for dialogue turns, calls_right where gold is only calls, else goal_state or pass_rate]",
        metavar="NAME",
    ),
    examples: int = option(3, "Number of examples for each stage.", least=0),
    out: Path | None = option(
        None, "Folder for explanation.json and the figure of the waterfall.", metavar="DIR"
    ),
    json: bool = JSON,
) -> int:
    """Attribute every failed goal of a run to the first stage that explains it.

    Stages: infrastructure, gold tool not retrieved, user simulator broke its brief, not called,
    wrong tool, wrong argument, tool error not recovered, gave up, answer contradicts or omits
    results, checker unsure. A goal that no stage explains is unexplained. No model is asked.
    """
    with output(json) as result:
        from seal.report.explanation_files import explain, explanation_tables

        content = explain(run, metric, examples, out)
        result.result(content)
        result.show(*(() if json else explanation_tables(content)))
        if out is not None:
            result.show(f"explanation: {out}", *content["notes"])
    return 0
