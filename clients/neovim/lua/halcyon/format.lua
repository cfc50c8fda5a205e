--- Says in words what the server says in numbers.
local M = {}

--- 12583 → "12.3 KiB".
---@param bytes number
---@return string
function M.bytes(bytes)
  local units = { "B", "KiB", "MiB", "GiB", "TiB" }
  local index = 1
  while bytes >= 1024 and index < #units do
    bytes, index = bytes / 1024, index + 1
  end
  return index == 1 and ("%d B"):format(bytes) or ("%.1f %s"):format(bytes, units[index])
end

--- The last part of a URL or path, as a name for people.
---@param url string
---@return string
function M.name(url)
  if url:sub(1, 5):lower() == "data:" then
    return "data URL"
  end
  local path = url:gsub("[?#].*$", ""):gsub("/+$", "")
  local name = path:match("[^/]+$") or url
  return (name:gsub("%%(%x%x)", function(hex)
    return string.char(tonumber(hex, 16))
  end):gsub("%c", "?"))
end

local SOURCES = { memory = "from memory", disk = "from disk", none = "loaded now", remote = "from the remote tier" }

--- The lines that describe an image.
---@param image halcyon.ImageResult
---@param name string
---@return string[]
function M.image(image, name)
  local facts = {
    image.format:upper(),
    -- As it is seen: turned as its EXIF orientation says.
    ("%d × %d"):format(image.displayWidth or image.width, image.displayHeight or image.height),
    M.bytes(image.byteCount),
  }
  if image.frameCount > 1 then
    facts[#facts + 1] = ("%d frames"):format(image.frameCount)
  end
  local state = { SOURCES[image.cacheType] or image.cacheType }
  for _, mark in ipairs({ "stale", "placeholder" }) do
    if image[mark] then
      state[#state + 1] = mark
    end
  end
  return { name, table.concat(facts, " · "), table.concat(state, ", ") }
end

--- The line that tells of a download under way.
---@param value table
---@return string
function M.progress(value)
  local received = M.bytes(value.receivedBytes or 0)
  if value.totalBytes then
    return ("loading: %s of %s"):format(received, M.bytes(value.totalBytes))
  end
  return ("loading: %s"):format(received)
end

--- The lines that tell of a failure.
---@param err halcyon.Error
---@param name string
---@return string[]
function M.error(err, name)
  local lines = { name, err.message }
  if err.hint then
    lines[#lines + 1] = err.hint
  end
  return lines
end

--- The lines of `:HalcyonStats`.
---@param stats halcyon.StatsResult
---@param size halcyon.SizeResult
---@param status table
---@return string[]
function M.stats(stats, size, status)
  local function row(name, text, ...)
    return ("%-10s " .. text):format(name, ...)
  end
  return {
    row("server", "process %d, up %d s, %d started", status.pid or 0, stats.uptimeSeconds or 0, status.starts),
    row("hits", "%d from memory, %d from disk, %d missed, %d merged", stats.memoryHits, stats.diskHits, stats.misses, stats.merged),
    row("downloads", "%d done, %d failed, %d running, %s received", stats.downloads, stats.failedDownloads, stats.runningDownloads, M.bytes(stats.downloadedBytes)),
    row("memory", "%d images, %s of %s", size.memory.count, M.bytes(size.memory.byteCount), M.bytes(size.memory.bytesLimit)),
    row("disk", "%d images, %s of %s", size.disk.count, M.bytes(size.disk.byteCount), size.disk.bytesLimit == 0 and "no limit" or M.bytes(size.disk.bytesLimit)),
  }
end

return M
