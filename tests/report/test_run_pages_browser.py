"""The report in a real browser: hostile data does nothing, filters and links work."""

import re
import shutil
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from browser import Browser
from phone_chats import flag, phone_chat, phone_task, scores_of
from report_runs import WEATHER, chat, failed_chat, metric, task, verdict

from seal.core import Goal, Milestone, Plan, Score, Step, ToolCall, ToolResult
from seal.core.conditions import Argument, Called
from seal.core.state_conditions import AllOf, StateHas, StateUnchanged
from seal.evaluation.pattern_scores import PATTERNS, ErrorPatterns
from seal.report.pages import task_link
from seal.report.run_pages import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

DATA = '<script type="application/json"[^>]*>'

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium"),
]

# Whatever runs renames the page, which every dump then shows.
OWN = "document.title='owned'"
HOSTILE = (
    f"<script>{OWN}</script>",
    f"</script><script>{OWN}</script>",
    f'"><img src=x onerror="{OWN}">',
    f"'><svg onload={OWN}>",
    f"<!--<script>{OWN}//",
    f"javascript:{OWN}",
    f"]]></style></title></textarea><script>{OWN}</script>",
    "مرحبا بالعالم",
    "東京の天気 👩‍👩‍👧",
    "a\x00b\x1b[31mc\x07\u202egpj",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt; &amp; \u2028",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    started = Browser(CHROMIUM, tmp_path_factory.mktemp("browser"))
    yield started
    started.close()


@pytest.fixture
def dump(browser):
    """Return the page's text after its script ran, opened at a fragment, without its data."""

    def dumped(page, fragment=""):
        shown = browser.dump(page.as_uri() + fragment)
        return re.sub(f"({DATA})[^<]*(?:<(?!/script)[^<]*)*", r"\1", shown)

    return dumped


class Elements(HTMLParser):
    """What elements and attributes a page really has."""

    def __init__(self, page):
        super().__init__()
        self.tags = Counter()
        self.attributes = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        self.attributes += attributes


def hostile_chat(text):
    call = ToolCall("call_0", text, {text: [text]}, tool=text)
    steps = (
        Step(0, text, text, text),
        Step(1, text, text, text, call=call, state={text: [{text: text}]}),
        Step(2, text, text, text, call=ToolCall(text, text, None, raw=text)),
        Step(3, text, text, text, result=ToolResult(text, text, error={"kind": text})),
    )
    return replace(chat(text), steps=steps, offered=((text,),), answers=(text,))


@pytest.fixture
def hostile_page(make_run, tmp_path):
    tasks = [task(text, text, tags={text: text}, persona={text: text}) for text in HOSTILE]
    chats = [hostile_chat(text) for text in HOSTILE]
    chats[0] = replace(chats[0], stops=failed_chat("x", HOSTILE[0]).stops)
    scores = [
        score
        for text in HOSTILE
        for score in (
            verdict(text, "unsolved", text),
            Score(text, 0, 0, text, 0.5, reason=text, details={text: text}),
        )
    ]
    metrics = {
        "pass_rate": metric(0.5, by={text: metric(0.5) for text in HOSTILE}),
        **{text: metric(0.5) for text in HOSTILE},
    }
    run = make_run("run", tasks, chats, scores, metrics, model=HOSTILE[2], measure={"x": HOSTILE})
    make_run("run/ceiling", tasks, chats, scores, metrics, model=HOSTILE[1])
    summary = run.summary()
    run.write_json("summary.json", {**summary, "stop_reasons": dict.fromkeys(HOSTILE, 1)})
    return write_report([run], tmp_path / "hostile.html")


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_data_is_shown_and_does_nothing(hostile_page, dump, text):
    page = dump(hostile_page, task_link(text))

    elements = Elements(page)
    assert re.search("<title>(.*?)</title>", page).group(1).startswith("SEAL report: ")
    assert not {"img", "iframe", "object", "b", "textarea"} & elements.tags.keys()
    assert elements.tags["style"] == 1
    data = elements.attributes.count(("type", "application/json"))
    assert elements.tags["script"] == data + 1
    assert not [name for name, _ in elements.attributes if name.startswith("on")]
    assert all(value.startswith("#") for name, value in elements.attributes if name == "href")
    assert page.count('<section id="reader" aria-label="Task">') == 1
    assert page.count('<li class="step') == 4
    assert "12 of 12 tasks" in page


@pytest.fixture
def plain_page(make_run, tmp_path):
    tasks = [
        task("own/paris", "The weather in Paris"),
        task("own/rome", "The weather in Rome", tags={"group": "parallel"}),
        task("own/oslo", "The weather in Oslo"),
    ]
    chats = [chat("own/paris"), chat("own/rome", result="y" * 100_000), failed_chat("own/oslo")]
    scores = [verdict("own/paris", "solved"), verdict("own/rome", "unsolved", "names no city")]
    metrics = {"pass_rate": metric(0.5)}
    one = make_run("one", tasks, chats, scores, metrics, model="first")
    two = make_run("two", tasks, [chat("own/rome", trial) for trial in (0, 1)],
                   [verdict("own/rome", "solved")], metrics, model="second")  # fmt: skip
    return write_report([one, two], tmp_path / "plain.html")


def phone_page(make_run, tmp_path, *played):
    tasks = [phone_task(one.task_id) for one in played]
    scores = [s for one, told in zip(played, tasks, strict=True) for s in scores_of(told, one)]
    scores = [*scores, flag(played[0].task_id, 0, "outside_brief", "Bob")]
    run = make_run("phone", tasks, played, scores, {"similarity": metric(0.5)})
    return write_report([run], tmp_path / "phone.html")


def text_of(page, tag, kind):
    """Return the texts of the elements of a class, without their tags."""
    found = re.findall(rf'<{tag} [^>]*class="{kind}"[^>]*>(.*?)</{tag}>', page, re.DOTALL)
    return [" ".join(re.sub("<[^>]*>", "", one).split()) for one in found]


def test_milestones_stand_along_the_conversation_with_what_is_missing(make_run, tmp_path, dump):
    file = phone_page(make_run, tmp_path, phone_chat("own/a", wifi=True, said="Bob is saved"))

    page = dump(file, task_link("own/a"))

    assert text_of(page, "li", "mark partly") == ["milestone 1 reached in part, 0.950"]
    assert text_of(page, "li", "mark flag") == ["the user said what its brief does not tell: Bob"]
    assert text_of(page, "li", "mark ended") == ["the user ends the conversation"]
    assert text_of(page, "button", "status") == [
        "not reached; closest is step 5", "0.950 at step 3",
    ]  # fmt: skip
    assert text_of(page, "ul", "faults")[0] == (
        "settings expected unchanged, found changed in step 2"
    )


def test_the_worlds_changes_stand_at_their_step(make_run, tmp_path, dump):
    file = phone_page(make_run, tmp_path, phone_chat("own/a", wifi=True))

    page = dump(file, task_link("own/a"))

    assert text_of(page, "li", "added") == ['+ id "p-2"name "Bob"phone "+2"']
    assert text_of(page, "li", "changed") == ['~ device "d"wifi false → true']
    assert "World at the start (2 tables, 2 rows)" in page
    assert text_of(page, "small", "time")[3] == "· 1970-01-01 00:00:20 UTC"


def test_milestones_that_were_not_measured_say_why(make_run, tmp_path, dump):
    run = make_run("phone", [phone_task()], [phone_chat()], [], {})

    page = dump(write_report([run], tmp_path / "phone.html"), task_link("own/phone"))

    assert "Not told: the milestones were not measured" in page


def hostile_milestone(text):
    row = {"content": text, text: text}
    unchanged = StateUnchanged(text, since=-1)
    said = StateHas("message", ({"content": text},))
    return Milestone(AllOf((StateHas(text, (row,)), said, unchanged)))


def test_hostile_worlds_are_shown_and_do_nothing(make_run, tmp_path, dump):
    nodes = tuple(hostile_milestone(text) for text in HOSTILE)
    start = {text: [{text: text}] for text in HOSTILE}
    told = phone_task(goals=(Goal("", (Plan(nodes, nodes[:1]),)),), initial_state=start)
    after = {text: [{text: text, "new": text}, {"new": text}] for text in HOSTILE}
    steps = (Step(0, "a", "b", state=start), Step(1, "a", "b", state=after))
    played = replace(phone_chat(), steps=steps)
    flags = [flag("own/phone", 1, text, text) for text in HOSTILE]
    run = make_run("run", [told], [played], [*scores_of(told, played), *flags], {})

    page = dump(write_report([run], tmp_path / "hostile.html"), task_link("own/phone"))

    elements = Elements(page)
    assert re.search("<title>(.*?)</title>", page).group(1).startswith("SEAL report: ")
    assert not {"img", "iframe", "object", "textarea"} & elements.tags.keys()
    assert not [name for name, _ in elements.attributes if name.startswith("on")]
    assert page.count('<li class="node missed"') == len(HOSTILE)
    assert page.count('<li class="mark flag"') == len(HOSTILE)
    assert page.count('<p class="table"') == len(HOSTILE)


def listed(page):
    return re.findall(r'<tr id="task-([^"]*)">', page)


@pytest.mark.parametrize(
    ("fragment", "ids"),
    [
        ("", ["own/paris", "own/rome", "own/oslo"]),
        ("#filter=ROME", ["own/rome"]),
        ("#filter=weather%20oslo", ["own/oslo"]),
        ("#filter=group%3Dparallel", ["own/rome"]),
        ("#outcome=error", ["own/oslo"]),
        ("#outcome=solved", ["own/paris", "own/rome"]),
        ("#outcome=solved&lane=0", ["own/paris"]),
        ("#outcome=differs&filter=rome", ["own/rome"]),
        ("#tag=%5B%22group%22,%22parallel%22%5D", ["own/rome"]),
        ("#filter=nothing", []),
    ],
)
def test_the_table_is_filtered_by_the_address(plain_page, dump, fragment, ids):
    page = dump(plain_page, fragment)

    assert listed(page) == ids
    assert f"{len(ids)} of 3 tasks" in page


def test_a_link_opens_a_conversation_at_its_step(plain_page, dump):
    page = dump(plain_page, task_link("own/rome", lane=0, step=2))

    assert re.search(r'<li class="step result role-2 answers open target" id="step-0/1/0/2"', page)
    assert "names no city" in page
    assert "96,000 more characters" in page
    assert "(100,000 characters)" in page


def test_a_finding_of_the_pattern_table_opens_its_step_which_is_marked(make_run, tmp_path, dump):
    told = task("own/paris")
    played = chat("own/paris")
    wrong = replace(played.steps[1].call, name="wether", tool=None)
    played = replace(
        played, steps=(played.steps[0], replace(played.steps[1], call=wrong), *played.steps[2:])
    )
    scores = ErrorPatterns().score(told, played, {WEATHER.id: WEATHER})
    metrics = {name: metric(0.5) for name in ("pass_rate", *PATTERNS)}
    run = make_run("run", [told], [played], scores, metrics)
    file = write_report([run], tmp_path / "patterns.html")
    (address,) = re.findall(r'<a href="([^"]*)">own/paris, step 1: wether</a>', file.read_text())

    page = dump(file, address.replace("&amp;", "&"))

    assert re.search(r'<li class="step call role-1 open target" id="step-0/0/0/1"', page)
    assert text_of(page, "li", "mark fault") == [
        "IFN, no such tool: wether expected weather_now, received wether"
    ]


def test_runs_are_opened_side_by_side_with_their_trials(plain_page, dump):
    page = dump(plain_page, task_link("own/rome"))

    assert page.count('<ol class="steps">') == 2
    assert re.search(r"<option value=\"1\">trial 1</option>", page)


def test_a_task_that_only_one_run_played_says_so(plain_page, dump):
    assert "Not played." in dump(plain_page, task_link("own/paris"))


def test_an_unknown_address_is_harmless(plain_page, dump):
    assert len(listed(dump(plain_page, "#task-none%&lane=99&step=x"))) == 3


def test_a_thousand_tasks_are_drawn_in_portions_and_reached_by_link(make_run, dump, tmp_path):
    ids = [f"own/{number:04}" for number in range(1000)]
    run = make_run("big", [task(id) for id in ids], [chat(id) for id in ids], metrics={})
    file = write_report([run], tmp_path / "big.html")

    shown = dump(file)
    assert len(listed(shown)) == 100
    assert "1,000 of 1,000 tasks" in shown
    assert '<h2 dir="auto" tabindex="-1">own/0900</h2>' in dump(file, task_link("own/0900"))
    assert WEATHER.id in file.read_text()


def test_tables_of_the_report_are_sorted_by_their_headings(scored_run, browser, tmp_path):
    run = scored_run
    summary = {**run.summary()}
    summary["metrics"] = {
        "pass_rate": metric(0.5),
        "recall@10": metric(0.9),
        "call_f1": metric(0.1),
    }
    run.write_json("summary.json", summary)
    rows = "[...document.querySelector('table.summary').tBodies[0].rows]"
    names = f"{rows}.map((row) => row.cells[0].textContent)"
    with browser.page(write_report([run], tmp_path / "sort.html").as_uri()) as page:
        page.wait("document.querySelector('table.summary thead button')")
        before = page.value(names)
        head = "[...document.querySelectorAll('table.summary thead button')]"
        label = page.value(f"{head}.map((n) => n.textContent)")
        place = label.index("lexical")
        values = f"{rows}.map((row) => parseFloat(row.cells[{place}].textContent))"
        page.value(f"{head}[{place}].click()")
        assert page.value(values) == sorted(page.value(values))
        page.value(f"{head}[{place}].click()")
        assert page.value(values) == sorted(page.value(values), reverse=True)
        page.value(f"{head}[{place}].click()")
        assert page.value(names) == before


# Words that stand on two lines, boxes that leave the window, and labels of a chart that touch.
NAMED = "#task-table td, tbody th, .beside code"
PARTED = """[...document.querySelectorAll(NAMED)].flatMap((cell) => {
  const found = [];
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    for (const { 0: word, index } of texts.currentNode.data.matchAll(/[a-z]+/gi)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) found.push(word);
    }
  }
  return found;
})""".replace("NAMED", repr(NAMED))
LEAVING = """[...document.querySelectorAll("main *")].filter((node) =>
  !node.parentElement.closest(".scroll, svg") && node.getBoundingClientRect().right > innerWidth + 1
).map((node) => node.outerHTML.slice(0, 80))"""
TOUCHING = """[...document.querySelectorAll("svg")].flatMap((chart) => {
  const labels = [...chart.querySelectorAll("text.scale")];
  const boxes = labels.map((label) => label.getBoundingClientRect());
  const line = (box) => Math.round((box.top + box.bottom) / 2 / 8);
  return labels.filter((label, one) => boxes.some((box, other) => one < other
    && line(box) === line(boxes[one]) && box.left < boxes[one].right + 3
    && boxes[one].left < box.right + 3)).map((label) => label.textContent);
})"""


@pytest.mark.parametrize("width", [390, 768, 1400])
def test_names_stay_whole_and_wide_tables_scroll_in_their_box(make_run, browser, tmp_path, width):
    asked = {"composer": Argument(("Shostakovich",)), "destination": Argument(("Copenhagen",))}
    plan = Plan((Milestone(Called("search_recordings", asked)),))
    goal = Goal("Find a recording of the concert", plans=(plan,), relevant=(WEATHER.id,))
    ids = ["no_choir_on_wednesday", "money_first_then_the_hammock"]
    tasks = [replace(task(id), goals=(goal,)) for id in ids]
    long = "user_instruction_error"
    scores = [verdict(id, "unsolved", "no_relevant_tools_annotated_for_this") for id in ids]
    scores += [Score(ids[0], 0, 0, f"{long}_{place}", 0.5, reason="none") for place in range(20)]
    metrics = {"pass_rate": metric(0.0), long: metric(0.5), f"{long}_0": metric(0.5)}
    runs = [
        make_run(name, tasks, [chat(id) for id in ids], scores, metrics, model=name)
        for name in ("one", "one/floor", "one/ceiling", "other")
    ]
    page = write_report([runs[0]], tmp_path / "one.html").as_uri()
    for where in (page, page + task_link(ids[0])):
        with browser.page(where, width) as shown:
            shown.wait("document.querySelector('#task-table tbody tr')")
            shown.wait("!location.hash || document.querySelector('#reader .step')")
            shown.value("document.querySelectorAll('details').forEach((n) => { n.open = true })")
            assert shown.value(PARTED) == []
            assert shown.value(LEAVING) == []
    both = write_report([runs[0], runs[3]], tmp_path / "both.html").as_uri()
    with browser.page(both, width) as shown:
        assert shown.value("document.querySelectorAll('svg').length") > 1
        assert shown.value(TOUCHING) == []
