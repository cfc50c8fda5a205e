if vim.g.loaded_halcyon then
  return
end
vim.g.loaded_halcyon = true

local command = vim.api.nvim_create_user_command

command("HalcyonPreview", function()
  require("halcyon").preview()
end, { desc = "Preview the image under the cursor" })

command("HalcyonStats", function()
  require("halcyon.stats").open()
end, { desc = "Show what the image server has done and holds" })

command("HalcyonRestart", function()
  require("halcyon").stop()
  require("halcyon").ping(function(err)
    vim.notify(err and ("halcyon: " .. err.message) or "halcyon: the server runs.", err and vim.log.levels.ERROR or vim.log.levels.INFO)
  end)
end, { desc = "Start the image server anew" })
