"""One look-up for objects, names, entry points and dotted paths."""

import sys
import textwrap
import traceback

import pytest

from seal.core import (
    CodeRefusedError,
    DataError,
    InfrastructureError,
    OptionError,
    UnknownNameError,
    UsageError,
)
from seal.core.registry import Notation, Registry, check_modules, load_dotted

GROUP = "seal.gadgets_of_this_test"


@pytest.fixture
def registry():
    return Registry("gadget", GROUP, {"json": "json:dumps", "path": "pathlib:Path.cwd"})


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Installs modules and distributions in a folder of their own."""
    monkeypatch.syspath_prepend(tmp_path)
    known = set(sys.modules)
    yield Site(tmp_path)
    for name in sys.modules.keys() - known:
        if name.startswith("gadgets_"):
            del sys.modules[name]


class Site:
    """A folder on `sys.path`."""

    def __init__(self, folder):
        self.folder = folder

    def module(self, name, text):
        """Write a module."""
        path = self.folder / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))

    def distribution(self, name, points):
        """Install a distribution that offers entry points: name to module:attribute."""
        info = self.folder / f"{name}-1.0.dist-info"
        info.mkdir()
        info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"[{GROUP}]", *(f"{point} = {target}" for point, target in points.items())]
        info.joinpath("entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("what", [object(), dict, len, 5, None, ("a",)])
def test_anything_but_a_text_stands_for_itself(registry, what):
    assert registry.resolve(what) is what


def test_our_names_are_imported_when_asked_for(site):
    site.module("gadgets_ours", "GADGET = 'made'")
    registry = Registry("gadget", GROUP, {"ours": "gadgets_ours:GADGET"})
    assert registry.names() == ["ours"]
    assert "gadgets_ours" not in sys.modules
    assert registry.resolve("ours") == "made"


def test_a_registered_object_is_found_by_name(registry):
    gadget = object()
    registry.register("mine", gadget)
    assert registry.resolve("mine") is gadget
    assert registry.names() == ["json", "mine", "path"]


@pytest.mark.parametrize("name", ["json", "mine", "theirs"])
def test_a_name_that_is_taken_is_refused(registry, site, name):
    site.distribution("gadgets-taken", {"theirs": "json:loads"})
    registry.register("mine", 1)
    with pytest.raises(UsageError, match=f"the gadget '{name}' exists already; choose another"):
        registry.register(name, 2)
    assert registry.resolve("mine") == 1


def test_an_entry_point_is_found_by_name(registry, site):
    site.module("gadgets_theirs", "class Gadget:\n    size = 3")
    site.distribution("gadgets-theirs", {"theirs": "gadgets_theirs:Gadget"})
    assert "theirs" in registry.names()
    assert "gadgets_theirs" not in sys.modules
    assert registry.resolve("theirs").size == 3


def test_every_name_is_known_and_no_other(registry, site):
    site.distribution("gadgets-more", {"theirs": "json:loads"})
    registry.register("mine", object())
    assert all(name in registry for name in registry.names())
    assert {"json", "mine", "theirs"} <= set(registry.names())
    assert "nobody" not in registry


def test_our_names_come_before_entry_points(registry, site):
    site.distribution("gadgets-shadow", {"json": "gadgets_never:X"})
    assert registry.resolve("json")([]) == "[]"
    assert registry.names() == ["json", "path"]


def test_entry_points_of_another_group_are_not_seen(site):
    site.distribution("gadgets-other", {"theirs": "json:loads"})
    assert Registry("gadget", "seal.no_such_group", {}).names() == []


@pytest.mark.parametrize("path", ["gadgets_lab.planners:OneTool", "gadgets_lab.planners:Box.inner"])
def test_a_dotted_path_is_imported(registry, site, path):
    site.module(
        "gadgets_lab.planners",
        """
        class OneTool:
            found = True
        class Box:
            inner = OneTool
        """,
    )
    assert registry.resolve(path).found


def test_an_unknown_name_lists_the_known_and_the_closest(registry, site):
    site.distribution("gadgets-listed", {"theirs": "json:loads"})
    with pytest.raises(UnknownNameError) as caught:
        registry.resolve("jsn")
    assert str(caught.value) == ("no gadget 'jsn'; known: json, path, theirs. Did you mean 'json'?")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "gadgets_none:X",
            "'gadgets_none:X': no module 'gadgets_none' is installed, in this fol",
        ),
        ("gadgets_none.sub:X", "no module 'gadgets_none'"),
        ("json.none:X", "no module 'json.none'"),
        ("json:none", "'json:none': json has no 'none'; correct the name"),
        ("json:dumps.none", "json has no 'dumps.none'"),
        ("json:dmps", "json has no 'dmps'; did you mean 'dumps'?"),
        ("json:", "'json:' is no dotted path; expected package.module:attribute, such as"),
        (":X", "':X' is no dotted path"),
        (".json:X", "'.json:X' is no dotted path"),
        ("json:.dumps", "is no dotted path"),
        (":", "is no dotted path"),
    ],
)
def test_a_dotted_path_that_leads_nowhere_says_where_it_ends(registry, path, text):
    with pytest.raises(UsageError) as caught:
        registry.resolve(path)
    assert text in str(caught.value)
    with pytest.raises(UsageError):
        load_dotted(path)


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    """Work in a folder, whose place on the search path goes when the test ends."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_module_in_the_current_folder_is_found_when_it_is_named(in_folder):
    (in_folder / "gadgets_here.py").write_text("from gadgets_beside import X\n")
    (in_folder / "gadgets_beside.py").write_text("X = 'here'\n")
    assert load_dotted("gadgets_here:X") == "here"


def test_the_current_folder_hides_no_installed_module(in_folder):
    (in_folder / "colorsys.py").write_text("raise RuntimeError('imported')\n")
    assert load_dotted("colorsys:rgb_to_hsv")(0, 0, 0) == (0.0, 0.0, 0)
    assert str(in_folder) not in sys.path


@pytest.mark.parametrize("way", ["ours", "theirs", "gadgets_broken:Gadget"])
@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("value = 1 / 0", ZeroDivisionError),
        ("import gadgets_missing_dependency", ModuleNotFoundError),
        ("from json import no_such_name", ImportError),
        ("def f(:\n    pass", SyntaxError),
        ("raise AttributeError('in the module')", AttributeError),
        ("raise SystemExit(3)", SystemExit),
        ("raise BaseException('of its own')", BaseException),
    ],
)
def test_a_plug_in_that_fails_to_import_is_named_with_its_own_traceback(site, way, body, error):
    site.module("gadgets_broken", f"# a comment\n{body}\nGadget = 1\n")
    site.distribution("gadgets-broken", {"theirs": "gadgets_broken:Gadget"})
    registry = Registry("gadget", GROUP, {"ours": "gadgets_broken:Gadget"})
    with pytest.raises(UsageError, match=r"gadgets_broken (fails to import|needs)") as caught:
        registry.resolve(way)
    told = "".join(traceback.format_exception(caught.value))
    assert error.__name__ in told
    assert "gadgets_broken.py" in told
    assert "line 2" in told


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        ("ImportError('libblas.so: failed to map segment from shared object')", "failed to map"),
        ("ImportError('libblas.so: cannot allocate memory in static TLS')", "cannot allocate"),
        ("OSError(12, 'Cannot allocate memory')", "Cannot allocate memory"),
        ("MemoryError()", "memory is short; free some"),
    ],
)
def test_a_module_for_which_memory_is_short_is_at_no_fault(registry, site, raised, told):
    site.module("gadgets_large", f"raise {raised}")
    with pytest.raises(InfrastructureError, match=r"memory is short.*ulimit -v") as caught:
        registry.resolve("gadgets_large:Gadget")
    assert told in str(caught.value)
    assert "mend" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("def __getattr__(name): raise OSError(name)", "OSError: Gadget"),
        ("def __getattr__(name): raise SystemExit(name)", "SystemExit: Gadget"),
        ("def __dir__(): raise OSError('list')", "OSError: list"),
        (
            "class Odd(BaseException): __str__ = exit\ndef __getattr__(name): raise Odd",
            "Odd: its text cannot be had, for that raises SystemExit",
        ),
    ],
)
def test_a_plug_in_whose_attribute_fails_is_named(registry, site, body, told):
    site.module("gadgets_odd", body)
    with pytest.raises(UsageError) as caught:
        registry.resolve("gadgets_odd:Gadget")
    assert f"'Gadget' of gadgets_odd cannot be had: {told}" in str(caught.value)
    assert str(caught.value).endswith("mend it")


def test_a_plug_in_that_fails_harms_no_other(site):
    site.module("gadgets_broken", "1 / 0")
    site.distribution("gadgets-both", {"bad": "gadgets_broken:X", "good": "json:loads"})
    registry = Registry("gadget", GROUP, {})
    assert registry.names() == ["bad", "good"]
    assert registry.resolve("good")("1") == 1


def test_registries_share_nothing():
    one, other = Registry("gadget", GROUP, {}), Registry("gadget", GROUP, {})
    one.register("mine", 1)
    assert other.names() == []


@pytest.mark.parametrize("name", ["json", "mine", "theirs", "with:colon"])
def test_data_may_name_what_is_known(registry, site, name):
    site.distribution("gadgets-named", {"theirs": "json:loads"})
    registry.register("mine", 1)
    registry.register("with:colon", 2)
    assert registry.named(name, "a file") is registry.resolve(name)


def test_data_names_no_code_unless_that_very_module_is_allowed(registry, site):
    site.module("gadgets_stranger", "GADGET = 3")
    path = "gadgets_stranger:GADGET"
    for allowed in ((), ("gadgets",), ("gadgets_stranger.inner",)):
        with pytest.raises(CodeRefusedError) as told:
            registry.named(path, "task 'one'", allowed)
    assert "gadgets_stranger" not in sys.modules
    assert str(told.value) == (
        "task 'one' names the gadget 'gadgets_stranger:GADGET', but data may not name code; if you "
        "trust it, allow it: --allow-code gadgets_stranger"
    )
    assert registry.named(path, "task 'one'", ("gadgets_stranger",)) == 3


@pytest.mark.parametrize(
    "path", ["os:path.join", "os:", ":x", "o s:x", "os\n:x", "./os:x", 5, None]
)
def test_data_that_names_nothing_that_could_be_allowed_is_refused(registry, path):
    with pytest.raises(DataError, match="task 'one'") as told:
        registry.named(path, "task 'one'", ("os",))
    assert not isinstance(told.value, CodeRefusedError)


def test_data_that_names_nothing_known_is_told_the_known_names(registry):
    with pytest.raises(UnknownNameError, match="Did you mean 'json'"):
        registry.named("jsn", "task 'one'")


@pytest.mark.parametrize("allowed", ["json", ("json:dumps",), ("",), (1,), None])
def test_only_modules_can_be_allowed(registry, allowed):
    with pytest.raises(OptionError, match="--allow-code"):
        registry.named("json.decoder:x", "task 'one'", allowed)


@pytest.mark.parametrize(
    ("allowed", "hint"),
    [
        ("gadgets_lab.lamsp", r" Did you mean gadgets_lab\.lamps\?"),
        ("gadgets_lba", r" Did you mean gadgets_lab\?"),
        ("qqqqqqqqqqqq.xx", "PYTHONPATH$"),
    ],
)
def test_a_module_that_cannot_be_found_cannot_be_allowed(site, allowed, hint):
    site.module("gadgets_lab/__init__", "raise OSError")  # nothing is imported to find out
    site.module("gadgets_lab/lamps", "raise OSError")
    check_modules(("gadgets_lab", "gadgets_lab.lamps", "json.decoder", "os.path"))
    with pytest.raises(OptionError, match=f"--allow-code {allowed}: no such module .*{hint}"):
        check_modules((allowed,))


def test_a_module_that_leads_to_itself_alone_is_not_offered_for_itself(site):
    (site.folder / "gadgets_loop.py").symlink_to("gadgets_loop.py")
    with pytest.raises(OptionError) as told:
        check_modules(("gadgets_loop",))
    assert "Did you mean gadgets_loop?" not in str(told.value)


@pytest.mark.parametrize(
    ("text", "specs"),
    [
        ("bm25", ["bm25"]),
        ("bm25, tfidf", ["bm25", "tfidf"]),
        ("dense,model=m,size=3,bm25,k1=1", ["dense,model=m,size=3", "bm25,k1=1"]),
        ('dense,model="a,b",bm25', ['dense,model="a,b"', "bm25"]),
        ("tfidf,=1", ["tfidf,=1"]),
        ("tfidf,", ["tfidf,"]),
    ],
)
def test_a_word_without_a_value_begins_the_next_of_several_specs(text, specs):
    assert list(Notation("gadget", "json").several(text)) == specs
