--- JSON that loses nothing: whole numbers beyond 2^53, empty objects and lists, null. Shares no code with the editor's.
local M = {}

--- Null.
M.null = setmetatable({}, { __tostring = function() return "null" end })

local Object, List, Number = {}, {}, {}

function M.is_object(value)
  return getmetatable(value) == Object
end

function M.is_list(value)
  return getmetatable(value) == List
end

function M.is_number(value)
  return getmetatable(value) == Number
end

function M.object(members)
  return setmetatable(members, Object)
end

function M.list(items)
  return setmetatable(items, List)
end

local function utf8(code)
  if code < 0x80 then
    return string.char(code)
  elseif code < 0x800 then
    return string.char(0xc0 + math.floor(code / 64), 0x80 + code % 64)
  elseif code < 0x10000 then
    return string.char(0xe0 + math.floor(code / 4096), 0x80 + math.floor(code / 64) % 64, 0x80 + code % 64)
  end
  return string.char(
    0xf0 + math.floor(code / 262144),
    0x80 + math.floor(code / 4096) % 64,
    0x80 + math.floor(code / 64) % 64,
    0x80 + code % 64
  )
end

local ESCAPES = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }

local function string_at(text, place)
  local parts = {}
  while true do
    local plain, special = text:match('^([^"\\]*)()', place)
    parts[#parts + 1] = plain
    if text:sub(special, special) == '"' then
      return table.concat(parts), special + 1
    end
    local escape = text:sub(special + 1, special + 1)
    if escape == "u" then
      local code = assert(tonumber(text:sub(special + 2, special + 5), 16), "a bad escape")
      place = special + 6
      if code >= 0xd800 and code < 0xdc00 then
        local low = text:match("^\\u(%x%x%x%x)", place)
        code = 0x10000 + (code - 0xd800) * 1024 + (tonumber(assert(low, "half of a surrogate pair"), 16) - 0xdc00)
        place = place + 6
      end
      parts[#parts + 1] = utf8(code)
    else
      parts[#parts + 1] = assert(ESCAPES[escape], "a bad escape")
      place = special + 2
    end
  end
end

local value_at

local function skip(text, place)
  return text:match("^[ \t\r\n]*()", place)
end

local function object_at(text, place)
  local object = setmetatable({}, Object)
  place = skip(text, place)
  if text:sub(place, place) == "}" then
    return object, place + 1
  end
  while true do
    place = skip(text, place)
    assert(text:sub(place, place) == '"', "a name is missing")
    local name, value
    name, place = string_at(text, place + 1)
    place = skip(text, place)
    assert(text:sub(place, place) == ":", "a colon is missing")
    value, place = value_at(text, skip(text, place + 1))
    assert(object[name] == nil, "a name that comes twice")
    object[name] = value
    place = skip(text, place)
    local mark = text:sub(place, place)
    place = place + 1
    if mark == "}" then
      return object, place
    end
    assert(mark == ",", "a comma is missing")
  end
end

local function list_at(text, place)
  local list = setmetatable({}, List)
  place = skip(text, place)
  if text:sub(place, place) == "]" then
    return list, place + 1
  end
  while true do
    list[#list + 1], place = value_at(text, skip(text, place))
    place = skip(text, place)
    local mark = text:sub(place, place)
    place = place + 1
    if mark == "]" then
      return list, place
    end
    assert(mark == ",", "a comma is missing")
  end
end

function value_at(text, place)
  local mark = text:sub(place, place)
  if mark == "{" then
    return object_at(text, place + 1)
  elseif mark == "[" then
    return list_at(text, place + 1)
  elseif mark == '"' then
    return string_at(text, place + 1)
  end
  for word, value in pairs({ ["true"] = true, ["false"] = false, null = M.null }) do
    if text:sub(place, place + #word - 1) == word then
      return value, place + #word
    end
  end
  local number, after = text:match("^(-?%d+%.?%d*[eE]?[+-]?%d*)()", place)
  assert(number, "no value")
  return setmetatable({ text = number }, Number), after
end

--- Reads a text; an error when it is no JSON.
function M.decode(text)
  local value, after = value_at(text, skip(text, 1))
  assert(skip(text, after) == #text + 1, "more after the value")
  return value
end

local function quoted(text)
  return '"' .. text:gsub('[%c"\\\127]', function(char)
    return ("\\u%04x"):format(char:byte())
  end) .. '"'
end

--- Writes a value as it was read.
function M.encode(value)
  if M.is_number(value) then
    return value.text
  elseif value == M.null or type(value) == "boolean" then
    return tostring(value)
  elseif type(value) == "string" then
    return quoted(value)
  end
  local parts = {}
  if M.is_list(value) then
    for _, inner in ipairs(value) do
      parts[#parts + 1] = M.encode(inner)
    end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for name, inner in pairs(value) do
    parts[#parts + 1] = quoted(name) .. ":" .. M.encode(inner)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

--- Whether two numbers are the same: whole ones by their digits.
function M.same_number(one, other)
  if one.text:find("^-?%d+$") and other.text:find("^-?%d+$") then
    return one.text == other.text
  end
  return tonumber(one.text) == tonumber(other.text)
end

return M
