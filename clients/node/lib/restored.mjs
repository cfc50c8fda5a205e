import { isObject } from "./errors.mjs";

/** The methods that change settings. */
const setting = new Set(["configure", "addReadOnlyCachePath"]);

/**
 * What a client told its server and tells the next one too: settings, folders, a pause, subscriptions. Settings are told in the
 * order in which they were set, without calls whose settings were all set again later: however often `configure` is called, no
 * more is kept than there are settings. Parameters by position are not kept.
 */
export class Restored {
  #settings = [];
  #pause = [];
  #events = [];

  /** The server has done this. */
  note(method, params = {}, result) {
    if (method === "subscribe" || method === "unsubscribe") this.#events = result?.events ?? [];
    else if (method === "resume") this.#pause = [];
    else if (!isObject(params)) return;
    else if (method === "pause") this.#pause = [{ method, params }];
    else if (setting.has(method)) this.#set(method, params);
  }

  /** The calls, as `{method, params}`, in the order in which a new server is told. */
  get calls() {
    const events = this.#events.length > 0 ? [{ method: "subscribe", params: { events: this.#events } }] : [];
    const settings = this.#settings.map(({ method, params }) => ({ method, params }));
    return [...settings, ...this.#pause, ...events];
  }

  #set(method, params) {
    const sets = settingsOf(params);
    if (sets.size === 0) return; // it only asked
    const isKept = (other) => other.method !== method || Array.from(other.sets).some((one) => !sets.has(one));
    this.#settings = [...this.#settings.filter(isKept), { method, params, sets }];
  }
}

/** The settings that a call sets, each as the names that lead to it, with the cache before them. */
function settingsOf({ cache, ...sections }) {
  const found = new Set();
  for (const [section, value] of Object.entries(sections)) {
    const names = section === "path" ? [value] : isObject(value) ? Object.keys(value) : [undefined];
    for (const name of names) found.add(JSON.stringify([cache ?? "default", section, name]));
  }
  return found;
}
