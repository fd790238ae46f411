import AppStoreSimulator
import ArgumentParser

@main
struct AppStoreProgram {
    static func main() async { await AppStoreSimulatorCommand.main() }
}
