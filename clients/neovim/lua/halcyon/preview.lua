--- The preview of the image under the cursor: looked up when asked for, shown anew when the image has changed, given up
--- when the cursor leaves.
local float = require("halcyon.float")
local format = require("halcyon.format")
local target = require("halcyon.target")

local M = {}

---@class halcyon.PreviewContext
---@field buffer integer The buffer that names the image.
---@field window integer Its window.
---@field row integer The line, from 1.
---@field first integer The first byte of the reference in the line, from 1.
---@field last integer Its last byte.
---@field url string What was asked for.
---@field name string A short name for people.

---@class halcyon.OpenPreview
---@field handle? halcyon.Handle
---@field float? halcyon.Float
---@field hide? fun()
---@field off? fun() Ends the listening for changes.
local current

local function plain(label)
  return (vim.trim(label):lower():gsub("%s+", " "))
end

local function lookup_in(buffer)
  local labels
  return function(label)
    if not labels then
      labels = {}
      for _, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
        local name, rest = line:match("^ ? ? ?%[([^%]]+)%]:%s*(.+)$")
        if name and not labels[plain(name)] then
          labels[plain(name)] = rest:match("^<([^<>]*)>") or rest:match("^(%S+)")
        end
      end
    end
    return labels[plain(label)]
  end
end

--- What is under the cursor of the current window; nil when it is no image.
---@return halcyon.PreviewContext?
function M.at_cursor()
  local buffer, window = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  local row, column = unpack(vim.api.nvim_win_get_cursor(window))
  local found = target.find(vim.api.nvim_get_current_line(), column + 1, lookup_in(buffer))
  if not found then
    return nil
  end
  local name = vim.api.nvim_buf_get_name(buffer)
  local folder = name ~= "" and vim.fn.fnamemodify(name, ":p:h") or vim.loop.cwd()
  local url = target.url(found.reference, folder, function(path)
    return vim.loop.fs_stat(path) ~= nil
  end)
  if not url then
    return nil
  end
  return {
    buffer = buffer,
    window = window,
    row = row,
    first = found.first,
    last = found.last,
    url = url,
    name = format.name(url),
  }
end

--- Has what `show` returned take the image away. A failure in it is told, and ends nothing else.
local function hide(preview)
  local hidden = preview.hide
  preview.hide = nil
  if hidden then
    local ok, message = pcall(hidden)
    if not ok then
      vim.notify("halcyon: the image was not taken away: " .. tostring(message), vim.log.levels.ERROR)
    end
  end
end

--- Takes the preview away, and gives up what it waits for.
function M.close()
  local preview = current
  if not preview then
    return
  end
  current = nil
  pcall(vim.api.nvim_del_augroup_by_id, preview.group)
  if preview.off then
    preview.off()
  end
  if preview.handle then
    preview.handle:cancel()
  end
  if preview.float then
    preview.float:close()
  end
  hide(preview)
end

local function has_left(context, tick)
  if vim.api.nvim_get_current_buf() ~= context.buffer or vim.api.nvim_get_current_win() ~= context.window then
    return true
  end
  local row, column = unpack(vim.api.nvim_win_get_cursor(context.window))
  local is_on = row == context.row and context.first <= column + 1 and column + 1 <= context.last
  if is_on and vim.api.nvim_buf_get_changedtick(context.buffer) == tick then
    return false
  end
  local here = M.at_cursor()
  return not here or here.row ~= context.row or here.first ~= context.first or here.url ~= context.url
end

local function watch(preview, context)
  preview.group = vim.api.nvim_create_augroup("HalcyonPreview", { clear = true })
  local tick = vim.api.nvim_buf_get_changedtick(context.buffer)
  local function close()
    if current == preview then
      M.close()
    end
  end
  vim.api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI", "WinEnter" }, {
    group = preview.group,
    callback = function()
      if current == preview and has_left(context, tick) then
        M.close()
      end
    end,
  })
  vim.api.nvim_create_autocmd({ "BufLeave", "BufHidden", "BufUnload", "BufWipeout", "InsertEnter" }, {
    group = preview.group,
    buffer = context.buffer,
    callback = close,
  })
  vim.api.nvim_create_autocmd("VimLeavePre", { group = preview.group, callback = close })
end

--- Previews the image under the cursor. Options given here count before those of `setup`. Returns the call, or nil when
--- there is no image.
---@param options? halcyon.PreviewOptions
---@return halcyon.Handle?
function M.open(options)
  local halcyon = require("halcyon")
  local config = vim.tbl_extend("force", halcyon.config.preview, options or {})
  M.close()
  local context = M.at_cursor()
  if not context then
    vim.notify("There is no image under the cursor.", vim.log.levels.INFO)
    return nil
  end
  local preview = {}
  current = preview
  watch(preview, context)

  local function tell(lines)
    if preview.float and preview.float:is_open() then
      preview.float:set(lines)
    else
      preview.float = float.at_cursor(lines, config.border)
    end
  end

  local function show(image)
    preview.key = image.key
    if not config.show then
      return tell(format.image(image, context.name))
    end
    if preview.float then
      preview.float:close()
      preview.float = nil
    end
    hide(preview)
    preview.hide = config.show(image, context)
  end

  preview.off = halcyon.on("image/didChange", function(event)
    if current ~= preview or not preview.key or event.key ~= preview.key then
      return
    end
    -- The image is in the cache now. Another request to the network could find it stale again, in an endless loop.
    local options = vim.tbl_extend("force", config.options or {}, { offline = true })
    preview.handle = halcyon.retrieve({ url = context.url, options = options }, function(err, image)
      if current == preview and not err then
        show(image)
      end
    end)
  end)

  preview.handle = halcyon.retrieve({ url = context.url, options = config.options }, {
    on_progress = function(value)
      if current == preview then
        tell({ context.name, format.progress(value) })
      end
    end,
  }, function(err, image)
    if current ~= preview then
      return
    end
    if err then
      tell(format.error(err, context.name))
    else
      show(image)
    end
  end)
  return preview.handle
end

return M
