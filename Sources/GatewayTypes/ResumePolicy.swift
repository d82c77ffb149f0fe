/// How a task's answers outlive the connection that they are read over.
package struct ResumePolicy: Hashable, Sendable {
    /// How long an answer is kept after its end.
    package var keep: TimeSpan
    /// Most bytes of one answer's text that are kept; a longer one is streamed on, but can't be come back to.
    package var bytes: Int
    /// How long an ask goes on for nobody, before the task's policy for clients that leave decides.
    package var grace: TimeSpan

    package init(keep: TimeSpan = .seconds(60), bytes: Int = 262_144, grace: TimeSpan = .seconds(30)) {
        self.keep = keep
        self.bytes = bytes
        self.grace = grace
    }
}
