// Look inside: what words mean, the lexicon, and two models side by side.
import { bar, h, percent, plural, sides, trying } from "./dom.js";
import { World } from "./world.js";

export async function open(page, project) {
  const list = h("ul", { class: "words" });
  const meaning = h("div", { class: "meaning", "aria-live": "polite" });
  const lexicon = h("div", {});
  const facts = h("p", { class: "muted" });
  const search = h("input", { type: "search", id: "word", placeholder: "left, sofa, …", autocomplete: "off", oninput: () => draw() });
  let words = [];

  function draw() {
    const wanted = search.value.trim().toLowerCase();
    const shown = words.filter((each) => each.word.includes(wanted)).slice(0, 60);
    const most = Math.max(0.01, ...shown.map((each) => each.weight));
    list.replaceChildren(...shown.map((each) => h("li", {},
      h("button", { type: "button", class: "choice", onclick: () => choose(each.word) },
        h("strong", {}, each.word), h("span", { class: "feature" }, each.meaning || "nothing for sure"),
        bar(each.weight / most, `weight ${each.weight.toFixed(2)}`)))));
    if (!shown.length) list.replaceChildren(h("li", { class: "muted" }, words.length ? "No such word was learnt." : "Nothing was learnt yet."));
  }

  async function choose(word) {
    const found = await trying(() => project.get(`/weights?word=${encodeURIComponent(word)}`));
    if (!found) return;
    meaning.replaceChildren(h("h3", { class: "mark" }, `“${word}”`),
      h("p", { class: "muted small" }, "What it goes with (to the right), and what it does not (to the left)."),
      sides(found.weights.slice(0, 14).map((each) => ({ name: each.meaning, value: each.weight })), `Weights of ${word}`));
  }

  async function load() {
    const found = await project.get("/words").catch(() => null);
    words = found?.words ?? [];
    facts.textContent = found?.weights ? `${plural(words.length, "word")}, ${found.weights.toLocaleString("en")} weights.` : "Nothing was learnt yet. Teach it something first.";
    lexicon.replaceChildren(...(found?.lexicon.length
      ? [h("ul", { class: "plain-list" }, found.lexicon.map((each) => h("li", { class: "feature" }, each.replace(/^# learnt: /, ""))))]
      : [h("p", { class: "muted" }, "No lexicon was given or learnt: words are matched by their spelling and by their weights.")]));
    draw();
  }

  const compare = new Compare(project);
  page.append(
    h("h1", {}, "Look inside"),
    h("p", { class: "lead" }, "Everything that was learnt is a list of weights: how well a word goes with a label of the world."), facts,
    h("div", { class: "two" },
      h("section", { class: "panel", "aria-label": "Words" }, h("h2", {}, "What words mean"),
        h("label", { for: "word", class: "unseen" }, "Find a word"), search, list),
      h("section", { class: "panel", "aria-label": "One word" }, h("h2", {}, "One word"), meaning)),
    h("section", { class: "panel", "aria-label": "Two models" }, h("h2", {}, "Two models side by side"), compare.element),
    h("section", { class: "panel", "aria-label": "Lexicon" }, h("h2", {}, "Lexicon"), lexicon));
  const stop = project.listen((kind) => { if (kind === "learnt" || kind === "again") { load(); compare.offer(); } });
  await load();
  if (words.length) await choose(words[0].word);
  else meaning.append(h("p", { class: "muted" }, "Choose a word."));
  return stop;
}

class Compare {
  constructor(project) {
    this.project = project;
    this.chosen = [0, 1].map((side) => h("select", { "aria-label": side ? "Second model" : "First model", onchange: () => this.follow() }));
    this.text = h("input", { type: "text", id: "both", maxlength: 1000, autocomplete: "off", placeholder: "Say something to both" });
    this.scene = h("select", { "aria-label": "Scene", onchange: () => this.follow() },
      project.about.scenes.map((each) => h("option", { value: each.name }, each.name)));
    this.sides = [0, 1].map(() => h("div", { class: "side" }));
    this.single = h("p", { class: "muted small" }, "There is only one model yet. Each time something is taught, the model before it is kept.");
    this.element = h("div", {},
      h("form", { class: "row tools", onsubmit: (event) => { event.preventDefault(); this.follow(); } },
        h("label", { for: "both", class: "unseen" }, "Say something to both"), this.text, this.scene,
        h("button", { type: "submit", class: "main" }, "Follow")),
      this.single,
      h("div", { class: "two" }, this.sides.map((side, place) => h("div", {}, this.chosen[place], side))));
    this.offer();
    if (project.about.examples.length) this.text.value = project.about.examples[0];
  }

  offer() {
    const { curve, models } = this.project.about;
    const known = new Map(curve.map((each) => [each.revision, each]));
    const options = models.map((revision) => {
      const each = known.get(revision);
      const right = each && each.accuracy !== null ? `, ${percent(each.accuracy)} right` : "";
      return [revision, each ? `after ${plural(each.known, "demonstration")}${right}` : `model ${revision}`];
    });
    this.single.hidden = options.length > 1;
    this.chosen.forEach((select, side) => {
      const before = select.value;
      select.replaceChildren(...options.map(([revision, label]) => h("option", { value: revision }, label)));
      select.value = options.some(([revision]) => String(revision) === before) ? before
        : String(options.at(side ? -1 : 0)?.[0] ?? "");
    });
  }

  async follow() {
    const text = this.text.value.trim();
    if (!text || !this.chosen[0].value) return;
    await Promise.all(this.sides.map(async (side, place) => {
      const told = await trying(() => this.project.post("/explain",
        { scene: this.scene.value, text, model: Number(this.chosen[place].value) }));
      if (!told) return;
      const world = new World();
      world.show(told.frames, told.steps);
      side.replaceChildren(world.element,
        h("p", { class: "sure" }, h("span", {}, "Confidence"), bar(told.confidence), h("strong", {}, percent(told.confidence))),
        sides(told.steps.flatMap((each) => each.text.features).sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount)).slice(0, 6)
          .map((each) => ({ name: each.feature, value: each.amount })), "What the text says"));
    }));
  }
}
