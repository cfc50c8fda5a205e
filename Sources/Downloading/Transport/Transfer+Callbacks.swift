internal import CCurl
internal import Glibc
internal import Platform

private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
}

/// libcurl's callback for a piece of a body. Any result other than the number of its bytes aborts the transfer.
func receiveBody(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    transfer(context)?.body(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
}

/// libcurl's callback for one header line.
func receiveHeader(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer(context)?.header(line) == true ? line.count : 0
}

/// libcurl's callback for the creation of a socket. -1 refuses the address.
func openSocket(
    context: UnsafeMutableRawPointer?, purpose: curlsocktype, address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let address, let transfer = transfer(context), transfer.mayReach(IPAddress(address)) else { return -1 }
    let socket = hc_socket(address)
    if socket >= 0 {
        transfer.shared.sockets.opened(socket)
    } else {
        transfer.lacksDescriptors = errno == EMFILE || errno == ENFILE
    }
    return socket
}

/// libcurl's callback for closing a socket, with a ``TransferContext``.
func closeSocket(context: UnsafeMutableRawPointer?, socket: curl_socket_t) -> Int32 {
    context.map { Unmanaged<TransferContext>.fromOpaque($0).takeUnretainedValue() }?.sockets.closed(socket)
    hc_close(socket)
    return 0
}

/// libcurl's callback before a request is sent, also over a connection that another transfer opened.
func beforeRequest(
    context: UnsafeMutableRawPointer?, address: UnsafeMutablePointer<CChar>?, local: UnsafeMutablePointer<CChar>?,
    port: Int32, localPort: Int32
) -> Int32 {
    let text = address.map { String(cString: $0) } ?? ""
    let ends = OpenSockets.Ends(nearPort: localPort, farAddress: text, farPort: port)
    guard let transfer = transfer(context), transfer.mayReach(IPAddress(text)), transfer.mayUse(ends) else {
        return CURL_PREREQFUNC_ABORT
    }
    return CURL_PREREQFUNC_OK
}
