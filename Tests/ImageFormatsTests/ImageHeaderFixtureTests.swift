import Glibc
import TestSupport
import Testing

@testable import ImageFormats

/// The header of every picture in the corpus.
@Suite struct ImageHeaderFixtureTests {
    @Test func corpusIsThere() {
        #expect(Fixtures.valid.count > 70)
        #expect(Fixtures.broken.count >= 10)
        #expect(Set(Fixtures.valid.compactMap(\.format)) == Set(ImageFormat.allCases.map(\.rawValue)))
    }

    @Test(arguments: Fixtures.valid)
    func headerSaysWhatTheManifestSays(_ picture: Fixtures.Picture) throws {
        let header = try headerInMemory(picture.bytes).get()
        #expect(header.format.rawValue == picture.format)
        #expect(header.format.mimeType == picture.mimeType)
        #expect(header.width == picture.width)
        #expect(header.height == picture.height)
        // Only who decodes an animated JPEG XL knows how many pictures it has.
        #expect(header.frameCount == (picture.format == "jxl" ? 1 : picture.frameCount))
    }

    @Test(arguments: Fixtures.all)
    func fileAndMemoryAgree(_ picture: Fixtures.Picture) throws {
        let bytes = try picture.bytes
        #expect(try ScratchFile().header(bytes) == headerInMemory(bytes))
    }

    /// A folder can be opened, but it cannot be read.
    @Test func fileThatCannotBeReadIsNotCalledBad() {
        let folder = open("/", O_RDONLY)
        defer { close(folder) }
        #expect(throws: ImageHeader.Failure.unreadable(EISDIR)) { try ImageHeader(descriptor: folder, count: 1000) }
    }

    @Test(arguments: [
        ("broken/truncated.png", ImageHeader.Failure.cutOff(.png)),
        ("broken/truncated.jpg", .cutOff(.jpeg)),
        ("broken/truncated.gif", .cutOff(.gif)),
        ("broken/truncated.webp", .cutOff(.webp)),
        ("broken/signature-only.png", .cutOff(.png)),
        ("broken/html-page.jpg", .unrecognised),
        ("broken/json-body.png", .unrecognised),
        ("broken/plain-text.txt", .unrecognised),
        ("broken/random.bin", .unrecognised),
        ("broken/empty.png", .empty),
    ])
    func brokenFilesAreRefusedForTheRightReason(_ file: String, _ failure: ImageHeader.Failure) throws {
        #expect(headerInMemory(try Fixtures.bytes(file)) == .failure(failure))
    }

    @Test func everyBrokenFileIsRefused() throws {
        for picture in Fixtures.broken {
            #expect(throws: ImageHeader.Failure.self) { try headerInMemory(picture.bytes).get() }
        }
    }

    /// A file may be cut off by its owner while it is read.
    @Test(arguments: Fixtures.valid)
    func fileThatIsShorterThanAnnouncedIsReadLikeTheShortFile(_ picture: Fixtures.Picture) throws {
        let file = try ScratchFile()
        let bytes = try picture.bytes
        for count in [0, 1, bytes.count / 2, bytes.count - 1] {
            let short = Array(bytes.prefix(count))
            // It ends, and what it finds is nothing or what the short file would tell.
            if case .success(let header) = file.header(short, announced: 1 << 40) {
                #expect(header.format.rawValue == picture.format)
            }
        }
    }
}
