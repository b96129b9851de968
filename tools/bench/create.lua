-- SPDX-License-Identifier: Apache-2.0
-- POSTs one body again and again and writes the uuids of the answers' signing links to a file, a line for each
-- submission (wrk -s create.lua URL -- BODY-FILE CONTENT-TYPE TOKEN LINKS-FILE).
local links

function init(args)
    local file = assert(io.open(args[1], "rb"))
    local body = file:read("*a")
    file:close()
    local headers = { ["Content-Type"] = args[2], ["Authorization"] = "Bearer " .. args[3] }
    for name, value in pairs(wrk.headers) do headers[name] = value end
    local same = wrk.format("POST", nil, headers, body)
    request = function() return same end
    links = assert(io.open(args[4], "a"))
end

function response(status, headers, body)
    if status ~= 201 then return end
    local found = {}
    for uuid in body:gmatch('"signatureLink":"[^"]*/sign/([%x-]+)"') do found[#found + 1] = uuid end
    links:write(table.concat(found, " "), "\n")
    links:flush()
end
