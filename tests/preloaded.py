"""What a run of the `seal` command imports: a fork server has it before a test's process begins."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import autogen
    import ir_measures
    import sklearn.feature_extraction.text
    import typer.main

    import seal.api
    import seal.cli.verbs.run
    import seal.models.lexical
    import seal.pipeline.run
    import seal.report.html
    import seal.retrievers.tfidf

__all__ = ["autogen", "ir_measures", "seal", "sklearn", "typer"]
