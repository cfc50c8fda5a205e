--- A server of one's own: starts the process when it is first needed, calls its methods, starts another when it died.
local Handle = require("halcyon.handle")
local Process = require("halcyon.process")
local Questions = require("halcyon.questions")
local binary = require("halcyon.binary")
local errors = require("halcyon.errors")
local lines = require("halcyon.lines")
local message = require("halcyon.message")
local protocol = require("halcyon.protocol")

local KEPT_STDERR = 4096
local MAX_REVIVALS = 3
local STOP_MS = 5000

---@class halcyon.ClientOptions
---@field binary? string The executable; else HALCYON_BIN, else `halcyon` of PATH.
---@field cache_dir? string The folder of all caches.
---@field args? string[] More flags of the server, such as { "--memory-limit", "50000000" }.
---@field env? table<string, string> Additions to its environment.
---@field init_options? halcyon.Settings Settings of the caches and the downloader, given at every start.
---@field delegates? halcyon.Delegates Answers to what the server asks about downloads.

---@class halcyon.CallOptions
---@field on_progress? fun(value: table) Is told of `receivedBytes` and `totalBytes` (nil while unknown), at most ten times a second.

---@class halcyon.Client
---@field options halcyon.ClientOptions
---@field starts integer How many servers have been started.
---@field stderr string The end of what the last server that wrote something wrote to its standard error.
local Client = {}
Client.__index = Client

--- Makes a client; no process is started yet.
---@param options? halcyon.ClientOptions
---@return halcyon.Client
function Client.new(options)
  return setmetatable({
    options = binary.settled(options),
    starts = 0,
    stderr = "",
    _next_id = 1,
    _open = {},
    _listeners = {},
    _revivals = 0,
  }, Client)
end

--- Calls a method. `options` may be left out, `callback` too: the handle then tells the end.
---@param method string
---@param params? any
---@param options? halcyon.CallOptions|fun(err?: halcyon.Error, result?: any)
---@param callback? fun(err?: halcyon.Error, result?: any)
---@return halcyon.Handle
function Client:call(method, params, options, callback)
  self._revivals = 0
  return self:_call(method, params, options, callback)
end

function Client:_call(method, params, options, callback)
  if type(params) == "function" then
    params, options, callback = nil, nil, params
  elseif type(options) == "function" then
    options, callback = nil, options
  end
  local id = self._next_id
  self._next_id = id + 1
  local handle = Handle.new(id, method, callback, function(handle)
    self:_cancel(handle)
  end)

  params = message.prepared(message.named(method, params), "")
  local on_progress = options and options.on_progress
  if on_progress then
    params = params or {}
    params.workDoneToken = id
    handle._on_progress = on_progress
  end
  if method == "store" and type(params) == "table" and type(params.path) == "string" then
    params.path = binary.absolute(params.path)
  end
  local line, err = message.encode({ id = id, method = method, params = params }, method)
  if not line then
    handle:settle(err)
    return handle
  end
  local started, reason = self:start()
  if not started then
    handle:settle(errors.new("binaryNotFound", reason, { method = method }))
    return handle
  end
  handle._process = self._process
  self._open[id] = handle
  self._process:write(line)
  return handle
end

--- Starts the server unless it runs. Returns false and a sentence when that cannot be.
---@return boolean started
---@return string? message
function Client:start()
  if self._process and not self._process.closing then
    return true
  end
  local options = self.options
  local command, reason = binary.find(options.binary, options.env)
  if not command then
    return false, reason
  end
  local args = { "serve" }
  if options.cache_dir then
    vim.list_extend(args, { "--cache-dir", options.cache_dir })
  end
  vim.list_extend(args, options.args or {})

  local process
  local has_spoken = false
  local read = lines.splitter(function(line)
    has_spoken = true
    self:_receive(line, process)
  end)
  process, reason = Process.start({
    command = command,
    args = args,
    env = options.env,
    on_stdout = read,
    on_stderr = function(chunk)
      self:_said(process, process.said .. chunk)
    end,
    on_exit = function(code, signal)
      self:_ended(process, code, signal, has_spoken)
    end,
  })
  if not process then
    return false, reason
  end
  process.said, process.questions = "", Questions.new(process, options.delegates or {})
  self._process, self.starts = process, self.starts + 1
  self.binary = command
  self:_introduce()
  return true
end

--- What every new server is told first: settings, delegates, subscriptions.
function Client:_introduce()
  local delegates = vim.tbl_keys(self.options.delegates or {})
  if #delegates > 0 or self.options.init_options then
    table.sort(delegates)
    self:_call("initialize", {
      capabilities = { delegates = delegates },
      initializationOptions = self.options.init_options,
    }, function(err)
      if err and err.name ~= "serverGone" then
        vim.notify("halcyon: " .. err.message, vim.log.levels.WARN)
      end
    end)
  end
  local events = vim.tbl_keys(self._listeners)
  if #events > 0 then
    self:_call("subscribe", events)
  end
end

--- Keeps the last words of a server for the errors that tell of its end.
function Client:_said(process, text)
  process.said = text:sub(-KEPT_STDERR)
  self.stderr = process.said
end

function Client:_ended(process, code, signal, has_spoken)
  local was_current = self._process == process
  if was_current then
    self._process = nil
  end
  local how = signal ~= 0 and ("was ended by signal %d"):format(signal) or ("ended with exit code %d"):format(code)
  local said = vim.trim(process.said)
  for _, handle in ipairs(self:_take(process)) do
    handle:settle(errors.new(
      "serverGone",
      ("No answer to %s: the server process %s.%s The next call starts another."):format(
        handle.method,
        how,
        said == "" and "" or (" It said: " .. said:match("[^\n]*$"))
      ),
      { retryable = true, method = handle.method, data = { exitCode = code, signal = signal } }
    ))
  end
  -- Listeners need a running server, so it is restarted. A server that exits before its first message, or again and
  -- again, is only restarted by the next call.
  if was_current and not process.stopped and has_spoken and next(self._listeners) and self._revivals < MAX_REVIVALS then
    self._revivals = self._revivals + 1
    self:start()
  end
end

--- Takes the calls out that wait for `process`.
function Client:_take(process)
  local taken = {}
  for id, handle in pairs(self._open) do
    if handle._process == process then
      taken[#taken + 1] = handle
    end
  end
  for _, handle in ipairs(taken) do
    self._open[handle.id] = nil
  end
  return taken
end

function Client:_cancel(handle)
  handle.cancelled = true
  if self._open[handle.id] == handle then
    self._open[handle.id] = nil
    local cancel = { method = "$/cancelRequest", params = { id = handle.id } }
    handle._process:write(message.encode(cancel, handle.method))
  end
  handle:settle(errors.new("requestCancelled", "The request was cancelled.", {
    code = protocol.errors.requestCancelled,
    method = handle.method,
  }))
end

--- Sends a notification to the server, if it runs. An error for one that the server could not read.
---@param method string
---@param params? table
function Client:notify(method, params)
  local line, err = message.encode({ method = method, params = message.prepared(params, "") }, method)
  if not line then
    error(err.message, 2)
  end
  if self._process then
    self._process:write(line)
  end
end

function Client:_receive(line, process)
  local ok, received = pcall(vim.json.decode, line, { luanil = { object = true } })
  if not ok or type(received) ~= "table" then
    local complaint = "The server wrote something that is not JSON-RPC: %s. Check that the executable is halcyon."
    self:_said(process, complaint:format(line:sub(1, 80)))
    -- No server: who knows what it does with a polite request.
    process:kill("sigkill")
    return
  end
  if received.method then
    if received.id ~= nil then
      process.questions:ask(received)
    else
      self:_notified(received.method, received.params or {}, process)
    end
  elseif received.id ~= nil then
    local handle = self._open[received.id]
    self._open[received.id] = nil
    if handle then
      handle:settle(received.error and errors.from_response(received.error, handle.method), received.result)
    end
  elseif received.error then
    -- The server could not tell which request it refused: rather fail all than leave one waiting for ever.
    for _, handle in ipairs(self:_take(process)) do
      handle:settle(errors.from_response(received.error, handle.method))
    end
  end
end

function Client:_notified(method, params, process)
  if method == "$/progress" then
    local handle = self._open[params.token]
    if handle and handle._on_progress then
      vim.schedule(function()
        if not handle.cancelled then
          handle._on_progress(params.value)
        end
      end)
    end
  elseif method == "$/cancelRequest" then
    process.questions:withdraw(params.id)
  else
    -- Each by itself: one that fails keeps the event from no other.
    for _, listener in ipairs(self._listeners[method] or {}) do
      vim.schedule(function()
        if vim.tbl_contains(self._listeners[method] or {}, listener) then
          listener(params, method)
        end
      end)
    end
  end
end

--- Calls `listener` with the params of every such event from now on, also after the server was started again. Returns
--- a function that ends it.
---@param event halcyon.EventName
---@param listener fun(params: table, event: string)
---@return fun() off
function Client:on(event, listener)
  if not vim.tbl_contains(protocol.events, event) then
    error(("There is no event %q; there are %s."):format(event, table.concat(protocol.events, ", ")), 2)
  end
  local is_first = not self._listeners[event]
  self._listeners[event] = self._listeners[event] or {}
  table.insert(self._listeners[event], listener)
  self._revivals = 0
  if is_first and self._process then
    self:_call("subscribe", { event })
  else
    self:start()
  end
  local is_on = true
  return function()
    local listeners = self._listeners[event]
    if not is_on or not listeners then
      return
    end
    is_on = false
    for index, other in ipairs(listeners) do
      if other == listener then
        table.remove(listeners, index)
        break
      end
    end
    if #listeners == 0 then
      self._listeners[event] = nil
      -- One that is ending hears no more of it, and is no reason to start another.
      if self._process and not self._process.closing then
        self:_call("unsubscribe", { event })
      end
    end
  end
end

--- Ends the input of the server: it answers what it was asked, then exits. One that has not after `milliseconds` is
--- made to. The next call starts another.
---@param milliseconds? integer Default: 5,000.
function Client:stop(milliseconds)
  if self._process then
    self._process.stopped = true
    self._process:stop(milliseconds or STOP_MS)
  end
end

--- Whether a server runs, its process id, its executable, and how many calls are open.
---@return { running: boolean, pid?: integer, binary?: string, starts: integer, open: integer }
function Client:status()
  local running = self._process ~= nil and not self._process.closing
  return {
    running = running,
    pid = running and self._process.pid or nil,
    binary = self.binary,
    starts = self.starts,
    open = vim.tbl_count(self._open),
  }
end

-- A method of the protocol is a method of the client: `client:retrieve(url, callback)`.
for method in pairs(protocol.methods) do
  local name = method:match("[^.]+$")
  if name ~= "initialize" and name ~= "shutdown" then
    Client[name] = function(self, ...)
      return self:call(method, ...)
    end
  end
end

return Client
