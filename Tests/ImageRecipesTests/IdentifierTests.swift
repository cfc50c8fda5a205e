import ImageRecipes
import Testing

/// Identifiers are parts of names of cached files: a text that changes orphans users' caches.
@Suite struct IdentifierTests {
    @Test func theTextOfEveryProcessorIsFrozen() throws {
        let size = try PixelSize(width: 200, height: 100)
        let half = try RecipeValues.half()
        let frozen: [(ImageProcessor, String)] = [
            (.downsample(size), "downsample.1(width=200,height=100)"),
            (.resize(try Resize(width: 200, height: 100)), "resize.1(width=200,height=100,mode=none,upscale=false)"),
            (
                .resize(try Resize(width: 200, height: 100, mode: .aspectFill, upscale: true)),
                "resize.1(width=200,height=100,mode=aspectFill,upscale=true)"
            ),
            (.resize(try Resize(width: 200, height: nil)), "resize.1(width=200,mode=aspectFit,upscale=false)"),
            (.resize(try Resize(width: nil, height: 7)), "resize.1(height=7,mode=aspectFit,upscale=false)"),
            (.crop(try Crop(size: size)), "crop.1(width=200,height=100,x=0.5,y=0.5)"),
            (.crop(try Crop(size: size, anchorX: 0, anchorY: 1)), "crop.1(width=200,height=100,x=0,y=1)"),
            (.roundCorner(try RoundCorner(radius: .pixels(20))), "roundCorner.1(radius=20,corners=all)"),
            (
                .roundCorner(
                    try RoundCorner(
                        radius: .fraction(0.5), corners: [.bottomRight, .topLeft], targetSize: size,
                        background: RecipeColor("#ABC"))),
                "roundCorner.1(radius=fraction:0.5,corners=topLeft+bottomRight,target=200x100,background=#aabbcc)"
            ),
            (
                .resize(
                    try Resize(
                        width: 20, height: 10, mode: .aspectFill, kernel: .nearest,
                        focus: try FocalPoint(x: 0.25, y: 1))),
                "resize.1(width=20,height=10,mode=aspectFill,upscale=false,kernel=nearest,focus=0.25x1)"
            ),
            (
                .crop(try Crop(width: 20, height: 9.6, place: .corner(x: 3, y: 0))),
                "crop.1(width=20,height=10,left=3,top=0)"
            ),
            (
                .crop(try Crop(width: 0.3333, height: 1, unit: .fraction, place: .corner(x: 0.6667, y: 0))),
                "crop.1(width=0.3333,height=1,unit=fraction,left=0.6667,top=0)"
            ),
            (
                .crop(try Crop(width: 1, height: 1, unit: .fraction)),
                "crop.1(width=1,height=1,unit=fraction,x=0.5,y=0.5)"
            ),
            (.crop(try Crop(width: 2, height: 1, place: .interest(.smart))), "crop.1(width=2,height=1,anchor=smart)"),
            (.pad(try Pad(size: size)), "pad.1(width=200,height=100,gravity=center,upscale=false)"),
            (
                .pad(try Pad(size: size, background: half, gravity: .topLeft, upscale: true)),
                "pad.1(width=200,height=100,background=#0a0b0c80,gravity=topLeft,upscale=true)"
            ),
            (.trim(try Trim()), "trim.1(tolerance=10)"),
            (.flip(try Flip(horizontal: true)), "flip.1(horizontal=true,vertical=false)"),
            (.circle(try Circle()), "circle.1()"),
            (.circle(try Circle(diameter: 40, background: half)), "circle.1(diameter=40,background=#0a0b0c80)"),
            (.sharpen(try Sharpen()), "sharpen.2(radius=1,amount=1)"),
            (.pixelate(try Pixelate(size: 8)), "pixelate.2(size=8)"),
            (.gamma(try Gamma(gamma: 2.2)), "gamma.1(gamma=2.2)"),
            (.blur(try Blur(radius: 2.5)), "blur.2(radius=2.5)"),
            (.overlay(try Overlay(color: half)), "overlay.1(color=#0a0b0c80,fraction=0.5)"),
            (.tint(half), "tint.1(color=#0a0b0c80)"),
            (
                .colorControls(try ColorControls(brightness: -0.25, contrast: 1.1, saturation: 0, inputEV: 0.7)),
                "colorControls.1(brightness=-0.25,contrast=1.1,saturation=0,inputEV=0.7)"
            ),
            (.blackWhite, "blackWhite.1()"),
            (
                .border(try Border(color: half, width: 4, radius: .pixels(3), corners: .topRight)),
                "border.1(color=#0a0b0c80,width=4,radius=3,corners=topRight)"
            ),
            (.blend(try Blend(mode: .softLight)), "blend.2(mode=softLight,alpha=1)"),
            (
                .blend(try Blend(mode: .multiply, alpha: 0.3, background: half)),
                "blend.2(mode=multiply,alpha=0.3,background=#0a0b0c80)"
            ),
            (
                .compositing(try Compositing(operation: .destinationOver, background: half)),
                "compositing.2(mode=destinationOver,alpha=1,background=#0a0b0c80)"
            ),
            (.rotate(.auto), "rotate.1(degrees=auto)"),
            (.rotate(try .byDegrees(-90)), "rotate.1(degrees=270)"),
            (
                .watermark(try Watermark(data: [1], format: "png", digest: "0a")),
                "watermark.1(image=0a,gravity=bottomRight,opacity=1,margin=0)"
            ),
            (
                .watermark(
                    try Watermark(
                        data: [1], format: "gif", digest: "0b", gravity: .topLeft, opacity: 0.5, margin: 3,
                        scale: 0.25)),
                "watermark.1(image=0b,gravity=topLeft,opacity=0.5,margin=3,scale=0.25)"
            ),
            (.format(try FormatChange(to: .webp)), "format.1(to=webp)"),
            (.format(try FormatChange(to: .jpeg, quality: 80)), "format.1(to=jpeg,quality=80)"),
        ]
        for (processor, text) in frozen { #expect(processor.identifier == text) }
        #expect(Set(frozen.map(\.0.name)) == Set(ImageProcessor.names))
        #expect(Set(frozen.map(\.1)).count == frozen.count)
    }

    @Test func aChainJoinsItsIdentifiersInOrder() throws {
        let blur = ImageProcessor.blur(try Blur(radius: 1))
        #expect([blur, .blackWhite].identifier == "blur.2(radius=1)|>blackWhite.1()")
        #expect([.blackWhite, blur].identifier == "blackWhite.1()|>blur.2(radius=1)")
        #expect([ImageProcessor]().identifier == "")
    }

    @Test func numbersAndColoursThatMeanTheSameHaveOneText() throws {
        #expect(try Blur(radius: -0.0).radius.sign == .plus)
        #expect(try Blur(radius: 2.000_01) == Blur(radius: 2))
        #expect(try PixelSize(width: 199.7, height: 0.2) == PixelSize(width: 200, height: 1))
        #expect(try Rotation.byDegrees(450) == .byDegrees(-270))
        #expect(try Rotation.byDegrees(359.999_99) == .byDegrees(0))
        #expect(try Resize(width: 5, height: nil, mode: .aspectFill) == Resize(width: 5, height: nil))
        for text in ["#fff", "#FFFF", "#ffffff", "#FFFFFFff", "White"] {
            #expect(RecipeColor(text) == RecipeColor(red: 255, green: 255, blue: 255))
        }
        #expect(RecipeColor("transparent")?.text == "#00000000")
        for text in ["", "#", "fff", "#ff", "#fffff", "#ggg", "#fffffffff", "ｆ", "#１２３"] {
            #expect(RecipeColor(text) == nil, "\(text)")
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -1, 0, 65_536, 1e300])
    func noSizeIsMadeOfWhatIsNone(_ value: Double) {
        #expect(throws: RecipeError.self) { try PixelSize(width: value, height: 1) }
        #expect(throws: RecipeError.self) { try Resize(width: nil, height: value) }
    }

    @Test func whatIsOutOfRangeIsRefusedByName() throws {
        let wanted = RecipeError(parameter: "fraction", expected: "a number from 0 to 1", received: "1.5")
        #expect(throws: wanted) { try Overlay(color: try RecipeValues.half(), fraction: 1.5) }
        #expect(throws: RecipeError.self) { try Blur(radius: .nan) }
        #expect(throws: RecipeError.self) { try Rotation.byDegrees(.infinity) }
        #expect(throws: RecipeError.self) { try RoundCorner(radius: .fraction(0.6)) }
        #expect(throws: RecipeError.self) { try RoundCorner(radius: .pixels(1), corners: []) }
        #expect(throws: RecipeError.self) { try ColorControls(contrast: -1) }
        #expect(throws: RecipeError.self) { try Crop(size: try PixelSize(width: 1, height: 1), anchorX: 2) }
        #expect(throws: RecipeError.self) { try FormatChange(to: .jpeg, quality: 0) }
        #expect(throws: RecipeError.self) { try Resize(width: nil, height: nil) }
        #expect(throws: RecipeError.self) { try Resize(width: 1, height: 1, mode: .aspectFit, focus: FocalPoint()) }
        #expect(throws: RecipeError.self) { try Resize(width: 1, height: nil, mode: .aspectFill, focus: FocalPoint()) }
        #expect(throws: RecipeError.self) { try Flip() }
        #expect(throws: RecipeError.self) { try Pixelate(size: 0) }
        #expect(throws: RecipeError.self) { try Gamma(gamma: 0) }
        #expect(throws: RecipeError.self) { try Trim(tolerance: 256) }
        for (x, width) in [(0.6, 0.5), (0, 1.1), (0, 0), (-0.1, 0.5), (.nan, 0.5)] {
            #expect(throws: RecipeError.self, "\(x) \(width)") {
                try Crop(width: width, height: 1, unit: .fraction, place: .corner(x: x, y: 0))
            }
        }
        let wide = RecipeError(parameter: "x", expected: "a number from 0 to 0.5", received: "0.6")
        #expect(throws: wide) { try Crop(width: 0.5, height: 1, unit: .fraction, place: .corner(x: 0.6, y: 0)) }
    }

    @Test func whatSaysTheSameIsOneAndWhatSaysOtherThingsHasAnotherName() throws {
        let (clear, size) = (RecipeColor(red: 1, green: 2, blue: 3, alpha: 0), try PixelSize(width: 20, height: 10))
        #expect(try Pad(size: size, background: clear) == Pad(size: size))
        #expect(try Circle(background: clear) == Circle())
        #expect(try Resize(width: 5, height: 4, kernel: .lanczos3) == Resize(width: 5, height: 4))
        #expect(try Crop(width: 20, height: 10) == Crop(size: size))
        var all = try RecipeValues.all()
        for x in [0.0, 0.5, 1] {
            for y in [0.0, 0.5, 1] {
                for unit in Crop.Unit.allCases {
                    all.append(.crop(try Crop(width: 1, height: 1, unit: unit, place: .anchor(x: x, y: y))))
                }
                all.append(.crop(try Crop(width: 1, height: 1, place: .corner(x: x * 2, y: y * 2))))
                all.append(
                    .crop(try Crop(width: 0.1, height: 0.1, unit: .fraction, place: .corner(x: x * 0.9, y: y * 0.9))))
            }
        }
        for interest in Crop.Interest.allCases {
            all.append(.crop(try Crop(width: 1, height: 1, place: .interest(interest))))
        }
        for kernel in ResizeKernel.allCases { all.append(.resize(try Resize(width: 5, height: 4, kernel: kernel))) }
        for gravity in Gravity.allCases { all.append(.pad(try Pad(size: size, gravity: gravity))) }
        #expect(Set(all).count == all.count && Set(all.map(\.identifier)).count == all.count)
        #expect(all.map(\.identifier).allSatisfy { !$0.contains("|>") })
    }

    @Test func aBlurOfNothingIsLeftOutOfAChain() throws {
        let nothing: [ImageProcessor] = [
            .blur(try Blur(radius: 0)), .sharpen(try Sharpen(radius: 0)), .sharpen(try Sharpen(amount: 0)),
            .pixelate(try Pixelate(size: 1)), .gamma(try Gamma(gamma: 1)),
        ]
        #expect((nothing + [.blackWhite] + nothing).canonical == [.blackWhite])
    }

    @Test func lengthsAreMultipliedBeforeTheyAreRounded() throws {
        let size = try PixelSize(width: 10.5, height: 33.3)
        let all: [ImageProcessor] = [
            .downsample(size), .resize(try Resize(width: 10.5, height: 0.25)),
            .crop(try Crop(width: 10.5, height: 33.3, place: .corner(x: 0.5, y: 2.25))), .pad(try Pad(size: size)),
            .circle(try Circle(diameter: 10.5)), .roundCorner(try RoundCorner(radius: .pixels(1), targetSize: size)),
            .pixelate(try Pixelate(size: 2.5)),
            .watermark(try Watermark(data: [], format: "png", digest: "0a", margin: 1.5)),
        ]
        #expect(
            try all.map { try $0.scaled(by: 2).identifier } == [
                "downsample.1(width=21,height=67)", "resize.1(width=21,height=1,mode=none,upscale=false)",
                "crop.1(width=21,height=67,left=1,top=5)",
                "pad.1(width=21,height=67,gravity=center,upscale=false)", "circle.1(diameter=21)",
                "roundCorner.1(radius=2,corners=all,target=21x67)", "pixelate.2(size=5)",
                "watermark.1(image=0a,gravity=bottomRight,opacity=1,margin=3)",
            ])
        // What was given makes no other recipe.
        #expect(try Set([Resize(width: 10.5, height: nil), Resize(width: 11, height: nil)]).count == 1)
    }

    @Test func lengthsInPixelsGrowWithTheScaleAndNothingElseDoes() throws {
        let twice = try RecipeValues.all().map { try $0.scaled(by: 2).identifier }
        #expect(
            twice == [
                "downsample.1(width=400,height=200)", "resize.1(width=400,mode=aspectFit,upscale=true)",
                "crop.1(width=400,height=200,x=0,y=0.25)",
                "roundCorner.1(radius=6,corners=topLeft,target=400x200,background=#0a0b0c80)",
                "roundCorner.1(radius=fraction:0.5,corners=all)", "blur.2(radius=5)",
                "overlay.1(color=#0a0b0c80,fraction=0.25)", "tint.1(color=#0a0b0c80)",
                "colorControls.1(brightness=0.1,contrast=1.5,saturation=0.5,inputEV=-1)", "blackWhite.1()",
                "border.1(color=#0a0b0c80,width=3,radius=4,corners=bottomLeft)",
                "blend.2(mode=overlay,alpha=0.5,background=#0a0b0c80)", "compositing.2(mode=xor,alpha=0.5)",
                "rotate.1(degrees=auto)", "rotate.1(degrees=12.5)",
                "resize.1(width=60,height=40,mode=aspectFill,upscale=false,kernel=mitchell,focus=0.25x1)",
                "crop.1(width=40,height=20,left=6,top=8)",
                "crop.1(width=0.5,height=0.25,unit=fraction,left=0.5,top=0)",
                "crop.1(width=40,height=20,anchor=entropy)",
                "pad.1(width=400,height=200,background=#0a0b0c80,gravity=topRight,upscale=true)",
                "trim.1(tolerance=2.5)", "flip.1(horizontal=false,vertical=true)",
                "circle.1(diameter=80,background=#0a0b0c80)", "sharpen.2(radius=4,amount=0.5)",
                "pixelate.2(size=16)", "gamma.1(gamma=2.2)",
                "watermark.1(image=0a,gravity=top,opacity=0.5,margin=8,scale=0.25)", "format.1(to=avif,quality=50)",
            ])
        #expect(throws: RecipeError.self) { try RecipeValues.all()[0].scaled(by: 1000) }
    }
}
