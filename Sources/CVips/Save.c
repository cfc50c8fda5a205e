#include "CVipsInternal.h"

/// Copies the bytes of a target; the caller frees them with `hv_free`.
static void *bytes_of(VipsTarget *target, size_t *count) {
    VipsBlob *blob;
    g_object_get(target, "blob", &blob, NULL);
    size_t length = 0;
    const void *bytes = blob ? vips_blob_get(blob, &length) : NULL;
    void *copy = bytes ? g_memdup2(bytes, length) : NULL;
    if (blob) vips_area_unref(VIPS_AREA(blob));
    *count = length;
    return copy;
}

/// The largest size of pixels, in bytes, that is evaluated into memory to be encoded directly.
enum { little = 4 << 20 };

static int has_comments(VipsImage *image) {
    int found = 0;
    gchar **names = vips_image_get_fields(image);
    for (gchar **name = names; name && *name && !found; name++) found = g_str_has_prefix(*name, "png-comment-");
    g_strfreev(names);
    return found;
}

void *hv_encode_directly(
    VipsImage *image, hv_loader format, const hv_encoding *how, const hv_palette *palette, size_t *count) {
    int keeps_some = how->metadata != hv_profile_only && how->metadata != hv_no_metadata;
    if (keeps_some && hv_carried_metadata(image)) return NULL;
    const void *profile = NULL;
    size_t profile_count = 0;
    if (how->metadata != hv_no_metadata && vips_image_get_typeof(image, VIPS_META_ICC_NAME)
        && vips_image_get_blob(image, VIPS_META_ICC_NAME, &profile, &profile_count))
        return NULL;
    // libvips writes them beside a profile only.
    if (format == hv_png && keeps_some && profile && has_comments(image)) return NULL;
    VipsImage *ready = NULL;
    if (hv_is_in_memory(image)) {
        ready = image;
        g_object_ref(ready);
    } else if (VIPS_IMAGE_SIZEOF_IMAGE(image) <= little) {
        ready = hv_materialise(image);
    }
    if (!ready) return NULL;
    void *bytes = format == hv_png ? hv_encode_png(ready, how, palette, profile, profile_count, count)
                                   : hv_encode_jpeg(ready, how, profile, profile_count, count);
    g_object_unref(ready);
    return bytes;
}

void *hv_save(VipsImage *image, hv_loader format, const hv_encoding *how, size_t *count) {
    if (format == hv_jpeg || format == hv_png) {
        void *bytes = hv_encode_directly(image, format, how, NULL, count);
        if (bytes || hv_was_killed()) return bytes;
    }
    VipsImage *copy = hv_choose_metadata(image, how->metadata);
    if (!copy) return NULL;
    if (format == hv_jxl) {
        void *bytes = hv_encode_jxl(copy, how, count);
        g_object_unref(copy);
        return bytes;
    }
    hv_watch(copy);
    VipsTarget *target = vips_target_new_to_memory();
    int failed = !target;
    // Without this option libvips adds metadata to an image that has none.
    gboolean strip = !hv_carried_metadata(copy) && !vips_image_get_typeof(copy, VIPS_META_ICC_NAME);
    if (target) switch (format) {
    case hv_jpeg:
        // Chroma is halved up to quality 90, as libjpeg does by default, and stored in full above.
        failed = vips_jpegsave_target(copy, target, "Q", how->quality, "interlace", how->progressive, "optimize_coding",
            TRUE, "subsample_mode", how->quality > 90 ? VIPS_FOREIGN_SUBSAMPLE_OFF : VIPS_FOREIGN_SUBSAMPLE_ON, "strip",
            strip, NULL);
        break;
    case hv_png:
        failed = vips_pngsave_target(copy, target, "compression", how->effort, "interlace", how->progressive, "filter",
            VIPS_FOREIGN_PNG_FILTER_ALL, "strip", strip, NULL);
        break;
    case hv_gif: failed = vips_gifsave_target(copy, target, "effort", how->effort, "strip", strip, NULL); break;
    case hv_webp:
        failed = vips_webpsave_target(copy, target, "Q", how->quality, "lossless", how->lossless, "effort", how->effort,
            "strip", strip, NULL);
        break;
    case hv_tiff:
        failed = vips_tiffsave_target(copy, target, "compression", VIPS_FOREIGN_TIFF_COMPRESSION_DEFLATE, "predictor",
            VIPS_FOREIGN_TIFF_PREDICTOR_HORIZONTAL, "strip", strip, NULL);
        break;
    case hv_heif:
        // By itself the library would go by its own number, and halve the colours even where nothing is to be lost.
        failed = vips_heifsave_target(copy, target, "Q", how->quality, "lossless", how->lossless, "effort", how->effort,
            "bitdepth", vips_image_get_format(copy) == VIPS_FORMAT_USHORT ? 12 : 8, "compression",
            how->hevc ? VIPS_FOREIGN_HEIF_COMPRESSION_HEVC : VIPS_FOREIGN_HEIF_COMPRESSION_AV1, "subsample_mode",
            how->full_colours ? VIPS_FOREIGN_SUBSAMPLE_OFF : VIPS_FOREIGN_SUBSAMPLE_ON, "strip", strip, NULL);
        break;
    case hv_jxl:
    case hv_svg:
    case hv_jp2:
    case hv_pnm:
    case hv_pdf: failed = 1; break;
    }
    void *bytes = failed ? NULL : bytes_of(target, count);
    if (target) g_object_unref(target);
    g_object_unref(copy);
    return bytes;
}
