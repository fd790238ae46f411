#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The process's limit of open file descriptors.
package enum OpenFileLimit {
    /// Descriptors reserved for the database, calls to others and everything else except clients' connections.
    static let reserve = 256

    /// Number of clients' connections to allow. The server must stop accepting before it runs out of descriptors, since
    /// a failed accept ends it.
    package static func connections(wanted: Int) -> Int {
        var limits = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limits) == 0 else { return wanted }
        // The soft limit is often 1,024, for programs that use select(2). Other programs may raise it to the hard
        // limit.
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
