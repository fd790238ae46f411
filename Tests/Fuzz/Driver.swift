import Foundation

/// Main function of libFuzzer, for programs that have their own (LLVM, "Using libFuzzer as a library").
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The target that `RELAY_FUZZ_TARGET` names, or the first one.
private let chosen: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["RELAY_FUZZ_TARGET"]
    return FuzzTarget.all.first { $0.name == name } ?? FuzzTarget.all[0]
}()

/// Called by libFuzzer with every input.
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

/// Entry point that SwiftPM links. `--list` prints the targets' names. Otherwise writes the target's seeds and the
/// dictionary to the folder `RELAY_FUZZ_SEEDS`, and starts libFuzzer.
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
