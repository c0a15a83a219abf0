"""Answers of the web that come with a pool: kept at the import, given to its worlds in a run."""

import json
from pathlib import Path
from typing import Any

import pytest
from toolsandbox_sources import scenario, write

from seal.core import DataError
from seal.experiments.sweep import write_drawn
from seal.pools.augmentation import augment_stored, parse_augmentations
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool
from seal.pools.samples import PoolSample
from seal.runs.play import run
from seal.runs.settings import RunSettings

for library in ("phonenumbers", "pint", "holidays", "geopy", "rapidfuzz"):
    pytest.importorskip(library, reason=f"{library} comes with the extra worlds")

AUTHORED = {
    "worlds": {
        "home": {
            "kind": "phone",
            "tables": {
                "settings": [
                    {
                        "cellular": True,
                        "wifi": True,
                        "location_service": True,
                        "low_battery_mode": False,
                    }
                ]
            },
        }
    },
    "scenarios": [
        {
            "id": "yen",
            "categories": ["single_tool", "single_turn"],
            "world": "home",
            "tools": ["convert_currency"],
            "persona": {"goal": "Know what 2 euros are in yen."},
            "request": "What are 2 euros in yen?",
            "tells": "6 JPY",
            "gold": [
                {
                    "do": {
                        "convert_currency": {
                            "amount": 2,
                            "from_currency_code": "EUR",
                            "to_currency_code": "JPY",
                        }
                    },
                    "keep": "yen",
                },
                {"say": "{yen} yen."},
            ],
            "wrong": [{"why": "guesses", "steps": [{"say": "320 yen."}]}],
        }
    ],
}


def answers(path: Path, rate: float) -> Path:
    record = {"endpoint": "convert", "params": {}, "response": {"result": {"rate": rate}}}
    path.write_text(json.dumps([record]))
    return path


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    source = tmp_path / "yen.json"
    source.write_text(json.dumps(AUTHORED))
    web = answers(tmp_path / "web.json", 3.0)
    report = import_benchmark("scenarios", source, tmp_path / "pool", web=str(web))
    assert report.facts["web_answers"] == 1
    web.unlink()
    return tmp_path / "pool"


def results(pool: Path, out: Path, **options: Any) -> list[Any]:
    """Return what the currency converter told the oracle."""
    settings = RunSettings(
        pool=pool, model="oracle", team="direct", baselines=False, world_options=options
    )
    (trajectory,) = run(settings, out).folder.trajectories()
    return [step.result.value for step in trajectory.steps if step.result is not None]


def test_a_run_is_given_the_answers_that_came_with_its_pool(pool: Path, tmp_path: Path) -> None:
    assert results(pool, tmp_path / "run")[0] == 6.0


def test_an_option_of_the_run_is_heard_first(pool: Path, tmp_path: Path) -> None:
    web = answers(tmp_path / "other.json", 5.0)
    assert results(pool, tmp_path / "run", web=str(web))[0] == 10.0


def test_a_run_says_which_answers_it_was_given(pool: Path, tmp_path: Path) -> None:
    identities = []
    for name, rate in (("one", None), ("two", 3.0), ("three", 5.0)):
        options = {} if rate is None else {"web": str(answers(tmp_path / f"{name}.json", rate))}
        results(pool, tmp_path / name, **options)
        told = json.loads((tmp_path / name / "run.json").read_text())
        identities.append(told["measure"]["simulator"]["worlds"]["phone"]["web"])
    assert identities[0] == identities[1] != identities[2]


def test_pools_made_of_a_pool_keep_its_answers(pool: Path, tmp_path: Path) -> None:
    stored = load_pool(pool)
    augment_stored(stored, tmp_path / "augmented", parse_augmentations(["names"]))
    tools, tasks = stored.tools(), tuple(stored.tasks())
    write_drawn(PoolSample(len(tools), 0, tools, tasks, ()), tmp_path / "drawn", stored, 0)

    kept = (pool / "web.json").read_bytes()
    for made in ("augmented", "drawn"):
        assert (tmp_path / made / "web.json").read_bytes() == kept


def test_upstreams_answers_come_along_where_they_lie_beside_its_scenarios(tmp_path: Path) -> None:
    source = write(tmp_path / "upstream", scenario())
    alone = import_benchmark("toolsandbox", source.parent, tmp_path / "alone")
    assert (alone.facts["web_answers"], len(alone.facts["invented_web"])) == (5, 5)

    fixtures = answers(source.parent / "web_fixtures.json", 3.0)
    for name, place in (("folder", source.parent), ("file", source)):
        report = import_benchmark("toolsandbox", place, tmp_path / name)
        own = json.loads(fixtures.read_bytes())
        web = json.loads((tmp_path / name / "web.json").read_bytes())
        (endpoint,) = {record["endpoint"] for record in own}
        assert [record for record in web if record["endpoint"] == endpoint] == own
        assert report.facts["web_answers"] == len(web) == 5
        assert report.facts["invented_web"] == sorted({r["endpoint"] for r in web} - {endpoint})

    fixtures.write_text('[{"endpoint": 3}]')
    with pytest.raises(DataError, match=r"web_fixtures\.json, record 0: expected a JSON list"):
        import_benchmark("toolsandbox", source.parent, tmp_path / "none")
