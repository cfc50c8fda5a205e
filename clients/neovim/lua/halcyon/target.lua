--- Finds the reference to an image at a place in a line. Knows text only: no buffer, no file, no network.
local M = {}

---@class halcyon.Target
---@field reference string What the text says: a URL or a path.
---@field kind "markdown"|"html"|"org"|"url"|"file"
---@field first integer The first byte of the reference in the line, from 1.
---@field last integer Its last byte.

--- How many brackets may be open at a time in the parts of an image.
local DEEPEST = 32

--- How many bytes of a line are looked at on each side of the cursor.
local REACH = 200000

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

--- Where the bracket is closed that opens before `start`; nil when it is not. `marks` finds both brackets, and the
--- backslash where it makes the next one a plain character.
local function closing(line, start, marks, open)
  local depth = 1
  while depth <= DEEPEST do
    local at = line:find(marks, start)
    local byte = at and line:byte(at)
    if not byte then
      return nil
    elseif byte == 92 then
      at = at + 1
    elseif byte == open then
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

--- Where the part ends that begins at `start` with the bracket `open`; nil when there is none.
local function part_end(line, start, marks, open)
  return line:byte(start) == open and closing(line, start + 1, marks, open) or nil
end

local function find_markdown(line, found, lookup)
  local start = 1
  while true do
    local first = line:find("![", start, true)
    if not first then
      return
    end
    local alt_end = closing(line, first + 2, "[][\\]", 91)
    start = (alt_end or first + 1) + 1
    local last = alt_end and part_end(line, start, "[()]", 40)
    if not alt_end then
      -- What follows may be one all the same.
    elseif last then
      add(found, "markdown", unescaped(destination(line:sub(start + 1, last - 1))), first, last)
      start = last + 1
    else
      local label_end = part_end(line, start, "[][]", 91)
      local label = label_end and line:sub(start + 1, label_end - 1) or ""
      if label == "" then
        label = line:sub(first + 2, alt_end - 1)
      end
      add(found, "markdown", lookup and lookup(label), first, label_end or alt_end)
      start = (label_end or alt_end) + 1
    end
  end
end

local function find_html(line, found)
  for first, tag, last in line:gmatch("()(<[iI][mM][gG]%s[^<>]*>)()") do
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
  local opened = {
    [41] = select(2, url:gsub("%(", "")) - select(2, url:gsub("%)", "")),
    [93] = select(2, url:gsub("%[", "")) - select(2, url:gsub("%]", "")),
  }
  local last = #url
  while last > 0 do
    local byte = url:byte(last)
    if opened[byte] and opened[byte] < 0 then
      opened[byte] = opened[byte] + 1
    elseif not url:find("^[.,;:!?'\"*_]", last) then
      break
    end
    last = last - 1
  end
  return url:sub(1, last)
end

local REMOTE = "()([hH][tT][tT][pP][sS]?://[^%s<>\"`{}|\\^]+)"
local FILE = "()([fF][iI][lL][eE]://[^%s<>\"`{}|\\^]+)"

local function add_url(found, first, url)
  url = trimmed(url)
  add(found, "url", url, first, first + #url - 1)
end

local function find_urls(line, found)
  -- First, as others may be in it. Base64 ends at the first other character; what is escaped has all that other URLs have.
  for first, head, start in line:gmatch("()([dD][aA][tT][aA]:[iI][mM][aA][gG][eE]/[%w.+;=-]+),()") do
    local rest = head:lower():find(";base64", 1, true) and "^[%w+/=%%_-]+" or "^[^%s<>\"`{}|\\^]+"
    local body = line:match(rest, start)
    if body then
      add_url(found, first, head .. "," .. body)
    end
  end
  for _, pattern in ipairs({ REMOTE, FILE }) do
    for first, url in line:gmatch(pattern) do
      add_url(found, first, url)
    end
  end
end

local function find_files(line, found)
  for first, word in line:gmatch("()([^%s<>\"'`|()%[%]{},;=]+)") do
    local last = #word
    while last > 0 and word:find("^[.:!?]", last) do
      last = last - 1
    end
    word = word:sub(1, last)
    if not word:find("^%a[%w+.-]*:") and M.is_image_name(word) then
      add(found, "file", word, first, first + #word - 1)
    end
  end
end

--- The image at byte `column` (from 1) of `line`; the only one of the line when the cursor is on none; else nil. What
--- the syntax of a document says counts before a URL, and a URL before a name of a file. Of a very long line only what
--- is near the cursor counts.
---@param line string
---@param column integer
---@param lookup? fun(label: string): string? Finds what a label of Markdown stands for.
---@return halcyon.Target?
function M.find(line, column, lookup)
  local before = math.max(0, column - REACH)
  local goes_on = column + REACH < #line
  line = line:sub(before + 1, column + REACH)
  local all = {}
  for _, finder in ipairs({ find_markdown, find_html, find_org, find_urls, find_files }) do
    local found = {}
    finder(line, found, lookup)
    for _, target in ipairs(found) do
      local is_whole = (before == 0 or target.first > 1) and (not goes_on or target.last < #line)
      target.first, target.last = target.first + before, target.last + before
      if is_whole and target.first <= column and column <= target.last then
        return target
      end
      -- Two are as good as many: the cursor is on none of them.
      if #all < 2 and not (all[1] and all[1].first <= target.first and target.last <= all[1].last) then
        all[#all + 1] = target
      end
    end
  end
  return #all == 1 and before == 0 and not goes_on and all[1] or nil
end

--- The URL to ask the server for. Relative paths count from `folder`, that of the document.
---@param reference string
---@param folder? string An absolute path; without it a relative path has no URL.
---@param exists? fun(path: string): boolean
---@return string?
function M.url(reference, folder, exists)
  if reference:find("^%a[%w+.-]*://") or reference:sub(1, 5):lower() == "data:" then
    return reference
  end
  if reference:find("^//") then
    return "https:" .. reference
  end
  if not folder and not reference:find("^/") and not reference:find("^~/") and not reference:find("^[fF][iI][lL][eE]:/") then
    return nil
  end
  local path = reference:gsub("^[fF][iI][lL][eE]:", "")
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
