import AppStoreSimulator
import ArgumentParser

await AppStoreSimulatorCommand.main()
