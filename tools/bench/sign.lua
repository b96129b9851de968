-- SPDX-License-Identifier: Apache-2.0
-- Signs with a typed name, each time behind another link (wrk -s sign.lua URL -- LINKS-FILE COLUMN FIRST-LINE). When no
-- link is left, what is asked for is none, and wrk counts an error.
local links, at = {}, 0
local body = '{"action":"sign","consent":true,"signature":{"type":"typed","text":"Ann Lee"}}'

function init(args)
    local column, first, number = tonumber(args[2]), tonumber(args[3]), 0
    for line in assert(io.open(args[1])):lines() do
        number = number + 1
        local found = {}
        for uuid in line:gmatch("%S+") do found[#found + 1] = uuid end
        if number > first then links[#links + 1] = found[column] end
    end
    wrk.headers["Content-Type"] = "application/json"
    wrk.headers["Accept"] = "application/json"
end

function request()
    at = at + 1
    return wrk.format("POST", wrk.path .. (links[at] or "none-left"), nil, body)
end
