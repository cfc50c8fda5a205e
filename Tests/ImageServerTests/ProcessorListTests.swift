import ImageEngine
import ImageRecipes
import JSONRPC
import Testing

@testable import ImageServer

/// Processors on the wire: what each takes, and how it refuses the rest.
@Suite struct ProcessorListTests {
    private func decode(_ text: String) throws -> ProcessorList {
        let document = try JSONDocument(parsing: Array(text.utf8))
        return try ProcessorList.decode(document.root)
    }

    /// A red pixel, a PNG in base64, and the digest of its bytes.
    private static let dot =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQ"
        + "DJ/pLvAAAAAElFTkSuQmCC"
    private static let dotDigest = "b1ff9c8ea3a780bad09b346c423d2d0e46815926879b18e841d928376a946640"

    static let good: [(text: String, identifier: String)] = [
        (#"[]"#, ""),
        (#"[{"downsample":{"width":20,"height":10}}]"#, "downsample.1(width=20,height=10)"),
        (#"[{"resize":{"width":20}}]"#, "resize.1(width=20,mode=aspectFit,upscale=false)"),
        (
            #"[{"resize":{"height":9.6,"width":20,"mode":"aspectFill","upscale":true}}]"#,
            "resize.1(width=20,height=10,mode=aspectFill,upscale=true)"
        ),
        (#"[{"crop":{"width":2,"height":1}}]"#, "crop.1(width=2,height=1,x=0.5,y=0.5)"),
        (#"[{"crop":{"width":2,"height":1,"anchor":{"y":1}}}]"#, "crop.1(width=2,height=1,x=0.5,y=1)"),
        (
            #"[{"resize":{"width":9,"height":9,"mode":"aspectFill","kernel":"nearest","focus":{"y":1}}}]"#,
            "resize.1(width=9,height=9,mode=aspectFill,upscale=false,kernel=nearest,focus=0.5x1)"
        ),
        (
            #"[{"resize":{"width":9,"kernel":"lanczos3","focus":null}}]"#,
            "resize.1(width=9,mode=aspectFit,upscale=false)"
        ),
        (#"[{"crop":{"width":2,"height":1,"anchor":"smart"}}]"#, "crop.1(width=2,height=1,anchor=smart)"),
        (#"[{"crop":{"width":2,"height":1,"x":3}}]"#, "crop.1(width=2,height=1,left=3,top=0)"),
        (
            #"[{"crop":{"width":0.5,"height":0.2,"unit":"fraction","y":0.8}}]"#,
            "crop.1(width=0.5,height=0.2,unit=fraction,left=0,top=0.8)"
        ),
        (#"[{"pad":{"width":2,"height":1}}]"#, "pad.1(width=2,height=1,gravity=center,upscale=false)"),
        (
            ##"[{"pad":{"width":2,"height":1,"backgroundColor":"#fff","gravity":"top","upscale":true}}]"##,
            "pad.1(width=2,height=1,background=#ffffff,gravity=top,upscale=true)"
        ),
        (#"[{"trim":{}}]"#, "trim.1(tolerance=10)"),
        (#"[{"flip":{"vertical":true}}]"#, "flip.1(horizontal=false,vertical=true)"),
        (##"[{"circle":{"diameter":8,"backgroundColor":"#000"}}]"##, "circle.1(diameter=8,background=#000000)"),
        (#"[{"sharpen":{"amount":2}}]"#, "sharpen.2(radius=1,amount=2)"),
        (#"[{"pixelate":{"size":8}},{"pixelate":{"size":1}}]"#, "pixelate.2(size=8)"),
        (#"[{"gamma":{"gamma":2.20}}]"#, "gamma.1(gamma=2.2)"),
        (
            #"[{"watermark":{"data":"\#(dot)","margin":2.4,"scale":0.25}},{"watermark":{"data":"\#(dot)","opacity":0}}]"#,
            "watermark.1(image=\(dotDigest),gravity=bottomRight,opacity=1,margin=2,scale=0.25)"
        ),
        (#"[{"roundCorner":{"radius":5}}]"#, "roundCorner.1(radius=5,corners=all)"),
        (
            ##"[{"roundCorner":{"radius":{"fraction":0.5},"corners":["topRight"],"targetSize":{"width":4,"height":4},"backgroundColor":"#fff"}}]"##,
            "roundCorner.1(radius=fraction:0.5,corners=topRight,target=4x4,background=#ffffff)"
        ),
        (#"[{"blur":{"radius":2}},{"blur":{"radius":0}}]"#, "blur.2(radius=2)"),
        (##"[{"overlay":{"color":"#0008","fraction":null}}]"##, "overlay.1(color=#00000088,fraction=0.5)"),
        (#"[{"tint":{"color":"black"}}]"#, "tint.1(color=#000000)"),
        (
            #"[{"colorControls":{"contrast":1.10}}]"#,
            "colorControls.1(brightness=0,contrast=1.1,saturation=1,inputEV=0)"
        ),
        (#"[{"blackWhite":{}}]"#, "blackWhite.1()"),
        (#"[{"border":{"color":"white","width":4}}]"#, "border.1(color=#ffffff,width=4,radius=0,corners=all)"),
        (#"[{"blend":{"mode":"multiply","alpha":0.5}}]"#, "blend.2(mode=multiply,alpha=0.5)"),
        (#"[{"compositing":{"operation":"xor"}}]"#, "compositing.2(mode=xor,alpha=1)"),
        (#"[{"rotate":{"degrees":-90}}]"#, "rotate.1(degrees=270)"),
        (#"[{"rotate":{"auto":true}}]"#, "rotate.1(degrees=auto)"),
        (#"[{"format":{"to":"webp","quality":80}}]"#, "format.1(to=webp,quality=80)"),
        (##"[{"blackWhite":{"_note":1}},{"tint":{"color":"#FFF"}}]"##, "blackWhite.1()|>tint.1(color=#ffffff)"),
    ]

    @Test(arguments: good.indices)
    func aGoodListHasItsName(index: Int) throws {
        #expect(try decode(Self.good[index].text).processors.identifier == Self.good[index].identifier)
    }

    static let bad: [(text: String, path: String, expected: String?, suggestion: String?)] = [
        (#"{}"#, "", "a list of processors", nil), (#"["blur"]"#, "0", "an object with one member", nil),
        (#"[{}]"#, "0", "an object with one member", nil),
        (#"[{"blur":{"radius":1},"tint":{}}]"#, "0", "an object with one member", nil),
        (#"[{"blackWhite":{}},{"downsampel":{}}]"#, "1.downsampel", nil, "downsample"),
        (#"[{"watermark":{}}]"#, "0.watermark.data", nil, nil),
        (#"[{"watermark":{"data":"no*base64"}}]"#, "0.watermark.data", "a string of base64", nil),
        (#"[{"watermark":{"data":"AAAA"}}]"#, "0.watermark.data", "a PNG, JPEG, WebP or GIF", nil),
        (#"[{"watermark":{"data":"\#(dot)","scale":1.5}}]"#, "0.watermark.scale", "a fraction above 0", nil),
        (#"[{"watermark":{"data":"\#(dot)","gravity":"botom"}}]"#, "0.watermark.gravity", "one of", "bottom"),
        (#"[{"blur":3}]"#, "0.blur", "an object", nil), (#"[{"blur":{}}]"#, "0.blur.radius", nil, nil),
        (#"[{"blur":{"radius":"2"}}]"#, "0.blur.radius", "a number", nil),
        (#"[{"blur":{"radius":-1}}]"#, "0.blur.radius", "a number from 0 to 500", nil),
        (#"[{"blur":{"radios":1}}]"#, "0.blur.radios", nil, "radius"),
        (#"[{"downsample":{"width":0,"height":1}}]"#, "0.downsample.width", "a number of pixels above 0", nil),
        (#"[{"downsample":{"width":1}}]"#, "0.downsample.height", nil, nil),
        (#"[{"downsample":{"width":1e9,"height":1}}]"#, "0.downsample.width", "a number of pixels above 0", nil),
        (#"[{"resize":{}}]"#, "0.resize.width", "a width, a height or both", nil),
        (#"[{"resize":{"width":1,"mode":"fit"}}]"#, "0.resize.mode", #"one of "none""#, nil),
        (#"[{"resize":{"width":1,"mode":"aspectfit"}}]"#, "0.resize.mode", #"one of "none""#, "aspectFit"),
        (#"[{"crop":{"width":1,"height":1,"anchor":{"x":2}}}]"#, "0.crop.anchor.x", "a number from 0 to 1", nil),
        (#"[{"crop":{"width":1,"height":1,"anchor":{"z":0}}}]"#, "0.crop.anchor.z", nil, nil),
        (#"[{"crop":{"width":1,"height":1,"anchor":"smrt"}}]"#, "0.crop.anchor", "one of", "smart"),
        (#"[{"crop":{"width":1,"height":1,"anchor":3}}]"#, "0.crop.anchor", #""smart""#, nil),
        (#"[{"crop":{"width":1,"height":1,"anchor":{},"x":1}}]"#, "0.crop.anchor", "an anchor or a corner", nil),
        (#"[{"crop":{"width":1,"height":1,"x":-1}}]"#, "0.crop.x", "a number from 0", nil),
        (#"[{"crop":{"width":1.5,"height":1,"unit":"fraction"}}]"#, "0.crop.width", "a fraction above 0", nil),
        (#"[{"crop":{"width":0.5,"height":1,"unit":"fraction","x":0.6}}]"#, "0.crop.x", "a number from 0 to 0.5", nil),
        (#"[{"crop":{"width":1,"height":1,"unit":"pixel"}}]"#, "0.crop.unit", "one of", "pixels"),
        (#"[{"resize":{"width":1,"kernel":"lancsoz3"}}]"#, "0.resize.kernel", "one of", "lanczos3"),
        (#"[{"resize":{"width":1,"height":1,"focus":{}}}]"#, "0.resize.focus", "left out unless", nil),
        (
            #"[{"resize":{"width":1,"height":1,"mode":"aspectFill","focus":{"x":2}}}]"#, "0.resize.focus.x",
            "a number from 0 to 1", nil
        ),
        (#"[{"pad":{"width":1}}]"#, "0.pad.height", nil, nil),
        (#"[{"pad":{"width":1,"height":1,"gravity":"centre"}}]"#, "0.pad.gravity", "one of", "center"),
        (#"[{"trim":{"tolerance":-1}}]"#, "0.trim.tolerance", "a number from 0 to 255", nil),
        (#"[{"flip":{}}]"#, "0.flip.horizontal", "horizontal, vertical or both", nil),
        (#"[{"flip":{"horizontal":"yes"}}]"#, "0.flip.horizontal", "a boolean", nil),
        (#"[{"circle":{"diameter":0}}]"#, "0.circle.diameter", "a number of pixels", nil),
        (#"[{"sharpen":{"amount":11}}]"#, "0.sharpen.amount", "a number from 0 to 10", nil),
        (#"[{"pixelate":{}}]"#, "0.pixelate.size", nil, nil),
        (#"[{"gamma":{"gamma":0}}]"#, "0.gamma.gamma", "a number from", nil),
        (#"[{"roundCorner":{"radius":{"fraction":0.6}}}]"#, "0.roundCorner.radius.fraction", "a number from 0", nil),
        (#"[{"roundCorner":{"radius":"5"}}]"#, "0.roundCorner.radius", "a number of pixels or", nil),
        (#"[{"roundCorner":{"radius":5,"corners":[]}}]"#, "0.roundCorner.corners", "at least one corner", nil),
        (
            #"[{"roundCorner":{"radius":5,"corners":["topleft"]}}]"#, "0.roundCorner.corners.0", "one of", "topLeft"
        ),
        (
            #"[{"roundCorner":{"radius":5,"targetSize":{"width":-1,"height":1}}}]"#,
            "0.roundCorner.targetSize.width", "a number of pixels", nil
        ),
        (#"[{"overlay":{"color":"red"}}]"#, "0.overlay.color", "a colour as", nil),
        (#"[{"tint":{}}]"#, "0.tint.color", nil, nil),
        (#"[{"colorControls":{"contrast":9}}]"#, "0.colorControls.contrast", "a number from 0 to 4", nil),
        (#"[{"blackWhite":{"level":1}}]"#, "0.blackWhite.level", nil, nil),
        (#"[{"border":{"color":"white"}}]"#, "0.border.width", nil, nil),
        (#"[{"blend":{"mode":"multiplied"}}]"#, "0.blend.mode", "one of", "multiply"),
        (#"[{"compositing":{}}]"#, "0.compositing.operation", nil, nil),
        (#"[{"rotate":{}}]"#, "0.rotate.degrees", "a number, or auto", nil),
        (#"[{"format":{"to":"jpg"}}]"#, "0.format.to", #"one of "png""#, "jpeg"),
        (#"[{"format":{"to":"psd"}}]"#, "0.format.to", #"one of "png""#, nil),
        (#"[{"format":{"to":"jpeg","quality":101}}]"#, "0.format.quality", "a number from 1 to 100", nil),
    ]

    @Test(arguments: bad.indices)
    func aBadOneIsRefusedWithItsPlaceWhatWasExpectedAndTheNearestName(index: Int) throws {
        let (text, path, expected, suggestion) = Self.bad[index]
        do {
            _ = try decode(text)
            Issue.record("it took \(text)")
        } catch let mismatch as Mismatch {
            #expect(mismatch.path == path, "\(text)")
            if let expected { #expect(mismatch.expected?.hasPrefix(expected) == true, "\(text): \(mismatch)") }
            if let suggestion { #expect(mismatch.suggestion == suggestion, "\(text)") }
        }
    }

    @Test func everyProcessorIsOnTheWireAndTestedHere() throws {
        #expect(ProcessorField.all.map(\.name) == ImageProcessor.names)
        for name in ImageProcessor.names {
            #expect(Self.good.contains { $0.text.contains("\"\(name)\"") }, "\(name)")
            #expect(Self.bad.contains { $0.text.contains("\"\(name)\"") || $0.text.contains("\"downsampel\"") })
            let examples = ProcessorField.named(name)?.examples ?? []
            #expect(!examples.isEmpty, "\(name)")
            for example in examples { #expect(try ProcessorText.steps(example).map(\.name) == [name], "\(example)") }
        }
    }

    @Test func aListHasAnEnd() throws {
        let one = #"{"blackWhite":{}}"#
        let most = "[" + Array(repeating: one, count: ProcessorList.limit).joined(separator: ",") + "]"
        #expect(try decode(most).processors.count == ProcessorList.limit)
        #expect(throws: Mismatch.self) { try decode("[\(one)," + most.dropFirst()) }
    }

    @Test func theScaleFactorMakesPixelsOfPoints() throws {
        let list: ProcessorList? = try decode(#"[{"resize":{"width":100}},{"blur":{"radius":1}}]"#)
        var options = ImageOptions()
        options.processing.scaleFactor = 2
        #expect(
            try list.options(options)?.processing.recipe.identifier
                == "resize.1(width=200,mode=aspectFit,upscale=false)|>blur.2(radius=2)")
        options.processing.scaleFactor = 100
        do {
            _ = try (decode(#"[{"resize":{"width":10000}}]"#) as ProcessorList?).options(options)
            Issue.record("it was taken")
        } catch let error as RPCError {
            #expect(error.code == -32602 && error.message.contains("options.scaleFactor"))
        }
    }
}
