-- The life of the server's process: start, end, restart.
local suite = require("tests.support.suite")
local http = require("tests.support.http")
local test, equal, matches, eventually = suite.test, suite.equal, suite.matches, suite.eventually

test("a server that was killed fails what was open, and the next call starts another", function(t)
  local gate = http.held("")
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

test("a program that is no server is ended, also one that will not be asked to", function(t)
  local client = t:client({ binary = t:fake_server([[trap '' TERM; read line; echo Hello; while :; do read line || sleep 600; done]]) })
  local _, err = client:ping():wait()
  equal({ err.name, err.data.signal }, { "serverGone", 9 })
end)

test("a server that does not end when it is stopped is made to", function(t)
  local client = t:client({ binary = t:fake_server("exec sleep 600") })
  local handle = client:ping()
  client:stop(0)
  local _, err = handle:wait()
  equal({ err.name, err.data.signal }, { "serverGone", 15 })
  local stubborn = [[trap '' TERM; read line; echo '{"jsonrpc":"2.0","id":1,"result":null}'; while :; do sleep 0.01; done]]
  local other = t:client({ binary = t:fake_server(stubborn) })
  equal({ other:ping():wait() }, {})
  handle = other:ping()
  other:stop(0)
  _, err = handle:wait()
  equal({ err.name, err.data.signal }, { "serverGone", 9 })
end)

test("an executable that is not there is named with where it was looked for", function(t)
  local _, err = t:client({ binary = "/nowhere/halcyon" }):ping():wait()
  equal(err.name, "binaryNotFound")
  matches(err.message, 'Cannot run "/nowhere/halcyon", named by the option `binary`')
  _, err = t:client({ binary = "no-such-program" }):ping():wait()
  matches(err.message, "in no folder of PATH")
end)

test("a client that is stopped gets its open answers, and starts anew when it is called", function(t)
  local gate = http.held(suite.fixture("png-1x1.png"))
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
