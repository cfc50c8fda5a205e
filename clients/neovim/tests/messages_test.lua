-- Messages that the server sends without a request: events, and questions to delegates.
local suite = require("tests.support.suite")
local test, equal, matches, eventually = suite.test, suite.equal, suite.matches, suite.eventually

test("events come to those who listen, and no more after they have left", function(t)
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  local client = t:client()
  local seen = {}
  local off = client:on("download/didFinish", function(params, event)
    table.insert(seen, { event, params.statusCode, params.url })
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

test("a listener that fails keeps the event from no other", function(t)
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  local client = t:client()
  local seen = 0
  client:on("download/didFinish", function() error("a bad listener") end)
  client:on("download/didFinish", function() seen = seen + 1 end)
  assert(client:retrieve(server.url("/a.png")):wait())
  eventually(function() return seen == 1 end, "the second one heard")
  matches(vim.v.errmsg, "a bad listener")
  vim.v.errmsg = ""
end)

test("an answer for a server that has ended leaves the question of the next one open", function(t)
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  local waiting = {}
  local client = t:client({
    delegates = {
      ["downloader/modifyRequest"] = function()
        table.insert(waiting, coroutine.running())
        coroutine.yield()
        return { headers = { ["X-Asked"] = "yes" } }
      end,
    },
  })
  local first = client:retrieve(server.url("/a.png"))
  eventually(function() return #waiting == 1 end, "the first server asked")
  vim.loop.kill(client:status().pid, "sigkill")
  first:wait()
  local second = client:retrieve(server.url("/a.png"))
  eventually(function() return #waiting == 2 end, "the second server asked")
  coroutine.resume(waiting[1])
  coroutine.resume(waiting[2])
  assert(second:wait())
  matches(server.last_request, "X%-Asked: yes")
end)

--- What a server that asks one question is answered by `delegate`.
local function answer_of(t, delegate)
  local file = t:folder() .. "/answer"
  local question = [[{"jsonrpc":"2.0","id":"q","method":"downloader/modifyRequest","params":{}}]]
  local script = ("read line; echo '%s'; read line; printf '%%s' \"$line\" >%s.new; mv %s.new %s; cat >/dev/null"):format(question, file, file, file)
  t:client({ binary = t:fake_server(script), delegates = { ["downloader/modifyRequest"] = delegate } }):start()
  eventually(function() return vim.loop.fs_stat(file) ~= nil end, "it was answered")
  return vim.json.decode(suite.read(file))
end

test("the server learns at once of a delegate whose answer or error cannot be told as it is", function(t)
  local circle = {}
  circle.circle = circle
  for _, delegate in ipairs({
    function() return { a = "\255" } end,
    function() return { a = print } end,
    function() return circle end,
    function() return { a = ("b"):rep(67108864) } end,
    function() error("\255 boom") end,
    function() error(setmetatable({}, { __tostring = error })) end,
  }) do
    equal(answer_of(t, delegate).error.code, -32603)
  end
end)
