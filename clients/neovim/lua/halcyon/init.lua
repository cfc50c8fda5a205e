--- Images for Neovim: downloaded, cached and measured by a halcyon process, without ever holding up the editor.
local Client = require("halcyon.client")
local Handle = require("halcyon.handle")
local protocol = require("halcyon.protocol")

---@class halcyon.PreviewOptions
---@field show? fun(image: halcyon.ImageResult, context: halcyon.PreviewContext): fun()|nil Shows the image and returns what takes it away again. Default: a floating window that describes it.
---@field options? halcyon.ImageOptions How previewed images are loaded. Default: { revalidate = "http" }.
---@field border? string|table The border of the floating window. Default: "rounded".

---@class halcyon.Config: halcyon.ClientOptions
---@field preview? halcyon.PreviewOptions

---@class halcyon: halcyon.Methods
---@field config halcyon.Config
local M = {}

--- Previewed images are checked with their servers as these wish.
local DEFAULTS = { preview = { border = "rounded", options = { revalidate = "http" } } }

M.config = DEFAULTS

local client

--- Sets the configuration; needed only to change something. A server that runs is left to end, and the next call
--- starts one with the new settings.
---@param config? halcyon.Config
function M.setup(config)
  M.config = require("halcyon.binary").settled(vim.tbl_deep_extend("force", DEFAULTS, config or {}))
  if client then
    client:stop()
    client.options = M.config
  end
end

--- The client that all functions of this module share.
---@return halcyon.Client
function M.client()
  if not client then
    client = Client.new(M.config)
    -- Soon: the first call may come from the event loop, where this is forbidden.
    vim.schedule(function()
      vim.api.nvim_create_autocmd("VimLeavePre", {
        desc = "End the halcyon server",
        callback = function()
          client:stop()
        end,
      })
    end)
  end
  return client
end

--- Makes a client with a server of its own, beside the one that is shared.
---@param options? halcyon.ClientOptions
---@return halcyon.Client
function M.new_client(options)
  return Client.new(options)
end

--- Calls any method by its name.
---@param method string
---@param params? any
---@param options? halcyon.CallOptions|fun(err?: halcyon.Error, result?: any)
---@param callback? fun(err?: halcyon.Error, result?: any)
---@return halcyon.Handle
function M.call(method, params, options, callback)
  return M.client():call(method, params, options, callback)
end

for name in pairs(protocol.methods) do
  local short = name:match("[^.]+$")
  if Client[short] then
    M[short] = function(params, options, callback)
      return M.client():call(name, params, options, callback)
    end
  end
end

--- Calls `listener` with the params of every such event. Returns a function that ends it.
---@param event halcyon.EventName
---@param listener fun(params: table, event: string)
---@return fun() off
function M.on(event, listener)
  return M.client():on(event, listener)
end

--- Runs `body` in a coroutine, in which `handle:await()` waits without blocking. An error in it is shown.
---@param body fun(...)
function M.run(body, ...)
  Handle.resume(coroutine.create(body), ...)
end

--- Lets the server end. The next call starts another.
function M.stop()
  if client then
    client:stop()
  end
end

--- Previews the image under the cursor; see `halcyon.preview`.
---@param options? halcyon.PreviewOptions
---@return halcyon.Handle?
function M.preview(options)
  return require("halcyon.preview").open(options)
end

return M
