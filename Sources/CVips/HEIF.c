#define _GNU_SOURCE
#include "CVipsInternal.h"
#include <dlfcn.h>
#include <libheif/heif.h>
#include <stdlib.h>
#include <string.h>

// Small forms of AVIF and HEIC through libheif directly: libvips lets it interleave the colours, copies them row by row and
// shrinks them then, which together takes longer than to decode them. Here the planes of the colours are averaged as they
// are, and only the averages are interleaved. libheif comes with libvips' plug-in.

#define HEIF_FUNCTIONS(X)                                                                                                \
    X(heif_context_alloc) X(heif_context_free) X(heif_context_read_from_memory_without_copy)                               \
    X(heif_context_get_primary_image_handle) X(heif_image_handle_release) X(heif_image_handle_has_alpha_channel)           \
    X(heif_image_handle_is_premultiplied_alpha)                                                                            \
    X(heif_image_handle_get_luma_bits_per_pixel) X(heif_image_handle_get_chroma_bits_per_pixel) X(heif_decode_image)       \
    X(heif_image_release) X(heif_image_get_width) X(heif_image_get_height) X(heif_image_get_bits_per_pixel_range)          \
    X(heif_image_get_plane_readonly)

#define FIELD(name) __typeof__(name) *name;
/// The functions of libheif; null when it lacks one of them.
static struct { HEIF_FUNCTIONS(FIELD) } heif;
#undef FIELD

void hv_open_heif(void *module) {
#define FIND(name)                                                                                                       \
    heif.name = (__typeof__(name) *)dlsym(module, #name);                                                                  \
    is_whole &= heif.name != NULL;
    // dlsym also searches the libraries that the plug-in is linked with.
    int is_whole = 1;
    HEIF_FUNCTIONS(FIND)
#undef FIND
    if (!is_whole) memset(&heif, 0, sizeof heif);
}

enum { channels = 3 };

/// Adds a row to sums: apart, so that the compiler adds many at a time.
static void add_row(uint16_t *restrict sums, const uint8_t *restrict row, size_t count) {
    for (size_t i = 0; i < count; i++) sums[i] = (uint16_t)(sums[i] + row[i]);
}

/// Averages sums of `rows` rows over blocks of so many columns; the last may be smaller. Returns the place after the averages.
static inline __attribute__((always_inline)) float *average(
    const uint16_t *restrict sums, int width, int rows, int across, float *restrict out) {
    float part = 1 / (float)(rows * across);
    int left = 0;
    for (; left + across <= width; left += across) {
        int sum = 0;
        for (int column = 0; column < across; column++) sum += sums[left + column];
        *out++ = (float)sum * part;
    }
    if (left == width) return out;
    int sum = 0, columns = width - left;
    for (; left < width; left++) sum += sums[left];
    *out++ = (float)sum / (float)(rows * columns);
    return out;
}

/// Averages squares of `side` samples; those at the right and lower edge may be smaller. Returns 0 when there is no memory.
static int shrink_plane(const uint8_t *samples, int stride, int width, int height, int side, float *out) {
    uint16_t *sums = malloc((size_t)width * sizeof *sums);
    if (!sums) return 0;
    for (int top = 0; top < height; top += side) {
        int rows = height - top < side ? height - top : side;
        memset(sums, 0, (size_t)width * sizeof *sums);
        // Eight rows of 255 are far from the end of sixteen bits.
        for (int row = 0; row < rows; row++)
            add_row(sums, samples + (size_t)(top + row) * (size_t)stride, (size_t)width);
        // Known numbers, so that the compiler writes the loops out.
        out = side == 8 ? average(sums, width, rows, 8, out)
            : side == 4 ? average(sums, width, rows, 4, out)
                        : average(sums, width, rows, 2, out);
    }
    free(sums);
    return 1;
}

/// The small form of a decoded picture; NULL when it is not suited.
static VipsImage *shrink_picture(VipsImage *header, const struct heif_image *picture, int shrink) {
    static const enum heif_channel names[channels] = {heif_channel_R, heif_channel_G, heif_channel_B};
    int width = (header->Xsize + shrink - 1) / shrink, height = (header->Ysize + shrink - 1) / shrink;
    size_t count = (size_t)width * (size_t)height;
    VipsImage *out = hv_new_like(header, width, height);
    float *averages = malloc(count * sizeof *averages);
    int is_whole = out && averages;
    for (int i = 0; is_whole && i < channels; i++) {
        int stride, columns = heif.heif_image_get_width(picture, names[i]), rows = heif.heif_image_get_height(picture, names[i]);
        const uint8_t *samples = heif.heif_image_get_plane_readonly(picture, names[i], &stride);
        is_whole = samples && heif.heif_image_get_bits_per_pixel_range(picture, names[i]) == 8 && columns == header->Xsize
            && rows == header->Ysize && shrink_plane(samples, stride, columns, rows, shrink, averages);
        uint8_t *sample = (uint8_t *)VIPS_IMAGE_ADDR(out, 0, 0) + i;
        // Averages of 0…255 are in that range.
        for (size_t pixel = 0; is_whole && pixel < count; pixel++) sample[channels * pixel] = (uint8_t)(averages[pixel] + .5f);
    }
    free(averages);
    if (is_whole) return out;
    if (out) g_object_unref(out);
    return NULL;
}

/// A file in memory, opened.
struct opened {
    struct heif_context *context;
    /// Its primary picture; NULL when there is none.
    struct heif_image_handle *primary;
};

static struct opened open_primary(const void *bytes, size_t size) {
    struct opened file = {heif.heif_context_alloc ? heif.heif_context_alloc() : NULL, NULL};
    if (!file.context || heif.heif_context_read_from_memory_without_copy(file.context, bytes, size, NULL).code) return file;
    if (heif.heif_context_get_primary_image_handle(file.context, &file.primary).code) file.primary = NULL;
    return file;
}

static void close_primary(struct opened file) {
    if (file.primary) heif.heif_image_handle_release(file.primary);
    if (file.context) heif.heif_context_free(file.context);
}

VipsImage *hv_decode_heif(VipsImage *header, const void *bytes, size_t size, int shrink) {
    int is_plain = header->Bands == channels && header->BandFmt == VIPS_FORMAT_UCHAR;
    if (!is_plain || (shrink != 2 && shrink != 4 && shrink != 8)) return NULL;
    struct opened file = open_primary(bytes, size);
    struct heif_image *picture = NULL;
    VipsImage *out = NULL;
    int is_suited = file.primary && heif.heif_image_handle_get_luma_bits_per_pixel(file.primary) == 8
        && heif.heif_image_handle_get_chroma_bits_per_pixel(file.primary) == 8
        && !heif.heif_image_handle_has_alpha_channel(file.primary);
    if (is_suited && !heif.heif_decode_image(file.primary, &picture, heif_colorspace_RGB, heif_chroma_444, NULL).code)
        out = shrink_picture(header, picture, shrink);
    if (picture) heif.heif_image_release(picture);
    close_primary(file);
    return out;
}

int hv_is_premultiplied_heif(const void *bytes, size_t size) {
    struct opened file = open_primary(bytes, size);
    int is_premultiplied = file.primary && heif.heif_image_handle_is_premultiplied_alpha(file.primary);
    close_primary(file);
    return is_premultiplied;
}
