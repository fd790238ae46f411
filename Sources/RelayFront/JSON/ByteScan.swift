import Foundation

/// Looks through bytes sixteen at a time: a receipt is looked through more than once, and is most of what comes in.
enum ByteScan {
    typealias Lane = SIMD16<UInt8>

    /// How many bytes from `start` on come before the first that ends or breaks a JSON string (a quote, a backslash, a control
    /// character), in whole lanes: the rest is for the caller to look at. `seen` gathers every byte's bits.
    static func plainStringBytes(_ bytes: UnsafeRawBufferPointer, from start: Int, seen: inout UInt8) -> Int {
        var gathered = Lane(repeating: 0)
        var index = start
        while index + Lane.scalarCount <= bytes.count {
            let lane = bytes.loadUnaligned(fromByteOffset: index, as: Lane.self)
            let special =
                (lane .== UInt8(ascii: "\"")) .| (lane .== UInt8(ascii: "\\")) .| (lane .< Lane(repeating: 0x20))
            if any(special) { break }
            gathered |= lane
            index += Lane.scalarCount
        }
        for position in 0..<Lane.scalarCount { seen |= gathered[position] }
        return index - start
    }

    /// Whether every byte is a visible ASCII character.
    static func isVisible(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let bytes = UnsafeRawBufferPointer(bytes)
        var index = 0
        while index + Lane.scalarCount <= bytes.count {
            // One subtraction moves what is visible to 0...0x5d.
            let lane = bytes.loadUnaligned(fromByteOffset: index, as: Lane.self) &- 0x21
            if any(lane .> 0x5d) { return false }
            index += Lane.scalarCount
        }
        while index < bytes.count {
            if bytes[index] &- 0x21 > 0x5d { return false }
            index += 1
        }
        return true
    }

    static func holdsNUL(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = bytes.baseAddress else { return false }
        return memchr(first, 0, bytes.count) != nil
    }

    /// Whether every byte is of the alphabet of base64, padding included.
    static func isBase64(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let bytes = UnsafeRawBufferPointer(bytes)
        var index = 0
        while index + Lane.scalarCount <= bytes.count {
            let lane = bytes.loadUnaligned(fromByteOffset: index, as: Lane.self)
            let letter = (lane | 0x20) &- UInt8(ascii: "a")
            let known =
                (letter .< 26) .| (lane &- UInt8(ascii: "0") .< 10) .| (lane .== UInt8(ascii: "+"))
                .| (lane .== UInt8(ascii: "/")) .| (lane .== UInt8(ascii: "="))
            if !all(known) { return false }
            index += Lane.scalarCount
        }
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
                index += 1
            default: return false
            }
        }
        return true
    }
}
