// Where one says something, sees what the agent does, and shows what was meant.
import { announce, bar, h, percent, tell, trying } from "./dom.js";
import { World } from "./world.js";

const line = (actions) => actions.length ? actions.map((each) => each.label).join(" → ") : "nothing";

export class Bench {
  /**
   * @param project the project on the server
   * @param options onplan(plan, wish): a plan came; ontaught(): something was taught;
   *   prompt: what stands above the words; nextScene: go to the next scene once it was taught
   */
  constructor(project, options = {}) {
    this.project = project;
    this.options = options;
    this.scene = project.about.scenes[0].name;
    this.start = null;
    this.plan = null;
    this.shown = null; // the actions while one shows them, else nothing
    this.again = null; // the sentence to follow again, and the revision to be learnt before
    this.turn = 0;
    this.world = new World({ onaction: (name) => this.actByName(name) });
    this.text = h("textarea", { id: `words-${project.name}`, rows: 2, maxlength: 4000, autocomplete: "off",
      spellcheck: "false", placeholder: options.placeholder ?? "Turn left and walk to the sofa.",
      onkeydown: (event) => {
        if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); this.follow(); }
      } });
    this.scenes = h("select", { id: `scene-${project.name}`, onchange: () => this.enter(this.scenes.value) },
      project.about.scenes.map((each) => h("option", { value: each.name }, each.name)));
    this.answer = h("div", { class: "answer" });
    this.learning = h("div", { class: "learning" });
    this.element = h("div", { class: "bench" },
      h("section", { class: "panel stage", "aria-label": "World" },
        h("div", { class: "row between stage-top" },
          h("label", { for: this.scenes.id, class: "unseen" }, "Scene"), this.scenes,
          h("button", { type: "button", class: "quiet", onclick: () => this.enter(this.scene) }, "Back to the start")),
        this.world.element),
      h("section", { class: "panel talk", "aria-label": "Say and teach" },
        h("form", { onsubmit: (event) => { event.preventDefault(); this.follow(); } },
          h("label", { for: this.text.id, class: "prompt" }, options.prompt ?? "Say what to do"),
          this.text,
          h("div", { class: "row" },
            h("button", { type: "submit", class: "main" }, "Follow"),
            h("button", { type: "button", class: "quiet", onclick: () => this.beginShowing() }, "Show it myself"))),
        this.answer, this.learning));
    this.stop = project.listen((kind, data) => this.happened(kind, data));
    this.drawLearning();
  }

  where(more = {}) { return { scene: this.scene, start: this.start, ...more }; }

  /** Go to a scene, or to a state of it. */
  async enter(scene, start = null) {
    const mine = ++this.turn;
    this.scene = scene;
    this.start = start;
    this.scenes.value = scene;
    this.plan = this.shown = null;
    this.again = null;
    const seen = await trying(() => this.project.post("/walk", this.where({ actions: [] })));
    if (!seen || mine !== this.turn) return;
    this.world.show(seen.frames, []);
    this.drawAnswer();
    this.options.onplan?.(null);
  }

  // ---- saying ----

  async follow({ quietly = false } = {}) {
    const text = this.text.value.trim();
    if (!text) {
      tell("There are no words yet. Say what to do, in your own words.");
      this.text.focus();
      return;
    }
    const mine = ++this.turn;
    this.shown = null;
    this.element.classList.add("busy");
    try {
      const plan = await this.project.post("/follow", this.where({ text }));
      if (mine !== this.turn) return;
      if (!plan.trained) {
        const { about } = this.project;
        if (about.known && about.learnt !== about.revision && !about.problem) this.wait(text, about.revision);
        else await this.beginShowing();
        return;
      }
      this.plan = { ...plan, text };
      this.world.show(plan.frames, plan.actions, { animate: true });
      this.drawAnswer();
      if (plan.note) tell(plan.note);
      announce(plan.understood ? `Plan: ${line(plan.actions)}. Confidence ${percent(plan.confidence)}.`
        : "I do not understand. Which of these did you mean?");
      this.options.onplan?.(this.plan, this.where({ text }));
    } catch (error) {
      if (mine === this.turn && !quietly) tell(error.message);
    } finally {
      this.element.classList.remove("busy");
    }
  }

  /** It is about to know something: the sentence is followed when it does. */
  wait(text, revision) {
    this.again = { text, scene: this.scene, start: this.start, revision };
    this.answer.replaceChildren(h("p", { class: "taught" }, "It is still learning. Your sentence is followed as soon as it has learnt."));
    announce("It is still learning.");
  }

  drawAnswer() {
    if (this.shown) return this.drawShowing();
    if (!this.plan) {
      const examples = this.project.about.examples;
      this.answer.replaceChildren(...(examples.length ? [
        h("p", { class: "muted small" }, "For example"),
        h("ul", { class: "examples" }, examples.map((each) => h("li", {},
          h("button", { type: "button", class: "link", onclick: () => { this.text.value = each; this.follow(); } }, each)))),
      ] : []));
      return undefined;
    }
    const { plan } = this;
    const sure = h("p", { class: "sure" }, h("span", {}, "Confidence"), bar(plan.confidence),
      h("strong", {}, percent(plan.confidence)));
    if (plan.understood) {
      this.answer.replaceChildren(
        h("h2", { class: "small-heading" }, "Plan"), this.steps(plan.actions), sure,
        h("div", { class: "row" },
          h("button", { type: "button", onclick: () => this.teach(plan.actions, "picked") }, "That is right"),
          h("button", { type: "button", onclick: () => this.goOn() }, "Go on from here")),
        h("details", { class: "others" },
          h("summary", {}, "I meant something else"), this.choices(plan.alternatives.slice(0, 5))));
    } else {
      const guess = { actions: plan.actions, probability: plan.probability, best: true };
      this.answer.replaceChildren(
        h("h2", { class: "ask" }, "I do not understand. Which of these did you mean?"), sure,
        this.choices([guess, ...plan.alternatives.slice(0, 4)]));
    }
    return undefined;
  }

  steps(actions) {
    const list = h("ol", { class: "steps" }, actions.map((each, place) => h("li", {},
      h("button", { type: "button", onclick: () => this.world.go(place + 1, true) }, each.label))));
    const mark = () => [...list.children].forEach((each, place) =>
      each.classList.toggle("now", place + 1 === this.world.place));
    this.world.element.addEventListener("step", mark);
    mark();
    return actions.length ? list : h("p", {}, "Do nothing.");
  }

  choices(plans) {
    return h("div", {},
      h("ul", { class: "choices" }, plans.map((each) => h("li", {},
        h("button", { type: "button", class: "choice", onclick: () => this.look(each),
          "aria-label": `Look at: ${line(each.actions)}` },
          h("span", {}, line(each.actions)),
          h("span", { class: "share" }, bar(each.probability), percent(each.probability))),
        h("button", { type: "button", onclick: () => this.teach(each.actions, "picked") }, "I meant this")))),
      h("button", { type: "button", class: "link", onclick: () => this.beginShowing() }, "None of these: let me show it"));
  }

  async look(plan) {
    const seen = await trying(() => this.project.post("/walk",
      this.where({ actions: plan.actions.map((each) => each.json) })));
    if (seen) this.world.show(seen.frames, seen.actions, { animate: true });
  }

  async goOn() {
    const actions = this.plan.actions.map((each) => each.json);
    const seen = await trying(() => this.project.post("/continue", this.where({ actions })));
    if (!seen) return;
    await this.enter(this.scene, seen.frames[0].state);
    this.text.value = "";
    this.text.focus();
  }

  // ---- showing ----

  async beginShowing() {
    if (!this.text.value.trim()) {
      tell("Say first what you are going to show, then click what to do.");
      this.text.focus();
      return;
    }
    await this.showing([]);
    this.answer.querySelector(".possible button")?.focus();
  }

  async showing(actions) {
    const mine = ++this.turn;
    const seen = await trying(() => this.project.post("/walk", this.where({ actions: actions.map((each) => each.json) })));
    if (!seen || mine !== this.turn) return;
    if (!this.shown) this.options.onplan?.(null);
    this.shown = seen.actions;
    this.possible = seen.possible;
    this.more = seen.more;
    this.world.show(seen.frames, seen.actions, { acting: true });
    this.drawShowing();
    announce(`${seen.frames.at(-1).text} ${seen.possible.length} possible actions.`);
  }

  actByName(name) {
    const action = this.possible?.find((each) => each.name === name);
    if (action && this.shown) this.showing([...this.shown, action]);
  }

  drawShowing() {
    const shown = this.shown;
    this.answer.replaceChildren(
      h("h2", { class: "ask" }, `Show what “${this.text.value.trim().slice(0, 80)}” means`),
      h("p", { class: "muted small" }, "Click in the picture, or choose:"),
      h("div", { class: "possible", role: "group", "aria-label": "Possible actions" },
        this.possible.map((each) => h("button", { type: "button", onclick: () => this.showing([...shown, each]) }, each.label)),
        this.possible.length ? null : h("span", { class: "muted" }, "Nothing more can be done."),
        this.more ? h("span", { class: "muted" }, `and ${this.more} more; click in the picture`) : null),
      ...(shown.length ? [this.steps(shown)] : []),
      h("div", { class: "row" },
        h("button", { type: "button", class: "main", disabled: !shown.length, onclick: () => this.teach(shown, "shown") }, "Teach this"),
        h("button", { type: "button", disabled: !shown.length, onclick: () => this.showing(shown.slice(0, -1)) }, "Take back"),
        h("button", { type: "button", class: "quiet", onclick: () => this.enter(this.scene, this.start) }, "Cancel")));
  }

  async teach(actions, origin) {
    const text = this.text.value.trim();
    const done = await trying(() => this.project.post("/teach",
      this.where({ text, origin, actions: actions.map((each) => each.json) })));
    if (!done) return;
    this.shown = null;
    this.again = { text, scene: this.scene, start: this.start, revision: done.revision };
    this.answer.replaceChildren(h("p", { class: "taught" }, `Kept: “${text.slice(0, 80)}” means ${line(actions)}.`));
    announce("Kept. It is learning now.");
    this.options.ontaught?.(done.demonstration);
    await this.followAgain(); // it may have learnt before the answer came
  }

  async undo() {
    const done = await trying(() => this.project.post("/undo"));
    if (done) announce(`Taken back: ${done.undone}.`);
  }

  // ---- learning ----

  async happened(kind, data) {
    this.drawLearning();
    if (kind === "failed") tell(data.problem);
    if (kind === "learnt") {
      const right = data.accuracy === null ? "" : ` ${percent(data.accuracy)} of those kept apart are right.`;
      announce(`Learnt from ${data.known} demonstrations.${right}`);
      if (this.plan && !this.shown) {
        this.again ??= { text: this.plan.text, scene: this.scene, start: this.start, revision: data.revision };
      }
    }
    await this.followAgain();
  }

  /** Follow the sentence that waits once it has learnt, unless one has gone on meanwhile. */
  async followAgain() {
    const wanted = this.again;
    if (!wanted || this.project.about.learnt < wanted.revision) return;
    this.again = null;
    if (wanted.text === this.text.value.trim() && wanted.scene === this.scene && !this.shown) {
      await this.follow({ quietly: true });
    }
  }

  drawLearning() {
    const about = this.project.about;
    const behind = about.learnt !== about.revision;
    const progress = behind ? about.progress ?? { stage: "waiting", step: 0, steps: 1 } : null;
    const parts = [];
    if (!about.writes) parts.push(h("p", { class: "muted small" }, "Another process has this project open and learns in it; here it can only be asked."));
    else if (progress && !about.problem) {
      const share = progress.steps ? progress.step / progress.steps : 0;
      const inner = h("span", { class: "bar-fill" });
      inner.style.width = `${100 * Math.max(0.04, share)}%`;
      parts.push(h("div", { class: "progress", role: "progressbar", "aria-label": "Learning", "aria-valuemin": 0,
        "aria-valuemax": 100, "aria-valuenow": Math.round(100 * share) }, inner),
      h("p", { class: "muted small" }, `Learning from ${about.known} demonstrations …`));
    } else if (about.problem) {
      parts.push(h("p", { class: "problem" }, about.problem));
    }
    if (about.undo) {
      parts.push(h("button", { type: "button", class: "quiet small", onclick: () => this.undo(), title: about.undo },
        `Undo ${about.undo}`));
    }
    this.learning.replaceChildren(...parts);
  }

  close() { this.stop(); clearTimeout(this.world.timer); }
}
