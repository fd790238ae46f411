import ArgumentParser
import StoreSimulator

@main
struct StoreProgram {
    static func main() async { await StoreSimulatorCommand.main() }
}
