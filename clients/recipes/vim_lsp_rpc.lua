-- The language-server transport of Neovim (0.7.2 or later), which is part of it: Content-Length frames.
-- Usage: URLS="URL…" nvim --headless -u NONE -c "luafile vim_lsp_rpc.lua"
local command = os.getenv("HALCYON_BIN") or "halcyon"
local dispatchers = {
  notification = function() end, -- events, when they were subscribed to
}
local rpc = vim.fn.has("nvim-0.10") == 1 and vim.lsp.rpc.start({ command }, dispatchers)
  or vim.lsp.rpc.start(command, {}, dispatchers)

for url in os.getenv("URLS"):gmatch("%S+") do
  local line
  rpc.request("retrieve", { url = url }, function(err, image)
    line = err and ("error " .. err.data.name) or table.concat({ image.width, image.height, image.cacheType, image.path }, " ")
  end)
  vim.wait(60000, function() return line ~= nil end, 5)
  io.stdout:write((line or "no answer") .. "\n")
end

local is_over
rpc.request("shutdown", vim.empty_dict(), function() is_over = true end)
vim.wait(60000, function() return is_over end, 5)
rpc.notify("exit")
vim.cmd("qall!")
