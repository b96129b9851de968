-- SPDX-License-Identifier: Apache-2.0
-- GETs the paths of a file at random, each connection a second after the last response (wrk -s crowd.lua URL -- FILE).
local paths = {}

function init(args)
    for line in assert(io.open(args[1])):lines() do paths[#paths + 1] = line end
    assert(#paths > 0)
    math.randomseed(os.time())
end

function request() return wrk.format("GET", paths[math.random(#paths)]) end

function delay() return 1000 end
