extension FrameWriter {
    mutating func color(_ color: RecipeColor) {
        bytes.append(contentsOf: [color.red, color.green, color.blue, color.alpha])
    }

    private mutating func size(_ size: PixelSize) {
        integer(size.width)
        integer(size.height)
    }

    private mutating func radius(_ radius: CornerRadius) {
        switch radius {
        case .pixels(let value):
            byte(0)
            number(value)
        case .fraction(let value):
            byte(1)
            number(value)
        }
    }

    mutating func processor(_ processor: ImageProcessor) {
        text(processor.name)
        switch processor {
        case .downsample(let size): self.size(size)
        case .resize(let resize):
            optional(resize.width) { $0.integer($1) }
            optional(resize.height) { $0.integer($1) }
            text(resize.mode.rawValue)
            flag(resize.upscale)
        case .crop(let crop):
            size(crop.size)
            number(crop.anchorX)
            number(crop.anchorY)
        case .roundCorner(let round):
            radius(round.radius)
            byte(round.corners.rawValue)
            optional(round.targetSize) { $0.size($1) }
            optional(round.background) { $0.color($1) }
        case .blur(let blur): number(blur.radius)
        case .overlay(let overlay):
            color(overlay.color)
            number(overlay.fraction)
        case .tint(let color): self.color(color)
        case .colorControls(let controls):
            number(controls.brightness)
            number(controls.contrast)
            number(controls.saturation)
            number(controls.inputEV)
        case .blackWhite: break
        case .border(let border):
            color(border.color)
            number(border.width)
            radius(border.radius)
            byte(border.corners.rawValue)
        case .blend(let blend):
            text(blend.mode.rawValue)
            number(blend.alpha)
            optional(blend.background) { $0.color($1) }
        case .compositing(let compositing):
            text(compositing.operation.rawValue)
            number(compositing.alpha)
            optional(compositing.background) { $0.color($1) }
        case .rotate(.auto): flag(false)
        case .rotate(.degrees(let degrees)):
            flag(true)
            number(degrees)
        case .format(let change):
            text(change.format.rawValue)
            optional(change.quality) { $0.integer($1) }
        }
    }
}

extension FrameReader {
    mutating func color() throws(FrameError) -> RecipeColor {
        RecipeColor(red: try byte(), green: try byte(), blue: try byte(), alpha: try byte())
    }

    mutating func processor() throws(FrameError) -> ImageProcessor {
        let name = try text()
        do {
            guard let processor = try processor(named: name) else { throw FrameError("\(name) is no processor") }
            return processor
        } catch let error as RecipeError {
            throw FrameError("\(name) has a bad \(error.parameter)")
        } catch {
            throw error as? FrameError ?? FrameError("\(name) cannot be read")
        }
    }

    private mutating func size() throws -> PixelSize {
        try PixelSize(width: Double(try integer()), height: Double(try integer()))
    }

    private mutating func radius() throws -> CornerRadius {
        switch try byte() {
        case 0: .pixels(try number())
        case 1: .fraction(try number())
        default: throw FrameError("a radius is neither pixels nor a fraction")
        }
    }

    private mutating func length() throws -> Double? {
        try flag() ? Double(try integer()) : nil
    }

    private mutating func background() throws -> RecipeColor? { try flag() ? try color() : nil }

    private mutating func processor(named name: String) throws -> ImageProcessor? {
        switch name {
        case "downsample": return .downsample(try size())
        case "resize":
            return .resize(
                try Resize(
                    width: try length(), height: try length(), mode: try self.name(ResizeMode.self), upscale: try flag()
                ))
        case "crop": return .crop(try Crop(size: try size(), anchorX: try number(), anchorY: try number()))
        case "roundCorner":
            let (radius, corners) = (try radius(), Corners(rawValue: try byte()))
            let target = try flag() ? try size() : nil
            return .roundCorner(
                try RoundCorner(radius: radius, corners: corners, targetSize: target, background: try background()))
        case "blur": return .blur(try Blur(radius: try number()))
        case "overlay": return .overlay(try Overlay(color: try color(), fraction: try number()))
        case "tint": return .tint(try color())
        case "colorControls":
            return .colorControls(
                try ColorControls(
                    brightness: try number(), contrast: try number(), saturation: try number(), inputEV: try number()))
        case "blackWhite": return .blackWhite
        case "border":
            return .border(
                try Border(
                    color: try color(), width: try number(), radius: try radius(),
                    corners: Corners(rawValue: try byte())))
        case "blend":
            return .blend(
                try Blend(mode: try self.name(BlendMode.self), alpha: try number(), background: try background()))
        case "compositing":
            return .compositing(
                try Compositing(
                    operation: try self.name(CompositingOperation.self), alpha: try number(),
                    background: try background()))
        case "rotate": return .rotate(try flag() ? try Rotation.byDegrees(try number()) : .auto)
        case "format":
            return .format(try FormatChange(to: try self.name(EncodedFormat.self), quality: try length()))
        default: return nil
        }
    }
}
