/// The words of a status code, on status lines and as the titles of problems (RFC 9457 §4.2.1); clients ignore them,
/// people do not.
package enum ReasonPhrase {
    package static func of(_ status: Int) -> StaticString {
        switch status {
        case 200...299: self.success(status)
        case 400...499: self.clientError(status)
        case 500...599: self.serverError(status)
        case 304: "Not Modified"
        case 300...399: "Redirect"
        default: "Informational"
        }
    }

    private static func success(_ status: Int) -> StaticString {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        default: "Success"
        }
    }

    private static func clientError(_ status: Int) -> StaticString {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        default: "Client Error"
        }
    }

    private static func serverError(_ status: Int) -> StaticString {
        switch status {
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: "Server Error"
        }
    }
}
