local suite = require("tests.support.suite")
local http = require("tests.support.http")
local test, equal, matches, eventually = suite.test, suite.equal, suite.matches, suite.eventually

--- A route that answers when it is told to: `asked`, `open()`.
local function held(body)
  local route = { asked = 0 }
  local waiting = {}
  setmetatable(route, {
    __call = function(_, reply)
      route.asked = route.asked + 1
      table.insert(waiting, reply)
    end,
  })
  function route.open()
    for _, reply in ipairs(waiting) do
      reply(http.answer(200, "image/png", body))
    end
  end
  function route.route(reply)
    route(reply)
  end
  return route
end

test("an image is loaded once, then answered from memory, as a file that is there", function(t)
  local body = suite.fixture("png-rgb.png")
  local server = t:http({ ["/cat.png"] = body })
  local client = t:client()
  local image = assert(client:retrieve(server.url("/cat.png")):wait())
  equal({ image.format, image.cacheType, image.byteCount }, { "png", "none", #body })
  equal(suite.read(image.path), body)
  equal(assert(client:retrieve({ url = server.url("/cat.png") }):wait()).cacheType, "memory")
  equal(server.count("/cat.png"), 1)
end)

test("a callback gets the error as first argument, with the name by which to decide", function(t)
  local server = t:http({})
  local client = t:client()
  local got
  client:retrieve(server.url("/gone.png"), function(err, image)
    got = { err, image }
  end)
  eventually(function() return got ~= nil end, "the callback was called")
  equal({ got[1].name, got[1].code, got[1].data.statusCode, got[1].retryable, got[2] }, { "invalidStatusCode", 10002, 404, false, nil })
  matches(tostring(got[1]), "^invalidStatusCode: Cannot download .* 404%.$")
end)

test("callbacks may use all of the editor's functions", function(t)
  local client = t:client()
  local in_fast
  client:ping(function()
    in_fast = vim.in_fast_event()
    vim.fn.expand("%")
  end)
  eventually(function() return in_fast ~= nil end, "the callback was called")
  equal(in_fast, false)
end)

test("the API may be called from the event loop, where most functions are forbidden", function(t)
  local client = t:client()
  local done
  local timer = vim.loop.new_timer()
  timer:start(0, 0, function()
    timer:close()
    client:isCached("nothing", function(err, result)
      done = { err, result }
    end)
  end)
  eventually(function() return done ~= nil end, "the callback was called")
  equal(done, { nil, { cached = false, cacheType = "none" } })
end)

test("calls in a coroutine wait without blocking, and give result or nil and error", function(t)
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  local client = t:client()
  local seen
  require("halcyon").run(function()
    local image = client:retrieve(server.url("/a.png")):await()
    local nothing, err = client:retrieve({ url = server.url("/b.png"), options = { onlyFromCache = true } }):await()
    seen = { image.width, nothing, err.name }
  end)
  equal(seen, nil)
  eventually(function() return seen ~= nil end, "the coroutine ended")
  equal(seen, { 1, nil, "notCached" })
end)

test("await outside of a coroutine says what to do", function(t)
  local handle = t:client():ping()
  local ok, message = pcall(handle.await, handle)
  equal(ok, false)
  matches(message, "call it within require%('halcyon'%)%.run")
  handle:wait()
end)

test("overlapping calls for one URL reach the server once, and a cancelled one does not disturb the other", function(t)
  local gate = held(suite.fixture("png-1x1.png"))
  local server = t:http({ ["/a.png"] = gate.route })
  local client = t:client()
  local first = client:retrieve(server.url("/a.png"))
  local second = client:retrieve(server.url("/a.png"))
  eventually(function() return gate.asked == 1 end, "the server was asked")
  equal(first:cancel(), true)
  equal(first:cancel(), false)
  local _, err = first:wait()
  equal(err.name, "requestCancelled")
  gate.open()
  equal(assert(second:wait()).format, "png")
  equal(server.count("/a.png"), 1)
end)

test("the download stops when its last caller is cancelled", function(t)
  local gate = held("")
  local server = t:http({ ["/slow.png"] = gate.route })
  local client = t:client()
  local handle = client:retrieve(server.url("/slow.png"))
  eventually(function() return gate.asked == 1 end, "the server was asked")
  handle:cancel()
  eventually(function() return server.closed["/slow.png"] == 1 end, "the connection was closed")
end)

test("progress grows until the result, and none comes after it", function(t)
  local body = suite.fixture("jpeg-large.jpg")
  local more
  local server = t:http({
    ["/large.jpg"] = function(reply)
      reply(("HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n"):format(#body) .. body:sub(1, 2000))
      more = function() reply(body:sub(2001)) end
    end,
  })
  local client = t:client()
  local values, ended = {}, false
  local handle = client:retrieve(server.url("/large.jpg"), {
    on_progress = function(value)
      equal(ended, false)
      table.insert(values, value)
    end,
  }, function() ended = true end)
  eventually(function() return #values > 0 and more ~= nil end, "progress was told")
  more()
  assert(handle:wait())
  eventually(function() return ended end, "the callback was called")
  equal(values[1].kind, "begin")
  equal({ values[#values].kind, values[#values].receivedBytes, values[#values].totalBytes }, { "end", #body, #body })
end)

test("prefetch takes a list alone", function(t)
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  local url = server.url("/a.png")
  equal(assert(t:client():prefetch({ url }):wait()), { completed = { url }, skipped = {}, failed = {} })
end)

test("the handle of a prefetch stops it", function(t)
  local gate = held(suite.fixture("png-1x1.png"))
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png"), ["/b.png"] = gate.route })
  local client = t:client()
  local handle = client:prefetch({ urls = { server.url("/a.png"), server.url("/b.png") }, maxConcurrent = 1 })
  eventually(function() return gate.asked == 1 end, "the second image was asked for")
  equal(assert(client:stopPrefetch(handle):wait()), { stopped = true })
  local result = assert(handle:wait())
  equal(result.completed, { server.url("/a.png") })
  equal(#result.failed, 1)
end)

test("empty tables are objects where the protocol wants objects, and lists where it wants lists", function(t)
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  local client = t:client()
  assert(client:retrieve({ url = server.url("/a.png"), options = {} }):wait())
  local options = { headers = {}, alternativeSources = {}, delegates = {}, forceRefresh = true }
  assert(client:retrieve({ url = server.url("/a.png"), options = options, processors = {} }):wait())
  equal(options, { headers = {}, alternativeSources = {}, delegates = {}, forceRefresh = true })
  assert(client:configure({ memory = {}, disk = {}, downloader = {} }):wait())
  assert(client:call("calculateSize", {}):wait())
end)

test("store copies a file named relative to the editor's folder", function(t)
  local folder = t:folder()
  suite.write(folder .. "/mine.png", suite.fixture("png-1x1.png"))
  local client = t:client()
  local before = vim.loop.cwd()
  assert(client:ping():wait() == nil)
  vim.cmd("cd " .. folder)
  t:at_end(function() vim.cmd("cd " .. before) end)
  local result = assert(client:store({ key = "mine", path = "mine.png", metadata = {} }):wait())
  equal(result.stored, { memory = true, disk = true })
  equal(assert(client:inspect("mine"):wait()).byteCount, #suite.fixture("png-1x1.png"))
end)

test("a misspelt option is named by the error", function(t)
  local _, err = t:client():retrieve({ url = "https://example.com/a.png", options = { forceRefesh = true } }):wait()
  equal({ err.name, err.data.suggestion }, { "invalidParams", "forceRefresh" })
end)

test("what is no JSON fails as an error of the call", function(t)
  local _, err = t:client():call("retrieve", { url = print }):wait()
  equal(err.name, "invalidParams")
  matches(err.message, "Cannot write the parameters of retrieve as JSON")
end)

test("a thousand calls at once are all answered", function(t)
  local client = t:client()
  local left, wrong = 1000, 0
  for index = 1, 1000 do
    client:isCached("key " .. index, function(err, result)
      left = left - 1
      if err or result.cached then
        wrong = wrong + 1
      end
    end)
  end
  eventually(function() return left == 0 end, "all were answered")
  equal(wrong, 0)
  equal(client:status().starts, 1)
end)

test("large messages pass in both directions", function(t)
  local client = t:client()
  local key = ("k"):rep(1500000)
  local result = assert(client:cachePath(key):wait())
  equal(result.exists, false)
  local body = suite.fixture("jpeg-large.jpg")
  local server = t:http({ ["/large.jpg"] = { raw = http.answer(200, "image/jpeg", body) } })
  local image = assert(client:retrieve({ url = server.url("/large.jpg"), as = "data" }):wait())
  equal(#image.data, math.ceil(#body / 3) * 4)
end)

test("events come to those who listen, and no more after they have left", function(t)
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  local client = t:client()
  local seen = {}
  local off = client:on("download/didFinish", function(params, event)
    table.insert(seen, { event, params.status, params.url })
  end)
  assert(client:retrieve(server.url("/a.png")):wait())
  eventually(function() return #seen == 1 end, "the event came")
  equal(seen[1], { "download/didFinish", 200, server.url("/a.png") })
  off()
  off()
  assert(client:retrieve({ url = server.url("/a.png"), options = { forceRefresh = true } }):wait())
  equal(assert(client:unsubscribe({ "log" }):wait()), { events = {} })
  equal(#seen, 1)
end)

test("an event that does not exist is refused at once", function(t)
  local client = t:client()
  local ok, message = pcall(client.on, client, "cache/didclean", print)
  equal(ok, false)
  matches(message, 'There is no event "cache/didclean"; there are cache/didClean')
end)

test("delegates decide about downloads, now or after waiting in their coroutine", function(t)
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  local client
  client = t:client({
    delegates = {
      ["downloader/modifyRequest"] = function(params)
        if params.url:find("veto") then
          return vim.NIL
        elseif params.url:find("plain") then
          return nil
        end
        client:ping():await()
        return { url = server.url("/a.png"), headers = { ["X-Asked"] = "yes" } }
      end,
    },
  })
  local image = assert(client:retrieve(server.url("/other.png")):wait())
  equal(image.width, 1)
  matches(server.last_request, "X%-Asked: yes")
  local _, veto = client:retrieve(server.url("/veto.png")):wait()
  equal(veto.name, "downloadCancelledBeforeStarting")
  local _, plain = client:retrieve(server.url("/plain.png")):wait()
  equal(plain.data.statusCode, 404)
end)

test("a delegate that fails leaves the matter to the server", function(t)
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  local client = t:client({
    args = { "--log-level", "critical" },
    delegates = { ["downloader/modifyRequest"] = function() error("no idea") end },
  })
  equal(assert(client:retrieve(server.url("/a.png")):wait()).width, 1)
end)

test("a server that was killed fails what was open, and the next call starts another", function(t)
  local gate = held("")
  local server = t:http({ ["/slow.png"] = gate.route, ["/a.png"] = suite.fixture("png-1x1.png") })
  local client = t:client()
  assert(client:retrieve(server.url("/a.png")):wait())
  local handle = client:retrieve(server.url("/slow.png"))
  eventually(function() return gate.asked == 1 end, "the server was asked")
  vim.loop.kill(client:status().pid, "sigkill")
  local _, err = handle:wait()
  equal({ err.name, err.retryable, err.data.signal }, { "serverGone", true, 9 })
  equal(assert(client:retrieve(server.url("/a.png")):wait()).cacheType, "disk")
  equal(client:status().starts, 2)
end)

test("who listens goes on hearing after the server was killed", function(t)
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  local client = t:client()
  local seen = 0
  client:on("download/didFinish", function() seen = seen + 1 end)
  assert(client:ping():wait() == nil)
  local pid = client:status().pid
  vim.loop.kill(pid, "sigkill")
  eventually(function()
    local now = client:status().pid
    return now ~= nil and now ~= pid
  end, "another server was started")
  assert(client:retrieve(server.url("/a.png")):wait())
  eventually(function() return seen == 1 end, "the event came")
end)

test("a server that dies again and again is not started for ever", function(t)
  local client = t:client({ binary = t:fake_server([[read line; echo '{"jsonrpc":"2.0","id":1,"result":{"events":["log"]}}'; exit 3]]) })
  client:on("log", function() end)
  eventually(function() return client:status().starts == 4 and client._process == nil end, "it was given up")
  local _, err = client:ping():wait()
  equal(err.name, "serverGone")
end)

test("a program that is no server is told apart by its words and its exit code", function(t)
  local client = t:client({ binary = t:fake_server("read line; echo Hello; cat >/dev/null") })
  local _, err = client:ping():wait()
  equal(err.name, "serverGone")
  matches(err.message, "not JSON%-RPC: Hello")
  local other = t:client({ binary = t:fake_server("read line; echo bad flag >&2; exit 64") })
  _, err = other:ping():wait()
  matches(err.message, "ended with exit code 64%. It said: bad flag")
end)

test("an executable that is not there is named with where it was looked for", function(t)
  local _, err = t:client({ binary = "/nowhere/halcyon" }):ping():wait()
  equal(err.name, "binaryNotFound")
  matches(err.message, 'Cannot run "/nowhere/halcyon", named by the option `binary`')
  _, err = t:client({ binary = "no-such-program" }):ping():wait()
  matches(err.message, "in no folder of PATH")
end)

test("a client that is stopped gets its open answers, and starts anew when it is called", function(t)
  local gate = held(suite.fixture("png-1x1.png"))
  local server = t:http({ ["/a.png"] = gate.route })
  local client = t:client()
  local handle = client:retrieve(server.url("/a.png"))
  eventually(function() return gate.asked == 1 end, "the server was asked")
  client:stop()
  local ping = client:ping()
  equal({ ping:wait() }, {})
  gate.open()
  equal(assert(handle:wait()).width, 1)
  equal(client:status().starts, 2)
end)

test("settings given at the start count for every server", function(t)
  local client = t:client({ init_options = { disk = { bytesLimit = 12345678 }, memory = {} } })
  for _ = 1, 2 do
    equal(assert(client:configure():wait()).disk.bytesLimit, 12345678)
    client:stop()
  end
  equal(client:status().starts, 2)
end)

test("the editor is never held up while the server does not read", function(t)
  local client = t:client({ binary = t:fake_server("exec sleep 600") })
  local handles = {}
  for index = 1, 200 do
    handles[index] = client:cachePath(("k"):rep(20000))
  end
  local ticked = false
  vim.schedule(function() ticked = true end)
  eventually(function() return ticked end, "the loop went on")
  vim.loop.kill(client:status().pid, "sigkill")
  local _, err = handles[200]:wait()
  equal(err.name, "serverGone")
end)

test("the server ends when the editor is killed", function(t)
  local script = t:folder() .. "/start.lua"
  local pid_file = t:folder() .. "/pid"
  suite.write(script, ([[
    vim.opt.runtimepath:prepend(%q)
    local client = require("halcyon.client").new({ binary = %q, cache_dir = %q })
    client:ping():wait()
    local file = io.open(%q, "w")
    file:write(client:status().pid .. "\n")
    file:close()
    vim.loop.kill(vim.loop.os_getpid(), "sigkill")
  ]]):format(suite.package, suite.binary(), t:folder(), pid_file))
  vim.fn.system({ vim.v.progpath, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile " .. script })
  local pid = tonumber(suite.read(pid_file))
  eventually(function()
    local ok, stat = pcall(suite.read, ("/proc/%d/stat"):format(pid))
    return not ok or stat:match("^.*%) (%a)") == "Z"
  end, "the server ended")
end)

test("no progress comes after a call was given up", function(t)
  local progress = [[{"jsonrpc":"2.0","method":"$/progress","params":{"token":1,"value":{"kind":"report","receivedBytes":1}}}]]
  local client = t:client({ binary = t:fake_server(("read line; printf '%%s\\n%%s\\n' '%s' '%s'; exec cat >/dev/null"):format(progress, progress)) })
  local told, ended = 0, false
  local handle
  handle = client:retrieve("https://example.com/cat.png", {
    on_progress = function()
      told = told + 1
      handle:cancel()
    end,
  }, function() ended = true end)
  eventually(function() return ended end, "the callback was called")
  equal(told, 1)
end)

test("a question that the server took back is not answered", function(t)
  local file = t:folder() .. "/heard"
  local question = [[{"jsonrpc":"2.0","id":"halcyon-1","method":"downloader/modifyRequest","params":{"url":"https://example.com/","headers":{}}}]]
  local cancel = [[{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"halcyon-1"}}]]
  local asked = 0
  local client = t:client({
    binary = t:fake_server(("read line; printf '%%s\\n%%s\\n' '%s' '%s'; read line; echo \"$line\" >%s"):format(question, cancel, file)),
    delegates = {
      ["downloader/modifyRequest"] = function()
        asked = asked + 1
        return {}
      end,
    },
  })
  client:start()
  eventually(function() return asked == 1 end, "the delegate was asked")
  client:call("ping"):wait()
  matches(suite.read(file), '"method":"ping"')
end)

test("a coroutine that others resume goes on waiting for its call", function(t)
  local gate = held(suite.fixture("png-1x1.png"))
  local server = t:http({ ["/a.png"] = gate.route })
  local client = t:client()
  local thread, image
  require("halcyon").run(function()
    thread = coroutine.running()
    image = { client:retrieve(server.url("/a.png")):await() }
  end)
  eventually(function() return gate.asked == 1 end, "the server was asked")
  coroutine.resume(thread)
  equal(image, nil)
  gate.open()
  eventually(function() return image ~= nil end, "the coroutine ended")
  equal(image[1].width, 1)
end)

test("lines are found however the bytes are cut", function()
  local bytes = "one\n\ntwo é\r\n  \nthree and more\n"
  for size = 1, #bytes do
    local found = {}
    local push = require("halcyon.lines").splitter(function(line) table.insert(found, line) end)
    for start = 1, #bytes, size do
      push(bytes:sub(start, start + size - 1))
    end
    equal(found, { "one", "two é\r", "three and more" }, "in chunks of " .. size)
  end
end)
