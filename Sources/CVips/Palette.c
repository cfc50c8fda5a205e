#include "CVipsInternal.h"
#include <string.h>

enum { most_colours = 256, slots = 1024 };

static uint32_t colour_at(const uint8_t *pixel, int bands) {
    return (uint32_t)pixel[0] << 24 | (uint32_t)pixel[1] << 16 | (uint32_t)pixel[2] << 8 | (bands == 4 ? pixel[3] : 255);
}

/// The number of different colours, or one more than fit in a palette.
static int count_colours(VipsImage *image) {
    uint32_t table[slots];
    uint8_t is_used[slots] = {0};
    const uint8_t *pixel = VIPS_IMAGE_ADDR(image, 0, 0), *end = pixel + VIPS_IMAGE_SIZEOF_IMAGE(image);
    uint32_t last = 0;
    int count = 0;
    for (; pixel < end && count <= most_colours; pixel += image->Bands) {
        uint32_t colour = colour_at(pixel, image->Bands);
        if (count && colour == last) continue;
        last = colour;
        uint32_t slot = colour * 2654435761u >> 22;
        while (is_used[slot] && table[slot] != colour) slot = (slot + 1) % slots;
        if (!is_used[slot]) count++;
        is_used[slot] = 1;
        table[slot] = colour;
    }
    return count;
}

/// The mean of the squared differences between the samples of two images as they look on black; −1 when they are not alike.
static double difference(VipsImage *one, VipsImage *other) {
    if (one->Xsize != other->Xsize || one->Ysize != other->Ysize || one->Bands != other->Bands
        || other->BandFmt != VIPS_FORMAT_UCHAR)
        return -1;
    const uint8_t *a = VIPS_IMAGE_ADDR(one, 0, 0), *b = VIPS_IMAGE_ADDR(other, 0, 0);
    size_t count = VIPS_IMAGE_SIZEOF_IMAGE(one), bands = (size_t)one->Bands;
    double sum = 0;
    for (size_t place = 0; place < count; place += bands) {
        int left = bands == 4 ? a[place + 3] : 255, right = bands == 4 ? b[place + 3] : 255;
        for (size_t band = 0; band < 3; band++) {
            double step = (double)(a[place + band] * left - b[place + band] * right) / 255;
            sum += step * step;
        }
        if (bands == 4) sum += (double)((left - right) * (left - right));
    }
    return sum / (double)count;
}

static void *save(VipsImage *image, const hv_encoding *how, int colours, size_t *count) {
    VipsImage *copy = hv_choose_metadata(image, how->metadata);
    if (!copy) return NULL;
    gboolean strip = !hv_carried_metadata(copy) && !vips_image_get_typeof(copy, VIPS_META_ICC_NAME);
    hv_watch(copy);
    void *bytes = NULL;
    // Colours that all fit are taken as they are; between others, dots of two colours look like a third.
    int failed = vips_pngsave_buffer(copy, &bytes, count, "compression", how->effort, "interlace", how->progressive,
        "palette", TRUE, "bitdepth", colours <= 2 ? 1 : colours <= 4 ? 2 : colours <= 16 ? 4 : 8, "Q", 100, "dither",
        colours > most_colours ? 1.0 : 0.0, "strip", strip, NULL);
    g_object_unref(copy);
    return failed ? NULL : bytes;
}

void *hv_save_palette(VipsImage *image, const hv_encoding *how, double most_difference, size_t *count) {
    if (image->BandFmt != VIPS_FORMAT_UCHAR || image->Bands < 3 || image->Bands > 4 || !hv_is_in_memory(image)) return NULL;
    int colours = count_colours(image);
    if (colours > most_colours && most_difference <= 0) return NULL;
    void *bytes = save(image, how, colours, count);
    VipsImage *read = bytes ? hv_load(hv_png, bytes, *count, 1, 1, 0, 1, 1, 2, 0) : NULL;
    VipsImage *ready = read ? hv_materialise(read) : NULL;
    double found = ready ? difference(image, ready) : -1;
    if (ready) g_object_unref(ready);
    if (read) g_object_unref(read);
    vips_error_clear();
    if (found >= 0 && found <= most_difference) return bytes;
    g_free(bytes);
    return NULL;
}
