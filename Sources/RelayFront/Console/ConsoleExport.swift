import ConsolePages
import Formats
import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore

/// A list as a file for spreadsheets: what the filter finds from its beginning on, so many rows and no more.
enum ConsoleExport {
    static let mostRows = 5_000
    /// For clicking.
    private static let dropped: Set<String> = ["Replay"]

    /// Whether the list is wanted as a file.
    static func isWanted(_ query: ConsoleQuery) -> Bool { query["format"] == "csv" }

    /// Where a list can be had as a file.
    static func path(_ path: String, _ items: [(String, String?)]) -> String {
        path + "?"
            + (items + [("format", "csv")]).compactMap { name, value in
                value.map { "\(name)=\($0.percentEncoded)" }
            }.joined(separator: "&")
    }

    /// - Parameters:
    ///   - items: the filter.
    ///   - page: one page of it: the rows, and where the next one begins.
    /// - Throws: ``Problem`` 422 for a filter that is wrong.
    static func response(
        _ name: String, _ items: [(String, String?)],
        page: (QueryItems) async throws -> (table: Table, count: Int, next: String?)
    ) async throws -> Response {
        let filter = items.compactMap { name, value in value.map { "\(name)=\($0.percentEncoded)" } }
        var body = ByteBuffer()
        var (count, cursor): (Int, String?) = (0, nil)
        repeat {
            let limit = min(PageQuery.maximumLimit, mostRows - count)
            let query = filter + ["limit=\(limit)"] + (cursor.map { ["cursor=\($0.percentEncoded)"] } ?? [])
            let found = try await page(QueryItems(query.joined(separator: "&")))
            body.writeString(found.table.csv(dropping: dropped, hasHeader: count == 0))
            count += found.count
            cursor = found.count > 0 ? found.next : nil
        } while cursor != nil && count < mostRows
        // That there is more is said where it is seen, and not in a row that could be taken for one.
        let file = cursor == nil ? name : "\(name)-first-\(mostRows)"
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/csv; charset=utf-8; header=present", .cacheControl: "no-store",
                .contentDisposition: "attachment; filename=\"\(file).csv\"", .xContentTypeOptions: "nosniff",
                .contentSecurityPolicy: "default-src 'none'; sandbox",
            ], body: ResponseBody(byteBuffer: body))
    }
}
