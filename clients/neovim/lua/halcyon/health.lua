--- `:checkhealth halcyon`.
local protocol = require("halcyon.protocol")

local M = {}

-- The names changed with Neovim 0.10.
local health = vim.health or {}
local start = health.start or health.report_start or vim.fn["health#report_start"]
local ok = health.ok or health.report_ok or vim.fn["health#report_ok"]
local warn = health.warn or health.report_warn or vim.fn["health#report_warn"]
local bad = health.error or health.report_error or vim.fn["health#report_error"]
local info = health.info or health.report_info or vim.fn["health#report_info"]

local function check_editor()
  if vim.fn.has("nvim-0.7.2") == 1 then
    ok("Neovim is 0.7.2 or later")
  else
    bad("Neovim is older than 0.7.2", { "Install a newer one." })
  end
end

--- Asks a server of its own: the shared one has been initialized already where there are delegates or settings.
local function check_server(client)
  local settings = client.options.init_options
  client.options.delegates, client.options.init_options = nil, nil
  local binary = require("halcyon.binary")
  local path, message = binary.find(client.options.binary, client.options.env)
  if not path then
    bad(message, { "Build it with `.ci/quickstart`, then put it on PATH or set `binary` in require('halcyon').setup()." })
    return
  end
  ok("executable: " .. path)
  local answer, err = client:call("initialize", { initializationOptions = settings }):wait(10000)
  if not answer then
    bad(err.message, { err.hint or "Run it by hand with --version." })
    return
  end
  ok(("server: %s %s, protocol %s"):format(answer.serverInfo.name, answer.serverInfo.version, answer.protocolVersion))
  local missing = {}
  for method in pairs(protocol.methods) do
    if answer.capabilities["method." .. method] == nil and method ~= "initialize" and method ~= "shutdown" and method ~= "rpc.discover" then
      missing[#missing + 1] = method
    end
  end
  if #missing == 0 then
    ok("the server knows every method of this plugin")
  else
    table.sort(missing)
    warn("the server does not know " .. table.concat(missing, ", "), { "Install a newer halcyon." })
  end
  local size = client:call("calculateSize"):wait(10000)
  local caches = client:call("caches"):wait(10000)
  if size and caches then
    local format = require("halcyon.format")
    for _, cache in ipairs(caches.caches) do
      info(("cache %s: %s"):format(cache.name, cache.folder))
    end
    info(("default cache: %d images, %s on disk"):format(size.disk.count, format.bytes(size.disk.byteCount)))
  end
  if vim.trim(client.stderr) ~= "" then
    warn("the server wrote to its standard error: " .. vim.trim(client.stderr))
  end
end

local function check_shows()
  local found = {}
  for _, module in ipairs({ "image", "snacks" }) do
    if #vim.api.nvim_get_runtime_file("lua/" .. module .. "/init.lua", false) > 0 then
      found[#found + 1] = module == "image" and "image.nvim" or "snacks.nvim"
    end
  end
  if vim.fn.executable("kitten") == 1 then
    found[#found + 1] = "kitten icat"
  end
  if #found == 0 then
    info("no plugin or program that draws images was found: previews describe images in words")
  else
    info("images can be drawn by " .. table.concat(found, ", ") .. ": see |halcyon-show|")
  end
end

--- Reports what works, and what to do about what does not.
function M.check()
  start("halcyon: editor")
  check_editor()
  start("halcyon: server")
  local client = require("halcyon.client").new(require("halcyon").config)
  check_server(client)
  client:stop()
  start("halcyon: pictures")
  check_shows()
end

return M
