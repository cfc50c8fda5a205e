internal import ImageEngine
internal import JSONRPC

/// One parameter of a method: its name, its words, and the value it has when left out.
struct Param<Value: WireValue>: Sendable {
    let name: StaticString
    let summary: String
    private let isRequired: Bool
    private let fallbackText: JSONLiteral?
    /// Reads the value from the parameters, by name or by position. A closure, made where the type is known, because
    /// reading it where it is not costs a look-up of types for every parameter of every request.
    let read: @Sendable (JSONView?, _ position: Int) throws(Mismatch) -> Value

    /// A parameter that must be given.
    @inline(__always)
    init(_ name: StaticString, _ summary: String) {
        self.name = name
        self.summary = summary
        isRequired = true
        fallbackText = nil
        read = { (params, position) throws(Mismatch) in
            guard let value = parameter(name, position, of: params) else {
                throw Mismatch(path: "\(name)", message: "is missing", expected: summary)
            }
            do throws(Mismatch) { return try Value.decode(value) } catch { throw error.within("\(name)") }
        }
    }

    /// A parameter that may be left out; `null` is the same as leaving it out.
    ///
    /// - Parameter text: The default as the documentation shows it.
    @inline(__always)
    init(_ name: StaticString, _ summary: String, default fallback: Value, _ text: JSONLiteral? = nil) {
        self.name = name
        self.summary = summary
        isRequired = false
        fallbackText = text
        read = { (params, position) throws(Mismatch) in
            guard let value = parameter(name, position, of: params), !value.isNull else { return fallback }
            do throws(Mismatch) { return try Value.decode(value) } catch { throw error.within("\(name)") }
        }
    }

    var description: ParameterDescription {
        ParameterDescription(
            name: name, summary: summary, schema: Value.schema, isRequired: isRequired, fallback: fallbackText)
    }
}

/// The parameter called `name`, or at `position` when they have no names.
@_lifetime(copy params)
private func parameter(_ name: StaticString, _ position: Int, of params: JSONView?) -> JSONView? {
    guard let params else { return nil }
    return params.kind == .array ? params.element(position) : params.member(name)
}

/// A parameter as the documentation shows it.
struct ParameterDescription: Sendable {
    let name: StaticString
    let summary: String
    let schema: JSONLiteral
    let isRequired: Bool
    let fallback: JSONLiteral?
}

/// What a handler does with a request.
enum Outcome<Value: WireResult>: Sendable {
    /// Here is the result.
    case now(Value)
    /// The result takes time.
    case later(@Sendable (Call) async throws -> Value)
    /// The same, and `begin` hears of the request at once, on the thread that reads.
    case begun(@Sendable (Call) -> Void, later: @Sendable (Call) async throws -> Value)
    /// The request has its turn among those on the same cache. When that is now, `atOnce` may have the result; when it
    /// is not, or when `atOnce` has none, `later` says what is to be done.
    case ordered(
        RequestOrder.Access, atOnce: @Sendable () throws -> Value?, later: @Sendable (Call) -> Deferred<Value>)
    /// The same for work that only waits for the disk: a thread for such work does all of it.
    case onDisk(RequestOrder.Access, atOnce: @Sendable () throws -> Value?, later: @Sendable () throws -> Value)
    /// The same for work that is done together with that of other requests: `begin` begins it without waiting, and has its
    /// end told to `end`, once and from any thread.
    case shared(
        RequestOrder.Access, begin: @Sendable (_ end: @escaping @Sendable (Result<Value, any Error>) -> Void) -> Void)
    /// The process ends.
    case exit(Int32)
}

/// What a request does that was not answered at once.
struct Deferred<Value: WireResult>: Sendable {
    /// How urgent it is, and what it waits for with it.
    var priority: CallPriority?
    /// Hears, on the thread that reads, that its turn is not now.
    var wait: @Sendable () -> Void = {}
    /// Begins to find the result when its turn has come, without a task: what is given hears of the end, once and from any
    /// thread. false if it cannot be found like that, and nothing has been done.
    var begin: (@Sendable (Call, _ end: @escaping @Sendable (Result<Value, any Error>) -> Void) -> Bool)?
    /// Finds the result when its turn has come.
    let work: @Sendable (Call) async throws -> Value
}

/// What a handler may need to know of its request.
struct Invocation: Sendable {
    let server: ImageServer
    let message: MessageContext
    /// Where progress is to be reported, if the client asked for it.
    let progress: ProgressTokens?
}

/// One method of the protocol: name, words, parameters, result and handler in one value.
///
/// Dispatch, validation, `rpc.discover` and `protocol/openrpc.json` all read ``Method/all``.
struct Method: Sendable {
    let name: String
    let summary: String
    let params: [ParameterDescription]
    let resultName: String
    let resultSchema: JSONLiteral
    /// Whether the method is only ever sent without an id.
    let isNotification: Bool
    /// Whether unknown parameters are let pass: only where other protocols define them.
    let isLenient: Bool
    let run: @Sendable (ImageServer, JSONView?, MessageContext, inout JSONWriter) throws -> Disposition

    init<each P: WireValue, Value: WireResult>(
        _ name: String, _ summary: String, isNotification: Bool = false, isLenient: Bool = false,
        _ params: repeat Param<each P>,
        handler: @escaping @Sendable (Invocation, repeat each P) throws -> Outcome<Value>
    ) {
        self.name = name
        self.summary = summary
        self.isNotification = isNotification
        self.isLenient = isLenient
        resultName = Value.name
        resultSchema = Value.schema
        var descriptions: [ParameterDescription] = []
        repeat descriptions.append((each params).description)
        let known = descriptions
        self.params = known
        run = { server, view, message, writer in
            let outcome: Outcome<Value>
            var tokens: ProgressTokens?
            do throws(Mismatch) {
                if !isLenient { tokens = try Self.check(view, known) }
                var position = -1
                func next() -> Int {
                    position += 1
                    return position
                }
                let values = (repeat try (each params).read(view, next()))
                let invocation = Invocation(server: server, message: message, progress: tokens)
                do { outcome = try handler(invocation, repeat each values) } catch { return .failed(rpcError(error)) }
            } catch {
                return .failed(error.error)
            }
            return try server.take(outcome, hasProgress: tokens != nil, writer: &writer)
        }
    }

    /// Refuses parameters that the method does not have; finds those that every method has.
    private static func check(_ view: JSONView?, _ params: [ParameterDescription]) throws(Mismatch) -> ProgressTokens? {
        guard let view else { return nil }
        if view.kind == .array {
            guard view.count <= params.count else {
                throw Mismatch(
                    path: "params", message: "has \(view.count) values, but the method takes at most \(params.count)",
                    expected: "at most \(params.count) values", received: "\(view.count) values")
            }
            return nil
        }
        var tokens: ProgressTokens?
        try view.forEachMember { (name, value) throws(Mismatch) in
            for param in params where param.name.utf8CodeUnitCount == name.count {
                if name.elementsEqual(UnsafeBufferPointer(start: param.name.utf8Start, count: name.count)) { return }
            }
            let text = String(decoding: name, as: UTF8.self)
            if text == "workDoneToken" || text == "_meta" {
                tokens = try ProgressTokens(text, value, tokens)
            } else if !isIgnored(text) {
                throw .unknown(text, among: params.map(\.name.description), what: "parameter")
            }
        }
        return tokens
    }
}
