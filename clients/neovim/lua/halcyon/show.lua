--- Ways to show a previewed image: each makes a function for `setup({ preview = { show = … } })`.
---
--- Such a function gets an image, with its `path`, and where it was named; it returns what takes the image away again.
--- The file stays where it is for 60 seconds at least, or as long as the option `lease` says.
local M = {}

local folder

--- A path of the same file that no other content ever has. The cache puts a newer image at the path of the older one, and
--- plugins that remember images by their paths would show the older one for ever.
---@param path string
---@return string
local function own_path(path)
  local facts = vim.loop.fs_stat(path)
  folder = folder or vim.fn.tempname()
  if not facts or vim.fn.mkdir(folder, "p") == 0 then
    return path
  end
  local name = vim.fn.sha256(("%s %d %d %d %d"):format(path, facts.ino, facts.size, facts.mtime.sec, facts.mtime.nsec))
  local own = ("%s/%s.%s"):format(folder, name:sub(1, 32), path:match("%.(%w+)$") or "img")
  if vim.loop.fs_stat(own) or vim.loop.fs_link(path, own) or vim.loop.fs_copyfile(path, own) then
    return own
  end
  return path
end

--- With image.nvim (3rd/image.nvim), below the line.
---@param options? table Options of its `from_file`, such as { height = 20 }.
---@return fun(image: halcyon.ImageResult, context: halcyon.PreviewContext): fun()
function M.image_nvim(options)
  return function(image, context)
    local shown = require("image").from_file(own_path(image.path), vim.tbl_extend("force", {
      window = context.window,
      buffer = context.buffer,
      with_virtual_padding = true,
      inline = true,
      x = 0,
      y = context.row - 1,
    }, options or {}))
    if not shown then
      return function() end
    end
    shown:render()
    return function()
      shown:clear()
    end
  end
end

--- With snacks.nvim (folke/snacks.nvim), inline at the reference.
---@param options? table Options of its placements, such as { max_height = 20 }.
---@return fun(image: halcyon.ImageResult, context: halcyon.PreviewContext): fun()
function M.snacks(options)
  return function(image, context)
    local placement = require("snacks").image.placement.new(
      context.buffer,
      own_path(image.path),
      vim.tbl_extend("force", {
        pos = { context.row, context.first - 1 },
        inline = true,
        max_width = 80,
        max_height = 24,
      }, options or {})
    )
    return function()
      placement:close()
    end
  end
end

local function warn(text, ...)
  vim.notify("halcyon: " .. text:format(...), vim.log.levels.WARN)
end

--- Opens a terminal to write to it: that of the editor, unless one is named. From Neovim 0.9 on the editor is a process
--- beside the one that draws, and has no terminal of its own at /dev/tty; its output is what leads there.
local function open_terminal(name)
  local handle, reason
  for _, path in ipairs(name and { name } or { "/dev/tty", vim.loop.fs_readlink("/proc/self/fd/1") or "/dev/stdout" }) do
    handle, reason = vim.loop.fs_open(path, "a", 384)
    if handle then
      return handle
    end
  end
  warn("cannot write to the terminal: %s. Name it with the option `terminal`.", reason)
end

--- With the program `icat` of kitty, below the cursor, in terminals that know its graphics protocol. `command` is what
--- runs it; its output goes to the terminal of the editor.
---@param options? { command?: string[], width?: integer, height?: integer, terminal?: string }
---@return fun(image: halcyon.ImageResult, context: halcyon.PreviewContext): fun()
function M.icat(options)
  options = vim.tbl_extend("force", { command = { "kitten", "icat" }, width = 60, height = 20 }, options or {})
  -- One after the other: what clears must not overtake what draws.
  local waiting, is_running = {}, false
  local function run_next()
    local arguments = table.remove(waiting, 1)
    is_running = arguments ~= nil
    local terminal = arguments and open_terminal(options.terminal)
    if not terminal then
      is_running = false
      return
    end
    local args = vim.list_extend(vim.list_slice(options.command, 2), arguments)
    local handle
    handle = vim.loop.spawn(options.command[1], { args = args, stdio = { nil, terminal, nil } }, function(code)
      handle:close()
      vim.schedule(function()
        if code ~= 0 then
          warn("%s ended with exit code %d.", options.command[1], code)
        end
        run_next()
      end)
    end)
    vim.loop.fs_close(terminal)
    if not handle then
      is_running = false
      warn("cannot start %s.", options.command[1])
    end
  end
  local function run(arguments)
    table.insert(waiting, arguments)
    if not is_running then
      run_next()
    end
  end
  return function(image)
    local place = vim.fn.screenpos(0, vim.fn.line("."), vim.fn.col("."))
    run({
      "--stdin=no",
      "--transfer-mode=file",
      ("--place=%dx%d@%dx%d"):format(options.width, options.height, math.max(0, place.col - 1), place.row),
      image.path,
    })
    return function()
      run({ "--clear", "--stdin=no", "--transfer-mode=file" })
    end
  end
end

return M
