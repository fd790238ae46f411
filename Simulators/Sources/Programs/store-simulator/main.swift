import ArgumentParser
import StoreSimulator

await StoreSimulatorCommand.main()
