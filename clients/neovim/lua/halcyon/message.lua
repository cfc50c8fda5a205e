--- Makes messages of the protocol from values of Lua, and refuses what the server could not read.
local Handle = require("halcyon.handle")
local errors = require("halcyon.errors")
local protocol = require("halcyon.protocol")

local M = {}

local objects = {}
for _, name in ipairs(protocol.objects) do
  objects[name] = true
end

--- A copy in which empty tables are written as `{}` wherever the protocol wants an object, and handles as their ids.
---@param value any
---@param name string The name that the value has in the message.
---@return any
function M.prepared(value, name)
  if type(value) ~= "table" then
    return value
  end
  if getmetatable(value) == Handle then
    return value.id
  end
  if next(value) == nil then
    return objects[name] and vim.empty_dict() or value
  end
  local copy = {}
  for key, inner in pairs(value) do
    copy[key] = M.prepared(inner, key)
  end
  return copy
end

--- What stands alone stands for the one parameter that every such request has.
---@param method string
---@param params any
---@return any
function M.named(method, params)
  local entry = protocol.methods[method]
  if params == nil or not entry or not entry.alone then
    return params
  end
  if type(params) ~= "table" or getmetatable(params) == Handle or (entry.takes_list and #params > 0) then
    return { [entry.alone] = params }
  end
  return params
end

--- Whether a text is UTF-8 throughout.
---@param text string
---@return boolean
local function is_utf8(text)
  local place = text:find("[\128-\255]")
  while place do
    local first, second = text:byte(place, place + 1)
    local last
    if first >= 194 and first <= 223 then
      last = place + 1
    elseif first >= 224 and first <= 239 then
      last = place + 2
    elseif first >= 240 and first <= 244 then
      last = place + 3
    end
    local lowest = first == 224 and 160 or first == 240 and 144 or 128
    local highest = first == 237 and 159 or first == 244 and 143 or 191
    if not last or not second or second < lowest or second > highest then
      return false
    end
    for index = place + 2, last do
      local byte = text:byte(index)
      if not byte or byte < 128 or byte > 191 then
        return false
      end
    end
    place = text:find("[\128-\255]", last + 1)
  end
  return true
end

--- The message as a line. One that the server could not read is refused: it could not tell which one that was, and
--- all that wait for it would fail.
---@param message table
---@param method string What it is about, for the error.
---@return string? line
---@return halcyon.Error? err
function M.encode(message, method)
  message.jsonrpc = "2.0"
  local ok, text = pcall(vim.json.encode, message)
  if not ok or not is_utf8(text) then
    local reason = ok and "it has a text that is not UTF-8" or text
    return nil, errors.new("invalidParams", ("Cannot write the parameters of %s as JSON: %s."):format(method, reason), { method = method })
  end
  if #text > protocol.message_bytes then
    local told = "Cannot send %s: the message has %d bytes and the server reads at most %d. Give the image as a path instead of as data."
    return nil, errors.new("messageTooLarge", told:format(method, #text, protocol.message_bytes), { method = method })
  end
  return text .. "\n"
end

return M
