/// Thrown by a handler whose connection is closed: nobody is there to be answered.
package struct ConnectionGone: Error {
    package init() {}
}
