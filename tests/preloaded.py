"""What a run of the `seal` command imports: a fork server has it before a test's process begins."""

import gc
import warnings

import forked
import no_sync

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import autogen
    import bm25s
    import jinja2
    import numpy.random
    import rapidfuzz.process
    import typer.main

    import seal.agents.roles
    import seal.agents.users
    import seal.api.objects.run_object
    import seal.api.runs
    import seal.benchmarks.dialogtool.report.dialogue
    import seal.benchmarks.sample
    import seal.cli.config
    import seal.cli.verbs.ablate
    import seal.cli.verbs.run
    import seal.core.sqlite_answers
    import seal.environments.world
    import seal.evaluation.attribution.attribute
    import seal.experiments.ablation.ablate
    import seal.experiments.explanation.explain
    import seal.models.lexical_calls
    import seal.models.oracle
    import seal.models.random_calls
    import seal.pools.lint
    import seal.report.comparison_page
    import seal.report.cost_plan
    import seal.report.failure_stages
    import seal.report.frames
    import seal.report.glance
    import seal.report.html
    import seal.report.pattern_tables
    import seal.report.terminal_grids
    import seal.retrievers
    import seal.retrievers.gold
    import seal.retrievers.lexical
    import seal.runs.run
    from seal.report.pages import _environment

# A process compiles each template of a page that it writes: here that is done for all of them.
pages = _environment()
for name in pages.list_templates(["html"]):
    pages.get_template(name)

gc.collect()
gc.freeze()  # a process looks for no garbage among what it never made

__all__ = ["autogen", "bm25s", "forked", "jinja2", "no_sync", "numpy", "rapidfuzz", "seal", "typer"]
