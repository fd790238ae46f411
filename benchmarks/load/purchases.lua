-- One customer's purchases, again and again: wrk … -s purchases.lua URL -- PATH KEY_FILE
-- The file holds base64 of the publisher's id, a colon and its key.
dofile(debug.getinfo(1, "S").source:match("@(.*/)") .. "report.lua")

local asked = ""

function init(args)
    asked = wrk.format("GET", args[1], { ["Authorization"] = "Basic " .. contents(args[2]):match("%S+") })
end

function request()
    return asked
end
