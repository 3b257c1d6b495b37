// Talk page: a conversation next to a picture.
import { announce, h, percent, s, tell, trying } from "./dom.js";
import { did, dialogueLanguage, spoken, t, thingName, titled, undoLabel, would } from "./strings.js";
import { Why } from "./why.js";
import { World } from "./world.js";

const line = (labels) => (labels.length ? labels.join(t("then")) : t("nothing"));
const labels = (actions) => actions.map((each) => each.label);
const icon = (d) => s("svg", { viewBox: "0 0 24 24", width: 20, height: 20, class: "icon-lines", "aria-hidden": "true" }, s("path", { d }));
const json = (actions) => actions.map((each) => each.json);

export async function open(page, project) {
  const talk = new Talk(project);
  page.classList.add("wide");
  const { pupil } = project.about;
  page.append(h("h1", { class: "talk-heading" }, pupil ? [h("span", { class: "pupil" }, t("robotOf", pupil)), " ", h("span", { class: "muted" }, t("heading"))] : t("heading")), talk.element);
  const wanted = new URLSearchParams(location.hash.split("?")[1] ?? "").get("redo");
  const found = wanted ? await trying(() => project.get(`/demonstrations/${Number(wanted)}`)) : null;
  await talk.enter(found?.scene ?? project.about.scenes[0].name, found?.start ?? null);
  if (found) await talk.show(talk.begin(found.text));
  return () => talk.close();
}

/** One dialogue turn: its scene, its result, and what was taught for it. */
class Turn {
  constructor(talk, text) {
    this.talk = talk;
    this.text = text;
    this.scene = talk.scene;
    this.start = talk.start;
    this.moves = talk.moves;
    this.before = []; // the texts since the open question
    this.choice = null; // the clicked option of that question
    this.plan = null; // the agent's response
    this.shown = null; // the actions demonstrated so far, else null
    this.taught = null; // the taught actions
    this.words = h("p", { class: "bubble mine" }, text);
    this.reply = h("div", { class: "bubble its" }, h("p", { class: "muted" }, t("thinking")));
    this.element = h("li", { class: "turn" },
      h("span", { class: "unseen" }, t("you")), this.words, h("span", { class: "unseen" }, t("robot")), this.reply);
  }

  where(more = {}) { return { scene: this.scene, start: this.start, ...more }; }

  /** The text to teach, including a reply that completes it. */
  get teaches() { return this.plan?.teaches ?? this.text; }
  get acted() { return this.plan?.kind === "act"; }
}

export class Talk {
  constructor(project, { onchange = () => {} } = {}) {
    this.project = project;
    this.onchange = onchange;
    this.turns = [];
    this.scene = project.about.scenes[0].name;
    this.start = null;
    this.showing = null; // the turn that is being demonstrated
    this.moves = 0; // number of scene changes
    this.world = new World({ onaction: (name) => this.clicked(name) });
    const id = `say-${project.name}`;
    this.text = h("textarea", { id, rows: 1, maxlength: 4000, autocomplete: "off", spellcheck: "false",
      placeholder: project.about.examples[0] ? t("placeholder", project.about.examples[0].text.slice(0, 60)) : t("placeholderEmpty"),
      onkeydown: (event) => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); this.say(); } } });
    this.scenes = h("select", { id: `scene-${project.name}`, onchange: () => this.enter(this.scenes.value) },
      project.about.scenes.map((each) => h("option", { value: each.name }, titled(each.name))));
    this.list = h("ol", { class: "turns", "aria-label": t("conversation") });
    this.hello = h("div", { class: "hello" });
    this.scroll = h("div", { class: "chat-scroll", tabindex: 0, role: "region", "aria-label": t("conversation") }, this.hello, this.list);
    this.can = h("p", { class: "can", role: "status" });
    this.undoing = h("button", { type: "button", class: "quiet small", hidden: true, onclick: () => this.undo() });
    this.voice = new Voice((said) => { this.text.value = said; this.say(); });
    this.element = h("div", { class: "talk" },
      h("section", { class: "panel stage", "aria-label": t("world") },
        h("div", { class: "row between stage-top" },
          h("label", { for: this.scenes.id, class: "unseen" }, t("scene")), this.scenes,
          h("button", { type: "button", class: "quiet", onclick: () => this.enter(this.scene) }, t("restart"))),
        this.world.element),
      h("section", { class: "panel chat", "aria-label": t("conversation") },
        h("div", { class: "row between chat-top" }, this.can, this.undoing),
        this.scroll,
        h("form", { class: "say", onsubmit: (event) => { event.preventDefault(); this.say(); } },
          h("label", { for: id, class: "unseen" }, t("say")), this.text,
          h("button", { type: "submit", class: "main" }, t("send")), this.voice.buttons)));
    this.stop = project.listen((kind, data) => this.happened(kind, data));
    this.draw();
  }

  // ---- the scene ----

  async enter(scene, start = null) {
    this.moves += 1;
    this.scene = scene;
    this.start = start;
    this.scenes.value = scene;
    const turn = this.showing;
    if (turn) { // demonstrate it here instead
      Object.assign(turn, { scene, start, moves: this.moves, moved: true });
      await this.show(turn);
      return;
    }
    const last = this.turns.at(-1);
    const seen = await trying(() => this.project.post("/walk", { scene, start, actions: [] }));
    if (seen && this.turns.at(-1) === last) this.world.show(seen.frames, []);  // not over a newer plan
  }

  /** Continue from the final state; at a dead end, from the initial state. */
  async goOn(turn, actions) {
    const before = this.moves;
    const seen = await trying(() => this.project.post("/continue", turn.where({ actions: json(actions) })));
    if (!seen || this.turns.at(-1) !== turn || this.moves !== before || this.scene !== turn.scene) return;
    this.start = seen.possible.length ? seen.frames[0].state : null;
  }

  // ---- utterances ----

  begin(text) {
    const turn = new Turn(this, text);
    this.turns.push(turn);
    this.list.append(turn.element);
    this.hello.hidden = true;
    this.down();
    return turn;
  }

  /** Scroll to the newest turn; on a phone the page scrolls, not the conversation. */
  down() {
    this.scroll.scrollTop = this.scroll.scrollHeight;
    if (getComputedStyle(this.scroll).overflowY === "visible") this.turns.at(-1)?.element.scrollIntoView({ block: "end" });
  }

  /** Send an utterance; `choice` is the clicked option of the last question. */
  async say(text = this.text.value.trim(), choice = null) {
    if (!/[\p{L}\p{N}]/u.test(text)) { tell(t("noWords")); this.text.focus(); return null; }
    if (choice === null) this.text.value = "";
    if (this.showing) this.cancel(this.showing);
    const last = this.turns.at(-1);
    const turn = this.begin(text);
    if (last?.plan?.kind === "ask" && last.moves === this.moves) {
      turn.before = last.plan.before;
      turn.choice = choice;
    }
    await this.ask(turn);
    return turn;
  }

  /** Send a turn to the agent and show the response. */
  async ask(turn) {
    const { project } = this;
    let plan;
    try {
      plan = await project.post("/say", turn.where({ text: turn.asks ?? turn.text, before: turn.before, choice: turn.choice, language: dialogueLanguage() }));
    } catch (error) {
      turn.reply.replaceChildren(h("p", { class: "problem" }, error.message));
      return;
    }
    const learning = project.about.known && project.about.learnt !== project.about.revision && !project.about.problem;
    if (!plan.trained && learning) { turn.waits = project.about.revision; return; }
    if (!plan.trained) { await this.show(turn); return; }
    turn.plan = plan;
    turn.reasons = null;
    this.answer(turn);
    if (this.turns.at(-1) === turn && turn.moves === this.moves) {
      this.world.show(plan.frames, plan.actions, { animate: turn.acted });
      if (turn.acted) await this.goOn(turn, plan.actions);
    }
    const said = turn.acted ? t("done", line(labels(plan.actions))) : this.question(plan);
    announce(said);
    this.voice.speak(said);
    if (turn.acted) await this.reason(turn);
  }

  /** Draw the result of a turn. */
  answer(turn) {
    const { plan } = turn;
    if (turn.shown) { this.drawShowing(turn); return; }
    if (!plan) { turn.reply.replaceChildren(h("p", {}, t("unknown")), this.tools(turn)); return; }
    const parts = turn.acted
      ? [this.steps(turn, plan.actions)]
      : [h("p", { class: plan.kind }, this.question(plan)), plan.options.length ? this.options(turn) : ""];
    if (plan.note) parts.push(h("p", { class: "problem" }, plan.note));
    if (turn.taught) parts.push(h("p", { class: "taught" }, t("taught", turn.teaches, line(labels(turn.taught)))));
    turn.why = h("div", { class: "why-short" });
    turn.reply.replaceChildren(...parts, this.tools(turn), turn.why);
    this.drawReasons(turn);
    this.down();
  }

  /** The text of a question, with action names in the language of the page. */
  question(plan) {
    return plan.options.reduce((text, each) => {
      const names = each.actions.map((action) => action.name).join(", ");
      if (plan.by_value) return text.replace(each.text, thingName(each.text));
      return each.text === names ? text.replace(names, line(labels(each.actions)).replace(/„(.*?)“/g, "‚$1‘")) : text;
    }, plan.text);
  }

  steps(turn, actions) {
    return actions.length ? h("ol", { class: "steps" }, actions.map((each, place) => h("li", {},
      h("button", { type: "button", class: `step colour-${place % 6}`, title: t("seeStep"), onclick: () => this.world.show(turn.plan.frames, turn.plan.actions, { place }) }, each.label))))
      : h("p", {}, t("nothing"));
  }

  tools(turn) {
    const { plan } = turn;
    const kind = plan?.kind ?? "decline";
    const button = (name, work, more = {}) => h("button", { type: "button", class: "small", onclick: work, ...more }, t(name));
    const quiet = { class: "small quiet" };
    return h("div", { class: "row turn-tools" },
      kind === "act" && !turn.taught ? button("yes", () => this.teach(turn, plan.actions, "picked")) : null,
      kind === "act" || kind === "answer" ? button("no", () => this.show(turn)) : null,
      kind === "ask" || kind === "decline" ? button(kind === "ask" ? "none" : "showIt", () => this.show(turn), kind === "ask" ? quiet : {}) : null,
      kind === "act" ? button("replay", () => this.world.show(plan.frames, plan.actions, { animate: true }), quiet) : null,
      kind === "act" ? button("why", () => this.explain(turn), { ...quiet, "aria-expanded": String(Boolean(turn.asked)) }) : null,
      turn.taught && turn.undoable ? button("undo", () => this.undo(), quiet) : null,
      kind === "act" ? h("span", { class: "sure" }, t("confidence", percent(plan.confidence))) : null);
  }

  /** The options of a question as buttons. */
  options(turn) {
    const { plan } = turn;
    return h("ul", { class: "choices" }, plan.options.map((each, place) => {
      const name = plan.by_value ? thingName(each.text) : line(labels(each.actions));
      return h("li", {},
        h("button", { type: "button", class: "choice", onclick: () => this.choose(turn, each, place, name) }, name),
        h("button", { type: "button", class: "quiet small", "aria-label": t("look", name), onclick: () => this.look(turn, each.actions) }, t("preview")));
    }));
  }

  /** Choose an option. Choosing a whole plan also teaches it; choosing a value only replies. */
  async choose(turn, option, place, name) {
    if (this.turns.at(-1) === turn && turn.moves === this.moves) {
      const next = await this.say(name, place);
      if (next?.acted && !turn.plan.by_value) await this.teach(next, next.plan.actions, "picked");
    } else {
      await this.teach(turn, option.actions, "picked"); // the conversation may have continued
    }
  }

  async look(turn, actions) {
    const seen = await trying(() => this.project.post("/walk", turn.where({ actions: json(actions) })));
    if (seen) this.world.show(seen.frames, seen.actions, { animate: true });
  }

  // ---- reasons ----

  async reason(turn) {
    try {
      turn.reasons = await this.project.post("/reasons", turn.where({ text: turn.teaches }));
    } catch { return; }
    const same = turn.reasons.steps.map((each) => each.label).join() === labels(turn.plan.actions).join();
    if (!same) { turn.reasons = { steps: [], words: [], remembered: null, unexplained: [], chosen: true }; }
    this.colour(turn);
    this.drawReasons(turn);
  }

  /** Colour the words of a turn like their steps. */
  colour(turn) {
    if (turn.teaches !== turn.text || !turn.reasons.words.length) return;
    const colours = new Map();
    turn.reasons.steps.forEach((step, place) => step.words.slice(0, 2).forEach((each) => {
      const key = `${each.sentence}.${each.position}`;
      if (!colours.has(key)) colours.set(key, place % 6);
    }));
    turn.words.replaceChildren(...turn.reasons.words.flatMap((words, sentence) => words.flatMap((word, place) => {
      const colour = colours.get(`${sentence}.${place}`);
      const space = (sentence || place) && /[\p{L}\p{N}]/u.test(word) ? " " : "";
      return [space, colour === undefined ? word : h("mark", { class: `colour-${colour}` }, word)];
    })));
  }

  drawReasons(turn) {
    if (!turn.reasons || !turn.why || !turn.asked) return;
    const said = turn.reasons;
    const quoted = (each, place) => h("mark", { class: `colour-${place % 6}` }, t("quoted", each.word));
    const filled = (name, values) => t(name, "\u0000", "\u0001").split(/(\u0000|\u0001)/).map((part) =>
      (part === "\u0000" ? values[0] : part === "\u0001" ? values[1] : part));
    const strong = (place, words) => h("strong", { class: `colour-${place % 6}` }, words);
    const sentences = said.steps.map((step, place) => h("p", {},
      step.words.length
        ? filled("because", [strong(place, did(step.label)), step.words.slice(0, 2).flatMap((each, rank) => [rank ? t("and") : "", quoted(each, place)])])
        : filled("needed", [strong(place, did(step.label))]),
      step.without ? [" ", t("without", would(step.without, said.steps.map((each) => each.label)))] : null));
    if (said.chosen) sentences.push(h("p", {}, t("youChose")));
    const toggled = () => {
      turn.detailed = details.open;
      if (turn.details !== details) turn.details.open = details.open;  // the details were redrawn in the meantime
      else if (details.open) this.details(turn, details);
    };
    const details = h("details", { class: "others", ontoggle: toggled }, h("summary", {}, t("details")));
    turn.details = details;
    details.open = Boolean(turn.detailed);
    turn.why.replaceChildren(
      ...(said.remembered ? [h("p", { class: "taught" }, t(said.built_in ? "rememberedGiven" : "remembered", said.remembered))] : []), ...sentences,
      ...(said.unexplained.length ? [h("p", {}, t("strange", said.unexplained.join(", ")))] : []), details);
    this.voice.speak(turn.why.querySelector("p")?.textContent ?? "");
  }

  async explain(turn) {
    turn.asked = !turn.asked;
    turn.reply.querySelector("[aria-expanded]")?.setAttribute("aria-expanded", String(turn.asked));
    if (!turn.asked) { turn.why.replaceChildren(); return; }
    if (!turn.reasons) await this.reason(turn);
    this.drawReasons(turn);
    turn.why.scrollIntoView({ block: "nearest" });
    announce(turn.why.textContent);
  }

  async details(turn, element) {
    if (element.querySelector(".why")) return;
    const told = await trying(() => this.project.post("/explain", turn.where({ text: turn.teaches })));
    if (!told?.steps) return;
    const why = new Why();
    element.append(why.element);
    why.show(told, turn.reasons);
  }

  // ---- demonstrating ----

  async show(turn, actions = []) {
    const seen = await trying(() => this.project.post("/walk", turn.where({ actions: json(actions) })));
    if (!seen) return;
    if (this.showing && this.showing !== turn) this.cancel(this.showing);
    this.showing = turn;
    this.element.classList.add("showing");
    turn.shown = seen.actions;
    turn.possible = seen.possible;
    turn.more = seen.more;
    this.world.show(seen.frames, seen.actions, { acting: true });
    this.drawShowing(turn);
    if (!actions.length) turn.reply.querySelector(".possible button")?.focus({ preventScroll: true });
    announce(`${seen.frames.at(-1).text} ${t("possible")}: ${seen.possible.length}`);
  }

  clicked(name) {
    const turn = this.showing;
    const action = turn?.possible.find((each) => each.name === name);
    if (action) this.show(turn, [...turn.shown, action]);
  }

  drawShowing(turn) {
    const { shown } = turn;
    turn.reply.replaceChildren(
      turn.plan ? "" : h("p", {}, t("unknown")),
      h("p", { class: "ask" }, t("showTitle", turn.teaches.slice(0, 80))),
      h("p", { class: "muted small" }, t("showHow")),
      h("div", { class: "possible", role: "group", "aria-label": t("possible") },
        turn.possible.map((each) => h("button", { type: "button", class: "small", onclick: () => this.show(turn, [...shown, each]) }, each.label)),
        turn.possible.length ? null : h("span", { class: "muted" }, t("noMore")),
        turn.more ? h("span", { class: "muted" }, t("more", turn.more)) : null),
      shown.length || this.project.about.scenes.length === 1 ? "" : h("p", { class: "muted small" }, t("showElsewhere")),
      shown.length ? h("ol", { class: "steps" }, shown.map((each, place) => h("li", {}, h("span", { class: `step colour-${place % 6}` }, each.label)))) : "",
      h("div", { class: "row turn-tools" },
        h("button", { type: "button", class: "main small", disabled: !shown.length, onclick: () => this.teach(turn, shown, "shown") }, t("teach")),
        h("button", { type: "button", class: "small", disabled: !shown.length, onclick: () => this.show(turn, shown.slice(0, -1)) }, t("removeLast")),
        h("button", { type: "button", class: "small quiet", onclick: () => this.cancel(turn) }, t("cancel"))));
    if (turn === this.turns.at(-1)) this.down();
    else turn.reply.scrollIntoView({ block: "nearest" });
  }

  cancel(turn) {
    turn.shown = null;
    this.showing = null;
    this.element.classList.remove("showing");
    if (turn.moved) { turn.moved = false; this.ask(turn); return; }
    this.answer(turn);
    if (turn.plan) this.world.show(turn.plan.frames, turn.plan.actions);
    else this.world.show(this.world.frames.slice(0, 1), []);
  }

  /** Teach a turn: its own text in its own scene, regardless of the text box. */
  async teach(turn, actions, origin) {
    const text = turn.teaches;
    const done = await trying(() => this.project.post("/teach", turn.where({ text, origin, actions: json(actions) })));
    if (!done) return;
    Object.assign(turn, { asks: text, before: [], choice: null }); // later requests use this text
    turn.shown = null;
    turn.moved = false;
    this.showing = null;
    this.element.classList.remove("showing");
    turn.taught = actions;
    turn.undoable = true;
    for (const other of this.turns) if (other !== turn && other.undoable) { other.undoable = false; if (!other.shown) this.answer(other); }
    turn.waits = done.revision;
    turn.reply.replaceChildren(h("p", { class: "taught" }, t("taught", text, line(labels(actions)))), h("p", { class: "muted" }, t("learning")));
    announce(t("learning"));
    await this.goOn(turn, actions);
    await this.wait(); // training may finish before the response arrives
    this.text.focus({ preventScroll: true });
  }

  async undo() {
    const done = await trying(() => this.project.post("/undo"));
    if (!done) return;
    for (const each of this.turns) if (each.undoable) { each.taught = null; each.undoable = false; each.waits = done.revision; }
    tell(t("undone"), "good");
    await this.wait();
  }

  // ---- learning ----

  async happened(kind, data) {
    if (kind === "failed") tell(data.problem);
    this.draw();
    if (kind !== "progress") await this.wait();
  }

  /** Send turns again that were waiting for training to finish. */
  async wait() {
    const { about } = this.project;
    for (const turn of this.turns.filter((each) => each.waits !== undefined && !each.shown)) {
      if (about.learnt < turn.waits && !about.problem) continue;
      delete turn.waits;
      if (about.trained) await this.ask(turn); else { turn.plan = null; this.answer(turn); }
    }
  }

  draw() {
    const { about } = this.project;
    const { recent, of, held, held_of: all } = about.standing;
    const first = about.known > 0 && !about.trained && !about.problem; // first training is running
    const said = [of ? t("canRecent", recent, of) : "", all && !first ? t("canHeld", held, all) : ""].filter(Boolean);
    const behind = about.learnt !== about.revision && !about.problem;
    this.can.replaceChildren(h("span", { class: "can-name" }, t("can"), ": "), first ? "…" : said.join(" · ") || t(about.trained ? "canTrained" : "canNothing"),
      behind ? h("span", { class: "muted" }, ` ${t("learning")}`) : "");
    this.undoing.hidden = !about.undo;
    this.undoing.textContent = undoLabel(about.undo);
    this.hello.replaceChildren(
      h("p", { class: "bubble its" }, about.writes ? t(first ? "first" : about.examples.length && about.trained ? "knows" : about.trained ? "knowsSome" : "empty") : t("onlyAsk")),
      about.problem ? h("p", { class: "problem" }, about.problem) : "",
      first ? "" : h("ul", { class: "examples" }, about.examples.map((each) => h("li", {},
        h("button", { type: "button", class: "example", onclick: async () => { await this.enter(each.scene, each.start); await this.say(each.text); } }, each.text)))));
    this.onchange(about);
  }

  close() { this.stop(); this.voice.close(); clearTimeout(this.world.timer); }
}

/** Speech input and output, if the browser supports them; both are off until the user enables them. */
class Voice {
  constructor(onsaid) {
    const Recognition = window.SpeechRecognition ?? window.webkitSpeechRecognition;
    this.aloud = false;
    this.buttons = [
      Recognition ? h("button", { type: "button", class: "quiet icon", title: t("listenNote"), "aria-label": t("listen"), onclick: () => {
        this.hearing = new Recognition();
        this.hearing.lang = spoken();
        this.hearing.onresult = (event) => onsaid(event.results[0][0].transcript);
        this.hearing.onerror = (event) => { if (!["aborted", "no-speech"].includes(event.error)) tell(t("listenFailed")); };
        this.hearing.start();
      } }, icon("M12 3a3 3 0 0 1 3 3v6a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3z M6 11a6 6 0 0 0 12 0 M12 17v4")) : null,
      window.speechSynthesis ? h("button", { type: "button", class: "quiet icon", "aria-pressed": "false", "aria-label": t("aloud"), onclick: (event) => {
        this.aloud = !this.aloud;
        event.currentTarget.setAttribute("aria-pressed", String(this.aloud));
      } }, icon("M4 9v6h4l5 4V5L8 9z M16 9a4 4 0 0 1 0 6 M18.5 6.5a8 8 0 0 1 0 11")) : null,
    ];
  }

  speak(text) {
    if (!this.aloud || !text) return;
    const words = new SpeechSynthesisUtterance(text);
    words.lang = spoken();
    speechSynthesis.speak(words);
  }

  close() { this.hearing?.abort(); window.speechSynthesis?.cancel(); }
}
