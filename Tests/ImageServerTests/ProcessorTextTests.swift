import ImageEngine
import ImageRecipes
import JSONRPC
import Testing

@testable import ImageServer

/// Processors as a compact text, for command lines and URLs.
@Suite struct ProcessorTextTests {
    private func decode(_ text: String) throws -> ProcessorList {
        var writer = JSONWriter()
        writer.write(text)
        let document = try JSONDocument(parsing: writer.bytes)
        return try ProcessorList.decode(document.root)
    }

    static let good: [(text: String, identifier: String)] = [
        ("", ""),
        ("resize:200x200/format:webp", "resize.1(width=200,height=200,mode=none,upscale=false)|>format.1(to=webp)"),
        ("resize:200x", "resize.1(width=200,mode=aspectFit,upscale=false)"),
        ("resize:x20.4", "resize.1(height=20,mode=aspectFit,upscale=false)"),
        ("resize:width=200", "resize.1(width=200,mode=aspectFit,upscale=false)"),
        ("resize:9x9,aspectFill,upscale", "resize.1(width=9,height=9,mode=aspectFill,upscale=true)"),
        ("resize:9x9,upscale=false,mode=aspectFit", "resize.1(width=9,height=9,mode=aspectFit,upscale=false)"),
        (
            "resize:9x9,focus=0.2x1,aspectFill,kernel=nearest",
            "resize.1(width=9,height=9,mode=aspectFill,upscale=false,kernel=nearest,focus=0.2x1)"
        ),
        ("crop:2x1,anchor.y=1", "crop.1(width=2,height=1,x=0.5,y=1)"),
        ("crop:2x1,anchor.y=1,anchor.x=0", "crop.1(width=2,height=1,x=0,y=1)"),
        ("crop:2x1,smart", "crop.1(width=2,height=1,anchor=smart)"),
        ("crop:2,1,0.25x0.5", "crop.1(width=2,height=1,x=0.25,y=0.5)"),
        ("crop:.5x.5,unit=fraction,x=.5", "crop.1(width=0.5,height=0.5,unit=fraction,left=0.5,top=0)"),
        ("pad:9x8,fff,bottomRight", "pad.1(width=9,height=8,background=#ffffff,gravity=bottomRight,upscale=false)"),
        ("flip:vertical,horizontal", "flip.1(horizontal=true,vertical=true)"),
        (
            "rotate:-90/rotate:auto/rotate:degrees=1e1",
            "rotate.1(degrees=270)|>rotate.1(degrees=auto)|>rotate.1(degrees=10)"
        ),
        ("roundCorner:radius.fraction=0.5", "roundCorner.1(radius=fraction:0.5,corners=all)"),
        (
            "roundCorner:20,topLeft+bottomRight,40x30,%23ABC",
            "roundCorner.1(radius=20,corners=topLeft+bottomRight,target=40x30,background=#aabbcc)"
        ),
        ("tint:#ff0000/tint:f00/tint:white", "tint.1(color=#ff0000)|>tint.1(color=#ff0000)|>tint.1(color=#ffffff)"),
        ("overlay:0008,0.25", "overlay.1(color=#00000088,fraction=0.25)"),
        ("colorControls:contrast=1.1", "colorControls.1(brightness=0,contrast=1.1,saturation=1,inputEV=0)"),
        ("blackWhite", "blackWhite.1()"), ("blackWhite:", "blackWhite.1()"),
        ("blur:0/pixelate:8/blur:radius=2", "pixelate.2(size=8)|>blur.2(radius=2)"),
        ("border:fff,4,corners=topLeft", "border.1(color=#ffffff,width=4,radius=0,corners=topLeft)"),
        ("format:to=%77ebp,80", "format.1(to=webp,quality=80)"),
    ]

    @Test(arguments: good.indices)
    func aGoodTextIsTheListThatItStandsFor(index: Int) throws {
        #expect(try decode(Self.good[index].text).processors.identifier == Self.good[index].identifier)
    }

    @Test func everyMemberOfEveryProcessorCanBeWrittenByItsName() throws {
        let dot = "R0lGODlhAQABAIAAAAAAAAAAACH5BAEAAAAALAAAAAABAAEAAAIBRAA7"  // a GIF of one pixel
        let values: [String: String] = [
            "data": dot, "mode": "multiply", "operation": "xor", "to": "png", "color": "fff", "backgroundColor": "000",
            "corners": "topLeft",
            "gravity": "top", "kernel": "cubic", "unit": "pixels", "anchor": "0.5x0.5", "focus": "0.5x0.5",
            "targetSize": "4x4", "upscale": "true", "horizontal": "true", "vertical": "true", "auto": "true",
        ]
        for field in ProcessorField.all {
            for member in field.members {
                let value =
                    field.name == "resize" && member.name == "mode"
                    ? "aspectFill"
                    : values[member.name] ?? (member.name == "gamma" || member.name == "size" ? "2" : "1")
                var parameters = ["\(member.name)=\(value)"]
                // What else the processor needs.
                for (name, needed) in [
                    ("width", "9"), ("height", "9"), ("radius", "1"), ("color", "fff"), ("size", "2"), ("gamma", "2"),
                    ("mode", value == "0.5x0.5" ? "aspectFill" : field.name == "blend" ? "multiply" : "none"),
                    ("operation", "xor"), ("to", "png"), ("data", dot),
                    ("horizontal", "true"), ("degrees", "1"),
                ] where name != member.name && field.members.contains(where: { $0.name == name }) {
                    // A corner and an anchor exclude each other, and an angle and "auto" need not be both.
                    if name == "degrees", member.name == "auto" { continue }
                    parameters.append("\(name)=\(needed)")
                }
                let text = "\(field.name):" + parameters.joined(separator: ",")
                do {
                    #expect(try decode(text).processors.map(\.name) == [field.name], "\(text)")
                } catch let error as Mismatch {
                    Issue.record("\(text): \(error.path) \(error.message)")
                }
            }
        }
    }

    static let bad: [(text: String, path: String, message: String, suggestion: String?)] = [
        (
            "blackWhite/blurr:3", "1.blurr",
            #"in "blurr:3", at character 12, is not a known processor; did you mean "blur"?"#, "blur"
        ),
        ("blur:3/", "1", "has no processor", nil), ("/blur:3", "0", "at character 1, has no processor", nil),
        ("blur:radios=3", "0.blur.radios", #"did you mean "radius"?"#, "radius"),
        ("blur:abc", "0.blur.radius", #"must be a number, not "abc""#, nil),
        ("blur:3,4", "0.blur.4", "is not a known parameter; the parameters are radius", nil),
        ("blur:3,radius=4", "0.blur.radius", "is given twice", nil),
        ("crop:2x1,smart,anchor.x=1", "0.crop.anchor.x", "is given twice", nil),
        ("blur:,3", "0.blur", "has an empty parameter", nil), ("blur:inf", "0.blur.radius", "must be a number", nil),
        ("blur", "0.blur.radius", "is missing", nil),
        ("resize:9x9,aspecFill", "0.resize.mode", #"did you mean "aspectFill"?"#, "aspectFill"),
        ("resize:9x9,upscal", "0.resize.upscal", #"did you mean "upscale"?"#, "upscale"),
        ("resize:9x9x9", "0.resize.width", #"not "9x9x9""#, nil), ("resize:x", "0.resize.width", #"not "x""#, nil),
        ("flip:horizontl", "0.flip.horizontl", #"did you mean "horizontal"?"#, "horizontal"),
        ("crop:9x9,anchor.z=1", "0.crop.anchor.z", "is not a known parameter", nil),
        ("format:jpg", "0.format.to", #"did you mean "jpeg"?"#, "jpeg"),
        ("tint:redd", "0.tint.color", "must be a colour", nil), ("tint:%4", "0.tint", "write %25 for it", nil),
        ("tint:%ff", "0.tint", "is not UTF-8", nil), ("tint:color=%+1", "0.tint", "write %25 for it", nil),
        ("blur:501", "0.blur.radius", "must be a number from 0 to 500", nil),
    ]

    @Test(arguments: bad.indices)
    func aBadTextIsRefusedWithItsPlaceAndTheNearestWord(index: Int) throws {
        let (text, path, message, suggestion) = Self.bad[index]
        do {
            _ = try decode(text)
            Issue.record("it took \(text)")
        } catch let mismatch as Mismatch {
            #expect(mismatch.path == path, "\(text)")
            #expect(mismatch.message.contains(message), "\(text): \(mismatch.message)")
            #expect(mismatch.message.hasPrefix("in \""), "\(mismatch.message)")
            if let suggestion { #expect(mismatch.suggestion == suggestion, "\(text)") }
        }
    }

    @Test func aTextHasAnEndToo() throws {
        let most = Array(repeating: "blackWhite", count: ProcessorList.limit).joined(separator: "/")
        #expect(try decode(most).processors.count == ProcessorList.limit)
        #expect(throws: Mismatch.self) { try decode(most + "/blackWhite") }
    }

    @Test func lengthsOfATextGrowWithTheScaleToo() throws {
        let list: ProcessorList? = try decode("crop:20x10,x=3/blur:1")
        var options = ImageOptions()
        options.processing.scaleFactor = 2
        #expect(
            try list.options(options)?.processing.recipe.identifier
                == "crop.1(width=40,height=20,left=6,top=0)|>blur.2(radius=2)")
    }
}
