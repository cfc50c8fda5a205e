-- Ways to wait for an answer: callbacks, coroutines, blocking.
local suite = require("tests.support.suite")
local http = require("tests.support.http")
local test, equal, matches, eventually = suite.test, suite.equal, suite.matches, suite.eventually

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

test("a coroutine that others resume goes on waiting for its call", function(t)
  local gate = http.held(suite.fixture("png-1x1.png"))
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
