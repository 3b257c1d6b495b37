"""The whole way in a real browser: talk, show, teach, correct, undo; worlds, lesson, class."""

import json
import shlex
import shutil
from contextlib import redirect_stdout
from io import StringIO

import pytest
from typer.testing import CliRunner

from groundling.cli.main import app as cli
from groundling.data.scene_world import SceneWorld
from groundling.follower import Follower
from groundling.studio.app import make_studio
from groundling.studio.gallery import GALLERY
from groundling.studio.open_projects import OpenProjects
from groundling.studio.project import Project
from groundling.studio.served import ServedProject
from groundling.studio.service import make_service
from tests.studio.conftest import serving

PAGES = ("", "examples", "model", "worlds", "lesson", "class")


class Talk:
    """A page that talks to one project."""

    def __init__(self, visit, where, **options):
        self.address, self.name = where
        self.page = visit(f"{self.address}/#//{self.name}", **options)
        self.page.locator(".stage .picture").locator("svg, .card-state").first.wait_for()

    def about(self):
        path = f"/api/projects/{self.name}"
        return self.page.evaluate("(path) => fetch(path).then((answer) => answer.json())", path)

    def learnt(self, revision=0):
        for _ in range(1200):
            about = self.about()
            if about["revision"] >= revision and about["learnt"] == about["revision"]:
                return about
            self.page.wait_for_timeout(50)
        raise AssertionError(f"revision {revision} was never learnt")

    @property
    def turn(self):
        return self.page.locator(".turn").last

    def say(self, text):
        before = self.page.locator(".turn").count()
        self.page.locator(".say textarea").fill(text)
        self.page.locator(".say textarea").press("Enter")
        self.page.wait_for_function(
            "(n) => document.querySelectorAll('.turn').length > n", arg=before
        )
        self.turn.locator(".turn-tools").wait_for()

    def button(self, name):
        return self.turn.get_by_role("button", name=name, exact=True)

    def show(self, text, *actions):
        """Say something, show it, and wait until it was learnt and followed again."""
        revision = self.about()["revision"]
        self.say(text)
        self.begin_showing()
        for action in actions:
            self.turn.locator(".possible").get_by_role("button", name=action, exact=True).click()
            self.turn.locator(".steps li").filter(has_text=action).wait_for()
        self.button("Teach this").click()
        self.turn.locator(".possible").wait_for(state="detached")
        self.learnt(revision + 1)
        self.turn.locator(".turn-tools").wait_for()

    def begin_showing(self):
        """Begin to show what the last turn means, whatever the robot made of it."""
        names = ("No, like this …", "Show what you mean", "None of these: I’ll show you")
        if not self.turn.locator(".possible").count():
            next(self.button(name) for name in names if self.button(name).count()).click()
            self.turn.locator(".possible").wait_for()

    def demonstrations(self):
        """Return what was taught, oldest first."""
        path = f"/api/projects/{self.name}/demonstrations"
        found = self.page.evaluate("(path) => fetch(path).then((answer) => answer.json())", path)
        return found["demonstrations"][::-1]

    def plan(self):
        return self.turn.locator(".steps li").all_inner_texts()


def serious(page):
    """Return the serious problems that axe finds on a page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    return [
        (each["id"], each["nodes"][0]["html"][:160])
        for each in axe.run(page).response["violations"]
        if each["impact"] in ("serious", "critical")
    ]


def test_browser_from_nothing_to_a_robot_that_remembers(visit, room):
    talk = Talk(visit, room())
    talk.page.get_by_text("I don’t know any words yet.").wait_for()
    talk.say("geh zum Tisch")
    talk.turn.get_by_text("Show what “geh zum Tisch” means").wait_for()
    talk.page.locator(".picture [data-action='go to the table']").click()  # in the picture
    talk.turn.locator(".steps li").filter(has_text="go to the table").wait_for()
    talk.button("Teach this").click()
    talk.learnt(1)
    talk.turn.locator(".turn-tools").wait_for()
    assert talk.plan() == ["go to the table"]
    talk.page.get_by_text("1 of 1 recent requests understood").wait_for()
    talk.page.get_by_role("button", name="Start over").click()
    talk.say("geh zum Tisch")
    assert talk.plan() == ["go to the table"]
    talk.button("Why?").click()
    talk.turn.get_by_text("You showed me this: “geh zum tisch”.").wait_for()
    talk.turn.get_by_text("because you said").wait_for()
    talk.turn.locator(".bubble.mine mark.colour-0").first.wait_for()
    talk.turn.locator("summary").click()
    talk.turn.locator(".why .word").filter(has_text="Tisch").click()
    talk.turn.locator(".why-detail h3.mark").filter(has_text="Tisch").wait_for()
    talk.page.get_by_role("button", name="One step back").click()
    talk.page.locator(".step-label").filter(has_text="start").wait_for()


def test_browser_teaches_the_turn_and_never_what_stands_in_the_box(visit, room):
    talk = Talk(visit, room())
    talk.show("zum Tisch", "go to the table")
    talk.page.get_by_role("button", name="Start over").click()
    talk.say("zum Tisch")
    talk.page.locator(".say textarea").fill("etwas ganz anderes")
    talk.button("Yes, that’s right").click()
    talk.learnt(2)
    assert [each["text"] for each in talk.demonstrations()] == ["zum Tisch", "zum Tisch"]
    assert talk.page.locator(".say textarea").input_value() == "etwas ganz anderes"


def test_browser_asks_back_corrects_and_undoes(visit, room):
    talk = Talk(visit, room())
    talk.show("los", "go to the table")
    talk.page.get_by_role("button", name="Start over").click()
    talk.show("los", "go to the shelf")  # corrected
    assert talk.plan() == ["go to the shelf"]
    talk.button("Undo").click()
    talk.learnt(3)
    talk.page.get_by_role("button", name="Start over").click()
    talk.say("los")
    assert talk.plan() == ["go to the table"]
    talk.say("Quatsch mit Soße")
    talk.turn.get_by_text("I do not know the words").wait_for()  # it names the words
    talk.button("Show what you mean").wait_for()


def test_browser_questions_are_answered_by_a_click_or_a_fragment(visit, room):
    talk = Talk(visit, room())
    for text, action in (("los olu", "go to the table"), ("los iki", "go to the shelf")):
        talk.show(text, action)
        talk.page.get_by_role("button", name="Start over").click()
    talk.say("los")
    talk.say("never mind")
    talk.turn.get_by_text("All right, never mind.").wait_for()
    talk.say("los")
    talk.turn.locator(".ask").filter(has_text="Do you mean ").wait_for()
    options = talk.turn.locator(".choice").all_inner_texts()
    assert sorted(options) == ["go to the shelf", "go to the table"]
    talk.turn.get_by_role("button", name=f"Preview: {options[0]}").click()
    talk.say("the second one")  # a fragment is a reply
    talk.turn.locator(".steps li").filter(has_text=options[1]).wait_for()
    talk.page.get_by_role("button", name="Start over").click()
    talk.say("los")
    talk.turn.locator(".choice").filter(has_text=options[0]).click()  # a click is one, too
    talk.page.locator(".bubble.mine").filter(has_text=options[0]).wait_for()
    talk.turn.get_by_text(f"I’ll remember: “los” means {options[0]}.").wait_for()
    talk.learnt(3)
    talk.page.get_by_role("button", name="Start over").click()
    talk.say("los")  # what was chosen among plans is learnt
    talk.turn.locator(".steps li").filter(has_text=options[0]).wait_for()


def test_browser_goes_on_showing_in_another_scene(visit, room):
    talk = Talk(visit, room())
    talk.show("nimm die blaue Tasse", "take the blue cup")
    talk.say("und jetzt die rote")  # not possible: it still holds the blue one
    talk.begin_showing()
    possible = talk.turn.locator(".possible")
    possible.get_by_role("button", name="go to the table").click()
    talk.turn.locator(".steps li").first.wait_for()
    assert possible.get_by_role("button", name="take the red cup").count() == 0
    talk.page.get_by_role("button", name="Start over").click()
    talk.turn.locator(".steps li").wait_for(state="detached")  # from the beginning
    talk.page.get_by_label("Scene").select_option("Kitchen 4")
    red = possible.get_by_role("button", name="take the red cup")
    red.wait_for()  # here it is possible
    talk.turn.get_by_text("Show what “und jetzt die rote” means").wait_for()
    talk.button("Cancel").click()  # the text is followed in this scene
    talk.button("Cancel").wait_for(state="detached")
    talk.turn.locator(".turn-tools").wait_for()
    talk.begin_showing()
    red.click()
    talk.turn.locator(".steps li").filter(has_text="take the red cup").wait_for()
    talk.button("Teach this").click()
    talk.learnt(2)
    [_, shown] = talk.demonstrations()
    assert (shown["text"], shown["scene"]) == ("und jetzt die rote", "Kitchen 4")


def test_browser_two_tabs_see_each_other(visit, room):
    talk = Talk(visit, room())
    two = visit(f"{talk.address}/#/examples/{talk.name}", context=talk.page.context)
    two.get_by_text("0 examples").wait_for()
    talk.show("zum Tisch", "go to the table")
    two.get_by_text("1 example", exact=True).wait_for()
    two.get_by_label("Delete: zum Tisch").click()
    two.get_by_text("0 examples").wait_for()
    talk.page.get_by_role("button", name="Undo deleting “zum Tisch”").wait_for()


def test_browser_examples_are_edited_imported_and_shown_again(visit, room, tmp_path):
    talk = Talk(visit, room())
    talk.show("zum Tisch", "go to the table")
    page = talk.page
    page.goto(f"{talk.address}/#/examples/{talk.name}")
    row = page.locator("tbody tr").first
    row.get_by_label("Text").fill("an den Tisch")
    row.get_by_label("Text").press("Tab")
    talk.learnt(2)
    with page.expect_download() as found:
        page.get_by_role("link", name="Export").click()
    file = tmp_path / "out.jsonl"
    found.value.save_as(file)
    assert "an den Tisch" in file.read_text(encoding="utf-8")
    page.locator("#file").set_input_files(file)
    page.locator("#toast").get_by_text("0 imported, 1 already existed.").wait_for()
    page.get_by_label("Search").fill("regal")
    page.get_by_text("No example contains this.").wait_for()
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"text": "<img src=x onerror=alert(1)>"\n')
    page.locator("#file").set_input_files(broken)
    page.locator("#toast").get_by_text("Line 1").wait_for()
    page.get_by_label("Search").fill("")
    page.get_by_role("link", name="Show again: an den Tisch").click()
    page.get_by_text("Show what “an den Tisch” means").wait_for()
    assert page.locator("#toast").is_hidden()  # messages go away
    visit.complaints[:] = [each for each in visit.complaints if "422" not in each]


def test_browser_says_what_is_wrong_with_what_was_typed(visit, room):
    talk = Talk(visit, room())
    talk.page.get_by_role("button", name="Say it").click()
    talk.page.locator("#toast").get_by_text("Type a request first").wait_for()
    talk.show("zum Tisch", "go to the table")
    talk.page.locator(".say textarea").fill("Geh. " * 100)
    talk.page.get_by_role("button", name="Say it").click()
    talk.turn.get_by_text("got 100").wait_for()
    talk.say("<img src=x onerror=alert(1)> zum Tisch")
    assert talk.page.locator("main img").count() == 0
    visit.complaints[:] = [each for each in visit.complaints if "422" not in each]


@pytest.mark.parametrize(
    ("name", "told"),
    [("Lamp", "The lamp is off."), ("Broken", "raised RuntimeError: no <b>paint</b>")],
)
def test_browser_shows_words_where_there_is_no_picture(small_world, tmp_path, visit, name, told):
    projects = OpenProjects(tmp_path / "lamp", {"kind": "world", "world": f"{small_world}:{name}"})
    with serving(make_studio(projects)) as address:
        page = visit(address)
        page.locator(".picture").get_by_text(told).wait_for()
        page.locator(".card-state").get_by_text("The lamp is off.").wait_for()
        page.close()  # before the server, which it would miss


@pytest.mark.parametrize("name", [name for name in GALLERY if name != "empty-kitchen"])
def test_browser_follows_every_example_of_the_gallery(visit, room, name):
    talk = Talk(visit, room(gallery=name))
    about = talk.learnt()
    for each in about["examples"]:
        talk.page.reload()
        talk.page.get_by_role("button", name=each["text"], exact=True).click()
        talk.button("Yes, that’s right").wait_for()


def run_python(code, visit, address):
    """Run client code; returns what it printed."""
    with redirect_stdout(StringIO()) as told:
        exec(code, {})
    return told.getvalue()


def run_javascript(code, visit, address):
    """Run client code in a page of the service; returns what it logged."""
    page = visit(f"{address}/docs")
    told = []
    page.on("console", lambda message: told.append(message.text))
    page.evaluate(f"async () => {{ {code} }}")
    page.close()
    return told[-1]


def test_browser_from_an_empty_world_of_the_editor_to_a_served_model(visit, room, tmp_path):
    address, _ = room()
    page = visit(f"{address}/#/worlds")
    page.get_by_label("Title", exact=True).fill("Garden")
    page.get_by_label("Places 1: Name").fill("pond")
    page.get_by_label("Places 1: Name").press("Tab")
    page.get_by_role("button", name="Add: Things").click()
    page.get_by_label("Things 2: Name").fill("lamp")
    page.get_by_label("Things 2: switch").check()
    page.locator(".editor-picture svg text").filter(has_text="lamp").wait_for()
    page.get_by_label("Things 2: Name").fill("ball")  # twice the same
    page.get_by_label("Things 2: Name").press("Tab")
    page.locator(".editor-picture .problem").filter(
        has_text="two entries are named “ball”"
    ).wait_for()
    page.get_by_label("Things 2: Name").fill("lamp")
    page.get_by_label("Things 2: Name").press("Tab")
    page.locator(".editor-picture .problem").wait_for(state="hidden")
    with page.expect_download() as found:
        page.get_by_role("button", name="Save as a file").click()
    found.value.save_as(tmp_path / "garden.json")
    assert json.loads((tmp_path / "garden.json").read_text())["title"] == "Garden"
    page.get_by_role("button", name="Teach a robot here").click()
    page.get_by_text("I don’t know any words yet.").wait_for()
    talk = Talk.__new__(Talk)
    talk.page, talk.address = page, address
    talk.name = page.evaluate("location.hash").split("/")[2]
    talk.show("hol den Ball", "go to the pond", "take the ball")
    page.get_by_role("button", name="Start over").click()
    talk.say("hol den Ball")
    assert talk.plan() == ["go to the pond", "take the ball"]
    page.goto(f"{address}/#/model/{talk.name}")
    page.locator("pre[data-name=curl]").filter(has_text="hol den Ball").wait_for()
    [_, verb, folder, *_] = shlex.split(page.locator("pre[data-name=Terminal]").inner_text())
    body = json.loads(shlex.split(page.locator("pre[data-name=curl]").inner_text())[-1])
    assert verb == "serve"
    shutil.copytree(folder, tmp_path / "project")  # the studio holds the project itself
    served = ServedProject(Project(tmp_path / "project"))
    with serving(make_service(served)) as there:
        answer = page.request.post(f"{there}/v1/say", data=body).json()
        assert (answer["kind"], answer["actions"]) == ("act", ["go to the pond", "take the ball"])
        for language, run in (("Python", run_python), ("JavaScript", run_javascript)):
            code = page.locator(f"pre[data-name={language}]").inner_text()
            told = run(code.replace("http://127.0.0.1:8090", there), visit, there)
            assert told.startswith("act "), language
            assert "take the ball" in told
    # Export is what `train` reads, in the world that the editor saved.
    page.goto(f"{address}/#/examples/{talk.name}")
    with page.expect_download() as found:
        page.get_by_role("link", name="Export").click()
    found.value.save_as(tmp_path / "shown.jsonl")
    files = [str(tmp_path / name) for name in ("garden.json", "shown.jsonl")]
    done = CliRunner().invoke(cli, ["train", *files, "--out", str(tmp_path / "model")])
    assert done.exit_code == 0, done.output
    follower, garden = Follower.load(tmp_path / "model"), SceneWorld.load(files[0])
    plan = follower.follow("hol den Ball", garden, garden.initial_state())
    assert plan.actions == ("go to the pond", "take the ball")
    visit.complaints[:] = [each for each in visit.complaints if "422" not in each]


def test_browser_editor_keeps_its_world_and_projects_are_found_again(visit, room):
    address, _ = room()
    page = visit(f"{address}/#/worlds")
    page.get_by_label("Title", exact=True).fill("Harbour")
    page.get_by_label("Title", exact=True).press("Tab")
    page.reload()
    page.get_by_label("Title", exact=True).wait_for()
    assert page.get_by_label("Title", exact=True).input_value() == "Harbour"
    page.get_by_role("button", name="Teach a robot here").click()
    page.locator(".stage select").wait_for()
    page.goto(f"{address}/#/worlds")
    page.get_by_role("link", name="Harbour").first.click()
    page.locator(".stage select").get_by_text("Harbour 1").wait_for(state="attached")
    page.goto(f"{address}/#/worlds")
    page.locator("#world-file").set_input_files(
        {"name": "bad.json", "mimeType": "application/json", "buffer": b'{"places": 3}'}
    )
    page.locator("#toast").get_by_text("This file is not a world").wait_for()
    assert page.get_by_label("Title", exact=True).input_value() == "Harbour"
    page.get_by_role("button", name="Begin again").click()
    page.locator(".editor-picture svg").get_by_text("garden", exact=True).wait_for()
    assert page.get_by_label("Title", exact=True).input_value() == "My world"


def test_browser_lesson_begins_empty_and_is_kept(studio, visit):
    page = visit(f"{studio}/#/lesson")
    page.get_by_text("0 of 10 requests shown").wait_for()
    page.locator(".say textarea").fill("nimm die blaue Tasse")
    page.locator(".say textarea").press("Enter")
    page.locator(".possible").get_by_role("button", name="take the blue cup").click()
    page.get_by_role("button", name="Teach this").click()
    page.get_by_text("1 of 10 requests shown").wait_for()
    page.get_by_role("button", name="Next kitchen").click()
    page.reload()
    page.get_by_text("1 of 10 requests shown").wait_for()
    page.get_by_role("button", name="Begin again").click()
    page.get_by_text("0 of 10 requests shown").wait_for()


def test_browser_speaks_german_and_presents(studio, visit):
    page = visit(studio)
    page.get_by_role("button", name="Deutsch").click()
    page.get_by_role("heading", name="Bring diesem Roboter deine Wörter bei.").wait_for()
    page.locator(".say textarea").fill("zum Tisch")
    page.locator(".say textarea").press("Enter")
    page.locator(".possible").get_by_role("button", name="zum Tisch gehen").click()
    page.get_by_role("button", name="Das beibringen").click()
    page.get_by_role("button", name="Rückgängig: Beibringen von „zum Tisch“").click()
    page.locator(".chat-top button").wait_for(state="hidden")
    assert page.evaluate("document.documentElement.lang") == "de"
    page.get_by_role("button", name="Präsentieren").click()
    page.locator("#nav").wait_for(state="hidden")
    page.get_by_role("button", name="Präsentieren").click()
    page.get_by_role("button", name="English").click()
    page.get_by_role("heading", name="Teach this robot your words.").wait_for()


def test_browser_class_of_five(tmp_path, visit, chromium):
    projects = OpenProjects(tmp_path / "class", {"kind": "lesson"})
    app = make_studio(
        projects, token="teachers-only", code="abc234", join_address="http://x/j/abc234"
    )
    with serving(app) as address:
        teacher = visit(f"{address}/?token=teachers-only")
        teacher.goto(f"{address}/#/class")
        teacher.get_by_text("http://x/j/abc234").wait_for()
        pupils = []
        for number in range(5):
            page = visit(f"{address}/j/abc234")
            if not number:
                page.get_by_role("button", name="Join").wait_for()
                assert serious(page) == []
            page.get_by_label("Your name").fill(f"Pupil {number}")
            page.get_by_role("button", name="Join").click()
            page.locator(".stage .picture svg").wait_for()
            assert page.locator("#nav a").count() == 0  # pupils have one page
            pupils.append(page)
        pupils[3].locator(".say textarea").fill("zum Tisch")
        pupils[3].locator(".say textarea").press("Enter")
        pupils[3].locator(".possible").get_by_role("button", name="go to the table").click()
        pupils[3].get_by_role("button", name="Teach this").click()
        teacher.locator(".robots .card").nth(4).wait_for()
        teacher.locator(".robots .card").filter(has_text="Pupil 3").get_by_text(
            "1 taught"
        ).wait_for()
        moved = teacher.locator(".robots .card").filter(has_text="Pupil 3").locator("svg")
        still = teacher.locator(".robots .card").filter(has_text="Pupil 2").locator("svg")
        assert moved.inner_html() != still.inner_html()  # where its last demonstration ended
        for path in ("/api/projects/main", "/api/class", "/api/worlds"):
            status = pupils[0].evaluate("(path) => fetch(path).then((a) => a.status)", path)
            assert status == 401, path
        for page in (*pupils, teacher):
            page.close()
    visit.complaints[:] = [each for each in visit.complaints if "401" not in each]


def test_browser_phone_keeps_the_picture_in_view(visit, room):
    talk = Talk(visit, room(), size=(390, 844))
    for number in range(4):
        talk.show(f"Satz Nummer {number}", "go to the table")
        talk.page.get_by_role("button", name="Start over").click()
    talk.say("noch etwas")
    talk.begin_showing()
    target = talk.page.locator(".picture [data-action='go to the shelf']")
    target.wait_for()
    assert talk.page.locator(".say").is_hidden()  # it would hide what is shown
    talk.button("Cancel").scroll_into_view_if_needed()
    box = None
    while box is None:  # the picture may just be drawn anew
        box = target.bounding_box()
    assert 0 <= box["y"] < 844
    for shown in (talk.turn.locator(".bubble.mine"), talk.button("Teach this")):
        shown.scroll_into_view_if_needed()
        assert 0 <= shown.bounding_box()["y"] < 844
    target.click()
    talk.turn.locator(".steps li").filter(has_text="go to the shelf").wait_for()


@pytest.mark.parametrize("size", [(1280, 900), (390, 844)], ids=["desktop", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_browser_axe_finds_nothing_serious(visit, room, size, theme):
    talk = Talk(visit, room(), size=size, theme=theme)
    talk.show("zum Tisch", "go to the table")
    talk.show("nimm die Tasse", "go to the sink", "take the blue cup")
    talk.button("Why?").click()
    talk.turn.locator("summary").click()
    talk.turn.locator(".why .word").first.wait_for()
    found = {}
    for name in PAGES:
        if name:
            talk.page.evaluate("delete document.getElementById('main').dataset.ready")
            talk.page.goto(f"{talk.address}/#/{name}/{talk.name}")
            talk.page.locator("#main[data-ready]").wait_for()
        wide = talk.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{name} is {wide} pixels too wide"
        found[name] = serious(talk.page)
    assert found == {name: [] for name in PAGES}
    if size[0] > 600:  # a phone does not present
        talk.page.goto(f"{talk.address}/#//{talk.name}")
        talk.page.get_by_role("button", name="Present").click()
        talk.page.locator("#nav").wait_for(state="hidden")
        assert serious(talk.page) == []


def test_browser_keyboard_reaches_everything_that_matters(visit, room):
    talk = Talk(visit, room())
    talk.page.locator(".say textarea").focus()
    talk.page.keyboard.type("zum Tisch")
    talk.page.keyboard.press("Enter")
    talk.page.wait_for_function("() => document.activeElement.closest('.possible') !== null")
    talk.page.keyboard.press("Enter")  # the first action: go to the table
    talk.turn.locator(".steps li").first.wait_for()
    talk.button("Teach this").focus()
    talk.page.keyboard.press("Enter")
    talk.learnt(1)
    talk.button("Why?").focus()
    talk.page.keyboard.press("Enter")
    talk.turn.get_by_text("You showed me this").wait_for()


STATION = {
    "title": "Station",
    "places": [{"name": "bridge", "at": [0, 0]}, {"name": "lab", "at": [1, 0]}],
    "things": [
        {"name": "plant", "at": "lab", "can": ["take"], "colour": "white"},
        {"name": "crate", "at": "bridge", "can": ["push"]},
    ],
    "movers": [{"name": "Robby", "at": "bridge"}],
    "verbs": ["go", "take", "put", "push"],
}


def test_browser_click_on_a_thing_counts_for_its_room_and_pushing_has_a_target(visit, room):
    talk = Talk(visit, room(scene=STATION))
    talk.say("hopp")
    picture = talk.page.locator(".stage .picture")
    name = picture.locator("svg text").filter(has_text="plant")
    box = name.locator("xpath=..").locator("circle").bounding_box()
    talk.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    talk.turn.locator(".steps li").filter(has_text="go to the lab").wait_for()
    talk.button("Remove last step").click()
    talk.turn.locator(".steps li").wait_for(state="detached")
    crate = picture.locator(".agent").bounding_box()
    talk.page.mouse.click(crate["x"] + crate["width"] / 2, crate["y"] + crate["height"] / 2)
    talk.page.locator("#toast").filter(has_text="Nothing can be done there now").wait_for()
    picture.locator("[data-action='push the crate to the lab']").click()
    talk.turn.locator(".steps li").filter(has_text="push the crate to the lab").wait_for()


def test_browser_editor_survives_a_name_that_is_taken_and_says_what_is_wrong(visit, room):
    address, _ = room()
    page = visit(f"{address}/#/worlds")
    page.evaluate("(world) => localStorage.setItem('world', JSON.stringify(world))", STATION)
    page.reload()
    problem = page.locator(".editor-picture .problem")
    drawn = page.locator(".editor-picture svg text")
    page.get_by_label("Places 2: Name").fill("bridge")
    problem.filter(has_text="Places: two entries are named “bridge”.").wait_for()
    page.get_by_label("Places 2: Name").fill("lounge")  # drawn while typing, without leaving
    drawn.filter(has_text="lounge").wait_for()
    kept = page.evaluate("JSON.parse(localStorage.getItem('world'))")
    at = {each["name"]: each["at"] for each in [*kept["things"], *kept["movers"]]}
    assert at == {"plant": "lounge", "crate": "bridge", "Robby": "bridge"}
    page.get_by_label("Places 2: Column").fill("1")
    problem.filter(has_text="“bridge” and “lounge” are both in column 1, row 1.").wait_for()
    page.get_by_label("Places 2: Column").fill("2")
    problem.wait_for(state="hidden")
    page.get_by_label("Things 1: Name").fill("")
    problem.filter(has_text="Things: number 1 has no name yet.").wait_for()


def test_browser_takes_a_robot_home_in_one_file(visit, room, tmp_path):
    talk = Talk(visit, room(scene=STATION))
    talk.show("hopp", "go to the lab")
    page = talk.page
    page.goto(f"{talk.address}/#/examples/{talk.name}")
    with page.expect_download() as found:
        page.get_by_role("link", name="Export").click()
    assert found.value.suggested_filename == "Station.jsonl"
    found.value.save_as(tmp_path / "Station.jsonl")
    page.goto(f"{talk.address}/#/examples")  # a kitchen
    page.reload()
    page.locator("tbody td").first.wait_for()
    page.locator("#file").set_input_files(tmp_path / "Station.jsonl")
    page.locator("#toast").filter(has_text="belongs to the world “Station”").wait_for()
    page.goto(f"{talk.address}/#/worlds")
    page.locator("#project-file").set_input_files(tmp_path / "Station.jsonl")
    page.locator(".stage .picture svg text").filter(has_text="lab").wait_for()
    page.get_by_role("link", name="Examples").click()
    page.locator(".tag").filter(has_text="imported").wait_for()
    visit.complaints[:] = [each for each in visit.complaints if "422" not in each]


def test_browser_built_in_worlds_speak_german(visit, room):
    address, name = room()
    page = visit(f"{address}/#//{name}")
    page.get_by_role("button", name="Deutsch").click()
    page.get_by_label("Szene").locator("option").filter(has_text="Küche 23").wait_for(
        state="attached"
    )
    page.locator(".stage .picture svg text").filter(has_text="Tisch").wait_for()
    page.locator(".state").filter(has_text="Der Roboter ist bei der Spüle").wait_for()
    page.locator(".say textarea").fill("hopp")
    page.locator(".say textarea").press("Enter")
    page.get_by_role("button", name="die blaue Tasse nehmen").click()
    page.get_by_role("button", name="Das beibringen").click()
    page.locator(".taught").filter(has_text="„hopp“ heißt die blaue Tasse nehmen").wait_for()
    page.goto(f"{address}/#/worlds")
    page.get_by_text("Dieselbe Küche; ihr Roboter kennt noch keine Wörter.").wait_for()
    page.get_by_label("Dinge 1: Farbe").locator("option").filter(has_text="weiß").wait_for(
        state="attached"
    )
    page.set_viewport_size({"width": 390, "height": 844})
    right = page.locator("#nav a").evaluate_all(
        "(all) => Math.max(...all.map((each) => each.getBoundingClientRect().right))"
    )
    assert right <= 390


def test_browser_errors_speak_the_language_of_the_page(visit, room):
    address, name = room(gallery="kitchen")
    page = visit(f"{address}/#//{name}")
    page.get_by_role("button", name="Deutsch").click()
    answer = page.request.post(f"{address}/api/projects/{name}/teach", data={
        "scene": "Kitchen 1", "text": "hopp", "actions": ["take the red cup"],
    })  # fmt: skip
    found = page.evaluate(
        "(said) => import('/static/strings.js').then((strings) => strings.sentence(said))",
        answer.json()["detail"],
    )
    assert found.startswith("„hopp“: Handlung 1, „die rote Tasse nehmen“, geht in diesem Zustand")
    assert "Möglich ist dort: „zum Tisch gehen“" in found


def test_browser_presenting_makes_the_picture_no_smaller(visit, room):
    talk = Talk(visit, room(), size=(1280, 800))
    drawn = talk.page.locator(".stage .picture svg")
    width = "(svg) => svg.getBBox().width * svg.getScreenCTM().a"
    before = drawn.evaluate(width)
    talk.page.get_by_role("button", name="Present").click()
    assert drawn.evaluate(width) >= before


def test_browser_address_without_the_token_says_what_to_open(tmp_path, visit, chromium):
    projects = OpenProjects(tmp_path / "project", {"kind": "lesson"})
    with serving(make_studio(projects, token="token-token")) as address:
        page = visit(address)
        page.get_by_text("Open the address that the studio printed in its terminal.").wait_for()
        page.wait_for_load_state("networkidle")
        visit.complaints[:] = [each for each in visit.complaints if "401" not in each]
