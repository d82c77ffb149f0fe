import GatewayTypes

/// Plays one scripted reply on one connection.
struct ReplyPlayer {
    let socket: TestSocket
    let call: ProviderCall
    let framing: ProviderReply.Framing

    /// Ends a reply early.
    private enum Stop: Error {
        case peerClosed
        case closed(reset: Bool)
    }

    /// True when the connection may carry another request.
    func play(_ reply: ProviderReply) -> Bool {
        do throws(Stop) {
            try self.hold(reply.delay)
            try self.write(reply.head, framed: false)
            for step in reply.steps { try self.perform(step) }
            if self.framing == .chunked { try self.write(Array("0\r\n\r\n".utf8), framed: false) }
            self.call.ended(.sent)
            return self.framing != .none || reply.status == 204
        } catch {
            switch error {
            case .peerClosed: self.call.ended(.peerClosed)
            case .closed(let reset):
                self.socket.close(reset: reset)
                self.call.ended(.closed)
            }
            return false
        }
    }

    private func perform(_ step: ProviderStep) throws(Stop) {
        switch step {
        case .send(let bytes): try self.write(bytes)
        case .split(let bytes, let every):
            for start in stride(from: 0, to: bytes.count, by: max(1, every)) {
                try self.write(Array(bytes[start..<min(bytes.count, start + every)]))
            }
        case .flood(let bytes, let times): try self.flood(bytes, times)
        case .hold(let milliseconds): try self.hold(milliseconds)
        case .wait(let gate):
            while !gate.isPassable { try self.hold(2) }
        case .finish:
            try self.write(Array("0\r\n\r\n".utf8), framed: false)
            throw .closed(reset: false)
        case .cut: throw .closed(reset: false)
        case .reset: throw .closed(reset: true)
        }
    }

    private func flood(_ bytes: [UInt8], _ times: Int) throws(Stop) {
        let each = max(1, 65536 / max(1, bytes.count))
        let block = Array(repeatElement(bytes, count: each).joined())
        var left = times
        while left > 0 {
            let count = min(left, each)
            try self.write(count == each ? block : Array(block[..<(count * bytes.count)]))
            left -= count
        }
    }

    private func hold(_ milliseconds: Int) throws(Stop) {
        let watch = Stopwatch()
        while watch.milliseconds < milliseconds {
            if self.socket.isClosedByPeer { throw .peerClosed }
            Stopwatch.sleep(milliseconds: min(5, max(1, milliseconds - watch.milliseconds)))
        }
    }

    private func write(_ bytes: [UInt8], framed: Bool = true) throws(Stop) {
        guard !bytes.isEmpty else { return }
        var wire = bytes
        if framed && self.framing == .chunked {
            wire = Array((String(bytes.count, radix: 16) + "\r\n").utf8) + bytes + [13, 10]
        }
        do throws(SocketFailure) {
            try self.socket.send(wire, within: .seconds(120))
        } catch {
            throw .peerClosed
        }
        self.call.sent(wire.count)
    }
}
