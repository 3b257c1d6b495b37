// Model page: word meanings, and client code.
import { bar, h, readable, readableWord, sides, tell, trying } from "./dom.js";
import { t } from "./strings.js";

export async function open(page, project) {
  const list = h("ul", { class: "words" });
  const meaning = h("div", { class: "meaning", "aria-live": "polite" });
  const facts = h("p", { class: "muted" });
  const search = h("input", { type: "search", id: "word", autocomplete: "off", placeholder: t("findWord"), oninput: () => draw() });
  let words = [];

  function draw() {
    const wanted = search.value.trim().toLowerCase();
    const shown = words.filter((each) => each.word.includes(wanted)).slice(0, 60);
    const most = Math.max(0.01, ...shown.map((each) => each.weight));
    list.replaceChildren(...shown.map((each) => h("li", {},
      h("button", { type: "button", class: "choice", onclick: () => choose(each.word, true) },
        h("strong", {}, readableWord(each.word)), h("span", {}, each.meaning ? readable(each.meaning) : "…"),
        bar(each.weight / most, each.weight.toFixed(2))))));
    if (!shown.length) list.replaceChildren(h("li", { class: "muted" }, t(words.length ? "noWord" : "nothingLearnt")));
  }

  async function choose(word, moves = false) {
    const found = await trying(() => project.get(`/weights?word=${encodeURIComponent(word)}`));
    if (!found) return;
    meaning.replaceChildren(h("h3", { class: "mark" }, readableWord(word)), h("p", { class: "muted small" }, t("wordHow")),
      sides(found.weights.slice(0, 14).map((each) => ({ name: each.meaning, value: each.weight })), word));
    if (moves) meaning.scrollIntoView({ block: "nearest" }); // on a phone, the meaning is below the words
  }

  async function load() {
    const found = await project.get("/words").catch(() => null);
    words = found?.words ?? [];
    if (words.length && !meaning.childElementCount) await choose(words[0].word);
    if (!words.length) meaning.replaceChildren(h("p", { class: "muted" }, t("nothingLearnt")));
    facts.textContent = found?.weights ? t("modelFacts", words.length, found.weights) : t("nothingLearnt");
    draw();
  }

  page.append(
    h("h1", {}, t("model"), project.about.pupil ? h("span", { class: "muted" }, ` · ${t("robotOf", project.about.pupil)}`) : ""), h("p", { class: "lead" }, t("modelLead")), facts,
    h("div", { class: "two" },
      h("section", { class: "panel", "aria-label": t("wordsTitle") }, h("h2", {}, t("wordsTitle")),
        h("label", { for: "word", class: "unseen" }, t("findWord")), search, list),
      h("section", { class: "panel", "aria-label": t("oneWord") }, h("h2", {}, t("oneWord")), meaning)),
    h("section", { class: "panel", "aria-label": t("use") }, h("h2", {}, t("use")), h("p", {}, t("useHow")), ...snippets(await project.get("/use"))));
  const stop = project.listen((kind) => { if (kind !== "progress" && kind !== "changed") load(); });
  await load();
  return stop;
}

/** Return JSON-ready data as a Python literal. */
function python(value) {
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (value !== null && typeof value === "object") return `{${Object.entries(value).map(([key, each]) => `${python(key)}: ${python(each)}`).join(", ")}}`;
  return { true: "True", false: "False", null: "None" }[String(JSON.stringify(value))] ?? JSON.stringify(value);
}

/** Commands and client code for this model, with an example from its world. */
function snippets({ folder, text, state }) {
  const body = JSON.stringify({ text, state });
  const object = JSON.stringify({ text, state }, null, 1).replace(/\n */g, " ");
  const dictionary = python({ text, state });
  const quoted = (each) => `'${each.replaceAll("'", "'\\''")}'`;
  const address = "http://127.0.0.1:8090";
  const all = {
    Terminal: `groundling serve ${quoted(folder)} --teach --port 8090`,
    curl: `curl -s ${address}/v1/say -H 'content-type: application/json' -d ${quoted(body)}`,
    Python: `import json, urllib.request\n\nbody = ${dictionary}\nrequest = urllib.request.Request(\n    "${address}/v1/say", json.dumps(body).encode(), {"content-type": "application/json"})\nturn = json.load(urllib.request.urlopen(request))\nprint(turn["kind"], turn["actions"], turn["text"])`,
    JavaScript: `const answer = await fetch("${address}/v1/say", {\n  method: "POST",\n  headers: { "content-type": "application/json" },\n  body: JSON.stringify(${object}),\n});\nconst turn = await answer.json();\nconsole.log(turn.kind, turn.actions, turn.text);`,
  };
  return Object.entries(all).map(([name, code]) => h("div", { class: "snippet" },
    h("div", { class: "row between" }, h("h3", {}, name), h("button", { type: "button", class: "quiet small", "aria-label": `${t("copy")}: ${name}`, onclick: async () => {
      await navigator.clipboard?.writeText(code).catch(() => {});
      tell(t("copied"), "good");
    } }, t("copy"))),
    h("pre", { class: "output", tabindex: 0, "data-name": name }, code)));
}
