import CUV
import Glibc

/// What a descriptor is watched for.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    package static let readable = Readiness(rawValue: 1)
    package static let writable = Readiness(rawValue: 2)
}

/// Told when a watched descriptor is ready. On the loop.
package protocol WatcherDelegate: AnyObject {
    func watcher(_ watcher: Watcher, isReady readiness: Readiness)
}

/// Watches one descriptor on one loop; does not own it. On the loop.
///
/// Every change of interest costs two system calls in libuv, so callers keep reading armed and ask for writing only
/// when a write did not fit.
package final class Watcher {
    package let descriptor: Int32
    package private(set) var interest: Readiness = []
    /// Has to close the watcher before it goes: it is told at every readiness, which a weak reference makes dear.
    package unowned var delegate: (any WatcherDelegate)?
    /// For the delegate's own use: what it wants of the descriptor now, which may be less than is watched.
    package var wanted: Readiness = []
    private var handle: UnsafeMutablePointer<uv_poll_t>?

    /// - Throws: when libuv refuses the descriptor, as it does for plain files.
    package init(_ descriptor: Int32, on loop: EventLoop) throws(SystemFailure) {
        self.descriptor = descriptor
        let handle = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
        let result = uv_poll_init(loop.uv, handle, descriptor)
        guard result == 0 else {
            handle.deallocate()
            throw SystemFailure("uv_poll_init", uv: result)
        }
        self.handle = handle
        handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit { self.close() }

    /// Changes what is watched.
    package func watch(_ wanted: Readiness) {
        guard let handle = self.handle, wanted != self.interest else { return }
        self.interest = wanted
        guard !wanted.isEmpty else {
            uv_poll_stop(handle)
            return
        }
        uv_poll_start(handle, wanted.rawValue) { handle, status, events in
            guard let data = handle?.pointee.data else { return }
            let me = Unmanaged<Watcher>.fromOpaque(data).takeUnretainedValue()
            guard status >= 0 else { return me.descriptorBroke() }
            me.delegate?.watcher(me, isReady: Readiness(rawValue: events & 3))
        }
    }

    /// libuv has stopped watching. The error shows itself again in the read or write that follows, but bytes may lie
    /// before it: so watching goes on until the owner has met it.
    private func descriptorBroke() {
        let wanted = self.interest
        self.interest = []
        self.watch(wanted)
        self.delegate?.watcher(self, isReady: wanted)
    }

    /// Stops watching for good; to be called before the descriptor is closed.
    package func close() {
        guard let handle = self.handle else { return }
        self.handle = nil
        self.interest = []
        handle.pointee.data = nil
        uv_poll_stop(handle)
        let raw = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
        uv_close(raw) { handle in
            guard let handle else { return }
            UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_poll_t.self).deallocate()
        }
    }
}
