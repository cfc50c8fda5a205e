--- The server as a child process: bytes in, bytes out, one report of its end.
---
--- Nothing here waits. The child holds the only far ends of its pipes: when the editor ends in any way, the child reads
--- the end of its input and exits by itself.
local uv = vim.loop

local LEFTOVER_MS = 1000
local KILL_DELAY_MS = 2000
local LONGEST_MS = 2 ^ 31 - 1

---@class halcyon.Process
---@field pid integer
---@field said string The end of what it wrote to its standard error; kept by the client.
---@field questions halcyon.Questions What it asks; kept by the client.
local Process = {}
Process.__index = Process

local function close(handle)
  if handle and not handle:is_closing() then
    handle:close()
  end
end

local function environment(additions)
  local env = uv.os_environ()
  for name, value in pairs(additions or {}) do
    env[name] = value
  end
  local list = {}
  for name, value in pairs(env) do
    list[#list + 1] = name .. "=" .. tostring(value)
  end
  return list
end

---@class halcyon.ProcessOptions
---@field command string The executable.
---@field args string[]
---@field env? table<string, string> Additions to the environment.
---@field on_stdout fun(chunk: string)
---@field on_stderr fun(chunk: string)
---@field on_exit fun(code: integer, signal: integer) Once, after the last output.

--- Starts a process; nil and a sentence when it cannot be started. The functions are called from the event loop, where
--- most of `vim.api` is forbidden.
---@param options halcyon.ProcessOptions
---@return halcyon.Process? process
---@return string? message
function Process.start(options)
  local self = setmetatable({}, Process)
  self.stdin, self.stdout, self.stderr = uv.new_pipe(false), uv.new_pipe(false), uv.new_pipe(false)
  local ended = { stdout = false, stderr = false }
  local exit

  local function finish()
    if not exit or self.finished then
      return
    end
    self.finished = true
    for _, handle in ipairs({ self.timer, self.stdin, self.stdout, self.stderr, self.handle }) do
      close(handle)
    end
    options.on_exit(exit.code, exit.signal)
  end

  local handle, pid = uv.spawn(options.command, {
    args = options.args,
    env = environment(options.env),
    stdio = { self.stdin, self.stdout, self.stderr },
  }, function(code, signal)
    exit = { code = code, signal = signal }
    if ended.stdout and ended.stderr then
      return finish()
    end
    -- A descendant that inherited the output could hold it open; what the server wrote is in the pipe already.
    self.timer:start(LEFTOVER_MS, 0, finish)
  end)
  if not handle then
    close(self.stdin)
    close(self.stdout)
    close(self.stderr)
    return nil, ("Cannot start %q: %s."):format(options.command, tostring(pid))
  end
  self.handle, self.pid, self.timer = handle, pid, uv.new_timer()

  local function reader(name, take)
    return function(err, chunk)
      if chunk and not err then
        return take(chunk)
      end
      ended[name] = true
      -- Output that ends is the end of the server: it must not stay as a process that nobody hears.
      if name == "stdout" and not exit then
        self:close_input()
        self.timer:start(LEFTOVER_MS, 0, function()
          self:kill("sigkill")
        end)
      end
      if ended.stdout and ended.stderr then
        finish()
      end
    end
  end
  self.stdout:read_start(reader("stdout", options.on_stdout))
  self.stderr:read_start(reader("stderr", options.on_stderr))
  return self
end

--- Sends bytes, after all that were sent before.
---@param bytes string
function Process:write(bytes)
  if not self.finished and not self.closing and not self.stdin:is_closing() then
    -- A failure is no news of its own: the process is ending, and its end is reported.
    self.stdin:write(bytes, function() end)
  end
end

--- Ends the input once everything is sent: the server answers what it has, and exits.
function Process:close_input()
  if self.finished or self.closing or self.stdin:is_closing() then
    return
  end
  self.closing = true
  self.stdin:shutdown(function()
    close(self.stdin)
  end)
end

--- Ends the input, and makes sure that the process ends too: after `milliseconds` it gets SIGTERM, and later SIGKILL.
---@param milliseconds integer
function Process:stop(milliseconds)
  if self.finished or self.closing then
    return
  end
  self:close_input()
  self.timer:start(math.min(milliseconds, LONGEST_MS), 0, function()
    self:kill("sigterm")
    self.timer:start(KILL_DELAY_MS, 0, function()
      self:kill("sigkill")
    end)
  end)
end

--- Sends a signal such as "sigterm".
---@param signal string
function Process:kill(signal)
  if not self.finished and not self.handle:is_closing() then
    self.handle:kill(signal)
  end
end

return Process
