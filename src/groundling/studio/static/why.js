// Details of an explanation: words above graph nodes; pointing at one highlights the others.
import { h, percent, s, sides } from "./dom.js";
import { t } from "./strings.js";

const SHOWN = 0.25; // weaker links are drawn only when pointed at
const FAINT = 0.03;
const SMALL = 0.01; // smaller amounts are negligible
const NODE = 0.12; // nodes without a link of at least this probability are hidden

export class Why {
  constructor() {
    this.told = null;
    this.chosen = null;
    this.pointed = null;
    this.lines = s("svg", { class: "why-lines", "aria-hidden": "true" });
    this.words = h("div", { class: "why-words" });
    this.acts = h("div", { class: "why-actions" });
    this.detail = h("div", { class: "why-detail", "aria-live": "polite" });
    this.chart = h("div", { class: "why-chart" }, this.lines, this.words, this.acts);
    this.element = h("div", { class: "why" }, h("div", { class: "why-grid" }, this.chart, this.detail));
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.chart);
  }

  /** Show an explanation; `reasons` are the words given as reasons for each step. */
  show(told, reasons) {
    this.told = told;
    this.mentioned = told.steps.map((step, place) => step.asked || Boolean(reasons?.steps[place]?.words.length));
    this.chosen = this.pointed = null;
    this.detail.style.removeProperty("min-height");
    this.detail.replaceChildren();
    this.places = new Map();
    this.nodes = new Map();
    this.words.replaceChildren(...told.words.map((words, sentence) => this.sentence(words, sentence)));
    this.acts.replaceChildren(...told.steps.map((step, place) => this.action(step, place)));
    this.light();
    requestAnimationFrame(() => this.draw());
  }

  pointing(thing) {
    const key = JSON.stringify(thing);
    return {
      onpointerenter: (event) => { if (event.pointerType !== "touch") { this.pointed = thing; this.light(); } },
      onpointerleave: () => { this.pointed = null; this.light(); },
      onfocus: () => { this.pointed = thing; this.light(); },
      onblur: () => { this.pointed = null; this.light(); },
      onclick: () => {
        this.chosen = JSON.stringify(this.chosen) === key ? null : thing;
        this.light();
      },
    };
  }

  sentence(words, sentence) {
    const units = this.told.units.filter((each) => each.sentence === sentence);
    const unitOf = (place) => units.findIndex((each) => each.words.includes(place));
    const groups = [];
    words.forEach((word, place) => {
      const unit = unitOf(place);
      if (!groups.length || groups.at(-1).unit !== unit || units.length === words.length) groups.push({ unit, words: [] });
      groups.at(-1).words.push([word, place]);
    });
    return h("p", { class: "why-sentence" }, groups.map((group) =>
      h("span", { class: units.length === words.length ? "unit single" : "unit" }, group.words.map(([word, place]) => {
        const button = h("button", { type: "button", class: "word", "aria-pressed": "false", ...this.pointing({ sentence, place }) }, word);
        this.places.set(`${sentence}.${place}`, button);
        return button;
      }))));
  }

  action(step, place) {
    // Nodes without links are only counted, to keep the picture clear.
    const strongest = (node) => Math.max(0, ...step.links.filter((each) => each.node === node.name).map((each) => each.probability));
    const used = step.nodes.filter((node) => strongest(node) >= NODE);
    const rest = step.nodes.filter((node) => strongest(node) < NODE);
    const nodes = used.map((node) => {
      const box = h("span", { class: "node", title: node.labels.join(", ") }, node.name);
      this.nodes.set(`${place}.${node.name}`, box);
      return box;
    });
    if (rest.length) {
      nodes.push(h("span", { class: "node none", title: rest.map((each) => each.name).join(", ") }, `+${rest.length}`));
    }
    const head = h("button", { type: "button", class: "act", "aria-pressed": "false", ...this.pointing({ step: place }) },
      h("span", { class: "act-number" }, place + 1), step.label);
    this.places.set(`step.${place}`, head);
    return h("div", { class: this.mentioned[place] ? "why-action" : "why-action unasked" }, head,
      this.mentioned[place] ? null : h("span", { class: "muted small" }, t("notMentioned")),
      h("div", { class: "nodes" }, nodes));
  }

  links() {
    return this.told.steps.flatMap((step, place) => step.links.map((link) => ({ ...link, step: place })));
  }

  /** Highlight everything linked to the word or action under the pointer. */
  light() {
    const thing = this.pointed ?? this.chosen;
    for (const [key, button] of this.places) {
      const own = thing && (key === `step.${thing.step}` || key === `${thing.sentence}.${thing.place}`);
      const chosen = this.chosen && (key === `step.${this.chosen.step}` || key === `${this.chosen.sentence}.${this.chosen.place}`);
      button.setAttribute("aria-pressed", String(Boolean(chosen)));
      button.classList.toggle("lit", Boolean(own));
      button.style.removeProperty("--glow");
    }
    for (const box of this.nodes.values()) box.classList.remove("lit");
    if (thing) {
      for (const link of this.links()) {
        if (!this.isOf(link, thing) || link.probability < 0.1) continue;
        this.nodes.get(`${link.step}.${link.node}`)?.classList.add("lit");
        const other = thing.step === undefined ? `step.${link.step}` : `${link.sentence}.${link.position}`;
        const button = this.places.get(other);
        const glow = Math.max(Number(button.style.getPropertyValue("--glow") || 0), link.probability);
        button.classList.add("lit");
        button.style.setProperty("--glow", glow.toFixed(2));
      }
    }
    this.element.classList.toggle("pointing", Boolean(thing));
    this.draw();
    // Keep the height while pointing, so that the page does not move under the pointer.
    this.detail.style.minHeight = `${this.detail.offsetHeight}px`;
    this.detail.replaceChildren(...(!thing ? this.general() : thing.step === undefined ? this.aboutWord(thing) : this.aboutStep(thing.step)));
  }

  isOf(link, thing) {
    return thing.step === undefined
      ? link.sentence === thing.sentence && link.position === thing.place
      : link.step === thing.step;
  }

  draw() {
    if (!this.told) return;
    const box = this.chart.getBoundingClientRect();
    this.lines.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    this.lines.setAttribute("width", box.width);
    this.lines.setAttribute("height", box.height);
    const thing = this.pointed ?? this.chosen;
    const paths = this.links().filter((link) => link.probability >= (thing && this.isOf(link, thing) ? FAINT : SHOWN)).map((link) => {
      const from = this.places.get(`${link.sentence}.${link.position}`)?.getBoundingClientRect();
      const to = this.nodes.get(`${link.step}.${link.node}`)?.getBoundingClientRect();
      if (!from || !to) return null;
      const [x, y] = [from.left + from.width / 2 - box.left, from.bottom - box.top];
      const [end, down] = [to.left + to.width / 2 - box.left, to.top - box.top];
      const middle = (y + down) / 2;
      return s("path", { d: `M${x} ${y} C${x} ${middle} ${end} ${middle} ${end} ${down}`,
        "stroke-width": (0.6 + 3.4 * link.probability).toFixed(2),
        class: thing ? (this.isOf(link, thing) ? "lit" : "dim") : "" });
    });
    this.lines.replaceChildren(...paths.filter(Boolean));
  }

  // ---- in words ----

  general() {
    const rival = this.told.rivals[0];
    return [
      h("p", {}, t("detailsHow")),
      rival ? h("p", {}, t("runnerUp", rival.labels.join(t("then")), rival.margin.toFixed(2))) : null,
      rival ? h("h3", {}, t("decided")) : null,
      rival ? sides(rival.features.features.slice(0, 6).map((each) => ({ name: each.feature, value: each.amount })), t("decided")) : null,
    ].filter(Boolean);
  }

  aboutWord({ sentence, place }) {
    const told = this.told;
    const word = told.words[sentence][place];
    const links = this.links().filter((each) => this.isOf(each, { sentence, place }) && each.probability >= FAINT)
      .sort((one, two) => two.probability - one.probability);
    const features = this.featuresOf(word, links);
    return [
      h("h3", { class: "mark" }, `“${word}”`),
      h("p", {}, links.length ? t("liesOn") : t("liesOnNothing"), links.slice(0, 4).map((each, rank) => h("span", {},
        rank ? ", " : "", h("strong", {}, each.node), ` · ${told.steps[each.step].label} (${percent(each.probability)})`))),
      features.length ? h("h3", {}, t("itsWeights")) : null,
      features.length ? sides(features, t("itsWeights")) : null,
    ].filter(Boolean);
  }

  featuresOf(word, links) {
    const steps = new Set(links.filter((each) => each.probability >= 0.1).map((each) => each.step));
    const all = [...steps].flatMap((place) => this.told.steps[place].text.features);
    const small = word.toLowerCase();
    const own = all.filter((each) => each.feature.split(" ∧ ")[0].split("=").at(-1) === small);
    // A word that names a value contributes through its slot.
    const slots = new Set(links.flatMap((each) => this.told.steps[each.step].nodes
      .filter((node) => node.name === each.node)
      .flatMap((node) => node.labels)
      .filter((label) => label.toLowerCase().endsWith(`=${small}`))
      .map((label) => label.split("=")[0].split(":").at(-1))));
    const filled = all.filter((each) => [...slots].some((slot) => each.feature.includes(`‹${slot}›`)));
    const seen = new Map();
    for (const each of [...own, ...filled]) {
      const known = seen.get(each.feature);
      if (!known || Math.abs(known.value) < Math.abs(each.amount)) seen.set(each.feature, { name: each.feature, value: each.amount });
    }
    return [...seen.values()].sort((one, two) => Math.abs(two.value) - Math.abs(one.value)).slice(0, 8);
  }

  aboutStep(place) {
    const step = this.told.steps[place];
    const rows = (all) => all.features.filter((each) => Math.abs(each.amount) >= SMALL).slice(0, 6).map((each) => ({ name: each.feature, value: each.amount }));
    const part = (name, all) => (rows(all).length ? [h("h3", {}, t(name)), sides(rows(all), t(name))] : []);
    return [h("h3", { class: "mark" }, step.label), this.mentioned[place] ? "" : h("p", {}, t("notMentioned")),
      ...part("fromText", step.text), ...part("anyway", step.own)];
  }

  close() { this.watch.disconnect(); }
}
