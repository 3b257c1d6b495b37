// The studio: pages by address, the theme, and the project that is open.
import { Project } from "./api.js";
import { h, tell } from "./dom.js";

const PAGES = [
  ["", "Teach", () => import("./teach.js")],
  ["demonstrations", "Demonstrations", () => import("./table.js")],
  ["inside", "Look inside", () => import("./inside.js")],
  ["lesson", "Lesson", () => import("./lesson.js")],
];

const project = new Project("main");
const main = document.getElementById("main");
let leave = () => {};
let turn = 0;

async function open() {
  const name = location.hash.replace(/^#\/?/, "").split("?")[0];
  if (location.hash && !location.hash.startsWith("#/")) return; // within the page
  const [, title, load] = PAGES.find(([path]) => path === name) ?? PAGES[0];
  const mine = ++turn;
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.dataset.title === title) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${title} · Groundling Studio`;
  leave();
  leave = () => {};
  try {
    const page = await load();
    await project.refresh();
    if (mine !== turn) return;
    const shown = h("div", { class: "page" });
    main.replaceChildren(shown);
    leave = (await page.open(shown, project)) ?? (() => {});
    main.dataset.ready = title;
  } catch (error) {
    main.replaceChildren(h("div", { class: "panel" }, h("h1", {}, "This page cannot be opened"), h("p", {}, error.message)));
    tell(error.message);
  }
}

document.getElementById("nav").append(...PAGES.map(([path, title]) =>
  h("a", { href: `#/${path}`, "data-title": title }, title)));

const theme = document.getElementById("theme");
const paint = () => { theme.textContent = document.documentElement.dataset.theme === "dark" ? "☀" : "☾"; };
theme.addEventListener("click", () => {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try { localStorage.setItem("theme", next); } catch { /* it lasts as long as the page */ }
  paint();
});
paint();
addEventListener("hashchange", open);
open();
