"use strict";

const vscode = require("vscode");
const { imageAt } = require("./images.js");

const units = ["B", "KiB", "MiB", "GiB"];

/** 12583 → "12.3 KiB". */
function formatBytes(bytes) {
  let index = 0;
  for (; bytes >= 1024 && index < units.length - 1; index++) bytes /= 1024;
  return index === 0 ? `${bytes} B` : `${bytes.toFixed(1)} ${units[index]}`;
}

/** The formats that windows of VS Code show. */
const shownFormats = ["png", "jpeg", "gif", "webp", "avif", "svg", "bmp", "ico"];

/** The width and height of an image as it is seen: turned as its EXIF orientation says. */
function seenSize({ width, height, displayWidth = width, displayHeight = height }) {
  return { width: displayWidth, height: displayHeight };
}

/** The size at which an image is shown: as it is, or so that its longer side has `limit` pixels. */
function shownSize(image, limit) {
  const { width, height } = seenSize(image);
  const scale = Math.min(1, limit / Math.max(width, height, 1));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** One line about an image: format, size, where it came from. */
function describe(image) {
  const { width, height } = seenSize(image);
  const facts = [image.format.toUpperCase(), `${width} × ${height}`, formatBytes(image.byteCount)];
  if (image.frameCount > 1) facts.push(`${image.frameCount} frames`);
  facts.push({ memory: "from memory", disk: "from disk", none: "loaded now" }[image.cacheType]);
  if (image.stale) facts.push("stale");
  return facts.join(" · ");
}

/** Shows remote images of Markdown. */
class HoverProvider {
  #server;
  #configuration;

  /** `configuration()` gives the settings of the section `halcyon`. */
  constructor(server, configuration) {
    this.#server = server;
    this.#configuration = configuration;
  }

  /** The image under the cursor; nothing when there is none, and when VS Code no longer wants it. */
  async provideHover(document, position, token) {
    const settings = this.#configuration();
    if (!settings.get("hover.enabled", true) || !vscode.workspace.isTrusted) return undefined;
    const found = imageAt(document, position);
    if (!found) return undefined;
    const range = new vscode.Range(found.line, found.start, found.line, found.end);
    const options = { maxBytes: settings.get("hover.maxBytes", 20971520) };
    const limit = settings.get("hover.maxSize", 400);
    try {
      const image = await this.#server.call("retrieve", { url: found.url, options }, { token });
      const shown = shownFormats.includes(image.format) ? image : await this.#drawn(found.url, options, limit, token);
      return new vscode.Hover(imageMarkdown(image, shown, limit), range);
    } catch (error) {
      if (error.kind === "requestCancelled") return undefined;
      return new vscode.Hover(errorMarkdown(error), range);
    }
  }

  /** An image whose format windows do not show, as one that they do; undefined when it cannot be drawn. */
  async #drawn(url, options, limit, token) {
    // Twice the size, for fine screens.
    const processors = [{ downsample: { width: 2 * limit, height: 2 * limit } }, { format: { to: "png" } }];
    try {
      return await this.#server.call("retrieve", { url, processors, options }, { token });
    } catch (error) {
      if (error.kind === "requestCancelled") throw error;
      return undefined;
    }
  }
}

/** The picture, as the file `shown` when there is one, and what there is to say of `image`. */
function imageMarkdown(image, shown, limit) {
  const markdown = new vscode.MarkdownString();
  if (shown) {
    const { width, height } = shownSize(image, limit);
    // The file is in the cache: the hover itself loads nothing from the network.
    markdown.appendMarkdown(`![](${vscode.Uri.file(shown.path).toString()}|width=${width},height=${height})\n\n`);
  }
  markdown.appendText(describe(image));
  return markdown;
}

function errorMarkdown(error) {
  const markdown = new vscode.MarkdownString();
  markdown.appendText(error.hint ? `${error.message} ${error.hint}` : error.message);
  return markdown;
}

module.exports = { describe, formatBytes, HoverProvider, seenSize, shownSize };
