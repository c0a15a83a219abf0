"""What a run of the `seal` command imports: a fork server has it before a test's process begins."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import autogen
    import jinja2
    import typer.main

    import seal.agents.roles
    import seal.agents.users
    import seal.api.runs
    import seal.benchmarks.dialogtool.report.dialogue
    import seal.cli.config
    import seal.cli.verbs.ablate
    import seal.cli.verbs.run
    import seal.evaluation.attribution.attribute
    import seal.experiments.ablation.ablate
    import seal.experiments.explanation.explain
    import seal.models.lexical_calls
    import seal.models.random_calls
    import seal.report.comparison_page
    import seal.report.cost_plan
    import seal.report.failure_stages
    import seal.report.html
    import seal.report.pattern_tables
    import seal.retrievers
    import seal.retrievers.gold
    import seal.retrievers.lexical
    import seal.runs.run

__all__ = ["autogen", "jinja2", "seal", "typer"]
