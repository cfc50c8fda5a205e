import { isObject } from "./errors.mjs";

/**
 * What a client told its server and tells the next one too: settings, folders, a pause, subscriptions. Of settings that were
 * set again the last counts. Parameters by position are not kept.
 */
export class Restored {
  #settings = new Map();
  #folders = new Map();
  #pause = [];
  #events = [];

  /** The server has done this. */
  note(method, params = {}, result) {
    if (method === "subscribe" || method === "unsubscribe") this.#events = result?.events ?? [];
    else if (method === "resume") this.#pause = [];
    else if (!isObject(params)) return;
    else if (method === "pause") this.#pause = [{ method, params }];
    else if (method === "addReadOnlyCachePath") this.#folders.set(JSON.stringify(params), { method, params });
    else if (method === "configure") this.#configure(params);
  }

  /** The calls, as `{method, params}`, in the order in which a new server is told. */
  get calls() {
    const settings = Array.from(this.#settings.values(), (params) => ({ method: "configure", params }));
    const events = this.#events.length > 0 ? [{ method: "subscribe", params: { events: this.#events } }] : [];
    return [...settings, ...this.#folders.values(), ...this.#pause, ...events];
  }

  #configure({ cache, ...sections }) {
    if (Object.keys(sections).length === 0) return; // it only asked
    const name = cache ?? "default";
    const known = this.#settings.get(name) ?? { cache: name };
    for (const [section, value] of Object.entries(sections)) {
      known[section] = isObject(known[section]) && isObject(value) ? { ...known[section], ...value } : value;
    }
    this.#settings.set(name, known);
  }
}
