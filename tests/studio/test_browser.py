"""The whole way in a real browser: an empty world, teaching, correction, undo, two tabs."""

import pytest

from groundling.studio.app import make_studio
from groundling.studio.rooms import Rooms
from tests.studio.conftest import serving

PAGES = ("", "demonstrations", "inside", "lesson")


def said(page):
    return page.locator(".talk textarea")


def show(page, text, *actions):
    """Say something, show it with the buttons, and wait until it was learnt."""
    known = page.evaluate("fetch('/api/projects/main').then((a) => a.json())")["revision"]
    said(page).fill(text)
    page.get_by_role("button", name="Show it myself").click()
    for action in actions:
        page.locator(".possible").get_by_role("button", name=action, exact=True).click()
        page.locator(".steps li").filter(has_text=action).wait_for()
    page.get_by_role("button", name="Teach this").click()
    learnt(page, known + 1)


def learnt(page, revision):
    for _ in range(1200):
        about = page.evaluate("fetch('/api/projects/main').then((answer) => answer.json())")
        if about["revision"] >= revision and about["learnt"] == about["revision"]:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"revision {revision} was never learnt")


def follow(page, text):
    said(page).fill(text)
    said(page).press("Enter")


def plan(page):
    page.locator(".answer .small-heading, .answer .ask").first.wait_for()
    return [each.split("\n")[-1] for each in page.locator(".answer .steps li").all_inner_texts()]


def test_browser_from_an_empty_world_to_a_taught_follower(lesson_server, visit):
    page = visit(lesson_server)
    page.locator(".picture svg").wait_for()
    follow(page, "geh zum Tisch")
    page.get_by_text("Show what “geh zum Tisch” means").wait_for()  # it knows nothing
    page.locator(".picture [data-action='go to the table']").click()  # in the picture
    page.get_by_role("button", name="Teach this").click()
    learnt(page, 1)
    page.locator(".answer .small-heading").wait_for()  # followed again by itself
    assert plan(page) == ["go to the table"]
    show(page, "nimm die blaue Tasse", "take the blue cup")
    page.locator(".why .word").filter(has_text="blaue").wait_for()
    assert "take the blue cup" in plan(page)[0]
    page.locator(".why .word").filter(has_text="blaue").click()
    page.locator(".why-detail h3.mark").filter(has_text="blaue").wait_for()
    page.locator(".why .word[aria-pressed='true']").filter(has_text="blaue").wait_for()
    page.locator(".why .act").first.click()
    page.locator(".why-detail").get_by_text("What the text says for and against it").wait_for()
    page.get_by_role("button", name="One step back").click()
    page.locator(".step-label").filter(has_text="start").wait_for()


def test_browser_follows_again_when_it_learns_before_it_answers(lesson_server, visit):
    page = visit(lesson_server)
    page.locator(".picture svg").wait_for()

    def late(route):
        answer = route.fetch()
        learnt(page, 1)
        page.wait_for_timeout(200)  # the event comes first
        route.fulfill(response=answer)

    page.route("**/teach", late)
    follow(page, "geh zum Tisch")
    page.locator(".possible").get_by_role("button", name="go to the table").click()
    page.get_by_role("button", name="Teach this").click()
    page.locator(".why .word").first.wait_for()
    assert plan(page) == ["go to the table"]


def test_browser_correction_undo_and_reload(lesson_server, visit):
    page = visit(lesson_server)
    page.locator(".picture svg").wait_for()
    show(page, "los", "go to the table")
    page.locator(".answer .small-heading, .answer .ask").first.wait_for()
    show(page, "los", "go to the shelf")  # corrected
    show(page, "los", "go to the shelf")
    follow(page, "los")
    page.get_by_role("button", name="go to the shelf").first.wait_for()
    page.reload()
    page.get_by_role("button", name="Undo teaching “los”").click()
    learnt(page, 4)
    page.get_by_role("button", name="Undo teaching “los”").click()
    learnt(page, 5)
    page.goto(f"{lesson_server}/#/demonstrations")
    page.get_by_text("1 demonstration", exact=True).wait_for()
    assert page.locator("tbody tr").count() == 1
    assert "go to the table" in page.locator("tbody tr").inner_text()


def test_browser_two_tabs_see_each_other(lesson_server, visit):
    one = visit(lesson_server)
    one.locator(".picture svg").wait_for()
    two = visit(f"{lesson_server}/#/demonstrations", context=one.context)
    two.get_by_text("0 demonstrations").wait_for()
    show(one, "zum Tisch", "go to the table")
    two.get_by_text("1 demonstration", exact=True).wait_for()
    two.get_by_label("Delete: zum Tisch").click()
    two.get_by_text("0 demonstrations").wait_for()
    one.get_by_role("button", name="Undo deleting “zum Tisch”").wait_for()


def test_browser_table_keeps_what_is_being_typed(lesson_server, visit):
    page = visit(lesson_server)
    page.locator(".picture svg").wait_for()
    show(page, "zum Tisch", "go to the table")
    learnt(page, 1)
    page.goto(f"{lesson_server}/#/demonstrations")
    text = page.locator("tbody tr").first.get_by_label("Text")
    text.fill("an den Tisch")
    # As from another page; then the table is read again, and drawn if nobody types.
    page.evaluate("""async () => {
        window.began = performance.now();
        const base = "/api/projects/main/demonstrations";
        const { demonstrations: [one] } = await (await fetch(base)).json();
        await fetch(`${base}/${one.id}`, { method: "PATCH", body: '{"weight": 2}',
                                           headers: { "Content-Type": "application/json" } });
    }""")
    page.wait_for_function("""() => performance.getEntriesByType("resource").some((each) =>
        each.name.includes("/demonstrations?") && each.startTime > window.began)""")
    page.evaluate("() => new Promise((done) => setTimeout(() => requestAnimationFrame(done)))")
    assert text.input_value() == "an den Tisch"
    text.press("Tab")
    page.get_by_label("Weight of “an den Tisch”").wait_for()


def test_browser_table_edits_and_exchanges(lesson_server, visit, tmp_path):
    page = visit(lesson_server)
    page.locator(".picture svg").wait_for()
    show(page, "zum Tisch", "go to the table")
    page.goto(f"{lesson_server}/#/demonstrations")
    row = page.locator("tbody tr").first
    row.get_by_label("Text").fill("an den Tisch")
    row.get_by_label("Text").press("Tab")
    learnt(page, 2)
    page.wait_for_function("document.querySelector('textarea.plain').value === 'an den Tisch'")
    row.get_by_label("Weight of").fill("2")
    row.get_by_label("Weight of").press("Tab")
    learnt(page, 3)
    with page.expect_download() as found:
        page.get_by_role("link", name="Export").click()
    file = tmp_path / "out.jsonl"
    found.value.save_as(file)
    assert "an den Tisch" in file.read_text(encoding="utf-8")
    page.locator("#file").set_input_files(file)
    page.get_by_text("2 demonstrations").wait_for()
    page.get_by_label("Search").fill("regal")
    page.get_by_text("0 demonstrations").wait_for()
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"text": "<img src=x onerror=alert(1)>"\n')
    page.locator("#file").set_input_files(broken)
    page.locator("#toast").get_by_text("Line 1").wait_for()
    visit.complaints[:] = [each for each in visit.complaints if "422" not in each]


def test_browser_says_what_is_wrong_with_what_was_typed(lesson_server, visit):
    page = visit(lesson_server)
    page.locator(".picture svg").wait_for()
    page.get_by_role("button", name="Follow", exact=True).click()
    page.locator("#toast").get_by_text("There are no words yet").wait_for()
    show(page, "zum Tisch", "go to the table")
    follow(page, "Geh. " * 100)
    page.locator("#toast").get_by_text("got 100").wait_for()
    follow(page, "<img src=x onerror=alert(1)> zum Tisch")
    page.locator(".why .word").filter(has_text="onerror").wait_for()
    assert page.locator("main img").count() == 0
    visit.complaints[:] = [each for each in visit.complaints if "422" not in each]


@pytest.mark.parametrize(
    ("name", "told"),
    [("Lamp", "The lamp is off."), ("Broken", "raised RuntimeError: no <b>paint</b>")],
)
def test_browser_shows_words_where_there_is_no_picture(small_world, tmp_path, visit, name, told):
    rooms = Rooms(tmp_path / "lamp", {"kind": "world", "world": f"{small_world}:{name}"})
    with serving(make_studio(rooms)) as address:
        page = visit(address)
        page.locator(".picture").get_by_text(told).wait_for()
        page.locator(".card-state").get_by_text("The lamp is off.").wait_for()
        page.close()  # before the server, which it would miss


def test_browser_lesson_begins_empty_and_teaches(lesson_server, visit):
    page = visit(f"{lesson_server}/#/lesson")
    page.locator(".tree .token").first.wait_for()
    page.locator(".graph .token").first.wait_for()
    follow(page, "nimm die blaue Tasse")
    page.locator(".answer .possible").get_by_role("button", name="take the blue cup").click()
    page.get_by_role("button", name="Teach this").click()
    page.get_by_text("1 of 10").wait_for()
    page.locator(".why .word").first.wait_for()
    page.get_by_role("button", name="Next kitchen").click()
    page.reload()
    page.get_by_text("1 of 10").wait_for()  # it is still there
    page.get_by_role("button", name="Begin again").click()
    page.get_by_text("0 of 10").wait_for()


@pytest.mark.parametrize("size", [(1280, 900), (390, 844)], ids=["desktop", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_browser_axe_finds_nothing_serious(lesson_server, visit, size, theme):
    axe_playwright = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = visit(lesson_server, size=size, theme=theme)
    page.locator(".picture svg").wait_for()
    show(page, "zum Tisch", "go to the table")
    show(page, "nimm die Tasse", "take the blue cup")
    follow(page, "zum Tisch")
    page.locator(".why .word").first.wait_for()
    found = {}
    for name in PAGES:
        page.evaluate("delete document.getElementById('main').dataset.ready")
        page.goto(f"{lesson_server}/#/{name}")
        page.locator("#main[data-ready]").wait_for()
        if name == "":
            follow(page, "zum Tisch")
            page.locator(".why .word").first.wait_for()
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{name} is {wide} pixels too wide"
        results = axe_playwright.Axe().run(page)
        found[name] = [
            (each["id"], each["nodes"][0]["html"][:120])
            for each in results.response["violations"]
            if each["impact"] in ("serious", "critical")
        ]
    assert found == {name: [] for name in PAGES}


def test_browser_keyboard_reaches_everything_that_matters(lesson_server, visit):
    page = visit(lesson_server)
    page.locator(".picture svg").wait_for()
    said(page).focus()
    page.keyboard.type("zum Tisch")
    page.keyboard.press("Enter")
    page.locator(".possible").wait_for()
    page.wait_for_function("document.activeElement.closest('.possible') !== null")
    page.keyboard.press("Enter")  # the first action: go to the table
    page.locator(".steps li").first.wait_for()
    page.get_by_role("button", name="Teach this").focus()
    page.keyboard.press("Enter")
    learnt(page, 1)
    page.locator(".why .word").first.focus()
    page.locator(".why-detail h3.mark").filter(has_text="zum").wait_for()
