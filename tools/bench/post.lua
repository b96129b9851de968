-- SPDX-License-Identifier: Apache-2.0
-- POSTs one body again and again (wrk -s post.lua URL -- BODY-FILE CONTENT-TYPE TOKEN [SEED]). With a SEED each
-- request's document is a new one: the 32 bytes after "nonce:" in the PDF's comment differ, and everything keeps its
-- place.
local threads = 0

function setup(thread)
    threads = threads + 1
    thread:set("number", threads)
end

function init(args)
    local file = assert(io.open(args[1], "rb"))
    local body = file:read("*a")
    file:close()
    local headers = { ["Content-Type"] = args[2], ["Authorization"] = "Bearer " .. args[3] }
    for name, value in pairs(wrk.headers) do headers[name] = value end
    if not args[4] then
        local same = wrk.format("POST", nil, headers, body)
        request = function() return same end
        return
    end
    local at = select(2, assert(body:find("nonce:", 1, true)))
    local before, after, count = body:sub(1, at), body:sub(at + 33), 0
    request = function()
        count = count + 1
        return wrk.format("POST", nil, headers, before .. string.format("%16s%4d%12d", args[4], number, count) .. after)
    end
end
