// Requests to the server; errors are returned as one sentence.

import { localise, sentence, t } from "./strings.js";

export class Problem extends Error {
  constructor(status, message, type) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

export async function call(method, path, body, type = "application/json") {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "content-type": type },
      body: body === undefined ? undefined : type === "application/json" ? JSON.stringify(body) : body,
    });
  } catch {
    throw new Problem(0, sentence("The server does not answer. Start it again; what was taught is kept."));
  }
  const told = (answer.headers.get("content-type") ?? "").includes("json")
    ? await answer.json() : {};
  if (answer.status === 401) throw new Problem(401, t("restarted"), told.type);
  if (!answer.ok) {
    throw new Problem(answer.status, sentence(told.detail ?? `The server answered ${answer.status}.`), told.type);
  }
  return localise(told);
}

/** A project on the server: its data and its events. */
export class Project {
  constructor(name) {
    this.name = name;
    this.base = `/api/projects/${encodeURIComponent(name)}`;
    this.about = null;
    this.asked = this.answered = 0;
    this.listeners = new Set();
    this.stream = null;
  }

  get(path) { return call("GET", `${this.base}${path}`); }
  post(path, body = undefined) { return call("POST", `${this.base}${path}`, body); }

  async refresh() {
    const mine = ++this.asked;
    const about = await call("GET", this.base);
    if (mine > this.answered) { // responses may arrive out of order
      this.answered = mine;
      this.about = about;
    }
    return this.about;
  }

  /** Call back with (kind, data) on each event; returns a function that stops listening. */
  listen(listener) {
    this.listeners.add(listener);
    if (!this.stream) {
      this.stream = new EventSource(`${this.base}/events`);
      for (const kind of ["progress", "learnt", "changed", "failed"]) {
        this.stream.addEventListener(kind, (event) => this.happened(kind, localise(JSON.parse(event.data))));
      }
      // Events before the connection opened, or while it was interrupted, were missed.
      this.stream.addEventListener("open", () => this.happened("again", {}));
    }
    return () => {
      this.listeners.delete(listener);
      if (!this.listeners.size) { this.stream.close(); this.stream = null; }
    };
  }

  async happened(kind, data) {
    if (kind !== "progress") {
      try { await this.refresh(); } catch { return; }
    } else if (this.about) {
      this.about.progress = data;
    }
    for (const each of [...this.listeners]) each(kind, data);
  }
}
