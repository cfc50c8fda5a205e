#include "CVipsInternal.h"
#include <lcms2.h>
#include <math.h>
#include <string.h>

/// Returns the result of an operation, or NULL if it failed.
#define MADE(call)                         \
    do {                                   \
        VipsImage *out = NULL;             \
        return (call) ? NULL : out;        \
    } while (0)

static VipsBandFormat format_of(int depth) { return depth == 16 ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR; }

VipsImage *hv_autorotate(VipsImage *image) { MADE(vips_autorot(image, &out, NULL)); }

VipsImage *hv_crop(VipsImage *image, int left, int top, int width, int height) {
    MADE(vips_extract_area(image, &out, left, top, width, height, NULL));
}

VipsImage *hv_resize(VipsImage *image, double horizontal, double vertical, const char *kernel) {
    int value = vips_enum_from_nick("hv_resize", VIPS_TYPE_KERNEL, kernel);
    if (value < 0) return NULL;
    VipsImage *small, *out = NULL;
    if (vips_resize(image, &small, VIPS_MIN(1, horizontal), "vscale", VIPS_MIN(1, vertical), "kernel", value, NULL)) return NULL;
    if (horizontal <= 1 && vertical <= 1) return small;
    // Enlarged here: libvips places all pixels half a pixel of the result too far to the right and below.
    double across = VIPS_MAX(1, horizontal), down = VIPS_MAX(1, vertical);
    VipsInterpolate *interpolate = vips_interpolate_new(value == VIPS_KERNEL_LINEAR ? "bilinear" : "bicubic");
    VipsArrayInt *area =
        vips_array_int_newv(4, 0, 0, (int)VIPS_RINT(small->Xsize * across), (int)VIPS_RINT(small->Ysize * down));
    int failed = !interpolate
        || vips_affine(small, &out, across, 0.0, 0.0, down, "interpolate", interpolate, "oarea", area, "idx", 0.5, "idy", 0.5,
            "odx", -0.5, "ody", -0.5, "extend", VIPS_EXTEND_COPY, "premultiplied", TRUE, NULL);
    if (interpolate) g_object_unref(interpolate);
    vips_area_unref(VIPS_AREA(area));
    g_object_unref(small);
    return failed ? NULL : out;
}

VipsImage *hv_fit(VipsImage *image, int width, int height) {
    MADE(vips_embed(image, &out, 0, 0, width, height, "extend", VIPS_EXTEND_COPY, NULL));
}

VipsImage *hv_turn(VipsImage *image, int degrees) {
    VipsAngle angle = degrees == 90 ? VIPS_ANGLE_D90 : degrees == 180 ? VIPS_ANGLE_D180 : VIPS_ANGLE_D270;
    MADE(vips_rot(image, &out, angle, NULL));
}

VipsImage *hv_rotate(VipsImage *image, double degrees) {
    VipsInterpolate *bicubic = vips_interpolate_new("bicubic");
    VipsImage *out = NULL;
    int failed = !bicubic || vips_similarity(image, &out, "angle", degrees, "interpolate", bicubic, NULL);
    if (bicubic) g_object_unref(bicubic);
    return failed ? NULL : out;
}

VipsImage *hv_flip(VipsImage *image, int vertical) {
    MADE(vips_flip(image, &out, vertical ? VIPS_DIRECTION_VERTICAL : VIPS_DIRECTION_HORIZONTAL, NULL));
}

VipsImage *hv_blur(VipsImage *image, double sigma) {
    // By default libvips leaves out a third of the curve, all below a fifth of its height.
    MADE(vips_gaussblur(image, &out, sigma, "min_ampl", 0.01, "precision", VIPS_PRECISION_FLOAT, NULL));
}

static double most(int depth) { return depth == 16 ? 65535 : 255; }

VipsImage *hv_premultiply(VipsImage *image, int depth) {
    MADE(vips_premultiply(image, &out, "max_alpha", most(depth), NULL));
}

VipsImage *hv_unpremultiply(VipsImage *image, int depth) {
    VipsImage *straight;
    if (vips_unpremultiply(image, &straight, "max_alpha", most(depth), NULL)) return NULL;
    VipsImage *out = hv_cast(straight, depth);
    g_object_unref(straight);
    return out;
}

VipsImage *hv_cast(VipsImage *image, int depth) {
    // A cast truncates, so the samples are rounded first.
    VipsImage *rounded = NULL, *out = NULL;
    if (vips_image_get_format(image) == VIPS_FORMAT_FLOAT || vips_image_get_format(image) == VIPS_FORMAT_DOUBLE) {
        if (vips_rint(image, &rounded, NULL)) return NULL;
    } else {
        rounded = image;
        g_object_ref(rounded);
    }
    int failed = vips_cast(rounded, &out, format_of(depth), NULL);
    g_object_unref(rounded);
    return failed ? NULL : out;
}

VipsImage *hv_to_rgb(VipsImage *image, int depth) {
    MADE(vips_colourspace(image, &out, depth == 16 ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB, NULL));
}

VipsImage *hv_to_gray(VipsImage *image, int depth) {
    MADE(vips_colourspace(image, &out, depth == 16 ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W, NULL));
}

/// Converts by the embedded profile, or by one of the library's; NULL when that profile cannot be used so.
static VipsImage *transformed(VipsImage *image, const char *profile, VipsIntent intent, int depth) {
    VipsImage *out = NULL, *bare = NULL;
    int failed = profile
        ? vips_icc_transform(image, &out, "srgb", "input_profile", profile, "intent", intent, "depth", depth,
              // The darkest ink becomes the screen's black.
              "black_point_compensation", TRUE, NULL)
        : vips_icc_transform(image, &out, "srgb", "embedded", TRUE, "intent", intent, "depth", depth, NULL);
    if (!failed && !vips_copy(out, &bare, NULL)) vips_image_remove(bare, VIPS_META_ICC_NAME);
    if (out) g_object_unref(out);
    return bare;
}

int hv_get_profile(VipsImage *image, const void **bytes, size_t *count) {
    const char *space;
    switch (image->Type) {
    case VIPS_INTERPRETATION_B_W:
    case VIPS_INTERPRETATION_GREY16: space = "GRAY"; break;
    case VIPS_INTERPRETATION_sRGB:
    case VIPS_INTERPRETATION_RGB:
    case VIPS_INTERPRETATION_RGB16: space = "RGB "; break;
    case VIPS_INTERPRETATION_CMYK: space = "CMYK"; break;
    default: return 0;
    }
    return vips_image_get_typeof(image, VIPS_META_ICC_NAME)
        && !vips_image_get_blob(image, VIPS_META_ICC_NAME, bytes, count) && *count > 20
        && !memcmp((const char *)*bytes + 16, space, 4);
}

/// The intent to use of the embedded profile: colorimetric if it has that; −1 when the profile cannot be used. libvips would
/// take sRGB in its place.
static int usable_intent(VipsImage *image, cmsUInt32Number direction) {
    // A profile made of tables may have those of one intent only (ICC.1:2010, 8.3).
    static const VipsIntent intents[] = {
        VIPS_INTENT_RELATIVE, VIPS_INTENT_PERCEPTUAL, VIPS_INTENT_SATURATION, VIPS_INTENT_ABSOLUTE};
    const void *bytes;
    size_t count;
    if (!hv_get_profile(image, &bytes, &count)) return -1;
    cmsHPROFILE profile = cmsOpenProfileFromMem(bytes, (cmsUInt32Number)count);
    int usable = -1;
    for (size_t i = 0; profile && i < sizeof intents / sizeof *intents && usable < 0; i++)
        // The numbers are those of lcms.
        if (cmsIsIntentSupported(profile, (cmsUInt32Number)intents[i], direction)) usable = intents[i];
    if (profile) cmsCloseProfile(profile);
    return usable;
}

VipsImage *hv_to_srgb_profile(VipsImage *image, int depth) {
    depth = depth == 16 ? 16 : 8;
    int intent = usable_intent(image, LCMS_USED_AS_INPUT);
    VipsImage *out = intent < 0 ? NULL : transformed(image, NULL, intent, depth);
    if (!out && vips_image_get_interpretation(image) == VIPS_INTERPRETATION_CMYK)
        out = transformed(image, "cmyk", VIPS_INTENT_RELATIVE, depth);
    vips_error_clear();
    if (out) return out;
    // A profile that nothing can be made of stays with the samples, but for grey ones, of which others are made.
    out = hv_to_rgb(image, depth);
    if (out && image->Bands < 3) vips_image_remove(out, VIPS_META_ICC_NAME);
    return out;
}

void hv_samples_of_colour(VipsImage *image, const uint8_t *colour, double *samples) {
    uint16_t from[3], to[3];
    for (int band = 0; band < 3; band++) from[band] = to[band] = (uint16_t)(colour[band] * 257);
    int intent = usable_intent(image, LCMS_USED_AS_OUTPUT);
    const void *bytes;
    size_t count;
    if (intent >= 0 && hv_get_profile(image, &bytes, &count)) {
        cmsHPROFILE screen = cmsCreate_sRGBProfile(), own = cmsOpenProfileFromMem(bytes, (cmsUInt32Number)count);
        cmsHTRANSFORM transform = screen && own ? cmsCreateTransform(screen, TYPE_RGB_16, own,
            cmsFormatterForColorspaceOfProfile(own, 2, FALSE), (cmsUInt32Number)intent, 0) : NULL;
        if (transform) cmsDoTransform(transform, from, to, 1);
        if (transform) cmsDeleteTransform(transform);
        if (own) cmsCloseProfile(own);
        if (screen) cmsCloseProfile(screen);
    }
    for (int band = 0; band < 3; band++)
        samples[band] = image->BandFmt == VIPS_FORMAT_USHORT ? to[band] : VIPS_RINT(to[band] / 257.0);
}

VipsImage *hv_from_srgb(VipsImage *image, VipsImage *like, int depth) {
    VipsImage *ready = hv_to_rgb(image, depth), *bare = NULL, *own = NULL, *out = NULL;
    int intent = usable_intent(like, LCMS_USED_AS_OUTPUT);
    const void *bytes;
    size_t count;
    if (!ready || intent < 0 || !hv_get_profile(like, &bytes, &count)) return ready;
    if (!vips_icc_import(ready, &bare, "input_profile", "srgb", "intent", intent, NULL) && !vips_copy(bare, &own, NULL)) {
        vips_image_set_blob_copy(own, VIPS_META_ICC_NAME, bytes, count);
        vips_icc_export(own, &out, "intent", intent, "depth", depth, NULL);
    }
    if (bare) g_object_unref(bare);
    if (own) g_object_unref(own);
    g_object_unref(ready);
    return out;
}

VipsImage *hv_add_alpha(VipsImage *image) { MADE(vips_addalpha(image, &out, NULL)); }

VipsImage *hv_flatten(VipsImage *image, const double *colour, int count) {
    VipsArrayDouble *ground = vips_array_double_new(colour, count);
    VipsImage *out = NULL;
    int failed = vips_flatten(image, &out, "background", ground, "max_alpha",
        vips_image_get_format(image) == VIPS_FORMAT_USHORT ? 65535.0 : 255.0, NULL);
    vips_area_unref(VIPS_AREA(ground));
    return failed ? NULL : out;
}

VipsImage *hv_linear(VipsImage *image, const double *scale, const double *offset, int count, int depth) {
    VipsImage *line;
    if (vips_linear(image, &line, scale, offset, count, NULL)) return NULL;
    VipsImage *out = hv_cast(line, depth);
    g_object_unref(line);
    return out;
}

VipsImage *hv_recombine(VipsImage *image, const double *matrix, int bands) {
    VipsImage *weights = vips_image_new_matrix_from_array(bands, bands, matrix, bands * bands);
    if (!weights) return NULL;
    VipsImage *out = NULL;
    int failed = vips_recomb(image, &out, weights, NULL);
    g_object_unref(weights);
    return failed ? NULL : out;
}

VipsImage *hv_map(VipsImage *image, const void *table, int count, int depth) {
    VipsImage *lut = vips_image_new_from_memory_copy(table, (size_t)count * (depth / 8), count, 1, 1, format_of(depth));
    if (!lut) return NULL;
    VipsImage *out = NULL;
    int failed = vips_maplut(image, &out, lut, NULL);
    g_object_unref(lut);
    return failed ? NULL : out;
}

VipsImage *hv_extract_bands(VipsImage *image, int first, int count) {
    MADE(vips_extract_band(image, &out, first, "n", count, NULL));
}

VipsImage *hv_join_bands(VipsImage *image, VipsImage *more) { MADE(vips_bandjoin2(image, more, &out, NULL)); }

VipsImage *hv_fill(VipsImage *like, const double *colour, int count) {
    return vips_image_new_from_image(like, colour, count);
}

VipsImage *hv_multiply_alpha(VipsImage *alpha, VipsImage *mask, int depth) {
    VipsImage *product;
    if (vips_multiply(alpha, mask, &product, NULL)) return NULL;
    double scale = 1 / 255.0, offset = 0;
    VipsImage *out = hv_linear(product, &scale, &offset, 1, depth);
    g_object_unref(product);
    return out;
}

int hv_means(VipsImage *image, double *means, int count) {
    VipsImage *table;
    if (vips_stats(image, &table, NULL)) return -1;
    int bands = vips_image_get_bands(image);
    for (int band = 0; band < count; band++)
        means[band] = band < bands ? *VIPS_MATRIX(table, 4, band + 1) : 0;
    g_object_unref(table);
    return 0;
}

int hv_is_opaque(VipsImage *image, int depth) {
    if (hv_is_in_memory(image) && image->BandFmt == VIPS_FORMAT_UCHAR) {
        const uint8_t *pixels = VIPS_IMAGE_ADDR(image, 0, 0);
        return hv_all_opaque(pixels, VIPS_IMAGE_SIZEOF_IMAGE(image), (size_t)image->Bands);
    }
    VipsImage *alpha;
    if (vips_extract_band(image, &alpha, vips_image_get_bands(image) - 1, NULL)) return -1;
    hv_watch(alpha);
    double least = 0;
    int failed = vips_min(alpha, &least, NULL);
    g_object_unref(alpha);
    return failed ? -1 : least >= most(depth);
}

static VipsImage *without_metadata(VipsImage *image, int keep_profile) {
    VipsImage *copy;
    if (vips_copy(image, &copy, NULL)) return NULL;
    gchar **names = vips_image_get_fields(copy);
    for (gchar **name = names; name && *name; name++)
        if (!keep_profile || strcmp(*name, VIPS_META_ICC_NAME)) vips_image_remove(copy, *name);
    g_strfreev(names);
    return copy;
}

void hv_copy_metadata(VipsImage *to, VipsImage *from) {
    static const char *kept[] = {VIPS_META_ICC_NAME, VIPS_META_XMP_NAME, VIPS_META_IPTC_NAME, VIPS_META_ORIENTATION,
        VIPS_META_PHOTOSHOP_NAME, "jpeg-multiscan"};
    gchar **names = vips_image_get_fields(from);
    for (gchar **name = names; name && *name; name++) {
        int copied = g_str_has_prefix(*name, "exif-");
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) copied = copied || !strcmp(*name, kept[i]);
        GValue value = G_VALUE_INIT;
        if (!copied || vips_image_get(from, *name, &value)) continue;
        vips_image_set(to, *name, &value);
        g_value_unset(&value);
    }
    g_strfreev(names);
    // With the block of EXIF libvips sets all of its fields, and the preview, again: also what has been taken out.
    names = vips_image_get_fields(to);
    for (gchar **name = names; name && *name; name++)
        if ((g_str_has_prefix(*name, "exif-") || !strcmp(*name, "jpeg-thumbnail-data")) && !vips_image_get_typeof(from, *name))
            vips_image_remove(to, *name);
    g_strfreev(names);
}

VipsImage *hv_with_metadata(VipsImage *image, VipsImage *from) {
    VipsImage *copy;
    if (vips_copy(image, &copy, NULL)) return NULL;
    hv_copy_metadata(copy, from);
    return copy;
}

VipsImage *hv_with_metadata_alone(VipsImage *image, VipsImage *from) {
    VipsImage *copy = hv_with_metadata(image, from);
    if (copy) vips_image_remove(copy, VIPS_META_ICC_NAME);
    return copy;
}

static VipsImage *as_still(VipsImage *image) {
    VipsImage *copy;
    if (vips_copy(image, &copy, NULL)) return NULL;
    static const char *names[] = {VIPS_META_PAGE_HEIGHT, VIPS_META_N_PAGES, "delay", "loop", "gif-delay", "gif-loop",
        "gif-palette", "background", "jpeg-thumbnail-data", "heif-primary"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) vips_image_remove(copy, names[i]);
    return copy;
}

static VipsImage *without_position(VipsImage *image) {
    VipsImage *copy = as_still(image);
    if (!copy) return NULL;
    // The encoders write EXIF anew, without the fields that are gone.
    gchar **names = vips_image_get_fields(copy);
    for (gchar **name = names; name && *name; name++)
        if (hv_is_position(copy, *name)) vips_image_remove(copy, *name);
    g_strfreev(names);
    return copy;
}

VipsImage *hv_choose_metadata(VipsImage *image, hv_metadata_choice chosen) {
    switch (chosen) {
    case hv_metadata_of_still: return as_still(image);
    case hv_metadata_without_position: return without_position(image);
    case hv_profile_only: return without_metadata(image, 1);
    case hv_no_metadata: return without_metadata(image, 0);
    case hv_every_metadata: break;
    }
    MADE(vips_copy(image, &out, NULL));
}

VipsImage *hv_animate(VipsImage *image, int page_height, const int *delays, int count, int loop) {
    VipsImage *copy;
    if (vips_copy(image, &copy, NULL)) return NULL;
    vips_image_set_int(copy, VIPS_META_PAGE_HEIGHT, page_height);
    vips_image_set_int(copy, VIPS_META_N_PAGES, vips_image_get_height(copy) / page_height);
    vips_image_set_array_int(copy, "delay", delays, count);
    vips_image_set_int(copy, "loop", loop);
    return copy;
}
