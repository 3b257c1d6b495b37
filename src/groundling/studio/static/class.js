// Class pages: the join address, all pupils' robots side by side, and the page of a pupil.
import { call, Project } from "./api.js";
import { adopt, h, tell, trying } from "./dom.js";
import { t } from "./strings.js";
import { Talk } from "./talk.js";

const KEY = "class";
const WATCH = 2000; // milliseconds between updates

export async function open(page, project, path) {
  return path === "join" ? join(page) : overview(page);
}

async function overview(page) {
  const robots = h("ul", { class: "cards robots" });
  const told = await call("GET", "/api/class");
  page.append(h("h1", {}, t("classTitle")),
    told.address
      ? h("div", { class: "panel join" }, h("p", {}, t("classJoin")), h("p", { class: "address" }, told.address))
      : h("div", { class: "panel" }, h("p", {}, t("classAbout")), h("p", {}, t("classOff")), h("pre", { class: "output", tabindex: 0 }, "groundling studio --class"), h("p", { class: "muted" }, t("classNet"))),
    robots);
  if (!told.address) return () => {};
  const draw = async () => {
    const { pupils } = await call("GET", "/api/class").catch(() => ({ pupils: [] }));
    robots.replaceChildren(...(pupils.length ? pupils.map((each) => {
      const drawing = adopt(each.svg ?? "");
      drawing?.setAttribute("aria-hidden", "true");
      return h("li", { class: "card" }, h("h2", {}, each.name), h("div", { class: "picture" }, drawing ?? ""),
        h("p", {}, t("classKnown", each.known), each.of ? ` · ${t("classUnderstood", each.recent, each.of)}` : ""),
        each.last ? h("p", { class: "bubble mine" }, each.last) : "",
        h("a", { href: `#//${each.project}` }, t("open")));
    }) : [h("li", { class: "muted" }, t("classNobody"))]));
  };
  await draw();
  const timer = told.address ? setInterval(draw, WATCH) : 0;
  return () => clearInterval(timer);
}

async function join(page) {
  let kept = null;
  try { kept = localStorage.getItem(KEY); } catch { /* join again */ }
  if (kept) {
    const own = new Project(kept);
    try { await own.refresh(); return await robot(page, own); } catch { /* the class has ended */ }
  }
  const name = h("input", { type: "text", id: "pupil", maxlength: 40, autocomplete: "off", required: true });
  page.append(h("h1", {}, t("joinTitle")), h("form", { class: "panel row", onsubmit: async (event) => {
    event.preventDefault();
    const made = await trying(() => call("POST", "/api/class/join", { name: name.value }));
    if (!made) return;
    try { localStorage.setItem(KEY, made.project); } catch { /* not stored: lasts until the page is closed */ }
    const own = new Project(made.project);
    await own.refresh();
    page.replaceChildren();
    await robot(page, own);
  } }, h("label", { for: "pupil" }, t("joinName")), name, h("button", { type: "submit", class: "main" }, t("join"))));
  return () => {};
}

async function robot(page, own) {
  const talk = new Talk(own);
  page.classList.add("wide");
  page.append(h("div", { class: "row between" }, h("h1", { class: "talk-heading" }, h("span", { class: "pupil" }, t("robotOf", own.about.pupil)), " ", h("span", { class: "muted" }, t("heading"))),
    h("a", { class: "button", href: `${own.base}/export`, download: "", onclick: () => tell(t("takeHomeHow", `"${own.about.pupil}.jsonl"`), "good") }, t("takeHome"))), talk.element);
  await talk.enter(own.about.scenes[0].name);
  return () => talk.close();
}
