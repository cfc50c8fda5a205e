--- Matches messages with the patterns of protocol/conformance.
local json = require("tests.support.json")

local M = {}

local function kind(value)
  if value == json.null then
    return "null"
  elseif json.is_number(value) then
    return "number"
  elseif json.is_list(value) then
    return "array"
  elseif json.is_object(value) then
    return "object"
  end
  return type(value)
end

--- A regular expression of JSON Schema as one of Vim; only what the cases use.
local function regex(pattern)
  return vim.regex("\\C\\v" .. pattern:gsub("[=<>@&~%%]", "\\%0"))
end

local function differs(place, expected, value)
  return ("%s should be %s, and is %s."):format(place, expected, value == nil and "missing" or json.encode(value):sub(1, 500))
end

local special = {
  ["$any"] = function() end,
  ["$type"] = function(value, wanted, place)
    local found = kind(value)
    if found == "number" and wanted == "integer" then
      local number = tonumber(value.text)
      found = number == math.floor(number) and "integer" or "number"
    end
    return found ~= wanted and differs(place, "of type " .. wanted, value) or nil
  end,
  ["$regex"] = function(value, wanted, place)
    if type(value) ~= "string" or not regex(wanted):match_str((value:gsub("\n", " "))) then
      return differs(place, "a string that matches " .. wanted, value)
    end
  end,
  ["$length"] = function(value, wanted, place)
    local length = type(value) == "string" and vim.fn.strchars(value) or #value
    return length ~= tonumber(wanted.text) and differs(place, "of length " .. wanted.text, value) or nil
  end,
}

--- Says where `value` does not match `pattern`, as a sentence; nil when it does.
function M.mismatch(value, pattern, place)
  place = place or "the message"
  if json.is_object(pattern) then
    for name, check in pairs(special) do
      if pattern[name] ~= nil then
        return check(value, pattern[name], place)
      end
    end
    if not json.is_object(value) then
      return differs(place, "an object", value)
    end
    for name, inner in pairs(pattern) do
      local where = place .. "." .. name
      if json.is_object(inner) and inner["$absent"] then
        if value[name] ~= nil then
          return differs(where, "nothing", value[name])
        end
      elseif value[name] == nil then
        return where .. " is missing in " .. json.encode(value):sub(1, 500)
      else
        local found = M.mismatch(value[name], inner, where)
        if found then
          return found
        end
      end
    end
    return nil
  end
  if json.is_list(pattern) then
    if not json.is_list(value) or #value ~= #pattern then
      return differs(place, ("a list of %d"):format(#pattern), value)
    end
    for index, inner in ipairs(pattern) do
      local found = M.mismatch(value[index], inner, ("%s[%d]"):format(place, index))
      if found then
        return found
      end
    end
    return nil
  end
  local same = value == pattern or (json.is_number(value) and json.is_number(pattern) and json.same_number(value, pattern))
  return not same and differs(place, json.encode(pattern), value) or nil
end

return M
