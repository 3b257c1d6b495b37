// All demonstrations: search, edit, weigh, keep apart, delete, take in and give out.
import { call } from "./api.js";
import { announce, h, plural, tell, trying } from "./dom.js";

const SIZE = 50;

export async function open(page, project) {
  let offset = 0;
  let turn = 0;
  let typing = false; // a row that somebody types into is not replaced meanwhile
  let late = false;
  const count = h("p", { class: "muted", role: "status" });
  const body = h("tbody");
  const more = h("button", { type: "button", hidden: true, onclick: () => load(true) }, "Show more");
  const undo = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => trying(() => project.post("/undo")) });
  const search = h("input", { type: "search", id: "search", placeholder: "a word …", autocomplete: "off", oninput: () => {
    clearTimeout(search.timer);
    search.timer = setTimeout(() => load(), 200);
  } });
  const file = h("input", { type: "file", id: "file", accept: ".jsonl,application/x-ndjson", class: "unseen", onchange: takeIn });

  body.addEventListener("input", () => { typing = true; });
  body.addEventListener("change", () => { typing = false; });
  body.addEventListener("focusout", () => {
    typing = false;
    if (late) load();
  });

  async function load(further = false) {
    const mine = ++turn;
    offset = further ? offset + SIZE : 0;
    const found = await trying(() => project.get(`/demonstrations?limit=${SIZE}&offset=${offset}&search=${encodeURIComponent(search.value)}`));
    if (!found || mine !== turn) return;
    late = typing && !further;
    if (late) return;
    const rows = found.demonstrations.map(row);
    if (further) body.append(...rows); else body.replaceChildren(...rows);
    const { aside } = project.about;
    count.textContent = plural(found.total, "demonstration") + (aside ? `, ${aside} set aside` : "");
    more.hidden = body.children.length >= found.total;
    undo.hidden = !project.about.undo;
    undo.textContent = `Undo ${project.about.undo ?? ""}`;
  }

  const change = (each, fields) => trying(() => call("PATCH", `${project.base}/demonstrations/${each.id}`, fields));

  function row(each) {
    const text = h("textarea", { class: "plain", rows: Math.max(each.text.split("\n").length, Math.ceil(each.text.length / 44)), value: each.text, "aria-label": "Text",
      maxlength: 4000, spellcheck: "false",
      onchange: () => change(each, { text: text.value }).then((done) => { if (!done) text.value = each.text; }) });
    const weight = h("input", { type: "number", min: 0, max: 1000, step: 0.5, value: each.weight, "aria-label": `Weight of “${each.text}”`,
      onchange: () => change(each, { weight: Number(weight.value) }).then((done) => { if (!done) weight.value = each.weight; }) });
    const apart = h("input", { type: "checkbox", checked: each.apart, "aria-label": `Keep “${each.text}” apart`,
      onchange: () => change(each, { apart: apart.checked }) });
    const first = { true: "right at once", false: "had to be taught" }[String(each.right_before)] ?? each.origin;
    return h("tr", {},
      h("td", { class: "said" }, text),
      h("td", { "data-name": "Done" }, each.labels.join(" → "), h("span", { class: "muted small block" }, each.scene),
        each.problem ? h("span", { class: "problem small block" }, `Set aside: ${each.problem}`) : ""),
      h("td", { "data-name": "First try" }, h("span", { class: `tag ${each.right_before === true ? "good" : ""}` }, first)),
      h("td", { "data-name": "Weight" }, weight),
      h("td", { "data-name": "Kept apart" }, apart),
      h("td", { class: "row" },
        h("a", { class: "button quiet", href: `#/?show=${each.id}`, "aria-label": `Show again: ${each.text}` }, "Show again"),
        h("button", { type: "button", class: "quiet", "aria-label": `Delete: ${each.text}`, onclick: async () => {
          if (await trying(() => call("DELETE", `${project.base}/demonstrations/${each.id}`))) announce("Deleted. Undo takes it back.");
        } }, "Delete")));
  }

  async function takeIn() {
    const chosen = file.files[0];
    if (!chosen) return;
    const done = await trying(() => chosen.arrayBuffer().then((data) =>
      call("POST", `${project.base}/import`, data, "application/x-ndjson")));
    file.value = "";
    if (!done) return;
    const [first] = done.refused;
    if (first) tell(`${plural(done.imported, "demonstration")} imported; ${done.refused_in_all} refused. Line ${first.line}: ${first.problem}`);
    else tell(`${plural(done.imported, "demonstration")} imported.`, "good");
  }

  page.append(
    h("h1", {}, "Demonstrations"),
    h("p", { class: "lead" }, "All that it learns from: what was said, and what was done. Those kept apart are only followed, to see how well it does."),
    h("div", { class: "row between tools" },
      h("div", { class: "row" }, h("label", { for: "search", class: "unseen" }, "Search"), search, count),
      h("div", { class: "row" }, undo,
        h("label", { for: "file", class: "button" }, "Import"), file,
        h("a", { class: "button", href: `${project.base}/export`, download: "demonstrations.jsonl" }, "Export"))),
    h("div", { class: "panel table" }, h("table", {},
      h("thead", {}, h("tr", {}, ["Said", "Done", "First try", "Weight", "Kept apart", ""].map((each) => h("th", { scope: "col" }, each || h("span", { class: "unseen" }, "Change"))))),
      body)),
    h("div", { class: "row" }, more));
  const stop = project.listen((kind) => { if (kind === "changed" || kind === "learnt" || kind === "again") load(); });
  await load();
  return stop;
}
