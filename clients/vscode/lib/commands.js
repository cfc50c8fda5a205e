"use strict";

const vscode = require("vscode");
const { formatBytes, seenSize } = require("./hover.js");
const { imageAt } = require("./images.js");

/** The commands of the extension, by their names. Each tells its failure to the user. */
function makeCommands(server) {
  const commands = {
    async "halcyon.inspectImage"() {
      const found = imageAtCursor();
      // A fragment is no part of the key.
      if (found) await showJSON(await server.call("inspect", { key: found.url.replace(/#.*/s, "") }));
    },

    async "halcyon.refreshImage"() {
      const found = imageAtCursor();
      if (!found) return;
      const title = `Loading ${found.url}`;
      const place = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
      const image = await vscode.window.withProgress(place, (progress, token) => {
        let told = 0;
        const onProgress = ({ receivedBytes, totalBytes }) => {
          const percent = totalBytes ? (100 * receivedBytes) / totalBytes : 0;
          progress.report({ message: formatBytes(receivedBytes), increment: percent - told });
          told = percent;
        };
        return server.call("retrieve", { url: found.url, options: { forceRefresh: true } }, { token, onProgress });
      });
      const { width, height } = seenSize(image);
      vscode.window.showInformationMessage(`Loaded ${width} × ${height}, ${formatBytes(image.byteCount)}.`);
    },

    async "halcyon.clearCache"() {
      const question = "Remove all images from the default cache? Other programs may use it too.";
      const answer = await vscode.window.showWarningMessage(question, { modal: true }, "Clear");
      if (answer !== "Clear") return;
      const { count, bytes } = await server.call("clear");
      vscode.window.showInformationMessage(`Removed ${count} images, ${formatBytes(bytes)}.`);
    },

    async "halcyon.showStats"() {
      const [stats, size] = await Promise.all([server.call("stats"), server.call("calculateSize")]);
      await showJSON({ stats, size });
    },

    async "halcyon.restartServer"() {
      await server.restart();
      await server.call("ping");
      vscode.window.showInformationMessage("The image server runs.");
    },
  };
  const guarded = (run) => async () => {
    try {
      await run();
    } catch (error) {
      if (error.kind === "requestCancelled") return;
      vscode.window.showErrorMessage(error.hint ? `${error.message} ${error.hint}` : error.message);
    }
  };
  return Object.fromEntries(Object.entries(commands).map(([name, run]) => [name, guarded(run)]));
}

function imageAtCursor() {
  const editor = vscode.window.activeTextEditor;
  const found = editor && imageAt(editor.document, editor.selection.active);
  if (!found) vscode.window.showInformationMessage("There is no remote image under the cursor.");
  return found;
}

async function showJSON(value) {
  const content = `${JSON.stringify(value, null, 2)}\n`;
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: "json", content }));
}

module.exports = { makeCommands };
