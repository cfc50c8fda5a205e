-- Calls on their way: progress and cancellation.
local suite = require("tests.support.suite")
local http = require("tests.support.http")
local test, equal, eventually = suite.test, suite.equal, suite.eventually

test("overlapping calls for one URL reach the server once, and a cancelled one does not disturb the other", function(t)
  local gate = http.held(suite.fixture("png-1x1.png"))
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
  local gate = http.held("")
  local server = t:http({ ["/slow.png"] = gate.route })
  local client = t:client()
  local handle = client:retrieve(server.url("/slow.png"))
  eventually(function() return gate.asked == 1 end, "the server was asked")
  handle:cancel()
  eventually(function() return server.closed["/slow.png"] == 1 end, "the connection was closed")
end)

test("progress grows until the result, and none comes after it", function(t)
  local body = suite.fixture("jpeg-large.jpg")
  local gate = http.halves(body)
  local server = t:http({ ["/large.jpg"] = gate.route })
  local client = t:client()
  local values, ended = {}, false
  local handle = client:retrieve(server.url("/large.jpg"), {
    on_progress = function(value)
      equal(ended, false)
      table.insert(values, value)
    end,
  }, function() ended = true end)
  eventually(function() return #values > 0 and gate.begun end, "progress was told")
  gate.open()
  assert(handle:wait())
  eventually(function() return ended end, "the callback was called")
  equal(values[1].kind, "begin")
  equal({ values[#values].kind, values[#values].receivedBytes, values[#values].totalBytes }, { "end", #body, #body })
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
