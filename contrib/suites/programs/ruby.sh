# SPDX-License-Identifier: LGPL-3.0-or-later
ruby -e '
require "timeout"
threads = 4.times.map { |i| Thread.new { s = 0; 300000.times { |k| s = (s * 31 + k + i) % 1000003 }; s } }
puts threads.map(&:value).inspect
trap("USR1") { puts "usr1" }; Process.kill("USR1", $$); sleep 0.3
pid = fork { exit 4 }; Process.wait pid; puts $?.exitstatus
puts IO.popen("echo command").read
begin; Timeout.timeout(0.3) { sleep 5 }; rescue Timeout::Error; puts "time out"; end
f = Fiber.new { 1000.times { |i| Fiber.yield i } }; puts 1000.times.sum { f.resume }
GC.stress = false; puts Array.new(200000) { |i| i.to_s }.map(&:size).sum
def deep(n) = deep(n + 1)
begin; deep(0); rescue SystemStackError; puts "too deep"; end
abort "the end"'
