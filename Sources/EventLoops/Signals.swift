import CUV
import Glibc

/// Calls a handler on a loop when the process gets a signal.
package final class SignalSource: @unchecked Sendable {
    // Unchecked: the handle is touched on its loop only.
    private let loop: EventLoop
    private let handle: UnsafeMutablePointer<uv_signal_t>
    private let handler: () -> Void

    /// Watches `number` from now on. The source is kept alive until `close`.
    package init(_ number: Int32, on loop: EventLoop, handler: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.handler = handler
        self.handle = .allocate(capacity: 1)
        loop.submit {
            uv_signal_init(loop.uv, self.handle)
            self.handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
            uv_signal_start(
                self.handle,
                { handle, _ in
                    guard let data = handle?.pointee.data else { return }
                    Unmanaged<SignalSource>.fromOpaque(data).takeUnretainedValue().handler()
                }, number)
        }
    }

    /// Stops watching. From any thread.
    package func close() {
        self.loop.submit {
            let raw = UnsafeMutableRawPointer(self.handle).assumingMemoryBound(to: uv_handle_t.self)
            uv_close(raw) { handle in
                guard let handle, let data = handle.pointee.data else { return }
                Unmanaged<SignalSource>.fromOpaque(data).release()
                UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_signal_t.self).deallocate()
            }
        }
    }
}
