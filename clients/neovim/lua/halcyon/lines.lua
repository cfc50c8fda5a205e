--- Cuts a stream of bytes into lines, in time proportional to its length however long a line is.
local M = {}

--- Makes a function that takes the next bytes and calls `on_line` with each line that is not blank, without its end.
---@param on_line fun(line: string)
---@return fun(chunk: string)
function M.splitter(on_line)
  local parts = {}
  local function emit(last)
    parts[#parts + 1] = last
    local line = #parts == 1 and last or table.concat(parts)
    parts = {}
    if line:find("%S") then
      on_line(line)
    end
  end
  return function(chunk)
    local start = 1
    local stop = chunk:find("\n", 1, true)
    while stop do
      emit(chunk:sub(start, stop - 1))
      start = stop + 1
      stop = chunk:find("\n", start, true)
    end
    if start <= #chunk then
      parts[#parts + 1] = start == 1 and chunk or chunk:sub(start)
    end
  end
end

return M
