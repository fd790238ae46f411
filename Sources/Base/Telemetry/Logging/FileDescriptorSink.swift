import NIOConcurrencyHelpers

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Writes each line to a file descriptor with one `write(2)`.
///
/// The descriptor is borrowed: the sink neither opens nor closes it. If a non-blocking descriptor stays full for more
/// than a second, the line is dropped. A stuck log reader must not stop the service.
public final class FileDescriptorSink: LogSink {
    /// The process's standard output.
    public static let standardOutput = FileDescriptorSink(descriptor: 1)

    private let descriptor: Int32
    /// Whether the last line was written in part. The lock keeps lines whole: the kernel keeps one write to a pipe whole only up
    /// to PIPE_BUF (4 KiB on Linux), and lines may be longer.
    private let midLine = NIOLockedValueBox(false)

    /// A sink for an open descriptor that outlives it.
    public init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    public func write(_ line: UnsafeRawBufferPointer) {
        midLine.withLockedValue { midLine in
            if midLine, withUnsafeBytes(of: UInt8(ascii: "\n"), put) < 1 { return }
            let written = put(line)
            midLine = 0 < written && written < line.count
        }
    }

    /// Returns how many bytes were written: all of them, unless the descriptor failed or stayed full.
    private func put(_ bytes: UnsafeRawBufferPointer) -> Int {
        var done = 0
        while done < bytes.count {
            let count = systemWrite(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            if count >= 0 {
                done += count
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                if poll(&waiting, 1, 1000) == 0 { return done }
            } else if errno != EINTR {
                return done
            }
        }
        return done
    }
}

/// `write(2)` under a name that the method above does not hide.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
