local suite = require("tests.support.suite")
local http = require("tests.support.http")
local test, equal, matches, eventually = suite.test, suite.equal, suite.matches, suite.eventually

--- The lines of the floating window that is shown; nil when there is none.
local function float_lines()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
    end
  end
end

local function moved()
  vim.api.nvim_exec_autocmds("CursorMoved", {})
end

--- What was told by `vim.notify` while `body` ran.
local function notified(body)
  local notify, told = vim.notify, {}
  vim.notify = function(message)
    table.insert(told, message)
  end
  local ok, message = pcall(body)
  vim.notify = notify
  assert(ok, message)
  return told
end

test(":HalcyonPreview describes the image under the cursor in a window", function(t)
  t:halcyon()
  local body = suite.fixture("png-rgb.png")
  local server = t:http({ ["/my%20cat.png"] = body })
  t:buffer({ "", "A ![cat](" .. server.url("/my%20cat.png") .. ") here" }, 2, 5)
  vim.cmd("HalcyonPreview")
  eventually(function() return float_lines() ~= nil and #float_lines() == 3 end, "the window came")
  local lines = float_lines()
  equal(lines[1], "my cat.png")
  matches(lines[2], "^PNG · %d+ × %d+ · ")
  equal(lines[3], "loaded now")
  equal(vim.api.nvim_win_get_config(0).relative, "")
  moved()
  assert(float_lines() ~= nil, "the cursor is still on the image")
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  moved()
  equal(float_lines(), nil)
end)

test("a file beside the document is previewed from where it lies", function(t)
  t:halcyon()
  local folder = t:folder()
  suite.write(folder .. "/cat.gif", suite.fixture("gif-animated.gif"))
  suite.write(folder .. "/notes.org", "[[./cat.gif]]\n")
  vim.cmd("edit " .. folder .. "/notes.org")
  t:at_end(function() vim.cmd("bwipeout!") end)
  local shown
  require("halcyon").preview({ show = function(image, context) shown = { image, context } end })
  eventually(function() return shown ~= nil end, "the image was shown")
  equal(shown[1].path, vim.loop.fs_realpath(folder .. "/cat.gif"))
  assert(shown[1].frameCount > 1)
  equal({ shown[2].row, shown[2].first, shown[2].last, shown[2].name }, { 1, 1, 13, "cat.gif" })
end)

test("a reference of Markdown is looked up in the buffer", function(t)
  t:halcyon()
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  t:buffer({ "![a cat][My  Cat]", "", "[my cat]: <" .. server.url("/a.png") .. "> 'title'" }, 1, 3)
  equal(require("halcyon.preview").at_cursor().url, server.url("/a.png"))
end)

test("the download stops when the cursor leaves, and nothing is shown", function(t)
  t:halcyon()
  local asked = 0
  local server = t:http({ ["/slow.png"] = function() asked = asked + 1 end })
  t:buffer({ "![cat](" .. server.url("/slow.png") .. ")", "" }, 1, 1)
  local handle = require("halcyon").preview()
  eventually(function() return asked == 1 end, "the server was asked")
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  moved()
  eventually(function() return server.closed["/slow.png"] == 1 end, "the connection was closed")
  equal({ handle.done, handle.err.name }, { true, "requestCancelled" })
  equal(float_lines(), nil)
end)

test("the download stops when the buffer is closed", function(t)
  t:halcyon()
  local asked = 0
  local server = t:http({ ["/slow.png"] = function() asked = asked + 1 end })
  local buffer = t:buffer({ "![cat](" .. server.url("/slow.png") .. ")" }, 1, 1)
  local handle = require("halcyon").preview()
  eventually(function() return asked == 1 end, "the server was asked")
  vim.api.nvim_buf_delete(buffer, { force = true })
  eventually(function() return server.closed["/slow.png"] == 1 end, "the connection was closed")
  equal(handle.err.name, "requestCancelled")
end)

test("progress is shown while the image comes", function(t)
  t:halcyon()
  local gate = http.halves(suite.fixture("jpeg-large.jpg"))
  local server = t:http({ ["/large.jpg"] = gate.route })
  t:buffer({ server.url("/large.jpg") }, 1, 1, "text")
  require("halcyon").preview()
  eventually(function() return gate.begun and float_lines() ~= nil end, "progress was shown")
  matches(float_lines()[2], "^loading: ")
  gate.open()
  eventually(function() return float_lines()[3] == "loaded now" end, "the image was described")
end)

test("a failure is told with what to do about it", function(t)
  t:halcyon()
  local server = t:http({ ["/page.png"] = { raw = http.answer(200, "text/html", "<!doctype html><title>Hello</title>") } })
  t:buffer({ "![cat](" .. server.url("/page.png") .. ")" }, 1, 1)
  require("halcyon").preview()
  eventually(function() return float_lines() ~= nil and not float_lines()[2]:find("^loading") end, "the failure was told")
  equal(float_lines()[1], "page.png")
  matches(float_lines()[2], "%.$")
end)

test("a place without an image says so and asks nothing", function(t)
  t:halcyon()
  t:buffer({ "nothing here" }, 1, 1)
  local told = notified(function()
    equal(require("halcyon").preview(), nil)
  end)
  equal(told, { "There is no image under the cursor." })
end)

test("a second preview takes the place of the first", function(t)
  t:halcyon()
  local asked = 0
  local server = t:http({ ["/slow.png"] = function() asked = asked + 1 end, ["/a.png"] = suite.fixture("png-1x1.png") })
  t:buffer({ "![cat](" .. server.url("/slow.png") .. ")", "![cat](" .. server.url("/a.png") .. ")" }, 1, 1)
  local first = require("halcyon").preview()
  eventually(function() return asked == 1 end, "the server was asked")
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  require("halcyon").preview()
  equal(first.err.name, "requestCancelled")
  eventually(function() return float_lines() ~= nil and float_lines()[1] == "a.png" end, "the second was shown")
end)

--- A server of an image that is stale at once, and may be shown while a newer one is fetched.
local function changing(t, bodies)
  local held = {}
  local server
  server = t:http({
    ["/cat.png"] = function(reply, request)
      local body = bodies[math.min(server.count("/cat.png"), #bodies)]
      local tag = ('ETag: "%d"'):format(math.min(server.count("/cat.png"), #bodies))
      local function answer()
        if request:lower():find("if%-none%-match: " .. vim.pesc(tag:match('".*"'))) then
          return reply("HTTP/1.1 304 X\r\nContent-Length: 0\r\n\r\n")
        end
        reply(http.answer(200, "image/png", body, { "Cache-Control: max-age=0, stale-while-revalidate=600", tag }))
      end
      if server.count("/cat.png") == 1 then
        answer()
      else
        held[#held + 1] = answer
      end
    end,
  })
  return server, held
end

test("an image that changed behind a stale answer is shown anew, once", function(t)
  local halcyon = t:halcyon()
  local server, held = changing(t, { suite.fixture("png-1x1.png"), suite.fixture("png-rgb.png") })
  assert(halcyon.retrieve(server.url("/cat.png")):wait())
  t:buffer({ "![cat](" .. server.url("/cat.png") .. ")", "" }, 1, 1)
  halcyon.preview()
  eventually(function() return #held == 1 and #(float_lines() or {}) == 3 end, "the stale image was shown")
  matches(float_lines()[2], "1 × 1")
  held[1]()
  eventually(function() return not float_lines()[2]:find("1 × 1") end, "the newer image was shown")
  assert(halcyon.ping():wait() == nil)
  equal(server.count("/cat.png"), 2, "the requests")
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  moved()
  equal(float_lines(), nil)
  equal(halcyon.client()._listeners["image/didChange"], nil)
end)

test("what shows an image takes the old one away before the newer one comes", function(t)
  local halcyon = t:halcyon()
  local server, held = changing(t, { suite.fixture("png-1x1.png"), suite.fixture("png-rgb.png") })
  assert(halcyon.retrieve(server.url("/cat.png")):wait())
  t:buffer({ "![cat](" .. server.url("/cat.png") .. ")", "" }, 1, 1)
  local told = {}
  halcyon.preview({
    show = function(image)
      table.insert(told, "show " .. image.width)
      return function() table.insert(told, "hide " .. image.width) end
    end,
  })
  eventually(function() return #held == 1 and #told == 1 end, "the stale image was shown")
  held[1]()
  eventually(function() return #told == 3 end, "the newer image was shown")
  matches(told[3], "^show %d+$")
  equal({ told[1], told[2] }, { "show 1", "hide 1" })
  require("halcyon.preview").close()
  equal(told[4], (told[3]:gsub("show", "hide")))
end)

test("plugins that remember images by their paths get another path for other content", function(t)
  local halcyon = t:halcyon()
  local bodies = { suite.fixture("png-1x1.png"), suite.fixture("png-rgb.png") }
  local server, held = changing(t, bodies)
  assert(halcyon.retrieve(server.url("/cat.png")):wait())
  t:buffer({ "![cat](" .. server.url("/cat.png") .. ")", "" }, 1, 1)
  local paths = {}
  package.loaded.snacks = {
    image = {
      placement = {
        new = function(_, path)
          table.insert(paths, path)
          return { close = function() end }
        end,
      },
    },
  }
  t:at_end(function() package.loaded.snacks = nil end)
  halcyon.preview({ show = require("halcyon.show").snacks() })
  eventually(function() return #held == 1 and #paths == 1 end, "the stale image was shown")
  held[1]()
  eventually(function() return #paths == 2 end, "the newer image was shown")
  assert(paths[1] ~= paths[2], "the paths differ")
  equal({ suite.read(paths[1]) == bodies[1], suite.read(paths[2]) == bodies[2] }, { true, true })
  require("halcyon.preview").close()
  halcyon.preview({ show = require("halcyon.show").snacks() })
  eventually(function() return #paths == 3 end, "the same image was shown again")
  equal(paths[3], paths[2])
end)

test("a change that comes after the preview has gone shows nothing", function(t)
  local halcyon = t:halcyon()
  local server, held = changing(t, { suite.fixture("png-1x1.png"), suite.fixture("png-rgb.png") })
  assert(halcyon.retrieve(server.url("/cat.png")):wait())
  t:buffer({ "![cat](" .. server.url("/cat.png") .. ")", "" }, 1, 1)
  halcyon.preview()
  eventually(function() return #held == 1 and #(float_lines() or {}) == 3 end, "the stale image was shown")
  local changed
  t:at_end(halcyon.on("image/didChange", function() changed = true end))
  require("halcyon.preview").close()
  held[1]()
  eventually(function() return changed end, "the image changed")
  equal(float_lines(), nil)
  equal(halcyon.client():status().open, 0)
end)

test("closing a preview of a server that ends starts no other", function(t)
  local halcyon = t:halcyon()
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  t:buffer({ "![cat](" .. server.url("/a.png") .. ")", "" }, 1, 1)
  halcyon.preview()
  eventually(function() return float_lines() ~= nil and float_lines()[3] == "loaded now" end, "the image was shown")
  local starts = halcyon.client():status().starts
  halcyon.stop()
  require("halcyon.preview").close()
  eventually(function() return halcyon.client()._process == nil end, "the server ended")
  equal(halcyon.client():status().starts, starts)
end)

test("what shows an image takes it away when the cursor leaves", function(t)
  t:halcyon()
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  local calls = {}
  package.loaded.image = {
    from_file = function(path, options)
      table.insert(calls, { "from_file", path, options.x, options.y, options.height, options.window, options.buffer })
      return {
        render = function() table.insert(calls, { "render" }) end,
        clear = function() table.insert(calls, { "clear" }) end,
      }
    end,
  }
  package.loaded.snacks = {
    image = {
      placement = {
        new = function(buffer, path, options)
          table.insert(calls, { "new", buffer, path, options.pos, options.max_height })
          return { close = function() table.insert(calls, { "close" }) end }
        end,
      },
    },
  }
  t:at_end(function() package.loaded.image, package.loaded.snacks = nil, nil end)
  local buffer = t:buffer({ "", "see ![cat](" .. server.url("/a.png") .. ")" }, 2, 6)
  local show = require("halcyon.show")
  for _, adapter in ipairs({ show.image_nvim({ height = 12 }), show.snacks({ max_height = 9 }) }) do
    vim.api.nvim_win_set_cursor(0, { 2, 6 })
    local before = #calls
    require("halcyon").preview({ show = adapter })
    eventually(function() return #calls > before end, "the image was shown")
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    moved()
  end
  local path = calls[1][2]
  matches(path, "%.png$")
  equal(calls, {
    { "from_file", path, 0, 1, 12, vim.api.nvim_get_current_win(), buffer },
    { "render" },
    { "clear" },
    { "new", buffer, path, { 2, 4 }, 9 },
    { "close" },
  })
end)

test("icat gets the file and the place, and clears it", function(t)
  t:halcyon()
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  local folder = t:folder()
  local icat = t:fake_server('echo "$@"')
  t:buffer({ "![cat](" .. server.url("/a.png") .. ")", "" }, 1, 1)
  local terminal = folder .. "/terminal"
  require("halcyon").preview({ show = require("halcyon.show").icat({ command = { icat, "icat" }, width = 30, height = 10, terminal = terminal }) })
  local function written()
    return vim.loop.fs_stat(terminal) and suite.read(terminal) or ""
  end
  eventually(function() return written():find("\n") end, "icat was started")
  matches(written(), "^icat %-%-stdin=no %-%-transfer%-mode=file %-%-place=30x10@%d+x%d+ /.*%.png\n$")
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  moved()
  eventually(function() return written():find("%-%-clear") end, "icat cleared")
end)

test("icat clears the old image before it draws the newer one", function(t)
  local folder = t:folder()
  local terminal, gate = folder .. "/terminal", folder .. "/gate"
  local halcyon = t:halcyon()
  local server, held = changing(t, { suite.fixture("png-1x1.png"), suite.fixture("png-rgb.png") })
  assert(halcyon.retrieve(server.url("/cat.png")):wait())
  -- The command that draws waits for the gate; the one that clears must wait for it.
  local icat = t:fake_server(('case "$*" in *--clear*) ;; *) while [ ! -e %s ]; do sleep 0.01; done;; esac; echo "$@"'):format(gate))
  t:buffer({ "![cat](" .. server.url("/cat.png") .. ")", "" }, 1, 1)
  halcyon.preview({ show = require("halcyon.show").icat({ command = { icat }, width = 30, height = 10, terminal = terminal }) })
  eventually(function() return #held == 1 and vim.loop.fs_stat(terminal) ~= nil end, "the stale image was shown")
  held[1]()
  eventually(function() return halcyon.client():status().open == 0 end, "the newer image came")
  suite.write(gate, "")
  local function lines()
    return vim.split(suite.read(terminal), "\n", { trimempty = true })
  end
  eventually(function() return #lines() == 3 end, "the newer image was drawn")
  local kinds = vim.tbl_map(function(line) return line:match("%-%-clear") or line:match("%-%-place") end, lines())
  equal(kinds, { "--place", "--clear", "--place" })
  require("halcyon.preview").close()
  eventually(function() return #lines() == 4 end, "it was cleared at the end")
end)

for case, said in pairs({
  ["an icat that fails is told"] = "ended with exit code 3%.$",
  ["a terminal that cannot be written to is told"] = "cannot write to the terminal: ENOENT.*option `terminal`%.$",
}) do
  test(case, function(t)
    local folder = t:folder()
    local terminal = folder .. (case:find("icat") and "/terminal" or "/none/tty")
    t:halcyon()
    local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
    t:buffer({ "![cat](" .. server.url("/a.png") .. ")" }, 1, 1)
    local show = require("halcyon.show").icat({ command = { t:fake_server("exit 3") }, terminal = terminal })
    local count = 0
    local told = notified(function()
      local remember = vim.notify
      vim.notify = function(...)
        count = count + 1
        remember(...)
      end
      require("halcyon").preview({ show = show })
      eventually(function() return count == 1 end, "that it cannot be drawn was told")
      require("halcyon.preview").close()
      eventually(function() return count == 2 end, "that it cannot be cleared was told")
    end)
    matches(told[1], said)
  end)
end

test(":HalcyonStats tells what was done, in a window that q closes", function(t)
  local halcyon = t:halcyon()
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  assert(halcyon.retrieve(server.url("/a.png")):wait())
  assert(halcyon.retrieve(server.url("/a.png")):wait())
  vim.cmd("HalcyonStats")
  eventually(function() return float_lines() ~= nil end, "the window came")
  local lines = float_lines()
  matches(lines[1], "^server     process %d+, up %d+ s, %d+ started$")
  equal(lines[2], "hits       1 from memory, 0 from disk, 1 missed, 0 merged")
  matches(lines[5], "^disk       1 images, ")
  vim.api.nvim_feedkeys("q", "xt", false)
  equal(float_lines(), nil)
end)

test(":HalcyonRestart starts another server", function(t)
  local halcyon = t:halcyon()
  assert(halcyon.ping():wait() == nil)
  local pid = halcyon.client():status().pid
  local told = notified(function()
    vim.cmd("HalcyonRestart")
    eventually(function()
      local status = halcyon.client():status()
      return status.pid and status.pid ~= pid and status.open == 0
    end, "another server runs")
  end)
  eventually(function() return #told <= 1 end, "it was told")
end)

test("a function that fails to take an image away does not keep the next one from coming", function(t)
  local halcyon = t:halcyon()
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  t:buffer({ "![cat](" .. server.url("/a.png") .. ")" }, 1, 1)
  local shown = 0
  local function show()
    shown = shown + 1
    return function() error("it is stuck") end
  end
  halcyon.preview({ show = show })
  eventually(function() return shown == 1 end, "the image was shown")
  local told = notified(function() halcyon.preview({ show = show }) end)
  equal(#told, 1)
  matches(told[1], "it is stuck")
  eventually(function() return shown == 2 end, "it was shown again")
  equal(#notified(require("halcyon.preview").close), 1)
end)

test("a relative image has no address in a folder that is gone", function(t)
  local before, folder = vim.loop.cwd(), t:folder()
  t:buffer({ "![cat](a.png)", "![cat](https://e.org/a.png)" }, 1, 1)
  vim.cmd("cd " .. folder)
  t:at_end(function() vim.cmd("cd " .. before) end)
  vim.fn.delete(folder, "d")
  equal(require("halcyon.preview").at_cursor(), nil)
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  equal(require("halcyon.preview").at_cursor().url, "https://e.org/a.png")
end)
