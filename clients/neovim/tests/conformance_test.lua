-- The cases of protocol/conformance, those of bytes/ too, sent through the plugin's own process and, for one message a line, its own splitter
-- of lines. Content-Length frames, which the plugin does not use, are cut here, so that no case is left out.
local suite = require("tests.support.suite")
local json = require("tests.support.json")
local patterns = require("tests.support.patterns")
local http = require("tests.support.http")
local Process = require("halcyon.process")
local lines = require("halcyon.lines")

local FIXTURES = suite.repository .. "/Tests/Fixtures"
local CASES_AT_ONCE = 4

local function frames(on_frame)
  local bytes = ""
  return function(chunk)
    bytes = bytes .. chunk
    while true do
      local head, body = bytes:match("^(.-)\r\n\r\n()")
      if not head then
        return bytes
      end
      local length = tonumber(head:match("^Content%-Length: (%d+)$"))
      if not length then
        return on_frame(nil, head)
      end
      if #bytes < body - 1 + length then
        return bytes
      end
      on_frame(bytes:sub(body, body - 1 + length))
      bytes = bytes:sub(body + length)
    end
  end
end

--- A server started for one case. `next()` waits in a coroutine.
local function start(args, framing, cwd, cache)
  local wire = { messages = {}, errors = "" }
  local function wake()
    local thread = wire.waiting
    wire.waiting = nil
    if thread then
      vim.schedule(function()
        local ok, message = coroutine.resume(thread)
        if not ok then
          wire.crash(debug.traceback(thread, message))
        end
      end)
    end
  end
  local function take(text, bad_head)
    if bad_head then
      wire.fault = "A frame must begin with exactly one header Content-Length, not " .. bad_head
    else
      table.insert(wire.messages, text)
    end
    wake()
  end
  local message
  wire.process, message = Process.start({
    command = "/bin/sh",
    -- Without arguments the server has none to parse, which in a debug build is most of its start.
    args = vim.list_extend(
      { "-c", 'cd "$0" && HALCYON_CACHE_DIR=$1 && export HALCYON_CACHE_DIR && shift && exec "$@"', cwd, cache, suite.binary() },
      args
    ),
    on_stdout = framing == "lines" and lines.splitter(take) or frames(take),
    on_stderr = function(chunk)
      wire.errors = wire.errors .. chunk
    end,
    on_exit = function(code, signal)
      wire.exit = { code = code, signal = signal }
      wake()
    end,
  })
  assert(wire.process, message)
  local function wait()
    wire.waiting = coroutine.running()
    coroutine.yield()
  end
  function wire.next()
    while #wire.messages == 0 and not wire.exit and not wire.fault do
      wait()
    end
    assert(not wire.fault, wire.fault)
    local text = table.remove(wire.messages, 1)
    return text and json.decode(text)
  end
  function wire.ended()
    wire.process:close_input()
    while not wire.exit do
      wait()
    end
    return wire.exit
  end
  function wire.send(body)
    wire.process:write(framing == "lines" and body .. "\n" or ("Content-Length: %d\r\n\r\n%s"):format(#body, body))
  end
  return wire
end

local function fill(value, places)
  if type(value) == "string" then
    return (value:gsub("%${(%l+)}", places))
  elseif json.is_object(value) or json.is_list(value) then
    local copy = json.is_list(value) and json.list({}) or json.object({})
    for key, inner in pairs(value) do
      copy[key] = fill(inner, places)
    end
    return copy
  end
  return value
end

local function take_any(wire, expected)
  local left = vim.list_extend({}, expected)
  while #left > 0 do
    local message = wire.next()
    assert(message, "The server ended before it had answered.")
    local fits
    for index, pattern in ipairs(left) do
      fits = fits or (not patterns.mismatch(message, pattern) and index)
    end
    assert(fits, "Nothing expects " .. json.encode(message))
    table.remove(left, fits)
  end
end

--- What a piece of `bytes` stands for: text, `{"hex": …}`, either so many `times`.
local function piece(value)
  if type(value) == "string" then
    return value
  end
  local text = value.text or value.hex:gsub("%x%x", function(pair)
    return string.char(tonumber(pair, 16))
  end)
  return text:rep(value.times and tonumber(value.times.text) or 1)
end

local function take_step(wire, step)
  for _, value in ipairs(step.bytes or {}) do
    wire.process:write(piece(value))
  end
  if step.delete then
    assert(vim.fn.delete(step.delete, "rf") == 0, "cannot delete " .. step.delete)
  end
  if step.write then
    suite.write(step.write.path, step.write.text)
  end
  if step.file then
    local source = step.file.copy
    suite.write(step.file.to, suite.read(source:sub(1, 1) == "/" and source or FIXTURES .. "/" .. source))
  end
  if step.raw then
    wire.send(step.raw)
  end
  if step.send then
    wire.send(json.encode(step.send))
  end
  if step.expect and step.expect ~= json.null then
    local message = wire.next()
    assert(message, "The server ended before it had answered.")
    local found = patterns.mismatch(message, step.expect)
    assert(not found, found)
  end
  if step.expectAny then
    take_any(wire, step.expectAny)
  end
end

local function run_case(case, framing, base, folder, on_crash)
  local places = { fixtures = FIXTURES, cache = folder .. "/cache", work = folder .. "/work", http = base }
  vim.fn.mkdir(places.cache, "p")
  vim.fn.mkdir(places.work, "p")
  case = fill(case, places)
  local wire = start(case.args or {}, framing, places.work, places.cache)
  wire.crash = on_crash
  for index, step in ipairs(case.steps) do
    local ok, message = pcall(take_step, wire, step)
    if not ok then
      wire.process:kill("sigkill")
      error(("Step %d: %s"):format(index, message), 0)
    end
  end
  local exit = wire.ended()
  local wanted = case.exit and tonumber(case.exit.text) or 0
  assert(exit.code == wanted and exit.signal == 0, ("The server ended with %d and signal %d. %s"):format(exit.code, exit.signal, wire.errors))
  for _, pattern in ipairs(case.endsWith or {}) do
    local found = patterns.mismatch(assert(wire.next(), "The server ended without " .. json.encode(pattern)), pattern)
    assert(not found, found)
  end
  assert(#wire.messages == 0, "The server sent more than the case expects: " .. tostring(wire.messages[1]))
end

local function all_cases()
  local cases = {}
  local folder = suite.repository .. "/protocol/conformance"
  for _, file in ipairs(vim.fn.sort(vim.fn.glob(folder .. "/**/*.json", true, true))) do
    for _, case in ipairs(json.decode(suite.read(file)).cases) do
      local framings = { case.framing }
      if not case.framing or case.framing == "both" then
        framings = { "lines", "content-length" }
      end
      for _, framing in ipairs(framings) do
        table.insert(cases, { name = ("%s: %s (%s)"):format(vim.fn.fnamemodify(file, ":t"), case.name, framing), case = case, framing = framing })
      end
    end
  end
  return cases
end

suite.test("every conformance case holds, in both framings", function(t)
  local server = t:http({
    ["/html"] = { raw = http.answer(200, "text/html", "<!doctype html><title>Hello</title>") },
  }, http.files(FIXTURES))
  local folder = t:folder()
  local cases = all_cases()
  assert(#cases > 600, "there are conformance cases")
  local failures, started, ended = {}, 0, 0
  local function work()
    while started < #cases do
      started = started + 1
      local one, number = cases[started], started
      local place = ("%s/%d"):format(folder, number)
      local ok, message = pcall(run_case, one.case, one.framing, server.base, place, function(text)
        table.insert(failures, text)
      end)
      if not ok then
        table.insert(failures, one.name .. ": " .. tostring(message))
      end
      vim.fn.delete(place, "rf")
      ended = ended + 1
    end
  end
  for _ = 1, CASES_AT_ONCE do
    require("halcyon").run(work)
  end
  -- A case that hangs stops the count: that is told apart from one that is slow by nothing being done for long.
  local before = -1
  while ended < #cases do
    assert(ended > before, ("No case came to its end for a minute; %d of %d did."):format(ended, #cases))
    before = ended
    vim.wait(suite.patience, function()
      return ended == #cases
    end, 5)
  end
  assert(#failures == 0, ("%d cases failed:\n%s"):format(#failures, table.concat(failures, "\n")))
end)

suite.test("patterns tell what matches from what does not", function()
  for _, row in ipairs({
    { '{"a": 1}', '{"a": 1, "b": 2}', '{"a": 2}' },
    { '{"a": {"$absent": true}}', '{"b": 1}', '{"a": null}' },
    { '{"$type": "integer"}', "3", "3.5" },
    { '{"$type": "object"}', "{}", "[]" },
    { '{"$regex": "^file:/+[a-z=]{3}\\\\.png$"}', '"file:///a=b.png"', '"file:///a=b-png"' },
    { '{"$length": 2}', '"éé"', '"é"' },
    { "9007199254740993", "9007199254740993", "9007199254740992" },
    { "[1, null]", "[1.0, null]", "[1]" },
    { "[]", "[]", "{}" },
  }) do
    local pattern, good, bad = json.decode(row[1]), json.decode(row[2]), json.decode(row[3])
    suite.equal(patterns.mismatch(good, pattern), nil, row[1])
    assert(patterns.mismatch(bad, pattern), row[1] .. " must not match " .. row[3])
  end
end)
