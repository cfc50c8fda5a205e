#include "CVipsInternal.h"
#include <string.h>

VipsImage *hv_load(hv_loader loader, const void *bytes, size_t count, int shrink, double scale, int page, int pages,
    int sequential, int strictness, int unlimited) {
    VipsSource *source = vips_source_new_from_memory(bytes, count);
    if (!source) return NULL;
    VipsImage *out = NULL;
    VipsAccess access = sequential ? VIPS_ACCESS_SEQUENTIAL : VIPS_ACCESS_RANDOM;
    VipsFailOn fail = strictness >= 2 ? VIPS_FAIL_ON_ERROR : strictness == 1 ? VIPS_FAIL_ON_TRUNCATED : VIPS_FAIL_ON_NONE;
    int failed = -1;
    switch (loader) {
    case hv_jpeg:
        failed = vips_jpegload_source(source, &out, "access", access, "fail_on", fail, "shrink", shrink, NULL);
        break;
    case hv_png: failed = vips_pngload_source(source, &out, "access", access, "fail_on", fail, NULL); break;
    case hv_gif:
        failed = vips_gifload_source(source, &out, "access", access, "fail_on", fail, "page", page, "n", pages, NULL);
        break;
    case hv_webp:
        failed = vips_webpload_source(
            source, &out, "access", access, "fail_on", fail, "page", page, "n", pages, "scale", scale, NULL);
        break;
    case hv_tiff: failed = vips_tiffload_source(source, &out, "access", access, "fail_on", fail, "page", page, NULL); break;
    case hv_heif: failed = vips_heifload_source(source, &out, "access", access, "fail_on", fail, NULL); break;
    case hv_svg:
        failed = vips_svgload_source(source, &out, "access", access, "fail_on", fail, "scale", scale, "unlimited",
            unlimited ? TRUE : FALSE, NULL);
        break;
    case hv_jp2: failed = vips_jp2kload_source(source, &out, "access", access, "fail_on", fail, NULL); break;
    case hv_pnm: failed = vips_ppmload_source(source, &out, "access", access, "fail_on", fail, NULL); break;
    case hv_pdf:
        failed = vips_pdfload_source(
            source, &out, "access", access, "fail_on", fail, "page", page, "scale", scale, NULL);
        break;
    case hv_jxl:
        out = hv_open_jxl_header(bytes, count);
        failed = !out;
        break;
    }
    g_object_unref(source);
    if (failed) return NULL;
    // A tolerated warning must not be reported as the reason of a later failure.
    vips_error_clear();
    return hv_unsigned_samples(out);
}

VipsImage *hv_from_pixels(const void *pixels, int width, int height, int bands) {
    VipsImage *image =
        vips_image_new_from_memory_copy(pixels, (size_t)width * height * bands, width, height, bands, VIPS_FORMAT_UCHAR);
    if (image) image->Type = bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
    return image;
}

static int number(VipsImage *image, const char *name, int otherwise) {
    int value;
    if (!vips_image_get_typeof(image, name) || vips_image_get_int(image, name, &value)) return otherwise;
    return value;
}

void hv_describe(VipsImage *image, hv_info *info) {
    memset(info, 0, sizeof *info);
    info->width = vips_image_get_width(image);
    info->height = vips_image_get_height(image);
    info->bands = vips_image_get_bands(image);
    info->page_height = vips_image_get_page_height(image);
    info->pages = number(image, VIPS_META_N_PAGES, 1);
    info->orientation = vips_image_get_orientation(image);
    info->loop = number(image, "loop", 1);
    switch (vips_image_get_format(image)) {
    case VIPS_FORMAT_UCHAR: info->depth = 8; break;
    case VIPS_FORMAT_USHORT: info->depth = 16; break;
    default: info->depth = 32;
    }
    switch (vips_image_get_interpretation(image)) {
    case VIPS_INTERPRETATION_B_W:
    case VIPS_INTERPRETATION_GREY16: info->colours = 1; break;
    case VIPS_INTERPRETATION_sRGB:
    case VIPS_INTERPRETATION_RGB:
    case VIPS_INTERPRETATION_RGB16: info->colours = 3; break;
    case VIPS_INTERPRETATION_CMYK: info->colours = 4; break;
    default: info->colours = 0;
    }
    info->has_alpha = vips_image_hasalpha(image);
    info->has_scans = number(image, "jpeg-multiscan", 0);
    info->has_profile = vips_image_get_typeof(image, VIPS_META_ICC_NAME) != 0;
}

int hv_carried_metadata(VipsImage *image) {
    static const char *names[] = {VIPS_META_EXIF_NAME, VIPS_META_XMP_NAME, VIPS_META_IPTC_NAME};
    int kinds = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (vips_image_get_typeof(image, names[i])) kinds |= 1 << i;
    int has_position = 0;
    gchar **fields = kinds ? vips_image_get_fields(image) : NULL;
    for (gchar **field = fields; field && *field && !has_position; field++) has_position = hv_is_position(image, *field);
    g_strfreev(fields);
    return has_position ? kinds | 8 : kinds;
}

int hv_delays(VipsImage *image, int *delays, int count) {
    int *values, there;
    if (!vips_image_get_typeof(image, "delay") || vips_image_get_array_int(image, "delay", &values, &there)) return 0;
    for (int i = 0; i < there && i < count; i++) delays[i] = values[i];
    return there;
}

int hv_is_in_memory(VipsImage *image) {
    return image->dtype == VIPS_IMAGE_SETBUF || image->dtype == VIPS_IMAGE_SETBUF_FOREIGN;
}

VipsImage *hv_new_like(VipsImage *image, int width, int height) {
    VipsImage *out = vips_image_new_memory();
    if (!out) return NULL;
    if (!vips_image_pipelinev(out, VIPS_DEMAND_STYLE_ANY, image, NULL)) {
        out->Xsize = width;
        out->Ysize = height;
        // Loaders report their own progress to an object that does not outlive them.
        out->progress_signal = NULL;
        if (!vips_image_write_prepare(out)) return out;
    }
    g_object_unref(out);
    return NULL;
}

/// Computes the pixels tile by tile in this thread. libvips would hand each tile to other threads, which for small
/// images costs more than the computation, and with a concurrency of one gains nothing.
static int fill(uint8_t *to, VipsImage *image) {
    int width, height, lines;
    vips_get_tile_size(image, &width, &height, &lines);
    VipsRegion *region = vips_region_new(image);
    int failed = !region;
    size_t pixel = VIPS_IMAGE_SIZEOF_PEL(image), stride = VIPS_IMAGE_SIZEOF_LINE(image);
    for (int top = 0; top < image->Ysize && !failed; top += height)
        for (int left = 0; left < image->Xsize && !failed; left += width) {
            VipsRect part = {left, top, VIPS_MIN(width, image->Xsize - left), VIPS_MIN(height, image->Ysize - top)};
            failed = hv_is_late() || vips_region_prepare(region, &part);
            for (int y = top; y < top + part.height && !failed; y++)
                memcpy(to + (size_t)y * stride + (size_t)left * pixel, VIPS_REGION_ADDR(region, left, y),
                    pixel * (size_t)part.width);
        }
    if (region) g_object_unref(region);
    return failed;
}

VipsImage *hv_materialise(VipsImage *image) {
    VipsImage *out = hv_new_like(image, image->Xsize, image->Ysize);
    if (!out) return NULL;
    if (fill(VIPS_IMAGE_ADDR(out, 0, 0), image)) {
        g_object_unref(out);
        return NULL;
    }
    vips_error_clear();
    return out;
}

VipsImage *hv_stack(VipsImage **images, int count) {
    VipsImage *first = images[0];
    for (int i = 1; i < count; i++)
        if (images[i]->Xsize != first->Xsize || images[i]->Ysize != first->Ysize || images[i]->Bands != first->Bands
            || images[i]->BandFmt != first->BandFmt) {
            vips_error("hv_stack", "%s", "the frames are not alike");
            return NULL;
        }
    VipsImage *out = hv_new_like(first, first->Xsize, first->Ysize * count);
    int failed = !out;
    for (int i = 0; i < count && !failed; i++) failed = fill(VIPS_IMAGE_ADDR(out, 0, i * first->Ysize), images[i]);
    if (failed && out) g_object_unref(out);
    return failed ? NULL : out;
}

void *hv_pixels(VipsImage *image, size_t *count) {
    *count = VIPS_IMAGE_SIZEOF_IMAGE(image);
    void *bytes = g_try_malloc(*count);
    if (!bytes) vips_error("hv_pixels", "%s", "out of memory");
    if (!bytes || !fill(bytes, image)) return bytes;
    g_free(bytes);
    return NULL;
}
