import Module, { createRequire } from "node:module";

/** A stand-in for the module `vscode`: as much of it as the extension uses, and what it was asked to do. */
export class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(startLine, startCharacter, endLine, endCharacter) {
    this.start = new Position(startLine, startCharacter);
    this.end = new Position(endLine, endCharacter);
  }
}

class MarkdownString {
  value = "";
  appendMarkdown(text) {
    this.value += text;
    return this;
  }
  appendText(text) {
    this.value += text.replace(/[\\`*_{}[\]()#+\-!~<>]/g, "\\$&");
    return this;
  }
}

class Hover {
  constructor(contents, range) {
    Object.assign(this, { contents, range });
  }
}

/** The source of a cancellation token. */
export class CancellationTokenSource {
  #listeners = new Set();
  token = {
    isCancellationRequested: false,
    onCancellationRequested: (listener) => {
      this.#listeners.add(listener);
      return { dispose: () => this.#listeners.delete(listener) };
    },
  };
  cancel() {
    this.token.isCancellationRequested = true;
    for (const listener of [...this.#listeners]) listener();
  }
  get listenerCount() {
    return this.#listeners.size;
  }
}

/** A document of one text. */
export function document(text) {
  const lines = text.split("\n");
  return { getText: () => text, lineAt: (line) => ({ text: lines[line] }) };
}

/** The recorded actions of the extension: messages, documents, hover providers, commands. Emptied by `reset`. */
export const done = {};
const settings = new Map();
const configurationListeners = new Set();

export function reset() {
  settings.clear();
  configurationListeners.clear();
  Object.assign(done, { information: [], errors: [], documents: [], output: "", progress: [], providers: [], commands: new Map(), answer: undefined });
  vscode.workspace.isTrusted = true;
  vscode.window.activeTextEditor = undefined;
}

/** Sets a setting of the section `halcyon`, and tells those who listen. */
export function configure(name, value) {
  settings.set(name, value);
  const event = { affectsConfiguration: (asked) => asked === `halcyon.${name}` };
  for (const listener of configurationListeners) listener(event);
}

const disposable = (dispose = () => {}) => ({ dispose });

export const vscode = {
  Hover,
  MarkdownString,
  Position,
  Range,
  ProgressLocation: { Notification: 15 },
  Uri: { file: (path) => ({ toString: () => `file://${encodeURI(path)}` }) },
  commands: {
    registerCommand(name, run) {
      done.commands.set(name, run);
      return disposable(() => done.commands.delete(name));
    },
  },
  languages: {
    registerHoverProvider(selector, provider) {
      done.providers.push({ selector, provider });
      return disposable();
    },
  },
  window: {
    createOutputChannel: () => ({ append: (text) => (done.output += text), ...disposable() }),
    showErrorMessage: (text) => void done.errors.push(text),
    showInformationMessage: (text) => void done.information.push(text),
    showWarningMessage: async () => done.answer,
    showTextDocument: async (shown) => void done.documents.push(shown),
    withProgress: (place, task) => task({ report: (value) => done.progress.push(value) }, new CancellationTokenSource().token),
  },
  workspace: {
    isTrusted: true,
    getConfiguration: (section) => {
      if (section !== "halcyon") throw new Error(`There is no section ${section}.`);
      return { get: (name, fallback) => (settings.has(name) ? settings.get(name) : fallback) };
    },
    onDidChangeConfiguration(listener) {
      configurationListeners.add(listener);
      return disposable(() => configurationListeners.delete(listener));
    },
    openTextDocument: async (options) => options,
  },
};

const load = Module._load;
Module._load = function (request, ...rest) {
  return request === "vscode" ? vscode : load.call(this, request, ...rest);
};

/** Loads a file of the extension, to which `vscode` is the stand-in. */
export const requireExtension = createRequire(new URL("../../extension.js", import.meta.url));
