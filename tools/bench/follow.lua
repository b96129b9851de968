-- SPDX-License-Identifier: Apache-2.0
-- GETs wrk's path on each connection, again as many seconds after a response as its Retry-After says.
local pause = 0

function response(status, headers, body) pause = 1000 * (tonumber(headers["Retry-After"]) or 0) end

function delay() return pause end
