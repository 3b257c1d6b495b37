// The first page: say, see, ask why, show, and watch it learn.
import { h, plural, trying } from "./dom.js";
import { Bench } from "./bench.js";
import { curve } from "./curve.js";
import { Why } from "./why.js";

export async function open(page, project) {
  const why = new Why();
  const figures = h("section", { class: "panel figures", "aria-label": "How well it does" });
  let turn = 0;

  const bench = new Bench(project, {
    onplan: async (plan, wish) => {
      const mine = ++turn;
      if (!plan || !plan.actions.length) { why.hide(); return; }
      const told = await trying(() => project.post("/explain", wish));
      if (told?.steps && mine === turn) why.show(told);
    },
  });
  const draw = () => {
    const about = project.about;
    figures.replaceChildren(
      h("h2", {}, "How well it does"), curve(about),
      h("p", { class: "muted small" }, `${plural(about.known, "demonstration")} to learn from, ${about.apart} kept apart. `,
        h("a", { href: "#/demonstrations" }, "See them all")));
  };
  const stop = project.listen((kind) => { if (kind !== "progress") draw(); });
  draw();
  page.append(h("h1", { class: "unseen" }, `Teach: ${project.about.title}`), bench.element,
    h("div", { class: "below" }, why.element, figures));
  bench.element.querySelector(".talk").append(figures);
  const wanted = new URLSearchParams(location.hash.split("?")[1] ?? "").get("show");
  if (wanted) await showAgain(bench, project, Number(wanted));
  else await bench.enter(project.about.scenes[0].name);
  return () => { stop(); bench.close(); why.close(); };
}

/** Show anew what a demonstration means. */
async function showAgain(bench, project, number) {
  const found = (await project.get("/demonstrations?limit=200")).demonstrations.find((each) => each.id === number);
  if (!found) { await bench.enter(project.about.scenes[0].name); return; }
  await bench.enter(found.scene, found.start);
  bench.text.value = found.text;
  await bench.beginShowing();
}

