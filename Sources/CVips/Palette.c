#include "CVipsInternal.h"
#include <string.h>

static uint32_t colour_at(const uint8_t *pixel, int bands) {
    return (uint32_t)pixel[0] << 24 | (uint32_t)pixel[1] << 16 | (uint32_t)pixel[2] << 8 | (bands == 4 ? pixel[3] : 255);
}

/// The slot of a colour, or the free one for it.
static int slot_of(const hv_palette *palette, uint32_t colour) {
    int slot = (int)(colour * 2654435761u >> 22);
    while (palette->places[slot] && palette->colours[palette->places[slot] - 1] != colour) slot = (slot + 1) % hv_palette_slots;
    return slot;
}

uint8_t hv_place_in_palette(const hv_palette *palette, const uint8_t *pixel, int bands) {
    return (uint8_t)(palette->places[slot_of(palette, colour_at(pixel, bands))] - 1);
}

/// The colours of an image of 8 bits in memory, those that are not opaque first; 0 when they are too many.
static int find_palette(VipsImage *image, hv_palette *palette) {
    const uint8_t *pixel = VIPS_IMAGE_ADDR(image, 0, 0), *end = pixel + VIPS_IMAGE_SIZEOF_IMAGE(image);
    memset(palette, 0, sizeof *palette);
    uint32_t last = ~colour_at(pixel, image->Bands);
    for (; pixel < end; pixel += image->Bands) {
        uint32_t colour = colour_at(pixel, image->Bands);
        if (colour == last) continue;
        last = colour;
        int slot = slot_of(palette, colour);
        if (palette->places[slot]) continue;
        if (palette->count == hv_most_colours) return 0;
        palette->colours[palette->count++] = colour;
        palette->places[slot] = (uint16_t)palette->count;
    }
    // A PNG stores the alpha of the first ones only (PNG, 11.3.2.1).
    hv_palette found = *palette;
    memset(palette->places, 0, sizeof palette->places);
    palette->count = 0;
    for (int is_opaque = 0; is_opaque < 2; is_opaque++)
        for (int i = 0; i < found.count; i++) {
            if (((found.colours[i] & 255) == 255) != is_opaque) continue;
            int slot = slot_of(palette, found.colours[i]);
            palette->colours[palette->count++] = found.colours[i];
            palette->places[slot] = (uint16_t)palette->count;
            palette->clear_count += !is_opaque;
        }
    return 1;
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

/// Saves with the colours that the library finds to be the best.
static void *save(VipsImage *image, const hv_encoding *how, int colours, size_t *count) {
    VipsImage *copy = hv_choose_metadata(image, how->metadata);
    if (!copy) return NULL;
    gboolean strip = !hv_carried_metadata(copy) && !vips_image_get_typeof(copy, VIPS_META_ICC_NAME);
    hv_watch(copy);
    void *bytes = NULL;
    // Colours that all fit are taken as they are; between others, dots of two colours look like a third.
    int failed = vips_pngsave_buffer(copy, &bytes, count, "compression", how->effort, "interlace", how->progressive,
        "palette", TRUE, "bitdepth", hv_bits_of_palette(colours), "Q", 100, "dither", colours ? 0.0 : 1.0, "strip", strip,
        NULL);
    g_object_unref(copy);
    return failed ? NULL : bytes;
}

int hv_bits_of_palette(int colours) { return colours == 0 || colours > 16 ? 8 : colours > 4 ? 4 : colours > 2 ? 2 : 1; }

void *hv_save_palette(VipsImage *image, const hv_encoding *how, double most_difference, size_t *count) {
    if (image->BandFmt != VIPS_FORMAT_UCHAR || image->Bands < 3 || image->Bands > 4 || !hv_is_in_memory(image)) return NULL;
    hv_palette palette;
    int has_all = find_palette(image, &palette);
    if (!has_all && most_difference <= 0) return NULL;
    void *bytes = has_all ? hv_encode_directly(image, hv_png, how, &palette, count) : NULL;
    if (bytes || hv_was_killed()) return bytes;
    bytes = save(image, how, has_all ? palette.count : 0, count);
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
