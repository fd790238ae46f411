import ArgumentParser
import CleengSimulator

@main
struct CleengProgram {
    static func main() async { await CleengSimulatorCommand.main() }
}
