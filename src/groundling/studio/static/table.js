// Examples page: search, edit, weight, hold out, delete, import and export.
import { call } from "./api.js";
import { announce, h, tell, trying } from "./dom.js";
import { t, titled, undoLabel } from "./strings.js";

const SIZE = 50;

export async function open(page, project) {
  let offset = 0;
  let turn = 0;
  let typing = false; // rows are not replaced while the user types
  let late = false;
  const count = h("p", { class: "muted", role: "status" });
  const body = h("tbody");
  const more = h("button", { type: "button", hidden: true, onclick: () => load(true) }, t("showMore"));
  const undo = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => trying(() => project.post("/undo")) });
  const search = h("input", { type: "search", id: "search", placeholder: t("search"), autocomplete: "off", oninput: () => {
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
    count.textContent = (found.total === 1 ? t("countOne") : t("count", found.total)) + (aside ? t("setAside", aside) : "");
    if (!found.total) body.replaceChildren(h("tr", {}, h("td", { colspan: 6, class: "muted" }, t(search.value ? "noneFound" : "noneYet"))));
    more.hidden = body.children.length >= found.total;
    undo.hidden = !project.about.undo;
    undo.textContent = undoLabel(project.about.undo);
  }

  const change = (each, fields) => trying(() => call("PATCH", `${project.base}/demonstrations/${each.id}`, fields));

  function row(each) {
    const text = h("textarea", { class: "plain", rows: Math.max(each.text.split("\n").length, Math.ceil(each.text.length / 44)), value: each.text, "aria-label": t("text"),
      maxlength: 4000, spellcheck: "false",
      onchange: () => change(each, { text: text.value }).then((done) => { if (!done) text.value = each.text; }) });
    const weight = h("input", { type: "number", min: 0, max: 1000, step: 0.5, value: each.weight, "aria-label": t("weightOf", each.text),
      onchange: () => change(each, { weight: Number(weight.value) }).then((done) => { if (!done) weight.value = each.weight; }) });
    const apart = h("input", { type: "checkbox", checked: each.apart, "aria-label": t("testOnlyOf", each.text),
      onchange: () => change(each, { apart: apart.checked }) });
    const first = { true: t("rightAtOnce"), false: t("hadToBeTaught") }[String(each.right_before)] ?? t(each.origin === "imported" ? "importedOne" : "given");
    return h("tr", {},
      h("td", { class: "said" }, text),
      h("td", { "data-name": t("did") }, each.labels.join(" → "), h("span", { class: "muted small block" }, titled(each.scene)),
        each.problem ? h("span", { class: "problem small block" }, t("aside", each.problem)) : ""),
      h("td", { "data-name": t("firstTry"), class: "inline" }, h("span", { class: `tag ${each.right_before === true ? "good" : ""}` }, first)),
      h("td", { "data-name": t("weight"), class: "inline" }, weight),
      h("td", { "data-name": t("testOnly"), class: "inline" }, apart),
      h("td", { class: "row" },
        h("a", { class: "button quiet", href: `#/${project.name === "main" ? "" : `/${project.name}`}?redo=${each.id}`, "aria-label": t("redoOf", each.text) }, t("redo")),
        h("button", { type: "button", class: "quiet", "aria-label": t("removeOf", each.text), onclick: async () => {
          if (await trying(() => call("DELETE", `${project.base}/demonstrations/${each.id}`))) announce(t("removed"));
        } }, t("remove"))));
  }

  async function takeIn() {
    const chosen = file.files[0];
    if (!chosen) return;
    const done = await trying(() => chosen.arrayBuffer().then((data) =>
      call("POST", `${project.base}/import`, data, "application/x-ndjson")));
    file.value = "";
    if (!done) return;
    const [first] = done.refused;
    const said = t("imported", done.imported, done.known);
    if (first) tell(`${said} ${t("refused", done.refused_in_all, first.line, first.problem)}`);
    else tell(said, "good");
  }

  page.append(
    h("h1", {}, t("examplesTitle"), project.about.pupil ? h("span", { class: "muted" }, ` · ${t("robotOf", project.about.pupil)}`) : ""),
    h("p", { class: "lead" }, t("examplesLead")),
    h("div", { class: "row between tools" },
      h("div", { class: "row" }, h("label", { for: "search", class: "unseen" }, t("search")), search, count),
      h("div", { class: "row" }, undo,
        h("label", { for: "file", class: "button" }, t("import")), file,
        h("a", { class: "button", href: `${project.base}/export`, download: "" }, t("export")))),
    h("div", { class: "panel table" }, h("table", {},
      h("thead", {}, h("tr", {}, [t("said"), t("did"), t("firstTry"), t("weight"), t("testOnly"), ""].map((each) => h("th", { scope: "col" }, each || h("span", { class: "unseen" }, t("change")))))),
      body)),
    h("div", { class: "row" }, more));
  const stop = project.listen((kind) => { if (kind === "changed" || kind === "learnt" || kind === "again") load(); });
  await load();
  return stop;
}
