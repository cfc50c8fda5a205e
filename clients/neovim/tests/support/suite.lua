--- A small test runner: each test is a coroutine with its own scratch folder and clean-ups.
local uv = vim.loop

local M = { tests = {} }

--- Milliseconds after which a wait counts as a hang; never reached by a test that passes.
M.patience = 60000

--- The folder of the repository.
M.repository = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h:h:h:h")

--- The folder of this client.
M.package = M.repository .. "/clients/neovim"

--- A test with a sentence for a name.
function M.test(name, body)
  table.insert(M.tests, { name = name, body = body })
end

--- The real server: without it the tests fail.
function M.binary()
  local path = os.getenv("HALCYON_BIN")
  assert(path and path ~= "", "Set HALCYON_BIN to the halcyon executable: these tests run against the real one.")
  return path
end

--- Waits for a condition by running the event loop.
function M.eventually(condition, what)
  assert(vim.wait(M.patience, condition, 2), "It never came true that " .. what .. ".")
end

local function show(value)
  return vim.inspect(value):sub(1, 2000)
end

--- Fails unless both are deeply equal.
function M.equal(actual, expected, what)
  if not vim.deep_equal(actual, expected) then
    error(("%s should be %s, and is %s"):format(what or "the value", show(expected), show(actual)), 2)
  end
end

--- Fails unless `text` matches the Lua pattern.
function M.matches(text, pattern)
  if type(text) ~= "string" or not text:find(pattern) then
    error(("%s does not match %s"):format(show(text), pattern), 2)
  end
end

--- The bytes of a file.
function M.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

--- Writes a file.
function M.write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

--- The bytes of a fixture of the repository.
function M.fixture(name)
  return M.read(M.repository .. "/Tests/Fixtures/" .. name)
end

local Context = {}
Context.__index = Context

--- Does `action` when the test has ended; what was asked for last is done first.
function Context:at_end(action)
  table.insert(self.actions, 1, action)
end

--- A folder that goes with the test.
function Context:folder()
  local path = assert(uv.fs_mkdtemp((os.getenv("TMPDIR") or "/tmp") .. "/halcyon-nvim-XXXXXX"))
  self:at_end(function()
    vim.fn.delete(path, "rf")
  end)
  return path
end

--- An HTTP server that ends with the test.
function Context:http(routes, fallback)
  local server = require("tests.support.http").start(routes, fallback)
  self:at_end(server.stop)
  return server
end

--- A client of the real server with an empty cache of its own.
function Context:client(options)
  local Client = require("halcyon.client")
  local client = Client.new(vim.tbl_extend("force", { binary = M.binary(), cache_dir = self:folder() }, options or {}))
  self:at_end(function()
    client._listeners = {}
    client:stop()
    M.eventually(function()
      return client._process == nil
    end, "the server ended")
  end)
  return client
end

--- The shared client of the plugin, with an empty cache.
function Context:halcyon(config)
  local halcyon = require("halcyon")
  halcyon.setup(vim.tbl_extend("force", { binary = M.binary(), cache_dir = self:folder() }, config or {}))
  self:at_end(function()
    require("halcyon.preview").close()
    halcyon.stop()
    M.eventually(function()
      return halcyon.client()._process == nil
    end, "the server ended")
  end)
  return halcyon
end

--- An executable that behaves as the real server never should: a script of the shell.
function Context:fake_server(script)
  local path = self:folder() .. "/fake-halcyon"
  M.write(path, "#!/bin/sh\n" .. script .. "\n")
  assert(uv.fs_chmod(path, 448))
  return path
end

--- A buffer in the current window, with these lines and the cursor at `row`, `column` (from 1).
function Context:buffer(lines, row, column, filetype)
  vim.cmd("enew!")
  local buffer = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].filetype = filetype or "markdown"
  vim.api.nvim_win_set_cursor(0, { row, column - 1 })
  self:at_end(function()
    if vim.api.nvim_buf_is_valid(buffer) then
      vim.api.nvim_buf_delete(buffer, { force = true })
    end
  end)
  return buffer
end

local function say(text)
  io.stdout:write(text .. "\n")
  io.stdout:flush()
end

--- Runs one test; returns nil or what went wrong.
local function run(one)
  local context = setmetatable({ actions = {} }, Context)
  local ok, message = xpcall(one.body, debug.traceback, context)
  for _, action in ipairs(context.actions) do
    local cleaned, reason = xpcall(action, debug.traceback)
    if not cleaned then
      ok, message = false, message or reason
    end
  end
  return not ok and message or nil
end

--- Runs all tests, those whose names contain `filter`, and returns how many failed.
function M.run(filter)
  local failed, count = 0, 0
  for _, one in ipairs(M.tests) do
    if not filter or one.name:find(filter, 1, true) then
      count = count + 1
      -- An error that no callback caught fails the test in which it occurred.
      vim.v.errmsg = ""
      local message = run(one)
      if not message and vim.v.errmsg ~= "" then
        message = "An error was shown: " .. vim.v.errmsg
      end
      if message then
        failed = failed + 1
        say("not ok - " .. one.name .. "\n" .. message)
      elseif os.getenv("VERBOSE") then
        say("ok - " .. one.name)
      end
    end
  end
  say(("\n%d passed, %d failed"):format(count - failed, failed))
  return count == 0 and 1 or failed
end

return M
