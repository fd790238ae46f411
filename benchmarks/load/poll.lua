-- Polls of many validations in turn: wrk … -s poll.lua URL -- IDS_FILE KEY_FILE
dofile(debug.getinfo(1, "S").source:match("@(.*/)") .. "report.lua")

local requests, turn = {}, 0

function init(args)
    local key = contents(args[2]):match("%S+")
    for id in contents(args[1]):gmatch("%S+") do
        requests[#requests + 1] = wrk.format("GET", "/entitlements/" .. id, { ["Authorization"] = "Bearer " .. key })
    end
end

function request()
    turn = turn % #requests + 1
    return requests[turn]
end
