// World view: a picture of a state, and controls to step through a plan.
import { adopt, announce, h, tell } from "./dom.js";
import { t } from "./strings.js";

export class World {
  constructor({ onaction } = {}) {
    this.frames = [];
    this.actions = [];
    this.place = 0;
    this.onaction = onaction;
    this.acting = false;
    this.picture = h("div", { class: "picture", onclick: (event) => {
      if (!this.acting || !this.onaction) return;
      const target = event.target.closest("[data-action]");
      if (target) this.onaction(target.getAttribute("data-action")); else tell(t("nothingThere"), "good");
    } });
    this.words = h("p", { class: "state" });
    this.back = h("button", { type: "button", class: "quiet icon", "aria-label": t("oneBack"),
      onclick: () => this.go(this.place - 1, true) }, "◀");
    this.forth = h("button", { type: "button", class: "quiet icon", "aria-label": t("oneOn"),
      onclick: () => this.go(this.place + 1, true) }, "▶");
    this.label = h("span", { class: "step-label" });
    this.stepper = h("div", { class: "stepper" }, this.back, this.label, this.forth);
    this.element = h("div", { class: "world" }, this.picture, this.stepper, this.words);
    this.element.addEventListener("keydown", (event) => {
      if (event.target.closest("input, textarea, select") || !this.frames.length) return;
      if (event.key === "ArrowLeft") this.go(this.place - 1, true);
      if (event.key === "ArrowRight") this.go(this.place + 1, true);
    });
  }

  /** Show the states of a plan up to index `place`, by default the last. */
  show(frames, actions, { place = frames.length - 1, acting = false, animate = false } = {}) {
    clearTimeout(this.timer);
    this.frames = frames;
    this.actions = actions;
    this.acting = acting;
    this.element.classList.toggle("acting", acting);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (animate && !still && place > 0) this.play(0, place);
    else this.go(place);
  }

  play(place, end) {
    this.go(place);
    if (place < end) this.timer = setTimeout(() => this.play(place + 1, end), place ? 420 : 250);
  }

  go(place, byHand = false) {
    if (byHand) clearTimeout(this.timer);
    if (place < 0 || place >= this.frames.length) return;
    this.place = place;
    const frame = this.frames[place];
    const drawing = frame.svg ? adopt(frame.svg) : null;
    if (drawing) {
      drawing.setAttribute("role", "img");
      drawing.setAttribute("aria-label", frame.text);
      this.picture.replaceChildren(drawing);
    } else {
      this.picture.replaceChildren(h("div", { class: "card-state" }, frame.text));
    }
    if (frame.problem) this.picture.append(h("p", { class: "problem" }, frame.problem));
    this.words.textContent = drawing ? frame.text : "";
    const last = this.frames.length - 1;
    this.stepper.hidden = last === 0;
    this.back.disabled = place === 0;
    this.forth.disabled = place === last;
    this.label.textContent = place === 0 ? t("start") : t("stepOf", place, last, this.actions[place - 1].label);
    this.mark(place);
    if (byHand) announce(`${this.label.textContent}. ${frame.text}`);
    this.element.dispatchEvent(new CustomEvent("step", { detail: place }));
  }

  /** Highlight the object of the next step in the colour of that step. */
  mark(place) {
    const next = this.actions[place];
    if (!next || this.acting) return;
    for (const target of this.picture.querySelectorAll("[data-action]")) {
      if (target.getAttribute("data-action") === next.name) target.classList.add("meant", `colour-${place % 6}`);
    }
  }
}
