internal import Glibc
internal import ImageRecipes
internal import Platform

/// The files of a request, opened for a worker: that can open none itself.
final class RenderFiles {
    /// The request without the outputs whose file could not be created.
    let request: RenderRequest
    private let source: Descriptor
    private var files: [CreatedFile] = []
    /// The failures of outputs whose file could not be created, by their place.
    private var failures: [Int: RenderFailure] = [:]

    /// Opens the source and creates the files of the outputs.
    ///
    /// - Throws: A failure for all outputs, when the source cannot be opened.
    init(_ whole: RenderRequest) throws(RenderFailure) {
        var possible = whole
        possible.outputs = []
        do throws(SystemError) {
            source = try Descriptor(reading: whole.source, followsLinks: true)
        } catch { throw RenderFailure(.sourceFailed, "The source cannot be opened: \(Self.clause(error)).") }
        guard source.stamp != nil else { throw RenderFailure(.sourceFailed, "The source is not a regular file.") }
        for (place, output) in whole.outputs.enumerated() {
            do throws(SystemError) {
                if output.rule != .nothing { files.append(try CreatedFile(output.path)) }
                possible.outputs.append(output)
            } catch {
                failures[place] = RenderFailure(.resultFailed, "The result cannot be written: \(Self.clause(error)).")
            }
        }
        request = possible
    }

    private static func clause(_ error: SystemError) -> String { String(cString: strerror(error.code)) }

    /// The descriptors in the order of the messages: the source, then the outputs that have files.
    var descriptors: [Int32] { [source.number] + files.map { $0.descriptor.number } }

    /// The outcomes of all outputs, in their order. The files of those that have failed are removed.
    func outcomes(_ made: [RenderOutcome]) -> [RenderOutcome] {
        for (output, outcome) in zip(request.outputs, made) where output.rule != .nothing {
            if case .failed = outcome { unlink(output.path) }
        }
        var rest = made[...]
        return (0..<(made.count + failures.count)).compactMap { place in
            failures[place].map { .failed($0) } ?? rest.popFirst()
        }
    }

    /// Removes all files: the worker has not finished them.
    func remove() {
        for output in request.outputs where output.rule != .nothing { unlink(output.path) }
    }
}
