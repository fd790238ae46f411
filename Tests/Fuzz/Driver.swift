import Foundation

/// libFuzzer's own main function, for programs that have one themselves (LLVM, "Using libFuzzer as a library").
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// What `RELAY_FUZZ_TARGET` names; the first where it names none.
private let chosen: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["RELAY_FUZZ_TARGET"]
    return FuzzTarget.all.first { $0.name == name } ?? FuzzTarget.all[0]
}()

/// What libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        do {
            try await chosen.run(input)
        } catch {
            print("found: \(error)")
            abort()
        }
        done.signal()
    }
    done.wait()
    return 0
}

/// What SwiftPM links as the entry of an executable. `--list` prints the targets' names; else it writes the target's seeds, and the
/// dictionary, to the folder that `RELAY_FUZZ_SEEDS` names, and hands over.
@_cdecl("RelayFuzz_main")
public func main(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
    if count == 2, let argument = arguments[1], strcmp(argument, "--list") == 0 {
        for target in FuzzTarget.all { print(target.name) }
        return 0
    }
    if let folder = ProcessInfo.processInfo.environment["RELAY_FUZZ_SEEDS"] {
        for (number, seed) in chosen.seeds().enumerated() {
            FileManager.default.createFile(atPath: "\(folder)/seed-\(number)", contents: Data(seed))
        }
        let tokens = Mutator.tokens.map { token in
            "\"" + token.map { byte in "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined() + "\"\n"
        }
        FileManager.default.createFile(atPath: "\(folder).dict", contents: Data(tokens.joined().utf8))
    }
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments) { testOneInput($0, $1) }
}
