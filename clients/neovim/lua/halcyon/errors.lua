--- What a callback gets as `err`.
local M = {}

---@class halcyon.Error
---@field name string The stable name, such as "notCached"; decide by it. Of this side: "serverGone", "binaryNotFound", "messageTooLarge", "invalidParams", "waitTimedOut".
---@field message string One sentence for people.
---@field code? integer The server's number.
---@field data table What the server says besides, such as `statusCode`.
---@field retryable boolean Whether the same call may succeed later without a change.
---@field hint? string What to do about it.
---@field method? string The method that was called.
local Error = {}
Error.__index = Error

function Error:__tostring()
  return ("%s: %s"):format(self.name, self.message)
end

--- Makes an error of this side.
---@param name string
---@param message string
---@param fields? table
---@return halcyon.Error
function M.new(name, message, fields)
  local self = { name = name, message = message, data = {}, retryable = false }
  for key, value in pairs(fields or {}) do
    self[key] = value
  end
  return setmetatable(self, Error)
end

--- Makes the error that a JSON-RPC `error` object describes.
---@param error table
---@param method? string
---@return halcyon.Error
function M.from_response(error, method)
  local data = type(error.data) == "table" and error.data or {}
  return M.new(data.name or "unknown", error.message or "The server reported an error without a message.", {
    code = error.code,
    data = data,
    retryable = data.retryable == true,
    hint = data.hint,
    method = method,
  })
end

return M
