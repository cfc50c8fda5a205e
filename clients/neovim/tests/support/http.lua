--- An HTTP server on loopback within the editor's own event loop, with gates.
local uv = vim.loop

local M = {}

local TYPES = { png = "image/png", jpg = "image/jpeg", gif = "image/gif", webp = "image/webp", svg = "image/svg+xml" }

local function answer(status, kind, body, extra)
  local head = { ("HTTP/1.1 %d X"):format(status), "Content-Type: " .. kind, "Content-Length: " .. #body }
  vim.list_extend(head, extra or {})
  return table.concat(head, "\r\n") .. "\r\n\r\n" .. body
end
M.answer = answer

--- Starts a server. `routes` maps a path to bytes (a PNG), to a whole answer `{ raw = … }`, or to
--- `function(reply, request)`, which may call `reply(text)` several times and later. `fallback(path)` is asked for others.
function M.start(routes, fallback)
  local self = { counts = {}, sockets = {}, closed = {} }
  local server = uv.new_tcp()
  assert(server:bind("127.0.0.1", 0))
  self.base = "http://127.0.0.1:" .. server:getsockname().port

  local function serve(socket, request)
    local path = request:match("^%u+ ([^ ?]+)")
    self.counts[path] = (self.counts[path] or 0) + 1
    self.last_request = request
    local function reply(text)
      if not socket:is_closing() then
        socket:write(text)
      end
    end
    local route = routes[path]
    if route == nil and fallback then
      route = fallback(path)
    end
    if type(route) == "function" then
      self.sockets[socket] = path
      route(reply, request)
    elseif type(route) == "table" then
      reply(route.raw)
    elseif route then
      reply(answer(200, "image/png", route))
    else
      reply(answer(404, "text/plain", "There is nothing here."))
    end
  end

  server:listen(64, function()
    local socket = uv.new_tcp()
    server:accept(socket)
    self.sockets[socket] = ""
    local text = ""
    socket:read_start(function(err, chunk)
      if err or not chunk then
        local path = self.sockets[socket]
        if path then
          self.closed[path] = (self.closed[path] or 0) + 1
        end
        self.sockets[socket] = nil
        if not socket:is_closing() then
          socket:close()
        end
        return
      end
      text = text .. chunk
      local _, stop = text:find("\r\n\r\n", 1, true)
      while stop do
        local request = text:sub(1, stop)
        text = text:sub(stop + 1)
        serve(socket, request)
        _, stop = text:find("\r\n\r\n", 1, true)
      end
    end)
  end)

  function self.url(path)
    return self.base .. path
  end
  function self.count(path)
    return self.counts[path] or 0
  end
  function self.stop()
    server:close()
    for socket in pairs(self.sockets) do
      if not socket:is_closing() then
        socket:close()
      end
    end
  end
  return self
end

--- What serves the files of a folder, for `fallback`.
function M.files(folder)
  return function(path)
    local file = io.open(folder .. path, "rb")
    local body = file and file:read("*a")
    if file then
      file:close()
    end
    if not body then
      return { raw = answer(404, "text/plain", "There is no such fixture.") }
    end
    return { raw = answer(200, TYPES[path:match("%.(%w+)$") or ""] or "application/octet-stream", body) }
  end
end

--- A route that answers with a PNG when it is told to: `route`, how often it was `asked`, `open()`.
function M.held(body)
  local self = { asked = 0 }
  local waiting = {}
  function self.route(reply)
    self.asked = self.asked + 1
    table.insert(waiting, reply)
  end
  function self.open()
    for _, reply in ipairs(waiting) do
      reply(answer(200, "image/png", body))
    end
  end
  return self
end

--- A route that sends the beginning of a JPEG, and the rest when it is told to: `route`, whether it has `begun`, `open()`.
function M.halves(body)
  local self = { begun = false }
  local rest
  function self.route(reply)
    reply(("HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n"):format(#body) .. body:sub(1, 2000))
    rest = function() reply(body:sub(2001)) end
    self.begun = true
  end
  function self.open() rest() end
  return self
end

return M
