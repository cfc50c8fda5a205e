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

    private mutating func crop(_ crop: Crop) {
        number(crop.width)
        number(crop.height)
        flag(crop.unit == .fraction)
        switch crop.place {
        case .anchor(let x, let y):
            byte(0)
            number(x)
            number(y)
        case .corner(let x, let y):
            byte(1)
            number(x)
            number(y)
        case .interest(let interest):
            byte(2)
            text(interest.rawValue)
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
            text(resize.kernel.rawValue)
            optional(resize.focus) {
                $0.number($1.x)
                $0.number($1.y)
            }
        case .crop(let crop): self.crop(crop)
        case .pad(let pad):
            size(pad.size)
            optional(pad.background) { $0.color($1) }
            text(pad.gravity.rawValue)
            flag(pad.upscale)
        case .trim(let trim): number(trim.tolerance)
        case .flip(let flip):
            flag(flip.horizontal)
            flag(flip.vertical)
        case .circle(let circle):
            optional(circle.diameter) { $0.integer($1) }
            optional(circle.background) { $0.color($1) }
        case .roundCorner(let round):
            radius(round.radius)
            byte(round.corners.rawValue)
            optional(round.targetSize) { $0.size($1) }
            optional(round.background) { $0.color($1) }
        case .blur(let blur): number(blur.radius)
        case .sharpen(let sharpen):
            number(sharpen.radius)
            number(sharpen.amount)
        case .pixelate(let pixelate): integer(pixelate.size)
        case .gamma(let gamma): number(gamma.gamma)
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
        case .watermark(let watermark):
            data(watermark.data)
            text(watermark.format)
            text(watermark.digest)
            text(watermark.gravity.rawValue)
            number(watermark.opacity)
            integer(watermark.margin)
            optional(watermark.scale) { $0.number($1) }
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
            guard let processor = try processor(named: name) else { throw FrameError("\(name) is not a processor") }
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

    private mutating func crop() throws -> Crop {
        let (width, height) = (try number(), try number())
        let unit: Crop.Unit = try flag() ? .fraction : .pixels
        let place: Crop.Place
        switch try byte() {
        case 0: place = .anchor(x: try number(), y: try number())
        case 1: place = .corner(x: try number(), y: try number())
        case 2: place = .interest(try self.name(Crop.Interest.self))
        case let kind: throw FrameError("the place of a part is \(kind)")
        }
        return try Crop(width: width, height: height, unit: unit, place: place)
    }

    private mutating func processor(named name: String) throws -> ImageProcessor? {
        switch name {
        case "downsample": return .downsample(try size())
        case "resize":
            return .resize(
                try Resize(
                    width: try length(), height: try length(), mode: try self.name(ResizeMode.self),
                    upscale: try flag(),
                    kernel: try self.name(ResizeKernel.self),
                    focus: try flag() ? try FocalPoint(x: try number(), y: try number()) : nil))
        case "crop": return .crop(try crop())
        case "pad":
            return .pad(
                try Pad(
                    size: try size(), background: try background(), gravity: try self.name(Gravity.self),
                    upscale: try flag()))
        case "trim": return .trim(try Trim(tolerance: try number()))
        case "flip": return .flip(try Flip(horizontal: try flag(), vertical: try flag()))
        case "circle": return .circle(try Circle(diameter: try length(), background: try background()))
        case "roundCorner":
            let (radius, corners) = (try radius(), Corners(rawValue: try byte()))
            let target = try flag() ? try size() : nil
            return .roundCorner(
                try RoundCorner(radius: radius, corners: corners, targetSize: target, background: try background()))
        case "blur": return .blur(try Blur(radius: try number()))
        case "sharpen": return .sharpen(try Sharpen(radius: try number(), amount: try number()))
        case "pixelate": return .pixelate(try Pixelate(size: Double(try integer())))
        case "gamma": return .gamma(try Gamma(gamma: try number()))
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
        case "watermark":
            return .watermark(
                try Watermark(
                    data: try data(), format: try text(), digest: try text(), gravity: try self.name(Gravity.self),
                    opacity: try number(), margin: Double(try integer()), scale: try flag() ? try number() : nil))
        case "rotate": return .rotate(try flag() ? try Rotation.byDegrees(try number()) : .auto)
        case "format":
            return .format(try FormatChange(to: try self.name(EncodedFormat.self), quality: try length()))
        default: return nil
        }
    }
}
