-- Calls of the API, against the real server.
local suite = require("tests.support.suite")
local http = require("tests.support.http")
local test, equal, matches, eventually = suite.test, suite.equal, suite.matches, suite.eventually

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

test("prefetch takes a list alone", function(t)
  local server = t:http({ ["/a.png"] = suite.fixture("png-1x1.png") })
  local url = server.url("/a.png")
  equal(assert(t:client():prefetch({ url }):wait()), { completed = { url }, skipped = {}, failed = {} })
end)

test("the handle of a prefetch stops it", function(t)
  local gate = http.held(suite.fixture("png-1x1.png"))
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

test("what is not JSON fails as an error of the call", function(t)
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
