/// An answer that is made in this process, without a call. On its loop.
protocol LocalAnswer: AnyObject {
    /// Begins to answer, on a later turn of the loop.
    func start(into ask: Ask)
    func setPaused(_ paused: Bool)
    /// Tells the ask nothing any more.
    func cancel()
}
