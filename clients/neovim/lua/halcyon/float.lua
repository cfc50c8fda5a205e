--- A small floating window of text.
local M = {}

local function size(lines)
  local width = 1
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  width = math.min(width, math.max(20, vim.o.columns - 4))
  local height = 0
  for _, line in ipairs(lines) do
    height = height + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  return width, math.min(height, math.max(1, vim.o.lines - 4))
end

local function clean(lines)
  return vim.tbl_map(function(line)
    return (line:gsub("%c", " "))
  end, lines)
end

---@class halcyon.Float
---@field window integer
---@field buffer integer
local Float = {}
Float.__index = Float

--- Opens a window under the cursor that never takes the focus.
---@param lines string[]
---@param border? string|table
---@return halcyon.Float
function M.at_cursor(lines, border)
  lines = clean(lines)
  local self = setmetatable({ buffer = vim.api.nvim_create_buf(false, true) }, Float)
  local width, height = size(lines)
  vim.api.nvim_buf_set_lines(self.buffer, 0, -1, false, lines)
  vim.bo[self.buffer].bufhidden = "wipe"
  self.window = vim.api.nvim_open_win(self.buffer, false, {
    relative = "cursor",
    row = 1,
    col = 0,
    width = width,
    height = height,
    style = "minimal",
    border = border or "rounded",
    focusable = false,
    noautocmd = true,
  })
  vim.wo[self.window].wrap = true
  return self
end

--- Opens a window in the middle that has the focus; q or <Esc> closes it.
---@param lines string[]
---@param border? string|table
---@return halcyon.Float
function M.centred(lines, border)
  lines = clean(lines)
  local self = setmetatable({ buffer = vim.api.nvim_create_buf(false, true) }, Float)
  local width, height = size(lines)
  vim.api.nvim_buf_set_lines(self.buffer, 0, -1, false, lines)
  vim.bo[self.buffer].bufhidden = "wipe"
  vim.bo[self.buffer].modifiable = false
  self.window = vim.api.nvim_open_win(self.buffer, true, {
    relative = "editor",
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
    width = width,
    height = height,
    style = "minimal",
    border = border or "rounded",
  })
  for _, key in ipairs({ "q", "<Esc>" }) do
    vim.keymap.set("n", key, function()
      self:close()
    end, { buffer = self.buffer, nowait = true })
  end
  return self
end

--- Whether the window is still there.
---@return boolean
function Float:is_open()
  return vim.api.nvim_win_is_valid(self.window)
end

--- Shows other lines.
---@param lines string[]
function Float:set(lines)
  if not self:is_open() then
    return
  end
  lines = clean(lines)
  local width, height = size(lines)
  vim.api.nvim_buf_set_lines(self.buffer, 0, -1, false, lines)
  vim.api.nvim_win_set_width(self.window, width)
  vim.api.nvim_win_set_height(self.window, height)
end

--- Takes the window away.
function Float:close()
  if self:is_open() then
    vim.api.nvim_win_close(self.window, true)
  end
end

return M
