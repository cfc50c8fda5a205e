internal import ImageEngine
internal import JSONRPC

/// One parameter of a method: its name, its description, and its default value.
///
/// That its values are read from JSON is asked by the initializers alone: the runtime would look that up for the type of
/// every parameter as the program starts.
struct Param<Value: Sendable>: Sendable {
    let name: StaticString
    let summary: String
    /// Names by which users look for it, that of another method's parameter.
    private let mistaken: [String]
    private let isRequired: Bool
    private let fallbackText: JSONLiteral?
    private let schema: JSONLiteral
    /// Reads the value from the parameters, by name or by position. It is a closure created where the type is known: a
    /// generic call would cost a look-up of types for every parameter of every request.
    let read: @Sendable (JSONView?, _ position: Int, ImageServer) throws(Mismatch) -> Value

    var description: ParameterDescription {
        ParameterDescription(
            name: name, summary: summary, schema: schema, isRequired: isRequired, fallback: fallbackText,
            mistaken: mistaken)
    }
}

extension Param where Value: WireValue {
    /// A required parameter.
    @inline(__always)
    init(_ name: StaticString, _ summary: String, mistakenFor mistaken: [String] = []) {
        self.name = name
        self.summary = summary
        self.mistaken = mistaken
        isRequired = true
        fallbackText = nil
        schema = Value.schema
        read = { (params, position, _) throws(Mismatch) in
            guard let value = parameter(name, position, of: params) else {
                throw Mismatch(path: "\(name)", message: "is missing", expected: summary)
            }
            do throws(Mismatch) { return try Value.decode(value) } catch { throw error.within("\(name)") }
        }
    }

    /// An optional parameter; `null` has the same meaning as leaving it out.
    ///
    /// - Parameters:
    ///   - text: The default value in the documentation.
    ///   - schema: The schema in the documentation, when it says more than that of the type.
    @inline(__always)
    init(
        _ name: StaticString, _ summary: String, default fallback: Value, _ text: JSONLiteral? = nil,
        schema: JSONLiteral = Value.schema
    ) {
        self.schema = schema.orNull
        self.name = name
        self.summary = summary
        mistaken = []
        isRequired = false
        fallbackText = text
        read = { (params, position, _) throws(Mismatch) in
            guard let value = parameter(name, position, of: params), !value.isNull else { return fallback }
            do throws(Mismatch) { return try Value.decode(value) } catch { throw error.within("\(name)") }
        }
    }
}

extension Param where Value == ImageOptions? {
    /// The options of a request. What it leaves out is as the server's default options say; `nil` when neither says anything.
    init(options summary: String) {
        (name, self.summary, mistaken, isRequired) = ("options", summary, [], false)
        (fallbackText, schema) = (nil, ImageOptions.schema.orNull)
        read = { (params, position, server) throws(Mismatch) in
            let defaults = server.defaultOptions
            guard let value = parameter("options", position, of: params), !value.isNull else { return defaults }
            do throws(Mismatch) { return try ImageOptions.decode(value, defaults: defaults) } catch {
                throw error.within("options")
            }
        }
    }
}

/// The parameter called `name`, or at `position` when the parameters are an array.
@_lifetime(copy params)
private func parameter(_ name: StaticString, _ position: Int, of params: JSONView?) -> JSONView? {
    guard let params else { return nil }
    return params.kind == .array ? params.element(position) : params.member(name)
}

/// The cache key of a method on one image.
let keyParam = Param<KeyText>("key", "The cache key: any text.", mistakenFor: ["url"])
/// The cache of a method.
let cacheParam = Param<String?>(
    "cache", "The name of the cache.", default: nil, "default", schema: CacheName.schema)

/// A parameter for the documentation.
struct ParameterDescription: Sendable {
    let name: StaticString
    let summary: String
    let schema: JSONLiteral
    let isRequired: Bool
    let fallback: JSONLiteral?
    let mistaken: [String]

    /// Names that do not stand beside the parameter, and what to write instead: its own, or the place inside it.
    var otherNames: [(name: String, instead: String)] {
        mistaken.map { ($0, name.description) } + schema.memberNames.map { ($0, "\(name).\($0)") }
    }
}

extension Mismatch {
    /// The mismatch with a parameter as the suggestion, when its name stands inside another parameter.
    fileprivate func suggesting(_ params: [ParameterDescription]) -> Mismatch {
        guard let unknown, path != unknown.name, params.contains(where: { $0.name.description == unknown.name }) else {
            return self
        }
        var mismatch = self
        mismatch.message = "is not a known \(unknown.what); did you mean the parameter \"\(unknown.name)\"?"
        mismatch.suggestion = unknown.name
        return mismatch
    }
}

/// The way a handler answers a request.
enum Outcome<Value: Sendable>: Sendable {
    /// The result is available.
    case now(Value)
    /// The result takes time.
    case later(@Sendable (Call) async throws -> Value)
    /// The result takes time, and `begin` is called with the request at once, on the reading thread.
    case begun(@Sendable (Call) -> Void, later: @Sendable (Call) async throws -> Value)
    /// The result takes time, and the work starts in the order of the requests on the same cache.
    case ordered(RequestOrder.Access, Deferred<Value>)
    /// Ordered work in two parts: the first one returns the second, which completes the result after the request has left the order,
    /// so that others need not wait for that. `begin` is called with the request at once, on the reading thread.
    case inTwoParts(
        RequestOrder.Access, begin: @Sendable (Call) -> Void = { _ in },
        @Sendable (Call) async throws -> @Sendable () async throws -> Value)
    /// Ordered work that only waits for the disk: all of it runs on a thread for blocking work. If the request may
    /// run now, `atOnce` may return the result.
    case onDisk(RequestOrder.Access, atOnce: @Sendable () throws -> Value?, later: @Sendable () throws -> Value)
    /// A `retrieve` request, in the same order.
    case retrieval(Retrieval)
    /// The process exits.
    case exit(Int32)
}

/// The work of a request that was not answered at once.
struct Deferred<Value: Sendable>: Sendable {
    /// Starts the work when the request may run; it calls `end` once, from any thread.
    let work: @Sendable (Call, _ end: @escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
}

extension Deferred {
    /// Work that runs in a task, which is cancelled with the request.
    static func task(_ work: @escaping @Sendable (Call) async throws -> Value) -> Deferred {
        Deferred { call, end in
            let task = Task {
                let result: Result<Value, any Error>
                do { result = .success(try await work(call)) } catch { result = .failure(error) }
                end(result)
            }
            call.onCancel { task.cancel() }
        }
    }
}

/// The context of a request for its handler.
struct Invocation: Sendable {
    let server: ImageServer
    let message: MessageContext
    /// The tokens for progress notifications, if the client asked for them.
    let progress: ProgressTokens?
}

/// One method of the protocol: name, description, parameters, result and handler in one value.
///
/// Dispatch, validation, `rpc.discover` and `protocol/openrpc.json` all read ``Method/all``.
struct Method: Sendable {
    let name: String
    let summary: String
    let params: [ParameterDescription]
    let resultName: String
    let resultSchema: JSONLiteral
    /// `true` when the method is only ever sent without an id.
    let isNotification: Bool
    /// `true` when unknown parameters are accepted: only for methods that other protocols define.
    let isLenient: Bool
    /// The names of parameters of which at least one is given.
    let anyOf: [String]
    let run: @Sendable (ImageServer, JSONView?, MessageContext, inout JSONWriter) throws -> Disposition

    init<each P: WireValue, Value: WireResult>(
        _ name: String, _ summary: String, isNotification: Bool = false, isLenient: Bool = false, anyOf: [String] = [],
        _ params: repeat Param<each P>,
        handler: @escaping @Sendable (Invocation, repeat each P) throws -> Outcome<Value>
    ) {
        self.name = name
        self.summary = summary
        self.isNotification = isNotification
        self.isLenient = isLenient
        self.anyOf = anyOf
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
                let values = (repeat try (each params).read(view, next(), server))
                let invocation = Invocation(server: server, message: message, progress: tokens)
                do { outcome = try handler(invocation, repeat each values) } catch { return .failed(rpcError(error)) }
            } catch {
                return .failed(error.suggesting(known).error)
            }
            return try server.disposition(of: outcome, writer: &writer)
        }
    }

    /// Refuses parameters that the method does not have; returns the progress tokens, which every method accepts.
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
                throw .unknown(
                    text, among: params.map(\.name.description), elsewhere: params.flatMap(\.otherNames),
                    what: "parameter")
            }
        }
        return tokens
    }
}
