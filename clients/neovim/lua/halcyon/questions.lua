--- What a server asks about downloads, each answered by the delegate of its name.
local Handle = require("halcyon.handle")
local message = require("halcyon.message")

---@class halcyon.Questions
local Questions = {}
Questions.__index = Questions

--- The questions of one server: ids begin anew with each.
---@param process halcyon.Process
---@param delegates halcyon.Delegates
---@return halcyon.Questions
function Questions.new(process, delegates)
  return setmetatable({ _process = process, _delegates = delegates, _open = {} }, Questions)
end

--- Told when the server no longer wants an answer.
---@param id any
function Questions:withdraw(id)
  self._open[id] = nil
end

function Questions:_reply(id, method, answer)
  answer.id = id
  local line, err = message.encode(answer, method)
  if not line then
    line = message.encode({ id = id, error = { code = -32603, message = err.message } }, method)
  end
  self._process:write(line)
end

--- What the delegate returns, as the protocol wants it.
local function asked(handler, method, params)
  local result = handler(params)
  if result == nil then
    local has_object = method == "downloader/modifyRequest" or method == "downloader/redirect"
    return has_object and vim.empty_dict() or vim.NIL
  end
  if type(result) == "table" then
    return next(result) == nil and vim.empty_dict() or message.prepared(result, "")
  end
  return result
end

--- Answers a question by its delegate, which runs in a coroutine and may await.
---@param question table
function Questions:ask(question)
  local id, method = question.id, question.method
  local handler = self._delegates[method]
  if not handler then
    return self:_reply(id, method, { error = { code = -32601, message = ("This client does not answer %s."):format(method) } })
  end
  self._open[id] = question
  vim.schedule(function()
    Handle.resume(coroutine.create(function()
      local ok, result = pcall(asked, handler, method, question.params)
      if self._open[id] ~= question then
        return
      end
      self._open[id] = nil
      if ok then
        return self:_reply(id, method, { result = result })
      end
      local is_told, told = pcall(tostring, result)
      self:_reply(id, method, { error = { code = -32603, message = is_told and told or "The delegate failed." } })
    end))
  end)
end

return Questions
