"""Figures of the SEAL paper that are of ToolBench."""

from seal.report.seal_paper import sweep_table

TABLES = sweep_table(
    "ToolBench",
    {
        "10 APIs": (30.67, 1.0, 0.62, 0.34, 0.68),
        "50 APIs": (279.0, 0.95, 0.56, 0.31, 0.78),
        "100 APIs": (524.0, 0.95, 0.57, 0.39, 0.82),
        "200 APIs": (865.0, 0.91, 0.63, 0.43, 0.73),
        "500 APIs": (2019.0, 0.85, 0.59, 0.44, 0.76),
    },
)
