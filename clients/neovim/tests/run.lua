-- Runs the tests: see tests/run.
local folder = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h")
vim.opt.runtimepath:prepend(folder)
package.path = folder .. "/?.lua;" .. package.path
vim.cmd("runtime plugin/halcyon.lua")
vim.o.more = false

local suite = require("tests.support.suite")
for _, file in ipairs(vim.fn.sort(vim.fn.glob(folder .. "/tests/*_test.lua", true, true))) do
  dofile(file)
end
local ok, failed = xpcall(suite.run, debug.traceback, os.getenv("FILTER"))
if not ok then
  io.stdout:write(tostring(failed) .. "\n")
end
vim.cmd((ok and failed == 0) and "qall!" or "cquit!")
