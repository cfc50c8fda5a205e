--- Finds the reference to an image at a place in a line. Knows text only: no buffer, no file, no network.
local M = {}

---@class halcyon.Target
---@field reference string What the text says: a URL or a path.
---@field kind "markdown"|"html"|"org"|"url"|"file"
---@field first integer The first byte of the reference in the line, from 1.
---@field last integer Its last byte.

--- How many brackets may be open at a time in the text of an image.
local DEEPEST = 32

local EXTENSIONS = {}
for extension in ("png jpg jpeg jpe jfif gif webp avif heic heif jxl tif tiff bmp ico svg"):gmatch("%S+") do
  EXTENSIONS[extension] = true
end

--- Whether a path ends like that of an image.
---@param path string
---@return boolean
function M.is_image_name(path)
  local extension = path:gsub("[?#].*$", ""):match("%.(%w+)$")
  return extension ~= nil and EXTENSIONS[extension:lower()] == true
end

local function add(found, kind, reference, first, last)
  if reference and reference ~= "" then
    found[#found + 1] = { kind = kind, reference = reference, first = first, last = last }
  end
end

--- The destination of a link of Markdown: in angle brackets, or up to a space, with balanced parentheses.
local function destination(text)
  text = text:gsub("^%s+", "")
  local angled = text:match("^<([^<>]*)>")
  if angled then
    return angled
  end
  return (text:match("^(%S+)") or ""):gsub("\\([%p])", "%1")
end

local CHARACTERS = { ["&amp;"] = "&", ["&quot;"] = '"', ["&lt;"] = "<", ["&gt;"] = ">", ["&#39;"] = "'" }

local function unescaped(text)
  return (text:gsub("&#?%w+;", CHARACTERS))
end

--- Where the bracket is closed that opens before `start`, in the text of an image; nil when it is not.
local function text_end(line, start)
  local depth = 1
  while depth <= DEEPEST do
    local at = line:find("[][\\]", start)
    local byte = at and line:byte(at)
    if not byte then
      return nil
    elseif byte == 92 then -- a backslash, which makes the next one a plain character
      at = at + 1
    elseif byte == 91 then
      depth = depth + 1
    else
      depth = depth - 1
      if depth == 0 then
        return at
      end
    end
    start = at + 1
  end
end

local function find_markdown(line, found, lookup)
  local start = 1
  while true do
    local first = line:find("![", start, true)
    if not first then
      return
    end
    local alt_end = text_end(line, first + 2)
    start = (alt_end or first + 1) + 1
    local _, last = line:find("^%b()", start)
    if not alt_end then
      -- What follows may be one all the same.
    elseif last then
      add(found, "markdown", unescaped(destination(line:sub(start + 1, last - 1))), first, last)
      start = last + 1
    else
      local label_start, label_end = line:find("^%b[]", start)
      local label = label_start and line:sub(label_start + 1, label_end - 1) or ""
      if label == "" then
        label = line:sub(first + 2, alt_end - 1)
      end
      add(found, "markdown", lookup and lookup(label), first, label_end or alt_end)
      start = (label_end or alt_end) + 1
    end
  end
end

local function find_html(line, found)
  for first, tag, last in line:gmatch("()(<[iI][mM][gG]%s[^>]*>)()") do
    local value = tag:match("%s[sS][rR][cC]%s*=%s*\"([^\"]*)\"")
      or tag:match("%s[sS][rR][cC]%s*=%s*'([^']*)'")
      or tag:match("%s[sS][rR][cC]%s*=%s*([^%s\"'>]+)")
    add(found, "html", value and unescaped(value), first, last - 1)
  end
end

local function find_org(line, found)
  for first, link, last in line:gmatch("()%[%[([^%[%]]+)%]%]()") do
    add(found, "org", link, first, last - 1)
  end
  for first, link, last in line:gmatch("()%[%[([^%[%]]+)%]%[[^%[%]]*%]%]()") do
    add(found, "org", link, first, last - 1)
  end
end

--- What ends a sentence around a URL is none of it; a closing bracket belongs to it when it opened there.
local function trimmed(url)
  while true do
    local last = url:sub(-1)
    if last:find("[.,;:!?'\"*_]") then
      url = url:sub(1, -2)
    elseif last == ")" and select(2, url:gsub("%(", "")) < select(2, url:gsub("%)", "")) then
      url = url:sub(1, -2)
    elseif last == "]" and select(2, url:gsub("%[", "")) < select(2, url:gsub("%]", "")) then
      url = url:sub(1, -2)
    else
      return url
    end
  end
end

local function find_urls(line, found)
  for _, pattern in ipairs({ "()(https?://[^%s<>\"`{}|\\^]+)", "()(file://[^%s<>\"`{}|\\^]+)", "()(data:image/[%w.+-]+[%w;=-]*,[%w+/=%%-]+)" }) do
    for first, url in line:gmatch(pattern) do
      url = trimmed(url)
      add(found, "url", url, first, first + #url - 1)
    end
  end
end

local function find_files(line, found)
  for first, word in line:gmatch("()([^%s<>\"'`|()%[%]{},;=]+)") do
    word = word:gsub("[.:!?]+$", "")
    if not word:find("^%a[%w+.-]*:") and M.is_image_name(word) then
      add(found, "file", word, first, first + #word - 1)
    end
  end
end

--- The image at byte `column` (from 1) of `line`; the only one of the line when the cursor is on none; else nil. What
--- the syntax of a document says counts before a URL, and a URL before a name of a file.
---@param line string
---@param column integer
---@param lookup? fun(label: string): string? Finds what a label of Markdown stands for.
---@return halcyon.Target?
function M.find(line, column, lookup)
  local all = {}
  for _, finder in ipairs({ find_markdown, find_html, find_org, find_urls, find_files }) do
    local found = {}
    finder(line, found, lookup)
    for _, target in ipairs(found) do
      if target.first <= column and column <= target.last then
        return target
      end
      local is_inner = false
      for _, other in ipairs(all) do
        is_inner = is_inner or (other.first <= target.first and target.last <= other.last)
      end
      if not is_inner then
        all[#all + 1] = target
      end
    end
  end
  return #all == 1 and all[1] or nil
end

--- The URL to ask the server for. Relative paths count from `folder`, that of the document.
---@param reference string
---@param folder string An absolute path.
---@param exists? fun(path: string): boolean
---@return string
function M.url(reference, folder, exists)
  if reference:find("^%a[%w+.-]*://") or reference:find("^data:") then
    return reference
  end
  if reference:find("^//") then
    return "https:" .. reference
  end
  local path = reference:gsub("^file:", "")
  if not (exists and exists(M.absolute(path, folder))) then
    -- A name with % or ? may be meant as in a URL.
    path = path:gsub("[?#].*$", ""):gsub("%%(%x%x)", function(hex)
      return string.char(tonumber(hex, 16))
    end)
  end
  return vim.uri_from_fname(M.absolute(path, folder))
end

--- An absolute path without `.` and `..`.
---@param path string
---@param folder string
---@return string
function M.absolute(path, folder)
  if path:sub(1, 2) == "~/" then
    path = (vim.loop.os_homedir() or "") .. path:sub(2)
  elseif path:sub(1, 1) ~= "/" then
    path = folder .. "/" .. path
  end
  local parts = {}
  for part in path:gmatch("[^/]+") do
    if part == ".." then
      parts[#parts] = nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return "/" .. table.concat(parts, "/")
end

return M
