/// One value of a document, or one member's name: 16 bytes that say what it is and where it ends.
///
/// Nodes stand in the order of the document. A container is followed by its content; an object's content is a name,
/// its value, the next name, and so on.
@usableFromInline
struct JSONNode {
    /// What stands there; numbers are told apart by their spelling.
    @usableFromInline
    enum Kind: UInt8 {
        case object, array, string, integer, real, yes, no, null
    }

    /// Where the bytes of a string or a number begin in the document's copy. Of a container it is not a place: while
    /// the container is open it holds the set of hashes of its names so far.
    var start: UInt32
    /// Bytes of a string (decoded) or a number; members of an object; elements of an array.
    @usableFromInline var count: UInt32
    /// Nodes from here to the next sibling. While a container is open: the index of the one around it, plus 1.
    @usableFromInline var extent: UInt32
    @usableFromInline var kind: Kind
}
