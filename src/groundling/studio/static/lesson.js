// A lesson for a class: from a robot that knows nothing to one that understands, in five pictures.
import { call, Project } from "./api.js";
import { Bench } from "./bench.js";
import { curve } from "./curve.js";
import { h, plural, trying } from "./dom.js";
import { graph } from "./graph.js";
import { trees } from "./tree.js";
import { Why } from "./why.js";

const ENOUGH = 10;
const KEY = "lesson";

async function find() {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept) { const known = new Project(kept); await known.refresh(); return known; }
  } catch { /* it is gone, or was never kept: a new one begins */ }
  return begin();
}

async function begin() {
  const { project } = await call("POST", "/api/lessons");
  try { localStorage.setItem(KEY, project); } catch { /* it lasts as long as the page */ }
  const fresh = new Project(project);
  await fresh.refresh();
  return fresh;
}

const chapter = (number, title, ...content) => h("section", { class: "chapter panel", "aria-labelledby": `chapter-${number}` },
  h("h2", { id: `chapter-${number}` }, h("span", { class: "chapter-number" }, number), title), ...content);

export async function open(page) {
  const lesson = await find();
  const closing = [];
  const why = new Why();
  why.element.querySelector("h2").remove();
  page.classList.add("lesson");
  page.append(
    h("div", { class: "row between" }, h("h1", {}, "Teach a robot your language"),
      h("button", { type: "button", class: "quiet", onclick: async () => {
        if (await trying(begin)) { for (const each of closing) each(); closing.length = 0; page.replaceChildren(); closing.push(await open(page)); }
      } }, "Begin again")),
    h("p", { class: "lead" }, "A robot stands in a kitchen. It can walk, take things and put them down, but it knows no words: not yours, not anybody's. You will show it a few times what you mean, in whatever language you like, and then tell it what to do."),
    chapter(1, "A sentence is a tree", ...sentence(lesson)),
    chapter(2, "An action is a graph", ...action(lesson)),
    chapter(3, "Show what you mean", ...teaching(lesson, why, closing)),
    chapter(4, "Words come to lie on things",
      h("p", {}, "Nobody told the robot which word stands for what. It tries all ways of laying your words over the graph of what was done, and finds weights that make what you showed win. Say something above; the lines show where each word lies now. Point at one."),
      h("p", { class: "muted", id: "no-lines" }, "Teach it a sentence first, then say one."), why.element),
    chapter(5, "The text is laid over the whole plan",
      h("p", {}, "Stand at the sink, let the red cup lie on the table, and say “take the red cup” in your language. The cup cannot be reached from there, so the robot walks first, though nobody said so. It scores whole plans, not single moves: the walk wins because it makes the rest possible. In the picture above such an action is marked “nobody asked for this”."),
      h("p", {}, "That is all there is: sums of weights, which you can look at one by one. The same few lines follow routes through mazes and maps. ",
        h("a", { href: "#/" }, "Try the mazes"), ".")));
  return () => { for (const each of closing) each(); why.close(); };
}

function sentence() {
  const drawn = h("div", {});
  const text = h("input", { type: "text", id: "tree-text", maxlength: 200, value: "Take the red cup and go to the table.", autocomplete: "off" });
  const draw = async () => {
    if (!text.value.trim()) return;
    const found = await trying(() => call("POST", "/api/parse", { text: text.value }));
    if (found) drawn.replaceChildren(trees(found.trees));
  };
  draw();
  return [
    h("p", {}, "Which word belongs to which? For English a small parser says so; in other languages the robot of this lesson reads your words in a row."),
    h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); draw(); } },
      h("label", { for: "tree-text", class: "unseen" }, "A sentence in English"), text, h("button", { type: "submit" }, "Draw it")),
    drawn];
}

function action(lesson) {
  const drawn = h("div", {});
  const [scene] = lesson.about.scenes;
  const buttons = h("div", { class: "possible", role: "group", "aria-label": "Actions" });
  const choose = async (each, button) => {
    const found = await trying(() => lesson.post("/ground", { scene: scene.name, actions: [each.json] }));
    if (!found) return;
    for (const other of buttons.children) other.setAttribute("aria-pressed", String(other === button));
    drawn.replaceChildren(graph(found));
  };
  trying(() => lesson.post("/walk", { scene: scene.name, actions: [] })).then((seen) => {
    if (!seen) return;
    buttons.replaceChildren(...seen.possible.map((each) => {
      const button = h("button", { type: "button", "aria-pressed": "false", onclick: () => choose(each, button) }, each.label);
      return button;
    }));
    choose(seen.possible.at(-1), buttons.lastElementChild);
  });
  return [h("p", {}, "The kitchen describes each action in the same way: what is done, where, with what. Nothing in it is language; a robot gets it from what it sees. Choose an action."), buttons, drawn];
}

function teaching(lesson, why, closing) {
  const status = h("p", { class: "count", role: "status" });
  const figure = h("div", {});
  let turn = 0;
  const bench = new Bench(lesson, {
    prompt: "Say it in your language",
    placeholder: "Nimm die rote Tasse.",
    onplan: async (plan, wish) => {
      const mine = ++turn;
      if (!plan || !plan.actions.length) return;
      const told = await trying(() => lesson.post("/explain", wish));
      if (told?.steps && mine === turn) { document.getElementById("no-lines")?.remove(); why.show(told); }
    },
  });
  const next = h("button", { type: "button", onclick: async () => {
    const names = lesson.about.scenes.map((each) => each.name);
    await bench.enter(names[(names.indexOf(bench.scene) + 1) % names.length]);
    bench.text.value = "";
    bench.text.focus();
  } }, "Next kitchen");
  bench.element.querySelector(".stage-top").append(next);
  const draw = () => {
    const { known } = lesson.about;
    status.replaceChildren(h("strong", {}, known >= ENOUGH ? `${plural(known, "demonstration")}: it should understand most of what you say now.`
      : `${known} of ${ENOUGH}`), known >= ENOUGH ? "" : known ? ": move on to the next kitchen and say something else." : ": say something, then show it by clicking.");
    // The first ones are all new to it; how it does shows in what comes after.
    const later = lesson.about.first_tries.slice(ENOUGH);
    figure.replaceChildren(...(later.length >= 2 ? [curve({ ...lesson.about, first_tries: later })] : []));
  };
  const stop = lesson.listen((kind) => { if (kind !== "progress") draw(); });
  closing.push(stop, () => bench.close());
  draw();
  bench.enter(lesson.about.scenes[Math.min(lesson.about.known, lesson.about.scenes.length - 1)].name);
  return [
    h("p", {}, "Type a sentence and press Enter. As long as it knows nothing, it asks you to show what you mean: click where to go and what to take. Use few verbs, name all three things and all three places, and change the kitchen between sentences."),
    status, bench.element, figure];
}

