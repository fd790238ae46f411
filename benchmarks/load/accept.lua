-- Distinct purchases: wrk … -s accept.lua URL -- TEMPLATE KEY_FILE FIRST
-- FIRST is six digits: they begin the number of every purchase. The template says where a number goes.
dofile(debug.getinfo(1, "S").source:match("@(.*/)") .. "report.lua")

local threads = 0

function setup(thread)
    thread:set("lane", threads)
    threads = threads + 1
end

local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local triples = {} -- three digits, and the four characters that they are in base64
for n = 0, 999 do
    local a, b, c = string.format("%03d", n):byte(1, 3)
    local bits, text = a * 65536 + b * 256 + c, ""
    for _ = 1, 4 do
        local digit = bits % 64
        text = alphabet:sub(digit + 1, digit + 1) .. text
        bits = (bits - digit) / 64
    end
    triples[n] = text
end

local pieces, number, lead, lead64 = {}, 0, "", ""

function init(args)
    local template, key = contents(args[1]), contents(args[2]):match("%S+")
    lead = args[3]
    lead64 = triples[tonumber(lead:sub(1, 3))] .. triples[tonumber(lead:sub(4, 6))]
    number = lane * 100000000
    local length = #template
    for _, mark in ipairs({ { "{digits}", 15 }, { "{digits64}", 20 } }) do
        for _ in template:gmatch(mark[1]) do length = length - #mark[1] + mark[2] end
    end
    local request = "POST /apple/payment HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " .. key
        .. "\r\nContent-Type: application/json\r\nContent-Length: " .. length .. "\r\n\r\n" .. template
    local from = 1
    while true do
        local open, close, encoded = request:find("{digits(6?4?)}", from)
        if not open then break end
        pieces[#pieces + 1] = request:sub(from, open - 1)
        pieces[#pieces + 1] = encoded ~= "" and 64 or 10
        from = close + 1
    end
    pieces[#pieces + 1] = request:sub(from)
end

local out = {}

function request()
    number = number + 1
    local plain = lead .. string.format("%09d", number)
    local millions = math.floor(number / 1000000)
    local encoded = lead64 .. triples[millions] .. triples[math.floor(number / 1000) % 1000] .. triples[number % 1000]
    for i = 1, #pieces do
        local piece = pieces[i]
        out[i] = piece == 10 and plain or piece == 64 and encoded or piece
    end
    return table.concat(out)
end
