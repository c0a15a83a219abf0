"""What a run of the `seal` command imports: a fork server has it before a test's process begins."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import autogen
    import sklearn.feature_extraction.text

    import seal.cli
    import seal.pipeline.run

__all__ = ["autogen", "seal", "sklearn"]
