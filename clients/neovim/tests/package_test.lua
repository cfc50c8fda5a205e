local suite = require("tests.support.suite")
local protocol = require("halcyon.protocol")
local test, equal, matches, eventually = suite.test, suite.equal, suite.matches, suite.eventually

test("the types and tables are what protocol/openrpc.json says", function()
  local said = vim.fn.system({ "python3", suite.repository .. "/clients/generate.py", "--check", "neovim" })
  equal(said, "")
  equal(vim.v.shell_error, 0)
end)

test("every method of the server is a function of the module, and has a type", function(t)
  local halcyon = t:halcyon()
  local types = suite.read(suite.package .. "/lua/halcyon/types.lua")
  for _, method in ipairs(assert(halcyon.discover():wait()).methods) do
    if method.result and method.name ~= "initialize" and method.name ~= "shutdown" then
      local name = method.name:match("[^.]+$")
      equal(type(halcyon[name]), "function", name)
      assert(types:find("---@field " .. name .. " fun(", 1, true), name)
    end
  end
end)

test("every file of the plugin loads, and touches nothing before it is used", function()
  for _, file in ipairs(vim.fn.glob(suite.package .. "/lua/halcyon/*.lua", true, true)) do
    assert(loadfile(file))
  end
  equal(vim.fn.exists(":HalcyonPreview"), 2)
  equal(vim.fn.exists(":HalcyonStats"), 2)
  equal(vim.fn.exists(":HalcyonRestart"), 2)
end)

test("the help has no broken and no double tags, and names every function and command", function(t)
  local folder = t:folder()
  local help = suite.read(suite.package .. "/doc/halcyon.txt")
  suite.write(folder .. "/halcyon.txt", help)
  vim.cmd("helptags " .. folder)
  local tags = {}
  for tag in suite.read(folder .. "/tags"):gmatch("([^\n\t]+)\t[^\n]+") do
    tags[tag] = true
  end
  for link in help:gmatch("|([%w%-_.:()]+)|") do
    assert(tags[link], "the help links to |" .. link .. "|, which is not there")
  end
  for _, tag in ipairs({ "halcyon.txt", ":HalcyonPreview", ":HalcyonStats", ":HalcyonRestart", "halcyon.setup()", "halcyon.on()", "halcyon.run()", "halcyon-show", "halcyon-errors" }) do
    assert(tags[tag], "the help has no tag " .. tag)
  end
  for name in pairs(protocol.methods) do
    local short = name:match("[^.]+$")
    if short ~= "initialize" and short ~= "shutdown" then
      assert(help:find("%f[%w]" .. short .. "%f[%W]"), "the help does not name " .. short)
    end
  end
  for _, line in ipairs(vim.split(help, "\n")) do
    assert(vim.fn.strdisplaywidth(line) <= 80, "a line of the help is too long: " .. line)
  end
end)

test(":checkhealth tells executable, server and caches, and what is wrong", function(t)
  t:halcyon()
  local function report()
    vim.cmd("checkhealth halcyon")
    local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
    vim.cmd("bwipeout!")
    return text
  end
  local text = report()
  matches(text, "executable: " .. vim.pesc(suite.binary()))
  matches(text, "server: halcyon [%d.]+, protocol 1")
  matches(text, "the server knows every method of this plugin")
  matches(text, "default cache: 0 images")
  assert(not text:find("ERROR"), text)
  text = report()
  assert(not text:find("ERROR"), text)
  require("halcyon").setup({
    binary = suite.binary(),
    cache_dir = t:folder(),
    delegates = { ["downloader/redirect"] = function() end },
    init_options = { memory = { countLimit = 7 } },
  })
  text = report()
  assert(not text:find("ERROR"), text)
  require("halcyon").setup({ binary = "/nowhere/halcyon" })
  matches(report(), "ERROR.*Cannot run \"/nowhere/halcyon\"")
end)

test("the first example of the README prints what its comments say", function(t)
  local readme = suite.read(suite.package .. "/README.md")
  local example = assert(readme:match("```lua\n(.-)```"))
  local expected = {}
  for comment in example:gmatch("print%([^\n]*%) *%-%- ([^\n]+)") do
    table.insert(expected, comment)
  end
  assert(#expected > 0)
  local server = t:http({ ["/cat.jpg"] = suite.fixture("jpeg-photo.jpg") })
  local source, count = example:gsub("https://example%.com/cat%.jpg", server.url("/cat.jpg"))
  assert(count > 0)
  local printed = {}
  local halcyon = t:halcyon()
  local environment = setmetatable({
    print = function(...)
      local parts = vim.tbl_map(tostring, { ... })
      table.insert(printed, table.concat(parts, " "))
    end,
  }, { __index = _G })
  setfenv(assert(loadstring(source)), environment)()
  eventually(function() return #printed == #expected end, "the example printed")
  equal(printed, expected)
  equal(halcyon.client():status().open, 0)
end)
