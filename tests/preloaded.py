"""What a run of the `seal` command imports: a fork server has it before a test's process begins."""

import gc
import warnings

import forked
import no_sync

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import autogen
    import jinja2
    import numpy.random
    import rapidfuzz.process
    import typer.main

    import seal.agents.roles
    import seal.agents.users
    import seal.api.run_result
    import seal.api.runs
    import seal.benchmarks.dialogtool.tables
    import seal.benchmarks.sample
    import seal.cli.config
    import seal.cli.play_verbs
    import seal.cli.run_verbs
    import seal.core.store
    import seal.environments.world
    import seal.evaluation.attribution
    import seal.experiments.ablation
    import seal.experiments.explanation
    import seal.models.lexical
    import seal.models.oracle
    import seal.pools.lint
    import seal.report.comparison
    import seal.report.explanation
    import seal.report.frames
    import seal.report.grids
    import seal.report.pattern_section
    import seal.report.run_pages
    import seal.report.run_results
    import seal.retrievers.build
    import seal.retrievers.lexical
    import seal.retrievers.references
    import seal.runs.play
    from seal.report.pages import _environment

# A process compiles each template of a page that it writes: here that is done for all of them.
pages = _environment()
for name in pages.list_templates(["html"]):
    pages.get_template(name)

gc.collect()
gc.freeze()  # a process looks for no garbage among what it never made

__all__ = ["autogen", "forked", "jinja2", "no_sync", "numpy", "rapidfuzz", "seal", "typer"]
