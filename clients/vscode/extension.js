"use strict";

const vscode = require("vscode");
const { makeCommands } = require("./lib/commands.js");
const { HoverProvider } = require("./lib/hover.js");
const { Server } = require("./lib/server.js");
const { serverArguments, serverSettings } = require("./lib/settings.js");

let server;

/** Called by VS Code once a Markdown document is opened or a command is run. No process is started yet. */
function activate(context) {
  const output = vscode.window.createOutputChannel("Halcyon");
  const configuration = () => vscode.workspace.getConfiguration("halcyon");
  const started = new Server(
    () => {
      const settings = configuration();
      return { binary: settings.get("binary"), args: serverArguments((name) => settings.get(name)) };
    },
    (text) => output.append(text),
  );
  server = started;
  context.subscriptions.push(
    output,
    vscode.languages.registerHoverProvider({ language: "markdown" }, new HoverProvider(started, configuration)),
    ...Object.entries(makeCommands(started)).map(([name, run]) => vscode.commands.registerCommand(name, run)),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (serverSettings.some((name) => event.affectsConfiguration(`halcyon.${name}`))) {
        started.restart().catch((error) => output.append(`${error.message}\n`));
      }
    }),
  );
  return {
    call: (method, params, options) => started.call(method, params, options),
    on: (event, listener) => started.on(event, listener),
  };
}

/** Called by VS Code at the end. */
async function deactivate() {
  await server?.stop();
  server = undefined;
}

module.exports = { activate, deactivate };
