import { isObject } from "./errors.mjs";

const main = "default";

/** The methods that change what is told. */
const telling = new Set(["configure", "addReadOnlyCachePath", "pause", "resume", "subscribe", "unsubscribe"]);

/**
 * What a client told its server and tells the next one too: settings, folders, a pause, subscriptions. Settings are told in the
 * order in which they were set, without calls whose settings were all set again later: however often `configure` is called, no
 * more is kept than there are settings. A folder that was added again keeps its place, as in the server. Parameters by position
 * are not kept.
 */
export class Restored {
  #settings = [];
  #pause = [];
  #events = [];

  /**
   * Looks at a call as it is sent, before others change its parameters. Returns the function that is told the result when the
   * server has done it.
   */
  sent(method, params = {}) {
    if (!telling.has(method)) return () => {};
    const copy = JSON.parse(JSON.stringify(params));
    return (result) => this.#note(method, copy, result);
  }

  #note(method, params, result) {
    if (method === "subscribe" || method === "unsubscribe") this.#events = result?.events ?? [];
    else if (method === "resume") this.#pause = [];
    else if (!isObject(params)) return;
    else if (method === "pause") this.#pause = [{ method, params }];
    else if (method === "configure") this.#configure(params);
    else this.#addFolder(params);
  }

  /** The calls, as `{method, params}`, in the order in which a new server is told. */
  get calls() {
    const events = this.#events.length > 0 ? [{ method: "subscribe", params: { events: this.#events } }] : [];
    const settings = this.#settings.map(({ method, params }) => ({ method, params }));
    return [...settings, ...this.#pause, ...events];
  }

  #configure(params) {
    const sets = settingsOf(params);
    if (sets.size === 0) return; // it only asked
    const isKept = (other) => Array.from(other.sets).some((one) => !sets.has(one));
    this.#settings = [...this.#settings.filter(isKept), { method: "configure", params, sets }];
  }

  #addFolder(params) {
    const isSame = (other) => other.params.path === params.path && (other.params.cache ?? main) === (params.cache ?? main);
    if (this.#settings.some((other) => other.method === "addReadOnlyCachePath" && isSame(other))) return;
    const sets = settingsOf({ cache: params.cache, disk: { readOnlyPaths: [] } });
    this.#settings.push({ method: "addReadOnlyCachePath", params, sets });
  }
}

/** The settings that a call sets, each as the names that lead to it, with the cache before them. */
function settingsOf({ cache, ...sections }) {
  const found = new Set();
  for (const [section, value] of Object.entries(sections)) {
    const names = isObject(value) ? Object.keys(value) : [undefined];
    for (const name of names) found.add(JSON.stringify([cache ?? main, section, name]));
  }
  return found;
}
