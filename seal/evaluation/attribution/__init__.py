"""The first stage that explains why a goal failed, from what a finished run left.

A goal is failed where it is not solved (`evidence`); an undecided one is neither. The stages are
asked in the order of `evidence.ORDER`, and the first with evidence is the answer. Without evidence
the goal is `unexplained`: nothing is guessed.

- infrastructure: the chat or its judge broke, or the first call that failed had no recorded or
  simulated answer. No failure of the model.
- not_retrieved: a gold tool was not offered. Gold tools are those of the gold calls, of the plan
  that lacks fewest; without gold calls `Goal.relevant`.
- user: the simulated user broke its brief before the step at which the agent first failed.
- not_called, wrong_tool, wrong_argument, tool_error: the first gold step, in the order of the
  plan, that was not done (`gold_steps`; `world_steps` where the plan asks of a world). Without gold
  calls only what is certain: none of the relevant tools was called, or one was, and in vain
  (`gold_steps`).
- gave_up: nothing above, and the answer is empty, only refuses, or repeats the request.
- answer: nothing above, and the answer contradicts or omits what the calls brought (`attribute`).
- unexplained: the rest.
"""
