#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// How many descriptors the process may open.
enum OpenFileLimit {
    /// Kept for the database, the calls upstream and everything else that is no client's connection.
    static let reserve = 256

    /// What clients' connections may take. Running out of descriptors ends a server that accepts until it fails, so it
    /// must stop accepting before.
    static func connections(wanted: Int) -> Int {
        var limits = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limits) == 0 else { return wanted }
        // The soft limit is often 1,024, for programs that use select(2); other programs may use the hard one.
        if limits.rlim_cur < limits.rlim_max {
            var raised = limits
            raised.rlim_cur = limits.rlim_max
            if setrlimit(resource, &raised) == 0 { limits = raised }
        }
        guard limits.rlim_cur < rlim_t(Int32.max) else { return wanted }
        let open = Int(limits.rlim_cur)
        return max(1, min(wanted, max(open - reserve, open / 2)))
    }
}
