import ArgumentParser
import CleengSimulator

await CleengSimulatorCommand.main()
