-- SPDX-License-Identifier: Apache-2.0
-- GETs wrk's path with a uuid at its end, each time another (wrk -s one.lua URL -- UUID-FILE).
local uuids = {}

function init(args)
    for line in assert(io.open(args[1])):lines() do uuids[#uuids + 1] = wrk.path .. line end
    assert(#uuids > 0)
    math.randomseed(os.time())
end

function request() return wrk.format("GET", uuids[math.random(#uuids)]) end
