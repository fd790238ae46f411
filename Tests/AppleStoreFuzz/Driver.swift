import Foundation

/// libFuzzer's own main function, for programs that have one themselves (LLVM, "Using libFuzzer as a library").
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// What SwiftPM links as the entry of an executable. Writes the seeds to the folder that `RELAY_FUZZ_SEEDS` names, and hands over.
@_cdecl("AppleStoreFuzz_main")
public func main(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
    if let folder = ProcessInfo.processInfo.environment["RELAY_FUZZ_SEEDS"] {
        for (number, seed) in Seeds.all.enumerated() {
            FileManager.default.createFile(atPath: "\(folder)/seed-\(number)", contents: Data(seed))
        }
    }
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments) { testOneInput($0, $1) }
}
