"""Replies of dialogues: BLEU, ROUGE-L, and whether a role was kept."""

import pytest
from dialogue_plays import due, other, play, scores, task, turn
from hypothesis import given
from hypothesis import strategies as st
from linear import linear
from looped import every_case

from seal.benchmarks.dialogtool.metrics import Dialogue
from seal.benchmarks.dialogtool.offline import restyled
from seal.benchmarks.dialogtool.role_scores import (
    RoleOfDialogue,
    bleu_counts,
    by_rule,
    checked,
    corpus_bleu,
    ends,
    kept,
    marks,
    matches,
    parse_score,
    sentence_bleu,
    variety,
    words,
)
from seal.benchmarks.dialogtool.tool_life import shipped_roles
from seal.core import Completion, ModelError
from seal.evaluation.llm_judge import LLMJudge
from seal.pools.lookup import open_pool

PAIRS = [
    # reference, reply, NLTK 3.10's sentence_bleu with method7, rouge_score 0.1.2's rougeL, stemmed
    ("How about a table at Nopa?", "How about a table at Nopa?", 1.116747096, 1.0),
    (
        "Your booking at the Rose Cafe is confirmed for two at 12:30.",
        "I have booked the Rose Cafe for 2 people at 12:30.",
        0.274776411,
        0.64,
    ),
    (
        "I don't think they've got outdoor seats.",
        "They don't have outdoor seats, I think.",
        0.234269774,
        0.470588235,
    ),
    (
        "It costs $1,250.50 for three nights.",
        "The price is $1,250.50 (three nights).",
        0.195107451,
        0.625,
    ),
    ("Which city?", "city", 0.026045287, 0.666666667),
    ("Have a nice day!", "Goodbye and take care of yourself.", 0.0, 0.0),
    ("Yes.", "No", 0.0, 0.0),
    (
        "There are 10 hotels; one is the O'Hara Inn, rated 4.1.",
        "I found ten hotels, such as the O'Hara Inn (4.1).",
        0.205792777,
        0.56,
    ),
]
CORPUS = 26.443875901287065
"""sacrebleu 2.6's corpus_score of these, in lower case."""


@pytest.mark.parametrize(("wanted", "said", "bleu", "rouge"), PAIRS)
def test_replies_are_scored_as_nltk_and_rouge_score_do(wanted, said, bleu, rouge):
    found = scores(other("inform", wanted), turn(responder=said))
    assert found["bleu"].value == pytest.approx(bleu, abs=1e-8)
    assert found["rouge_l"].value == pytest.approx(rouge, abs=1e-8)


def test_bleu_of_a_corpus_is_sacrebleus():
    pytest.importorskip("sacrebleu")
    counts = [bleu_counts(marks(wanted), marks(said)) for wanted, said, _, _ in PAIRS]
    assert corpus_bleu(counts) == pytest.approx(CORPUS, abs=1e-9)
    assert corpus_bleu([]) is None


def test_the_counts_of_a_corpus_stand_in_the_details():
    (wanted, said, _, _) = PAIRS[4]
    found = scores(other("inform", wanted), turn(responder=said))["bleu"]
    assert found.details == {"counts": [1, 0, 0, 0, 1, 3]}


def test_silence_is_zero_and_no_gold_reply_is_no_score():
    silent = scores(other("inform"), turn(responder=""))
    assert (silent["bleu"].value, silent["rouge_l"].value) == (0, 0)
    assert scores(other("inform", ""), turn(responder="Hi"))["bleu"].value is None


def test_words_are_nltks():
    assert " ".join(words("I don't think they've got O'Hara's table.")) == (
        "i do n't think they 've got o'hara 's table ."
    )
    assert " ".join(words("It's $1,250.50 -- at 12:30, right?")) == (
        "it 's $ 1,250.50 -- at 12:30 , right ?"
    )
    assert words("We cannot wait...") == ("we", "can", "not", "wait", "...")
    assert words("At 5 p.m. it opens. Fine.") == (
        *("at", "5", "p.m.", "it", "opens", ".", "fine", "."),
    )


@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abc"), max_size=9))
def test_matches_are_clipped_counts_and_never_exceed_either_text(wanted, said):
    found = matches(wanted, said)
    assert found[0] == sum(min(wanted.count(t), said.count(t)) for t in "abc")
    for n, count in enumerate(found, 1):
        assert 0 <= count <= max(0, min(len(wanted), len(said)) - n + 1)
    assert 0 <= sentence_bleu(wanted, said) < 1.5


def test_long_replies_are_scored_in_linear_time():
    def scored(words):
        text = " ".join(f"a{n % 5_000}" for n in range(words))
        scores(other("inform", text), turn(responder=text))

    linear(scored, 10_000)


CLERK = {"max_words": 6, "opening": ["Right."], "avoid": ["please"], "exclamations": False}
FEATURES = {
    "all are met": (CLERK, "Right. Room ten.", {}),
    "a long sentence": (CLERK, "Right. Your room is the one at the end.", {"max_words"}),
    "another opening": (CLERK, "Well. Room ten.", {"opening"}),
    "a word to avoid": (CLERK, "Right. Please wait.", {"avoid"}),
    "part of a word is none": (CLERK, "Right. Pleased.", {}),
    "an exclamation": (CLERK, "Right. Go!", {"exclamations"}),
    "a long form": ({"contractions": True}, "I am here.", {"contractions"}),
    "a short form": ({"contractions": True}, "I\u2019m here.", {}),
    "nothing to shorten": ({"contractions": True}, "Goodbye.", {}),
    "no short forms": ({"contractions": False}, "It's here.", {"contractions"}),
    "a genitive is none": ({"contractions": False}, "Nopa's terrace.", {}),
    "a question": ({"question": True}, "Fine. Shall I book it?", {}),
    "no question": ({"question": True}, "Shall I? I shall.", {"question"}),
    "a closing": ({"closing": ["my dear."]}, "As you wish, my dear!", {}),
}


@every_case(("features", "said", "failed"), FEATURES.values(), ids=FEATURES)
def test_features_of_a_role_are_checked_by_rule(features, said, failed):
    found = checked({"closing": [], "question": None, **features}, said)
    assert {name for name, met in found.items() if not met} == set(failed)
    assert found.keys() == features.keys()


def test_a_role_has_ten_times_the_share_of_features_that_are_met():
    role = {"name": "clerk", "features": CLERK}
    wait = other("inform", "One moment, wait here.")
    found = scores(wait, turn(actor="Right. Please wait."), role=role)["role_reply"]
    told = {"role": "clerk", "ends": ["right .", "wait ."], "failed": ["avoid"]}
    assert (found.value, found.details) == (7.5, told)
    assert scores(other("inform"), turn(actor=" "), role=role)["role_reply"].value == 0


@pytest.mark.parametrize("meant", ["How about a table at Nopa at 19:30?", "Anything else for you?"])
def test_who_speaks_in_a_role_and_says_something_else_has_nothing(meant):
    for played in shipped_roles():
        features = played["features"]
        opening, closing = (next(iter(features[end] or ()), "") for end in ("opening", "closing"))
        for spoken, value in (("Bananas fly.", 0.0), (meant, 10.0)):
            said = f"{opening} {spoken} {closing}".strip()
            found = scores(other("inform", meant), turn(actor=said), role=played)["role_reply"]
            met = 10 * (1 - len(found.details.get("failed", ())) / len(checked(features, said)))
            assert found.value == pytest.approx(met if value else 0.0)


def test_a_role_keeps_the_share_of_the_facts_that_it_states():
    assert kept("A table for two at the Rose Cafe at 12:30.", "Rose Cafe, half past 12, two!") == 1
    assert kept("A table for two at the Rose Cafe at 12:30.", "The Rose Cafe it is.") == 0.5
    assert kept("", "Anything.") == 1


TABLE = "I have booked a table for 2 at the Rose Cafe on March 8th at 12:30."
FACTS = {
    "restyled": ("Ahoy! A table for two at the Rose Cafe, March 8th, half past 12, matey!", 1.0),
    "another time": ("A table for 2 at the Rose Cafe on March 8th at 13:30.", 0.5),
    "another name": ("A table for 2 at the Blue Cafe on March 8th at 12:30.", 0.5),
    "another day": ("A table for 2 at the Rose Cafe on March 9th at 12:30.", 0.5),
    "a value left out": ("A table for 2 at the Rose Cafe on March 8th.", 0.5),
    "a value added": ("A table for 2 at the Rose Cafe on March 8th at 12:30 for $45.", 0.5),
    "what the user said": ("For Ann, a table for 2 at the Rose Cafe, March 8th, 12:30.", 1.0),
    "a form of address": ("So, Madam, a table for 2 at the Rose Cafe, March 8th, 12:30.", 1.0),
}


@pytest.mark.parametrize(("said", "most"), FACTS.values(), ids=FACTS)
def test_a_role_that_drops_or_invents_a_value_has_at_most_half(said, most):
    value = by_rule({"name": "x", "features": {"question": False}}, said, TABLE, "It is for Ann.")
    assert value.value == 10 if most == 1 else 0 < value.value <= 10 * most
    assert ("kept" in value.details) == (most < 1)


def test_replies_in_one_frame_have_no_variety_and_recorded_ones_have():
    tasks = open_pool("dialogtool-sample").tasks()
    gold = [goal.reference[-1].content for t in tasks for goal in t.goals if goal.reference][:200]
    assert len(gold) == 200
    for played in shipped_roles():
        framed = [restyled(text, played["features"]) for text in gold]
        assert variety(("one", *ends(text)) for text in framed) == 0, played["name"]
    assert variety(("one", *ends(text)) for text in gold) > 0.95


def test_variety_is_of_pairs_within_a_role():
    said = [("a", "x", "1"), ("a", "x", "2"), ("a", "y", "3"), ("b", "x", "1")]
    assert variety(said) == pytest.approx(2 / 3)
    assert variety([("a", "x", "1"), ("a", "y", "1")]) == 0
    assert variety([("a", "x", "1"), ("b", "x", "1")]) is None


def test_a_role_without_features_and_a_chat_without_a_role_have_no_score():
    bare = scores(other("inform"), turn(actor="Hi"), role={"name": "clerk"})["role_reply"]
    assert (bare.value, bare.reason) == (
        None,
        "the role has no feature that can be checked by rule",
    )
    found = scores(other("inform"), turn(actor="Hi"))["role_reply"]
    assert (found.value, found.reason) == (None, "the trajectory tells no role")


class Says:
    """A model that answers from a list, or fails."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def complete(self, request):
        self.asked.append(request)
        if not self.answers:
            raise ModelError("no server")
        return Completion(self.answers.pop(0))


def rated(*answers):
    """Return the score and what the judge was asked."""
    model = Says(*answers)
    metric = Dialogue("lenient", LLMJudge(model))
    played = play(turn(actor="Right."), role={"name": "clerk", "features": CLERK})
    found = metric.score(task(due("offer")), played, {})
    return next(score for score in found if score.metric == "role_reply"), model.asked


def test_a_judge_is_asked_for_a_number_and_sees_no_features():
    score, asked = rated("8.5")
    assert score.value == 8.5 and score.details["by"].startswith("llm/")
    shown = asked[0].messages[1].content
    assert '"clerk"' in shown and "max_words" not in shown and '"said": "Right."' in shown


PLANTED = {
    "as it was meant": (TABLE, False),
    "another time": (TABLE.replace("12:30", "13:30"), True),
    "another name": (TABLE.replace("Rose", "Blue"), True),
    "a value left out": (TABLE.replace(" at 12:30", ""), True),
    "a price made up": (TABLE.replace(".", " for $45."), True),
    "something else": ("Bananas fly.", True),
}


@pytest.mark.parametrize(("planted", "lost"), PLANTED.values(), ids=PLANTED)
def test_a_judge_whom_style_pleases_is_told_by_the_facts_that_are_lost_or_made_up(planted, lost):
    for played in shipped_roles():
        model = Says("10")
        said = restyled(planted, played["features"])
        plays = play(turn(responder=TABLE, actor=said), role=played)
        found = Dialogue("lenient", LLMJudge(model)).score(task(other("inform", "Hm.")), plays, {})
        score = next(score for score in found if score.metric == "role_reply")
        assert f'"meant": "{TABLE}"' in model.asked[0].messages[1].content
        assert score.value == 10
        assert ("kept" in score.details) == lost, (played["name"], said)


def test_a_judge_that_gives_no_number_is_asked_again_and_then_gives_no_score():
    assert rated("about eight", "11", "8")[0].value == 8
    score, asked = rated("about eight", "11", "I'd say 8")
    assert score.value is None and score.reason.startswith("the judge gave no number from 0 to 10")
    assert len(asked) == 3


def of_dialogue(said, judge=None, **provenance):
    """Return the scores of a dialogue of two turns in which a role said this."""
    goals = due("offer"), other("inform", "Hm.")
    turns = [turn(place, actor=words) for place, words in enumerate(said)]
    played = play(*turns, **{"role": {"name": "clerk", "features": CLERK}, **provenance})
    return RoleOfDialogue(lambda task, trial: judge).score(task(*goals), played, {})


def test_a_judge_is_asked_once_about_a_whole_dialogue():
    model = Says("6")
    (score,) = of_dialogue(["Right.", "Well then."], LLMJudge(model))
    assert (score.metric, score.goal, score.value) == ("role", 0, 6)
    (asked,) = model.asked
    shown = asked.messages[1].content
    assert '"said": "Right."' in shown and '"said": "Well then."' in shown
    assert '"meant": "Hm."' in shown and "max_words" not in shown
    assert "throughout a dialogue" in asked.messages[0].content


def test_by_rule_a_dialogue_has_the_mean_of_its_replies():
    said = ["Right. It is done. Anything else?", ""]
    (score,) = of_dialogue(said)
    goals = due("offer"), other("inform", "Hm.")
    turns = [turn(place, actor=words) for place, words in enumerate(said)]
    played = play(*turns, role={"name": "clerk", "features": CLERK})
    replies = Dialogue().score(task(*goals), played, {})
    each = [one.value for one in replies if one.metric == "role_reply"]
    assert len(each) == 2 and each[1] == 0
    assert score.value == sum(each) / 2


def test_a_dialogue_in_which_nothing_is_said_asks_nobody_and_has_0():
    model = Says()
    assert of_dialogue(["", " "], LLMJudge(model))[0].value == 0
    assert not model.asked


def test_without_a_role_a_dialogue_has_no_score():
    assert of_dialogue(["Right."], role=None)[0].reason == "the trajectory tells no role"
    assert of_dialogue(["Right."], LLMJudge(Says("ten", "x", "y")))[0].value is None


def test_a_judge_that_fails_is_a_failure_of_the_infrastructure():
    assert rated()[0].reason == "infrastructure: judge: no server"


@every_case(
    ("text", "value"),
    {
        "0": 0,
        " 10\n": 10,
        "7.25": 7.25,
        "10.1": None,
        "-1": None,
        "8/10": None,
        "eight": None,
        "8 points": None,
        "": None,
        "\u0668": None,
        "nan": None,
        "1e1": None,
    }.items(),
)
def test_a_score_is_a_number_on_the_scale_and_nothing_else(text, value):
    assert parse_score(text) == value


def test_a_reply_of_nothing_but_marks_is_read_in_one_pass():
    assert checked({"max_words": 1}, "." * 50_000 + "x") == {"max_words": True}
    linear(lambda marks: checked({"max_words": 1}, "." * marks + "x"), 50_000)
