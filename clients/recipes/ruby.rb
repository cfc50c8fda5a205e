#!/usr/bin/env ruby
# Ruby with its own libraries only: one message a line.
# Usage: ruby.rb URL…
require "json"
require "open3"

status = Open3.popen2(ENV["HALCYON_BIN"] || "halcyon") do |to, from, process|
  to.sync = true
  call = lambda do |id, method, params|
    to.puts({ jsonrpc: "2.0", id: id, method: method, params: params }.to_json)
    JSON.parse(from.gets || abort("The server has ended."))
  end
  ARGV.each_with_index do |url, id|
    answer = call.(id, "retrieve", { url: url })
    if answer["error"]
      puts "error #{answer["error"]["data"]["name"]}"
    else
      puts answer["result"].values_at("width", "height", "cacheType", "path").join(" ")
    end
  end
  to.close # the end of its input ends the server
  process.value
end
exit status.exitstatus
