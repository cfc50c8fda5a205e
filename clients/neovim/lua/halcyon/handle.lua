--- A call under way.
local errors = require("halcyon.errors")

local LONGEST_MS = 2 ^ 31 - 1 -- as much as `vim.wait` takes

---@class halcyon.Handle
---@field id integer The id of the request, as `stopPrefetch` and `setPriority` want it.
---@field method string
---@field done boolean Whether it has ended; then one of the next two may be set.
---@field err? halcyon.Error
---@field result? any
local Handle = {}
Handle.__index = Handle

---@param id integer
---@param method string
---@param callback? fun(err?: halcyon.Error, result?: any)
---@param cancel fun(handle: halcyon.Handle)
---@return halcyon.Handle
function Handle.new(id, method, callback, cancel)
  return setmetatable({ id = id, method = method, done = false, _callback = callback, _cancel = cancel, _waiting = {} }, Handle)
end

--- Resumes a coroutine, and shows an error that nobody in it caught.
---@param thread thread
function Handle.resume(thread, ...)
  local ok, message = coroutine.resume(thread, ...)
  if not ok then
    error(debug.traceback(thread, tostring(message)), 0)
  end
end

--- Ends the call, once: what comes later is dropped. The callback runs soon, where all of `vim.api` is allowed.
---@param err? halcyon.Error
---@param result? any
function Handle:settle(err, result)
  if self.done then
    return
  end
  self.done, self.err, self.result = true, err, result
  local callback, waiting = self._callback, self._waiting
  self._callback, self._waiting = nil, {}
  if callback then
    vim.schedule(function()
      callback(err, result)
    end)
  end
  for _, thread in ipairs(waiting) do
    vim.schedule(function()
      Handle.resume(thread)
    end)
  end
end

--- Gives the call up: its callback gets the error "requestCancelled", the server stops working on it, and others who
--- want the same image still get it. Returns false when the call had ended already.
---@return boolean
function Handle:cancel()
  if self.done then
    return false
  end
  self._cancel(self)
  return true
end

--- In a coroutine: waits for the end, without blocking the editor, and returns the result, or nil and the error.
---@return any result
---@return halcyon.Error? err
function Handle:await()
  local thread, is_main = coroutine.running()
  if not thread or is_main then
    error("await() needs a coroutine: call it within require('halcyon').run(function() … end).", 2)
  end
  if not self.done then
    table.insert(self._waiting, thread)
    -- Others may resume this coroutine for their own reasons: only the end of the call counts.
    repeat
      coroutine.yield()
    until self.done
  end
  return self.result, self.err
end

--- For scripts and tests: runs the event loop until the end, or for `milliseconds` (30,000), and returns the result,
--- or nil and the error. It holds up who calls it: use callbacks or `await` in an editor.
---@param milliseconds? integer
---@return any result
---@return halcyon.Error? err
function Handle:wait(milliseconds)
  if not vim.wait(math.min(milliseconds or 30000, LONGEST_MS), function() return self.done end, 2) then
    return nil, errors.new("waitTimedOut", ("No answer to %s came while it was waited for."):format(self.method), { retryable = true, method = self.method })
  end
  return self.result, self.err
end

return Handle
