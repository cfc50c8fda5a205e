-- Cutting what was read into lines.
local suite = require("tests.support.suite")
local test, equal = suite.test, suite.equal

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
