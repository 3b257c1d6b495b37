// Studio: routing (#/page/project), theme, language and project.
import { Project } from "./api.js";
import { h, hush, tell } from "./dom.js";
import { chooseLanguage, otherLanguage, t } from "./strings.js";

const PAGES = [
  ["", "talk", () => import("./talk.js")],
  ["examples", "examples", () => import("./table.js")],
  ["model", "model", () => import("./model.js")],
  ["worlds", "worlds", () => import("./worlds.js")],
  ["lesson", "lesson", () => import("./lesson.js")],
  ["class", "class", () => import("./class.js")],
];
const HIDDEN = [["join", "joinTitle", () => import("./class.js")]];

const main = document.getElementById("main");
let project = new Project("main");
let leave = () => {};
let turn = 0;

async function open() {
  if (location.hash && !location.hash.startsWith("#/")) return; // a link inside the page
  const [name, wanted = "main"] = location.hash.replace(/^#\/?/, "").split("?")[0].split("/");
  const [path, title, load] = [...PAGES, ...HIDDEN].find((each) => each[0] === name) ?? PAGES[0];
  const mine = ++turn;
  hush();
  if (project.name !== wanted) project = new Project(wanted);
  frame(path);
  document.title = `${t(title)} · Groundling Studio`;
  leave();
  leave = () => {};
  try {
    const page = await load();
    if (path !== "join") await project.refresh();
    if (mine !== turn) return;
    const shown = h("div", { class: "page" });
    main.replaceChildren(shown);
    leave = (await page.open(shown, project, path)) ?? (() => {});
    main.dataset.ready = path;
  } catch (error) {
    main.replaceChildren(h("div", { class: "panel" }, h("h1", {}, t("broken")), h("p", {}, error.message)));
    tell(error.message);
  }
}

function frame(path) {
  const own = project.name === "main" ? "" : `/${project.name}`;
  const joined = path === "join"; // pupils see only the page of their robot
  document.querySelector(".brand").setAttribute("href", joined ? "#/join" : "#/");
  document.getElementById("nav").replaceChildren(...(joined ? [] : PAGES).map(([each, title]) => h("a", {
    href: `#/${each}${["worlds", "class", "lesson"].includes(each) ? "" : own}`,
    "aria-current": each === path ? "page" : null }, t(title))));
  language.textContent = t("language");
  theme.setAttribute("aria-label", t("theme"));
  present.textContent = t("present");
}

const theme = document.getElementById("theme");
const language = document.getElementById("language");
const present = document.getElementById("present");
const paint = () => { theme.textContent = document.documentElement.dataset.theme === "dark" ? "☀" : "☾"; };
theme.addEventListener("click", () => {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try { localStorage.setItem("theme", next); } catch { /* not stored: lasts until the page is closed */ }
  paint();
});
language.addEventListener("click", () => { otherLanguage(); open(); });
present.addEventListener("click", () => {
  const on = document.documentElement.classList.toggle("presenting");
  present.setAttribute("aria-pressed", String(on));
});
chooseLanguage();
paint();
addEventListener("hashchange", open);
open();
