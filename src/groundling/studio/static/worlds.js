// Worlds page: the gallery, and an editor with a live preview.
import { call } from "./api.js";
import { adopt, h, tell, trying } from "./dom.js";
import { colourName, galleryText, t, thingName, titled } from "./strings.js";

const VERBS = ["go", "take", "put", "push", "open", "switch"];
const ABLE = ["take", "push", "open", "switch"];
const COLOURS = ["", "red", "blue", "green", "yellow", "orange", "purple", "pink", "brown", "black", "white", "grey"];
const verb = (name) => t(name === "open" ? "openVerb" : name);

export async function open(page, project) {
  const found = await call("GET", "/api/worlds");
  const go = async (wanted) => {
    const made = await trying(() => call("POST", "/api/worlds", wanted));
    if (made) location.hash = `#//${made.project}`;
  };
  page.append(
    h("h1", {}, t("worlds")),
    h("section", { class: "panel", "aria-label": t("gallery") }, h("h2", {}, t("gallery")), h("p", { class: "muted" }, t("galleryHow")),
      h("ul", { class: "cards gallery" }, found.gallery.map((each) => h("li", { class: "card" },
        thumbnail(each.name), h("h3", {}, titled(each.title)), h("p", {}, galleryText(each)),
        h("button", { type: "button", "aria-label": t("openOf", titled(each.title)), onclick: () => go({ gallery: each.name }) }, t("open")))))),
    h("section", { class: "panel", "aria-label": t("opened") }, h("h2", {}, t("opened")), opener(go),
      h("ul", { class: "plain-list" }, found.projects.map((each) => h("li", {},
        h("a", { href: `#/${each.project === "main" ? "" : `/${each.project}`}` }, [each.pupil, titled(each.title)].filter(Boolean).join(" · ") || each.project),
        h("span", { class: "muted small" }, ` ${each.known === 1 ? t("countOne") : t("count", each.known)}`))))),
    new Editor(go).element);
}

/** A button that opens an exported robot, or a saved world, as a new project. */
function opener(go) {
  const file = h("input", { type: "file", id: "project-file", accept: ".jsonl,.json", class: "unseen", onchange: async () => {
    const [chosen] = file.files;
    file.value = "";
    if (!chosen) return;
    const text = await chosen.text();
    let world = null;
    try { world = complete(JSON.parse(text)); } catch { /* several lines: an exported robot */ }
    if (world?.places.length) { await go({ scene: world }); return; }
    const made = await trying(() => call("POST", "/api/worlds/open", text, "application/x-ndjson"));
    if (made) location.hash = `#//${made.project}`;
  } });
  return h("p", { class: "row" }, h("label", { for: "project-file", class: "button" }, t("openFile")), file, h("span", { class: "muted small" }, t("openFileHow")));
}

/** The thumbnail of a gallery world, loaded asynchronously. */
function thumbnail(name) {
  const place = h("div", { class: "picture", "aria-hidden": "true" });
  fetch(`/static/gallery/${encodeURIComponent(name)}.svg`).then((answer) => (answer.ok ? answer.text() : ""))
    .then((text) => { const drawn = text && adopt(text); if (drawn) place.append(drawn); }, () => {});
  return place;
}

const PAUSE = 250; // milliseconds without typing before the picture is drawn again
const DRAFT = "world"; // storage key of the edited world, which is kept when the page is closed

const fresh = () => ({
  title: titled("My world"), places: [{ name: thingName("garden"), at: [0, 0] }, { name: thingName("house"), at: [1, 0] }],
  things: [{ name: thingName("ball"), at: thingName("garden"), can: ["take"], colour: "red" }], movers: [{ name: thingName("robot"), at: thingName("house") }],
  verbs: ["go", "take", "put", "open", "switch", "push"], scenes: 6,
});

/** Return the world that was edited last; null if there is none. */
function stored() {
  try { return complete(JSON.parse(localStorage.getItem(DRAFT))); } catch { return null; }
}

/** Return a world with all lists that the editor shows; null if it is not a world. */
function complete(world) {
  const made = { title: "", places: [], things: [], movers: [], verbs: ["go", "take", "put"], ...world };
  return world && ["places", "things", "movers", "verbs"].every((each) => Array.isArray(made[each])) ? made : null;
}

/** Return the first free cell, three in a row. */
function free(places) {
  for (let n = 0; ; n += 1) {
    const cell = [n % 3, Math.floor(n / 3)];
    if (!places.some((each) => String(each.at) === String(cell))) return cell;
  }
}

/** Return what is wrong with a world, in the words of the form; "" if nothing is. */
function wrong(world) {
  if (!world.title) return t("wrongTitle");
  for (const part of ["places", "things", "movers"]) {
    const names = new Set();
    for (const [place, each] of world[part].entries()) {
      if (!each.name) return t("wrongNoName", t(part), place + 1);
      if (each.name.includes(":")) return t("wrongColon", each.name);
      if (names.has(each.name)) return t("wrongTwice", t(part), each.name);
      names.add(each.name);
    }
  }
  if (!world.places.length) return t("wrongNoPlaces");
  if (!world.movers.length) return t("wrongNoMovers");
  const cells = new Map();
  for (const each of world.places) {
    const cell = String(each.at);
    if (cells.has(cell)) return t("wrongCell", cells.get(cell), each.name, each.at[0] + 1, each.at[1] + 1);
    cells.set(cell, each.name);
  }
  const lost = [...world.things, ...world.movers].find((each) => !world.places.some((place) => place.name === each.at));
  return lost ? t("wrongNowhere", lost.name) : "";
}

class Editor {
  constructor(go) {
    this.world = stored() ?? fresh();
    this.turn = 0;
    this.where = new WeakMap(); // the place of each thing and robot, which stays the same when a place is renamed
    this.offers = []; // functions that update the place menus after a rename
    this.picture = h("div", { class: "picture" });
    this.problem = h("p", { class: "problem", role: "status", hidden: true });
    this.rows = h("div", { class: "editor-rows" });
    this.make = h("button", { type: "button", class: "main", onclick: () => go({ scene: this.world }) }, t("save"));
    const file = h("input", { type: "file", id: "world-file", accept: ".json", class: "unseen", onchange: async () => {
      const [chosen] = file.files;
      if (chosen) await this.load(await chosen.text());
      file.value = "";
    } });
    this.element = h("section", { class: "panel", "aria-label": t("editor") },
      h("h2", {}, t("editor")), h("p", { class: "muted" }, t("editorHow")),
      h("div", { class: "editor" }, h("div", {}, this.rows), h("div", { class: "editor-picture" }, this.picture, this.problem,
        h("div", { class: "row" }, this.make,
          h("button", { type: "button", onclick: () => this.download() }, t("download")),
          h("label", { for: "world-file", class: "button" }, t("load")), file,
          h("button", { type: "button", class: "quiet", onclick: () => { this.world = fresh(); this.draw(); } }, t("again"))))));
    this.draw();
  }

  async load(text) {
    let world = null;
    try { world = complete(JSON.parse(text)); } catch { /* not JSON */ }
    if (!world) { tell(t("notJson")); return; }
    this.world = world;
    await this.draw();
  }

  download() {
    const made = URL.createObjectURL(new Blob([JSON.stringify(this.world, null, 1)], { type: "application/json" }));
    h("a", { href: made, download: `${this.world.title.toLowerCase().replace(/\W+/g, "-") || "world"}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(made), 1000);
  }

  /** Redraw the rows. Typing into a row only updates the picture, so that it keeps the focus. */
  async draw() {
    const { world } = this;
    const input = (of, name, label) => h("input", { type: "text", value: of[name] ?? "", "aria-label": label, maxlength: 40,
      oninput: (event) => { of[name] = event.target.value.trim(); this.soon(); } });
    const choices = (of, name, values) => values.map((each) => h("option", { value: each, selected: each === (of[name] ?? "") }, (name === "colour" ? colourName(each) : each) || "–"));
    const select = (of, name, label, values) => {
      const made = h("select", { "aria-label": label, onchange: (event) => {
        if (event.target.value) of[name] = event.target.value; else delete of[name];
        if (name === "at") this.where.set(of, world.places.find((each) => each.name === of.at));
        this.check();
      } }, choices(of, name, values()));
      if (name === "at") this.offers.push(() => made.replaceChildren(...choices(of, name, values())));
      return made;
    };
    const tick = (list, value, label) => h("label", { class: "check" }, h("input", { type: "checkbox", checked: list.includes(value), "aria-label": label, onchange: (event) => {
      if (event.target.checked) list.push(value); else list.splice(list.indexOf(value), 1);
      this.check();
    } }), verb(value));
    const cell = (of, place, label) => h("input", { type: "number", class: "few", min: 1, max: 31, value: of.at[place] + 1, "aria-label": label, oninput: (event) => {
      of.at[place] = Math.max(0, Math.round(Number(event.target.value)) - 1); // shown starting from 1
      this.soon();
    } });
    const rename = (of, label) => h("input", { type: "text", value: of.name, "aria-label": label, maxlength: 40, oninput: (event) => {
      of.name = event.target.value.trim();
      for (const each of [...world.things, ...world.movers]) if (this.where.get(each) === of) each.at = of.name;
      for (const offer of this.offers) offer();
      this.soon();
    } });
    const part = (name, list, fresh, cells) => h("fieldset", {}, h("legend", {}, t(name)),
      list.map((each, place) => h("div", { class: `row editor-row of-${name}` }, cells(each, (what) => `${t(name)} ${place + 1}: ${what}`),
        h("button", { type: "button", class: "quiet icon remove", "aria-label": t("removeRow", each.name), onclick: () => { list.splice(place, 1); this.draw(); } }, "✕"))),
      h("button", { type: "button", class: "small", "aria-label": t("addOf", t(name)), onclick: () => { list.push(fresh()); this.draw(); } }, t("add")));
    const next = (list, name) => { let n = list.length + 1; while (list.some((each) => each.name === `${name} ${n}`)) n += 1; return `${name} ${n}`; };
    const places = () => world.places.map((each) => each.name);
    this.offers = [];
    for (const each of [...world.things, ...world.movers]) {
      if (!world.places.includes(this.where.get(each))) this.where.set(each, world.places.find((place) => place.name === each.at));
    }
    world.places.forEach((each, place) => { each.at ??= [place % 3, Math.floor(place / 3)]; });
    this.rows.replaceChildren(
      h("div", { class: "row editor-row of-title" }, h("span", {}, t("title")), input(world, "title", t("title"))),
      part("places", world.places, () => ({ name: next(world.places, t("newPlace")), at: free(world.places) }),
        (each, label) => [rename(each, label(t("name"))), h("span", { class: "muted small" }, t("column")), cell(each, 0, label(t("column"))), h("span", { class: "muted small" }, t("row")), cell(each, 1, label(t("row")))]),
      part("things", world.things, () => ({ name: next(world.things, t("newThing")), at: places()[0], can: ["take"] }),
        (each, label) => [input(each, "name", label(t("name"))), select(each, "at", label(t("at")), places), select(each, "colour", label(t("colour")), () => COLOURS),
          h("span", { class: "able" }, t("canDo"), ABLE.map((able) => tick(each.can ??= [], able, label(verb(able)))))]),
      part("movers", world.movers, () => ({ name: next(world.movers, t("newMover")), at: places()[0] }),
        (each, label) => [input(each, "name", label(t("name"))), select(each, "at", label(t("at")), places)]),
      h("fieldset", {}, h("legend", {}, t("verbs")), h("div", { class: "row" }, VERBS.map((each) => tick(world.verbs, each, `${t("verbs")}: ${verb(each)}`)))));
    await this.check();
  }

  /** Store the world unless something is wrong with it; return what is wrong. */
  keep() {
    const problem = wrong(this.world);
    if (problem) return problem;
    try { localStorage.setItem(DRAFT, JSON.stringify(this.world)); } catch { /* not stored: lasts until the page is closed */ }
    return "";
  }

  /** Check the world when the user pauses typing. */
  soon() {
    this.keep();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), PAUSE);
  }

  tellProblem(text) {
    this.problem.textContent = text;
    this.problem.hidden = false;
    this.make.disabled = true;
  }

  /** Draw the picture, or show the error message. */
  async check() {
    clearTimeout(this.timer);
    const mine = ++this.turn;
    const problem = this.keep();
    if (problem) { this.tellProblem(problem); return; }
    try {
      const seen = await call("POST", "/api/worlds/check", { scene: this.world });
      if (mine !== this.turn) return;
      const drawing = adopt(seen.svg ?? "");
      drawing?.setAttribute("role", "img");
      drawing?.setAttribute("aria-label", seen.text);
      this.picture.replaceChildren(drawing ?? seen.text);
      this.problem.hidden = true;
      this.make.disabled = false;
    } catch (error) {
      if (mine !== this.turn) return;
      this.tellProblem(error.message);
    }
  }
}
