import CCurl
import GatewayTypes

/// A curl easy handle set up for one endpoint once, then used for call after call.
///
/// Options of an endpoint cost more to set than a call takes, so only body, deadline and receiver change.
final class CurlHandle {
    let easy: UnsafeMutableRawPointer
    let isGet: Bool
    let wantedFields: [String]
    private var headers: UnsafeMutablePointer<curl_slist>?

    /// - Parameter expectsStream: pieces of a stream are small and many streams are open, so they get the smallest
    ///   buffer there is: it is most of what an open call takes.
    init?(endpoint: UpstreamEndpoint, expectsStream: Bool, client: CurlClient) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.isGet = endpoint.isGet
        self.wantedFields = endpoint.wantedFields
        endpoint.withHeaderLines { self.headers = curl_slist_append(self.headers, $0) }
        // Without it curl waits for a 100 before bodies of a megabyte and more.
        self.headers = curl_slist_append(self.headers, "Expect:")
        self.setAddress(endpoint)
        self.setBehaviour()
        // Fixed for the handle's life: curl keeps the buffer from one call to the next.
        _ = ccurl_set_long(self.easy, CURLOPT_BUFFERSIZE, expectsStream ? 1024 : 16384)
        self.setCallbacks(client)
    }

    deinit {
        curl_easy_cleanup(self.easy)
        curl_slist_free_all(self.headers)
    }

    private func setAddress(_ endpoint: UpstreamEndpoint) {
        _ = ccurl_set_string(self.easy, CURLOPT_URL, endpoint.url)
        _ = ccurl_set_list(self.easy, CURLOPT_HTTPHEADER, self.headers)
        _ = ccurl_set_long(self.easy, endpoint.isGet ? CURLOPT_HTTPGET : CURLOPT_POST, 1)
        if endpoint.method != "POST" { _ = ccurl_set_string(self.easy, CURLOPT_CUSTOMREQUEST, endpoint.method) }
        _ = ccurl_set_long(self.easy, CURLOPT_CONNECTTIMEOUT_MS, Int(endpoint.connectTimeout.inMilliseconds))
        if let file = endpoint.certificateFile { _ = ccurl_set_string(self.easy, CURLOPT_CAINFO, file) }
    }

    private func setBehaviour() {
        _ = ccurl_set_long(self.easy, CURLOPT_NOSIGNAL, 1)
        _ = ccurl_set_string(self.easy, CURLOPT_PROTOCOLS_STR, "http,https")
        // A redirect would carry the key elsewhere.
        _ = ccurl_set_long(self.easy, CURLOPT_FOLLOWLOCATION, 0)
        // Only the configuration says where calls go, not the environment.
        _ = ccurl_set_string(self.easy, CURLOPT_PROXY, "")
        // Asks for no coding, and undoes one that comes all the same.
        _ = ccurl_set_string(self.easy, CURLOPT_ACCEPT_ENCODING, "identity")
        _ = ccurl_set_long(self.easy, CURLOPT_TCP_KEEPALIVE, 1)
        _ = ccurl_set_long(self.easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    }

    private func setCallbacks(_ client: CurlClient) {
        _ = ccurl_set_data_function(self.easy, CURLOPT_WRITEFUNCTION) { data, size, count, context in
            guard let context else { return 0 }
            let call = Unmanaged<CurlCall>.fromOpaque(context).takeUnretainedValue()
            let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
            // Any other number than what was offered makes curl give the call up.
            return call.receivedBody(bytes) ? bytes.count : bytes.count &+ 1
        }
        _ = ccurl_set_data_function(self.easy, CURLOPT_HEADERFUNCTION) { data, size, count, context in
            guard let context else { return 0 }
            let call = Unmanaged<CurlCall>.fromOpaque(context).takeUnretainedValue()
            let line = UnsafeRawBufferPointer(start: data, count: size * count)
            return call.receivedHeader(line) ? line.count : line.count &+ 1
        }
        _ = ccurl_set_pointer(self.easy, CURLOPT_SOCKOPTDATA, Unmanaged.passUnretained(client).toOpaque())
        _ = ccurl_set_open_function(self.easy) { context, socket, _ in
            if let context {
                Unmanaged<CurlClient>.fromOpaque(context).takeUnretainedValue().openedSocket(socket)
            }
            return CURL_SOCKOPT_OK
        }
        _ = ccurl_set_pointer(self.easy, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(client).toOpaque())
        _ = ccurl_set_close_function(self.easy) { context, socket in
            guard let context else { return 0 }
            return Unmanaged<CurlClient>.fromOpaque(context).takeUnretainedValue().closeSocket(socket)
        }
    }
}
