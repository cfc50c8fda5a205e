--- Finds the `halcyon` executable: the option, then HALCYON_BIN, then PATH; the first that is given decides.
local uv = vim.loop

local M = {}

local function is_executable(path)
  local stat = uv.fs_stat(path)
  return stat ~= nil and stat.type == "file" and uv.fs_access(path, "X") == true
end

--- An absolute path for one that may be relative or begin with `~`; as it is when the current folder is gone.
---@param path string
---@return string
function M.absolute(path)
  if path:sub(1, 2) == "~/" then
    path = (uv.os_homedir() or "~") .. path:sub(2)
  end
  if path:sub(1, 1) == "/" then
    return path
  end
  local folder = uv.cwd()
  return folder and folder .. "/" .. path or path
end

--- A copy of the options of a client whose paths are absolute: the current folder may be another one at the next start.
---@param options? halcyon.ClientOptions
---@return halcyon.ClientOptions
function M.settled(options)
  options = vim.tbl_extend("force", {}, options or {})
  if options.binary and options.binary:find("/", 1, true) then
    options.binary = M.absolute(options.binary)
  end
  if options.cache_dir then
    options.cache_dir = M.absolute(options.cache_dir)
  end
  return options
end

local function search_path(name, path)
  for folder in (path or ""):gmatch("[^:]+") do
    local file = M.absolute(folder) .. "/" .. name
    if is_executable(file) then
      return file
    end
  end
end

local function named(name, origin, path)
  if not name:find("/", 1, true) then
    local found = search_path(name, path)
    if found then
      return found
    end
    return nil, ("Cannot find the executable %q, named by %s: it is in no folder of PATH. Give its full path."):format(name, origin)
  end
  local file = M.absolute(name)
  if is_executable(file) then
    return file
  end
  return nil, ("Cannot run %q, named by %s: there is no executable file there."):format(file, origin)
end

--- The path of the executable, or nil and a sentence that names the places that were searched.
---@param option? string The option `binary`.
---@param env? table<string, string> Additions to the environment.
---@return string? path
---@return string? message
function M.find(option, env)
  env = env or {}
  local path = env.PATH or os.getenv("PATH")
  if option and option ~= "" then
    return named(option, "the option `binary`", path)
  end
  local variable = env.HALCYON_BIN or os.getenv("HALCYON_BIN")
  if variable and variable ~= "" then
    return named(variable, "the environment variable HALCYON_BIN", path)
  end
  local found = search_path("halcyon", path)
  if found then
    return found
  end
  return nil,
    "Cannot find the executable `halcyon`: it is in no folder of PATH. Give its path as the option `binary`, or set HALCYON_BIN."
end

return M
