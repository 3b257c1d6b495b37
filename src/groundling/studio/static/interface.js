// API page: every endpoint with its parameters and responses, and a form to try it.
import { h } from "./dom.js";

const main = document.getElementById("main");
const named = (reference) => reference.split("/").at(-1);

function kind(schema) {
  if (!schema) return "anything";
  if (schema.$ref) return h("a", { href: `#${named(schema.$ref)}` }, named(schema.$ref));
  if (schema.anyOf) {
    return schema.anyOf.flatMap((each, place) => (place ? [" or ", kind(each)] : [kind(each)])).flat();
  }
  if (schema.type === "array") return ["list of ", kind(schema.items)].flat();
  return schema.type ?? "JSON";
}

function fields(schema) {
  return h("dl", { class: "fields" }, Object.entries(schema.properties ?? {}).map(([name, each]) => [
    h("dt", {}, h("code", {}, name), schema.required?.includes(name) ? "" : h("span", { class: "muted small" }, " optional")),
    h("dd", {}, kind(each), each.description ? `. ${each.description}` : ""),
  ]));
}

function operation(path, method, about, schemas) {
  const body = about.requestBody?.content?.["application/json"]?.schema;
  const sample = body?.$ref?.endsWith("Teaching") ? { demonstrations: [] } : { text: "turn left" };
  const input = body ? h("textarea", { rows: 3, "aria-label": `Body of ${path}`, value: JSON.stringify(sample), spellcheck: "false" }) : null;
  const output = h("pre", { class: "output", tabindex: 0, hidden: true });
  const send = async () => {
    const answer = await fetch(path, { method: method.toUpperCase(), ...(input ? { body: input.value, headers: { "content-type": "application/json" } } : {}) });
    output.hidden = false;
    const text = await answer.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 1); } catch { /* not JSON */ }
    output.textContent = `${answer.status}\n${shown}`.slice(0, 20000);
  };
  return h("section", { class: "panel" },
    h("h2", {}, h("code", {}, `${method.toUpperCase()} ${path}`)), h("p", {}, about.description ?? about.summary),
    body?.$ref ? fields(schemas[named(body.$ref)]) : null,
    input, h("div", { class: "row" }, h("button", { type: "button", class: "main", onclick: send }, "Try it")), output,
    h("p", { class: "muted small" }, "Responses: ", Object.entries(about.responses).map(([status, each]) => `${status} ${each.description}`).join("  ")));
}

const told = await (await fetch("/openapi.json")).json();
const schemas = told.components.schemas;
main.replaceChildren(h("div", { class: "page" },
  h("h1", {}, told.info.title), h("p", { class: "lead" }, told.info.summary ?? ""),
  Object.entries(told.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, about]) => operation(path, method, about, schemas))),
  h("section", { class: "panel" }, h("h2", {}, "Schemas"),
    Object.entries(schemas).filter(([, each]) => each.properties).map(([name, each]) => h("div", { id: name }, h("h3", {}, name), h("p", { class: "muted" }, each.description ?? ""), fields(each))))));
