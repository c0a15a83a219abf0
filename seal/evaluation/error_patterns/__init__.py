"""What an agent does wrong with tools, step by step and beside gold: ToolScan's seven patterns.

`diagnose` gives a finding for each step of a chat, `repairs` what followed on errors (`findings`).
`services` tells whose fault a failure is, and `gold` compares calls with plans. `metrics` makes
scores of it all.
"""

from seal.evaluation.error_patterns.findings import Finding as Finding
from seal.evaluation.error_patterns.findings import diagnose as diagnose
from seal.evaluation.error_patterns.findings import first_error as first_error
from seal.evaluation.error_patterns.findings import repairs as repairs
from seal.evaluation.error_patterns.gold import choose as choose
from seal.evaluation.error_patterns.gold import compare_plan as compare_plan
from seal.evaluation.error_patterns.gold import compare_plans as compare_plans
from seal.evaluation.error_patterns.gold import events as events
from seal.evaluation.error_patterns.gold import transitions as transitions
from seal.evaluation.error_patterns.metrics import AsPublished as AsPublished
from seal.evaluation.error_patterns.metrics import ErrorPatterns as ErrorPatterns
from seal.evaluation.error_patterns.metrics import IndependentMinima as IndependentMinima
from seal.evaluation.error_patterns.metrics import RepeatedAnyhow as RepeatedAnyhow
