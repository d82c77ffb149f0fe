/// One call on its way. On its loop.
package protocol UpstreamCall: AnyObject {
    /// Gives the call up; the connection is closed and the receiver hears nothing more.
    func cancel()
    /// Stops or goes on reading from the provider: the kernel's window then slows the sender.
    func setPaused(_ paused: Bool)
}
