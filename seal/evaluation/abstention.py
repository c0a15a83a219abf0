"""Whether an agent abstains where no tool serves the request, or acts and answers all the same.

A goal is abstained from where both hold:

- no_call: the agent made no API call, valid or rejected. Whoever asks a tool for what none of them
  offers has not seen that it is missing, even where the rules stop the call. Tools of the chat
  itself, such as the search for tools, are no API.
- says_cannot: a clause of the final answer says that it cannot be done: that the speaker cannot
  or has no tool for it, that no tool fits, that it is beyond what the tools offer. An empty answer,
  a question, a statement without such a clause and "I found nothing" say nothing of the kind.
  English only, by rule.

So an agent that answers from its own memory without a call pretends, and has not abstained; nor has
one that says it cannot and calls before that.

All three are 1.0 or 0.0 for every goal. Of goals that no tool serves more is better; of answerable
ones it is the share of needless refusals, and less is better.

Source: Kokane et al., ToolScan (2024), the condition of irrelevant queries, which scores them by
its patterns alone.
"""

from __future__ import annotations

from seal.core.speech import says_cannot
from seal.evaluation.goals import GoalChat, GoalMetric, Value

NAMES = ("abstained", "no_call", "says_cannot")


class Abstention(GoalMetric):
    """The three shares of the module's text; `NAMES`."""

    names = NAMES

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        calls = len(goal.made)
        silent, said = not calls, says_cannot(goal.answer or "")
        return {
            "abstained": Value(float(silent and said)),
            "no_call": Value(float(silent), details={"calls": calls}),
            "says_cannot": Value(float(said)),
        }
