#include "CVipsInternal.h"

VipsImage *hv_embed(
    VipsImage *image, int left, int top, int width, int height, const double *colour, int count) {
    VipsArrayDouble *ground = vips_array_double_new(colour, count);
    VipsImage *out = NULL;
    int failed = vips_embed(
        image, &out, left, top, width, height, "extend", VIPS_EXTEND_BACKGROUND, "background", ground, NULL);
    vips_area_unref(VIPS_AREA(ground));
    return failed ? NULL : out;
}

/// The means of squares, in which what lies outside of the image counts as 0.
static VipsImage *square_means(VipsImage *image, int width, int height) {
    int across = (image->Xsize + width - 1) / width, down = (image->Ysize + height - 1) / height;
    VipsImage *exact = NULL, *whole = NULL, *out = NULL;
    if (!vips_cast_float(image, &exact, NULL)
        && !vips_embed(exact, &whole, 0, 0, across * width, down * height, "extend", VIPS_EXTEND_BLACK, NULL))
        vips_shrink(whole, &out, width, height, NULL);
    if (exact) g_object_unref(exact);
    if (whole) g_object_unref(whole);
    return out;
}

VipsImage *hv_pixelate(VipsImage *image, int width, int height) {
    VipsImage *one = vips_image_new_from_image1(image, 1), *parts = NULL, *means = NULL, *small = NULL, *large = NULL;
    VipsImage *out = NULL;
    if (one && (parts = square_means(one, width, height)) && (means = square_means(image, width, height))
        && !vips_divide(means, parts, &small, NULL) && !vips_zoom(small, &large, width, height, NULL))
        vips_extract_area(large, &out, 0, 0, image->Xsize, image->Ysize, NULL);
    VipsImage *made[] = {one, parts, means, small, large};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (made[i]) g_object_unref(made[i]);
    return out;
}

VipsImage *hv_sharpen(VipsImage *image, VipsImage *blurred, double amount, int depth) {
    VipsImage *more = NULL, *less = NULL, *sum = NULL, *out = NULL;
    if (!vips_linear1(image, &more, 1 + amount, 0, NULL) && !vips_linear1(blurred, &less, -amount, 0, NULL)
        && !vips_add(more, less, &sum, NULL))
        out = hv_cast(sum, depth);
    if (more) g_object_unref(more);
    if (less) g_object_unref(less);
    if (sum) g_object_unref(sum);
    return out;
}

int hv_find_interest(VipsImage *image, int width, int height, int by_entropy, int *left, int *top) {
    VipsImage *part;
    VipsInteresting choice = by_entropy ? VIPS_INTERESTING_ENTROPY : VIPS_INTERESTING_ATTENTION;
    if (vips_smartcrop(image, &part, width, height, "interesting", choice, NULL)) return -1;
    // A part has its place in the whole as a negative offset.
    *left = -vips_image_get_xoffset(part);
    *top = -vips_image_get_yoffset(part);
    g_object_unref(part);
    return 0;
}

/// The number of columns before the first one in which a pixel of the mask is set, and of rows; those of the image if none is.
static int clear_edges(VipsImage *mask, int *columns, int *rows) {
    VipsImage *down = NULL, *across = NULL;
    double first_row = 0, first_column = 0;
    int failed = vips_profile(mask, &down, &across, NULL) || vips_min(down, &first_row, NULL)
        || vips_min(across, &first_column, NULL);
    if (down) g_object_unref(down);
    if (across) g_object_unref(across);
    *columns = (int)first_column;
    *rows = (int)first_row;
    return failed ? -1 : 0;
}

/// 255 where a sample of the pixel differs from that of the first pixel by more than `tolerance`, otherwise 0; in memory.
static VipsImage *different(VipsImage *image, double tolerance) {
    VipsImage *lazy = NULL, *from_first = NULL, *size = NULL, *marked = NULL, *mask = NULL;
    double *first = NULL, ones[4] = {1, 1, 1, 1};
    int count = 0;
    if (image->Bands <= 4 && !vips_getpoint(image, &first, &count, 0, 0, NULL)) {
        for (int band = 0; band < count; band++) first[band] = -first[band];
        if (!vips_linear(image, &from_first, ones, first, count, NULL) && !vips_abs(from_first, &size, NULL)
            && !vips_more_const1(size, &marked, tolerance, NULL) && !vips_bandor(marked, &lazy, NULL))
            mask = hv_materialise(lazy);
    }
    g_free(first);
    if (from_first) g_object_unref(from_first);
    if (size) g_object_unref(size);
    if (marked) g_object_unref(marked);
    if (lazy) g_object_unref(lazy);
    return mask;
}

int hv_find_bounds(VipsImage *image, double tolerance, int *left, int *top, int *width, int *height) {
    VipsImage *turned = NULL, *mask = different(image, tolerance);
    int right = 0, bottom = 0;
    int failed = !mask || clear_edges(mask, left, top) || vips_rot180(mask, &turned, NULL)
        || clear_edges(turned, &right, &bottom);
    *width = failed || *left == image->Xsize ? 0 : image->Xsize - *left - right;
    *height = *width == 0 ? 0 : image->Ysize - *top - bottom;
    if (mask) g_object_unref(mask);
    if (turned) g_object_unref(turned);
    return failed ? -1 : 0;
}
