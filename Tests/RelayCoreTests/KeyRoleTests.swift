import Testing

@testable import RelayCore

struct KeyRoleTests {
    @Test func theStoredNumbersNeverChange() {
        #expect(
            Dictionary(uniqueKeysWithValues: KeyRole.allCases.map { ($0, $0.rawValue) })
                == [.app: 1, .publisher: 2, .opsViewer: 3, .opsOperator: 4])
        #expect(KeyRole(rawValue: 0) == nil)
        #expect(KeyRole(rawValue: 5) == nil)
    }

    @Test func eachHasItsNameAndIsFoundByIt() {
        #expect(KeyRole.allCases.map(\.name) == ["app", "publisher", "ops-viewer", "ops-operator"])
        #expect(KeyRole.allCases.allSatisfy { KeyRole(name: $0.name) == $0 })
        for name in ["", "App", "ops", "ops_viewer", "opsViewer", " app", "admin"] {
            #expect(KeyRole(name: name) == nil)
        }
    }

    @Test func aKeyOpensItsOwnRoleAndAnOperatorsAlsoAViewers() {
        for role in KeyRole.allCases {
            for required in KeyRole.allCases {
                let isAllowed = role == required || (role == .opsOperator && required == .opsViewer)
                #expect(role.opens(required) == isAllowed, "\(role) for \(required)")
            }
        }
    }
}
