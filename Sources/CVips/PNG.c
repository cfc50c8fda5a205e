#include "CVipsInternal.h"
#include <png.h>
#include <stdlib.h>
#include <string.h>

// The PNG coding of images in memory through libpng directly: in libvips, threads and signals cost more than the coding of a
// small image. The same settings give the same bytes. Other images are left to libvips.

/// The file as far as it is written: memory that grows.
typedef struct {
    uint8_t *bytes;
    size_t count, size;
} Target;

static void append(png_structp state, png_bytep bytes, size_t count) {
    Target *target = png_get_io_ptr(state);
    if (target->size - target->count < count) {
        size_t size = 2 * target->size + count + 4096;
        uint8_t *larger = realloc(target->bytes, size);
        if (!larger) png_error(state, "out of memory");
        target->bytes = larger;
        target->size = size;
    }
    memcpy(target->bytes + target->count, bytes, count);
    target->count += count;
}

static void flush(png_structp state) { (void)state; }

/// libpng prints what it says by default, and ends the process when nobody jumps.
static void jump_out(png_structp state, png_const_charp text) {
    (void)text;
    png_longjmp(state, 1);
}

static void ignore_warning(png_structp state, png_const_charp text) {
    (void)state;
    (void)text;
}

/// The type of colours of a PNG with these samples; −1 when they would have to be converted.
static int colour_type(VipsImage *image) {
    static const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    int is_deep = image->BandFmt == VIPS_FORMAT_USHORT;
    if ((!is_deep && image->BandFmt != VIPS_FORMAT_UCHAR) || image->Bands > 4) return -1;
    VipsInterpretation gray = is_deep ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W;
    VipsInterpretation colour = is_deep ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB;
    return image->Type == (image->Bands < 3 ? gray : colour) ? types[image->Bands - 1] : -1;
}

static void set_palette(png_structp state, png_infop info, const hv_palette *palette) {
    png_color colours[hv_most_colours];
    png_byte alphas[hv_most_colours];
    for (int i = 0; i < palette->count; i++) {
        uint32_t colour = palette->colours[i];
        colours[i] = (png_color){(png_byte)(colour >> 24), (png_byte)(colour >> 16), (png_byte)(colour >> 8)};
        alphas[i] = (png_byte)colour;
    }
    png_set_PLTE(state, info, colours, palette->count);
    if (palette->clear_count) png_set_tRNS(state, info, alphas, palette->clear_count, NULL);
}

/// Writes all rows; `places` has room for one of a picture with a palette.
static void write_rows(png_structp state, VipsImage *image, const hv_palette *palette, uint8_t *places) {
    int passes = png_set_interlace_handling(state);
    for (int pass = 0; pass < passes; pass++)
        for (int y = 0; y < image->Ysize; y++) {
            if (hv_is_late()) png_error(state, "late");
            const uint8_t *pixel = VIPS_IMAGE_ADDR(image, 0, y);
            for (int x = 0; palette && x < image->Xsize; x++, pixel += image->Bands)
                places[x] = hv_place_in_palette(palette, pixel, image->Bands);
            png_write_row(state, palette ? places : pixel);
        }
}

void *hv_encode_png(VipsImage *image, const hv_encoding *how, const hv_palette *palette, const void *profile,
    size_t profile_count, size_t *count) {
    int type = colour_type(image), is_deep = image->BandFmt == VIPS_FORMAT_USHORT;
    if (type < 0) return NULL;
    int depth = palette ? hv_bits_of_palette(palette->count) : is_deep ? 16 : 8;
    uint8_t *places = palette ? malloc((size_t)image->Xsize) : NULL;
    png_structp state = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, jump_out, ignore_warning);
    png_infop info = state ? png_create_info_struct(state) : NULL;
    Target target = {0};
    volatile int is_done = 0;
    if (info && (places || !palette) && !setjmp(png_jmpbuf(state))) {
        png_set_write_fn(state, &target, append, flush);
        png_set_compression_level(state, how->effort);
        // The places of colours that are beside each other say nothing about each other.
        png_set_filter(state, PNG_FILTER_TYPE_BASE, palette ? PNG_FILTER_NONE : PNG_ALL_FILTERS);
        png_set_IHDR(state, info, (png_uint_32)image->Xsize, (png_uint_32)image->Ysize, depth,
            palette ? PNG_COLOR_TYPE_PALETTE : type, how->progressive ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
            PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        // In pixels per metre; libvips has them per millimetre.
        png_set_pHYs(state, info, (png_uint_32)VIPS_RINT(image->Xres * 1000), (png_uint_32)VIPS_RINT(image->Yres * 1000),
            PNG_RESOLUTION_METER);
        if (profile) png_set_iCCP(state, info, "icc", PNG_COMPRESSION_TYPE_BASE, profile, (png_uint_32)profile_count);
        if (palette) set_palette(state, info, palette);
        png_write_info(state, info);
        if (depth < 8) png_set_packing(state);
        if (is_deep && G_BYTE_ORDER == G_LITTLE_ENDIAN) png_set_swap(state);
        write_rows(state, image, palette, places);
        png_write_end(state, info);
        is_done = 1;
    }
    if (state) png_destroy_write_struct(&state, &info);
    free(places);
    *count = target.count;
    if (is_done) return target.bytes;
    free(target.bytes);
    return NULL;
}
