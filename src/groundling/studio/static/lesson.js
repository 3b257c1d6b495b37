// Lesson page: teach an untrained robot ten requests.
import { call, Project } from "./api.js";
import { bar, h, trying } from "./dom.js";
import { t } from "./strings.js";
import { Talk } from "./talk.js";

const KEY = "lesson";

export async function find(key = KEY) {
  try {
    const kept = localStorage.getItem(key);
    if (kept) { const known = new Project(kept); await known.refresh(); return known; }
  } catch { /* no stored project: create one */ }
  return begin(key);
}

async function begin(key = KEY) {
  const { project } = await call("POST", "/api/worlds", { gallery: "empty-kitchen" });
  try { localStorage.setItem(key, project); } catch { /* not stored: lasts until the page is closed */ }
  const fresh = new Project(project);
  await fresh.refresh();
  return fresh;
}

export async function open(page) {
  const lesson = await find();
  const count = h("p", { class: "count", role: "status" });
  const talk = new Talk(lesson, { onchange: (about) => {
    count.replaceChildren(h("span", {}, t("lessonCount", Math.min(about.known, 10))), bar(about.known / 10, t("lessonCount", about.known)),
      about.known >= 10 ? h("span", {}, t("lessonDone", about.standing.recent, about.standing.of)) : "");
  } });
  const names = lesson.about.scenes.map((each) => each.name);
  talk.element.querySelector(".stage-top").append(h("button", { type: "button", onclick: () =>
    talk.enter(names[(names.indexOf(talk.scene) + 1) % names.length]) }, t("nextScene")));
  page.classList.add("wide", "lesson");
  page.append(
    h("div", { class: "row between" }, h("h1", {}, t("lessonTitle")),
      h("button", { type: "button", class: "quiet", onclick: async () => {
        if (await trying(() => begin())) { talk.close(); page.replaceChildren(); await open(page); }
      } }, t("again"))),
    h("p", { class: "muted" }, t("lessonLead")),
    h("ol", { class: "three" }, ["One", "Two", "Three"].map((each) => h("li", {}, h("h2", {}, t(`lesson${each}`)), h("p", {}, t(`lesson${each}How`))))),
    count, talk.element);
  await talk.enter(names[0]);
  return () => talk.close();
}
