local suite = require("tests.support.suite")
local target = require("halcyon.target")
local format = require("halcyon.format")
local test, equal = suite.test, suite.equal

--- Where the cursor is: at `^`, which is taken out of the line.
local function at(marked, lookup)
  local column = assert(marked:find("^", 1, true), "no cursor in " .. marked)
  local line = marked:gsub("%^", "", 1)
  local found = target.find(line, column, lookup)
  return found and { found.kind, found.reference }
end

test("images are found where each kind of document names them", function()
  for _, row in ipairs({
    { "![a ^cat](https://example.com/cat.png)", { "markdown", "https://example.com/cat.png" } },
    { '![cat](^cat.png "A (nice) title") and more', { "markdown", "cat.png" } },
    { "![cat](<my ^cat.png>)", { "markdown", "my cat.png" } },
    { "![x](a.png) ![y](https://e.org/Cat_(ani^mal).png)", { "markdown", "https://e.org/Cat_(animal).png" } },
    { "[![^b](badge.svg)](https://example.com/page)", { "markdown", "badge.svg" } },
    { "![a [nested] l^abel](x.png)", { "markdown", "x.png" } },
    { '<p><img alt="^x" src="https://e.org/a.png?x=1&amp;y=2"></p>', { "html", "https://e.org/a.png?x=1&y=2" } },
    { "<IMG SRC='^a.gif' data-src='b.gif'>", { "html", "a.gif" } },
    { '<img data-src="later.png" src="n^ow.png">', { "html", "now.png" } },
    { "![a ![b](^b c.png)", { "markdown", "b" } },
    { "![a \\] b](m^y%20cat.png)", { "markdown", "my%20cat.png" } },
    { "![a](https://e.org/?x=^1&amp;y=2)", { "markdown", "https://e.org/?x=1&y=2" } },
    { "<img src=^a.webp>", { "html", "a.webp" } },
    { "see [[https://e.org/c^at.png]] there", { "org", "https://e.org/cat.png" } },
    { "see [[./c^at.png][a cat]] there", { "org", "./cat.png" } },
    { "[[file:img/c^at.png]]", { "org", "file:img/cat.png" } },
    { "(see https://e.org/cat^.png).", { "url", "https://e.org/cat.png" } },
    { "https://e.org/wiki/A_(b^)?x=1, too", { "url", "https://e.org/wiki/A_(b)?x=1" } },
    { "url(data:image/png;base64,iV^BORw0KGgo=)", { "url", "data:image/png;base64,iVBORw0KGgo=" } },
    { "see HTTPS://e.org/c^at.png", { "url", "HTTPS://e.org/cat.png" } },
    { "'DATA:image/svg+xml,%3Csvg%20a%3D^5%22%2F%3E', more", { "url", "DATA:image/svg+xml,%3Csvg%20a%3D5%22%2F%3E" } },
    { "url(data:image/svg+xml;utf8,%3Csvg^%20xmlns='http://e.org/(a)'/%3E);", { "url", "data:image/svg+xml;utf8,%3Csvg%20xmlns='http://e.org/(a)'/%3E" } },
    { "file:///home/ann/c^at.png", { "url", "file:///home/ann/cat.png" } },
    { "look at ../img/c^at.JPG.", { "file", "../img/cat.JPG" } },
    { 'include "lo^go.svg";', { "file", "logo.svg" } },
  }) do
    equal(at(row[1]), row[2], row[1])
  end
end)

test("the only image of a line is meant wherever the cursor is, and of several none", function()
  equal(at("^A line with ![one](a.png) in it"), { "markdown", "a.png" })
  equal(at("^A line with ![one](a.png) and ![two](b.png)"), nil)
  equal(at("^nothing here, not even a.txt"), nil)
  equal(at("^"), nil)
end)

test("labels of Markdown are looked up", function()
  local function lookup(label)
    return ({ cat = "https://e.org/cat.png", ["a cat"] = "b.png" })[label]
  end
  equal(at("![a^ cat][cat]", lookup), { "markdown", "https://e.org/cat.png" })
  equal(at("![a^ cat][]", lookup), { "markdown", "b.png" })
  equal(at("![c^at]", lookup), { "markdown", "https://e.org/cat.png" })
  equal(at("![d^og]", lookup), nil)
end)

test("unfinished syntax is no error", function()
  for _, line in ipairs({ "^![", "^![a](", "^![a][", "^<img ", "^<img src=>", "^[[", "^[[]]", "^![]()", "^http://", "^data:image/png," }) do
    at(line)
  end
end)

test("references become URLs, relative to the document", function()
  for reference, url in pairs({
    ["https://e.org/a b.png"] = "https://e.org/a b.png",
    ["//e.org/a.png"] = "https://e.org/a.png",
    ["data:image/png;base64,AA=="] = "data:image/png;base64,AA==",
    ["cat.png"] = "file:///docs/notes/cat.png",
    ["../img/./cat.png"] = "file:///docs/img/cat.png",
    ["/abs/cat.png"] = "file:///abs/cat.png",
    ["file:img/cat.png"] = "file:///docs/notes/img/cat.png",
    ["file:///abs/cat.png"] = "file:///abs/cat.png",
    ["my%20cat.png"] = "file:///docs/notes/my%20cat.png",
    ["cat.png?raw=true#top"] = "file:///docs/notes/cat.png",
  }) do
    equal(target.url(reference, "/docs/notes"), url, reference)
  end
  equal(target.url("50%25.png", "/d", function(path) return path == "/d/50%25.png" end), "file:///d/50%2525.png")
end)

test("sizes and names are said in words", function()
  equal(format.bytes(0), "0 B")
  equal(format.bytes(1023), "1023 B")
  equal(format.bytes(12583), "12.3 KiB")
  equal(format.bytes(2 * 1024 ^ 3), "2.0 GiB")
  equal(format.name("https://e.org/a/cat%20one.png?x=1"), "cat one.png")
  equal(format.name("https://e.org/"), "e.org")
  equal(format.name("data:image/png;base64,AA=="), "data URL")
  local image = { format = "jpeg", width = 40, height = 30, displayWidth = 30, displayHeight = 40, byteCount = 9, frameCount = 1 }
  equal(format.image(image, "cat")[2], "JPEG · 30 × 40 · 9 B")
  equal(format.progress({ receivedBytes = 512 }), "loading: 512 B")
  equal(format.progress({ receivedBytes = 512, totalBytes = 2048 }), "loading: 512 B of 2.0 KiB")
end)

test("a long line is looked at once, and of a very long one what is near the cursor", function()
  for _, line in ipairs({
    ("<img "):rep(40000),
    ("![]("):rep(40000),
    ("![]["):rep(40000),
    ("!["):rep(80000),
    "http://x" .. (")"):rep(200000),
    ("."):rep(200000) .. "x",
    "data:image/" .. ("a"):rep(200000),
  }) do
    target.find(line, #line)
  end
  local many = ("<img src='a.png'> "):rep(40000)
  equal(target.find(many, 20 * 18 + 3), { kind = "html", reference = "a.png", first = 361, last = 377 })
  equal(target.find(many, #many - 1).last, #many - 1)
  equal(target.find(many, #many), nil)
  local far = (" "):rep(1000000)
  equal(target.find(far .. "a.png", 1), nil)
  equal(target.find(far .. "![](a.png)" .. far, #far + 2).first, #far + 1)
  local long = "data:image/png;base64," .. ("A"):rep(300000)
  equal(target.find(long .. far, 3), nil, "it goes on behind what is looked at")
end)
