#include "CVipsInternal.h"

/// in × scale + offset, rounded and clipped to `format`.
static VipsImage *scaled(VipsImage *image, double scale, double offset, VipsBandFormat format, VipsInterpretation meaning) {
    VipsImage *line = NULL, *whole = NULL, *plain = NULL, *out = NULL;
    if (!vips_linear1(image, &line, scale, offset, NULL) && !vips_rint(line, &whole, NULL)
        && !vips_cast(whole, &plain, format, NULL))
        vips_copy(plain, &out, "interpretation", meaning, NULL);
    if (line) g_object_unref(line);
    if (whole) g_object_unref(whole);
    if (plain) g_object_unref(plain);
    return out;
}

/// The colours of an image in floating point, linear light of 0…1 as in scRGB (IEC 61966-2-2), as sRGB of 16 bits.
static VipsImage *of_linear_light(VipsImage *image, int colours) {
    VipsImage *taken = NULL, *wide = NULL, *light = NULL, *coded = NULL, *grey = NULL, *out = NULL;
    if (vips_extract_band(image, &taken, 0, "n", colours, NULL)) return NULL;
    VipsImage *three[] = {taken, taken, taken};
    int failed = colours == 1 ? vips_bandjoin(three, &wide, 3, NULL) : vips_copy(taken, &wide, NULL);
    if (!failed && !vips_copy(wide, &light, "interpretation", VIPS_INTERPRETATION_scRGB, NULL)
        && !vips_colourspace(light, &coded, VIPS_INTERPRETATION_RGB16, NULL)) {
        // Grey light gives three equal colours.
        if (colours > 1) {
            vips_copy(coded, &out, NULL);
        } else if (!vips_extract_band(coded, &grey, 0, NULL)) {
            vips_copy(grey, &out, "interpretation", VIPS_INTERPRETATION_GREY16, NULL);
        }
    }
    if (taken) g_object_unref(taken);
    if (wide) g_object_unref(wide);
    if (light) g_object_unref(light);
    if (coded) g_object_unref(coded);
    if (grey) g_object_unref(grey);
    return out;
}

static VipsImage *of_floats(VipsImage *image, int colours, VipsInterpretation meaning) {
    VipsImage *out = of_linear_light(image, colours);
    if (!out || image->Bands == colours) return out;
    VipsImage *rest = NULL, *alpha = NULL, *joined = NULL;
    if (!vips_extract_band(image, &rest, colours, "n", image->Bands - colours, NULL))
        alpha = scaled(rest, 65535, 0, VIPS_FORMAT_USHORT, meaning);
    if (alpha) vips_bandjoin2(out, alpha, &joined, NULL);
    if (rest) g_object_unref(rest);
    if (alpha) g_object_unref(alpha);
    g_object_unref(out);
    return joined;
}

VipsImage *hv_unsigned_samples(VipsImage *image) {
    VipsInterpretation meaning = image->Type;
    if (meaning == VIPS_INTERPRETATION_MULTIBAND) meaning = vips_image_guess_interpretation(image);
    int colours;
    switch (meaning) {
    case VIPS_INTERPRETATION_B_W:
    case VIPS_INTERPRETATION_GREY16: colours = 1; break;
    case VIPS_INTERPRETATION_sRGB:
    case VIPS_INTERPRETATION_RGB:
    case VIPS_INTERPRETATION_RGB16:
    case VIPS_INTERPRETATION_scRGB: colours = 3; break;
    case VIPS_INTERPRETATION_CMYK: colours = 4; break;
    // Lab has ranges of its own, which libvips knows.
    default: colours = 0;
    }
    VipsInterpretation eight = colours == 1 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
    VipsInterpretation sixteen = colours == 1 ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_RGB16;
    if (colours == 4) eight = sixteen = meaning;
    VipsImage *out = NULL;
    if (vips_band_format_iscomplex(image->BandFmt)) {
        vips_error("hv_unsigned_samples", "%s", "complex samples are not supported");
    } else if (!colours || image->Bands < colours || image->BandFmt == VIPS_FORMAT_UCHAR
        || image->BandFmt == VIPS_FORMAT_USHORT) {
        out = image;
        g_object_ref(out);
    } else {
        switch (image->BandFmt) {
        case VIPS_FORMAT_CHAR: out = scaled(image, 1, 128, VIPS_FORMAT_UCHAR, eight); break;
        case VIPS_FORMAT_SHORT: out = scaled(image, 1, 32768, VIPS_FORMAT_USHORT, sixteen); break;
        // 2³² − 1 = 65,535 × 65,537.
        case VIPS_FORMAT_UINT: out = scaled(image, 1 / 65537.0, 0, VIPS_FORMAT_USHORT, sixteen); break;
        case VIPS_FORMAT_INT: out = scaled(image, 1 / 65537.0, 2147483648 / 65537.0, VIPS_FORMAT_USHORT, sixteen); break;
        default:
            out = colours == 4 ? scaled(image, 65535, 0, VIPS_FORMAT_USHORT, sixteen) : of_floats(image, colours, sixteen);
        }
    }
    g_object_unref(image);
    return out;
}
