from toolbench_sources import CALL, LATER, api, converted, good_tree, heard, observation, said, tree

from seal.benchmarks.toolbench.answers import read_converted, read_tree
from seal.benchmarks.toolbench.tools import ApiTable
from seal.benchmarks.toolbench.trajectories import trajectory_of
from seal.core import Execution, Stop, ToolCall, Trajectory
from seal.core.records import decode, encode

HIGH, LOW = "toolbench/tide_tables/high_water", "toolbench/tide_tables/low_water"


def trajectory(run) -> Trajectory:
    table = ApiTable()
    ids = [table.add_document(api(name), "q.json") for name in ("High Water", "Low Water")]
    return trajectory_of(run, "G1_tool/7", 0, table.by_rule_name(ids), {"recorded": "sketch-1"})


def results(played: Trajectory) -> list:
    return [step.result for step in played.steps if step.result is not None]


def test_a_run_is_told_as_a_chat() -> None:
    played = trajectory(read_tree(good_tree()))
    assert [(s.index, s.author, s.recipient, s.turn, s.content) for s in played.steps] == [
        (0, "user_simulator", "orchestrator", 0, "When is high water in Oban?"),
        (1, "orchestrator", "execution_manager", 1, "When is high water in Oban?"),
        (2, "execution_manager", "executor", 2, "I look."),
        (3, "executor", "execution_manager", 3, observation({"at": "12:00"})),
        (4, "execution_manager", "orchestrator", 4, "At noon."),
        (5, "orchestrator", "user_simulator", 5, "At noon."),
    ]
    assert played.steps[2].call == ToolCall("call_0", CALL, {"is_id": 12}, "", HIGH)
    assert results(played)[0].value == {"at": "12:00"}
    assert results(played)[0].executed == Execution(HIGH, {"is_id": 12})
    assert (played.stops, played.answers) == ((Stop("done"),), ("At noon.",))
    assert played.offered == ((HIGH, LOW),)
    assert decode(encode(played), Trajectory) == played


def test_calls_of_one_reply_share_a_turn_and_precede_their_results() -> None:
    calls = [{"id": "x", "function": {"name": name, "arguments": "{}"}} for name in (CALL, LATER)]
    answers = [{"role": "tool", "tool_call_id": "x", "content": observation(n)} for n in (1, 2)]
    message = {"role": "assistant", "content": "Both.", "tool_calls": calls}
    played = trajectory(read_tree(tree(message, *answers)))
    assert [step.turn for step in played.steps[2:6]] == [2, 2, 3, 3]
    assert [step.call.id for step in played.steps[2:4]] == ["call_0", "call_1"]
    assert [result.value for result in results(played)] == [1, 2]


def test_an_error_of_the_service_is_told_from_calls_that_never_ran() -> None:
    played = trajectory(
        read_tree(
            tree(
                said(CALL, '{"is_id": 1}'),
                heard(CALL, observation("", "Unsubscribed")),
                said("no_such", "{}"),
                heard("no_such", observation("", "No such function")),
                said(CALL, "{is_id}"),
                heard(CALL, observation("", "Tool input parse error")),
            )
        )
    )
    kinds = [result.error["kind"] for result in results(played)]
    assert kinds == ["service", "unknown_tool", "unparsable_arguments"]
    assert [result.executed is None for result in results(played)] == [False, True, True]
    last = [step.call for step in played.steps if step.call is not None][-1]
    assert (last.arguments, last.raw) == (None, "{is_id}")


def test_a_run_that_gave_up_is_done_without_an_answer() -> None:
    run = read_tree(
        tree(said("Finish", "give_up", "No way."), final_answer='{"return_type": "give_up"}')
    )
    played = trajectory(run)
    assert played.stops == (Stop("done"),)
    assert played.answers == (None,)
    assert played.provenance["finish_type"] == "give_up"
    assert played.steps[-1].content == "No way."


def test_a_run_that_ran_out_ends_with_max_turns() -> None:
    run = read_tree(tree(said(CALL, "{}"), final_answer="", valid_data=False))
    played = trajectory(run)
    assert played.stops == (Stop("max_turns"),)
    assert played.provenance["valid_data"] is False


def test_cut_responses_are_marked_with_what_can_be_read() -> None:
    long = observation("x" * 2000, "Rate limit")[:1024] + "..."
    (result,) = results(trajectory(read_tree(tree(said(CALL, "{}"), heard(CALL, long)))))
    assert result.error["kind"] == "truncated"
    assert result.error["upstream"] == "Rate limit"
    assert result.error["cut"] == ["response"]
    assert result.value is None
    assert result.content == long


def test_cut_arguments_are_none_and_counted() -> None:
    message = str({"name": CALL, "arguments": '{"is_id": ' + "1" * 90, "response": "{}"})[:100]
    played = trajectory(read_converted(converted(("tool", message), ("assistant", "w" * 100))))
    call, result = played.steps[2].call, played.steps[3].result
    assert call.arguments is None
    assert call.raw.startswith('{"is_id": 1')
    assert result.error["cut"] == ["arguments", "response"]
    assert result.executed is None
    assert played.provenance["truncated"] == {"arguments": 1, "responses": 1, "texts": 1}


def test_a_whole_run_has_no_mark() -> None:
    assert "truncated" not in trajectory(read_tree(good_tree())).provenance
