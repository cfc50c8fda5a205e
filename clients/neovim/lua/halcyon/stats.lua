--- `:HalcyonStats`.
local float = require("halcyon.float")
local format = require("halcyon.format")

local M = {}

--- Opens a window with what the server has done and what the caches hold.
---@param callback? fun(err?: halcyon.Error, lines?: string[])
function M.open(callback)
  local halcyon = require("halcyon")
  halcyon.run(function()
    local stats, err = halcyon.stats():await()
    local size
    if stats then
      size, err = halcyon.calculateSize():await()
    end
    if err then
      vim.notify("halcyon: " .. err.message, vim.log.levels.ERROR)
    end
    local lines = size and format.stats(stats, size, halcyon.client():status())
    if lines then
      float.centred(lines, halcyon.config.preview.border)
    end
    if callback then
      callback(err, lines)
    end
  end)
end

return M
