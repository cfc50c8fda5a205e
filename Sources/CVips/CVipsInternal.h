#ifndef HALCYON_CVIPS_INTERNAL_H
#define HALCYON_CVIPS_INTERNAL_H

#include "CVips.h"
#include <vips/vips.h>

/// Makes the deadline end an evaluation of the image.
void hv_watch(VipsImage *image);
/// 1 when the deadline has passed; the caller must stop then.
int hv_is_late(void);
/// An image of the same kind and metadata, of the given size, with memory for its pixels; NULL after an error.
VipsImage *hv_new_like(VipsImage *image, int width, int height);
/// Encodes a plain JPEG (grey or RGB of 8 bits, in memory), with or without a profile and without other metadata. NULL
/// without an error if the image is not suited. The caller frees the result with `hv_free`.
void *hv_encode_jpeg(VipsImage *image, const hv_encoding *how, const void *profile, size_t profile_count, size_t *count);

enum { hv_most_colours = 256, hv_palette_slots = 1024 };
/// All colours of an image, and the place of each.
typedef struct {
    int count;
    /// How many of them, from the first on, are not opaque.
    int clear_count;
    /// Red, green, blue and alpha, from the highest byte on.
    uint32_t colours[hv_most_colours];
    /// A hash table: a place counted from 1, or 0.
    uint16_t places[hv_palette_slots];
} hv_palette;
/// The place of the colour of a pixel, which is in the palette.
uint8_t hv_place_in_palette(const hv_palette *palette, const uint8_t *pixel, int bands);
/// The bits that a place in a palette of so many colours takes: 1, 2, 4 or 8. 0 colours are more than fit.
int hv_bits_of_palette(int colours);
/// The same for a PNG in grey or RGB, with or without alpha, of 8 or 16 bits; with `palette`, or NULL, of the places of its
/// colours in that, for RGB of 8 bits.
void *hv_encode_png(VipsImage *image, const hv_encoding *how, const hv_palette *palette, const void *profile,
    size_t profile_count, size_t *count);
/// Encodes a JPEG or PNG through libjpeg or libpng directly; NULL when the image is large, or when EXIF or other metadata must
/// be written. The caller frees the result with `hv_free`.
void *hv_encode_directly(
    VipsImage *image, hv_loader format, const hv_encoding *how, const hv_palette *palette, size_t *count);
/// 1, and its bytes, when the image has a profile for its colours: grey, RGB or CMYK (ICC.1:2010, 7.2.6); otherwise 0.
int hv_get_profile(VipsImage *image, const void **bytes, size_t *count);
/// Copies the profile and the metadata of an image to another, which must have no other reference.
void hv_copy_metadata(VipsImage *to, VipsImage *from);
/// Resolves the functions of libjxl in the opened plug-in; 0 on success.
int hv_open_jxl(void *module);
/// Resolves the functions of libheif in the opened plug-in.
void hv_open_heif(void *module);
/// An image of the size and kind of a JPEG XL, with its profile but without its pixels.
VipsImage *hv_open_jxl_header(const void *bytes, size_t count);
/// Encodes a JPEG XL of 8 or 16 bits with the image's profile and metadata; the caller frees the result with `hv_free`.
void *hv_encode_jxl(VipsImage *image, const hv_encoding *how, size_t *count);
/// 1 when the last of every `bands` samples is 255; otherwise 0.
int hv_all_opaque(const uint8_t *samples, size_t count, size_t bands);
/// An image with unsigned samples of 8 or 16 bits in place of one with others, whose full range becomes that of the result:
/// of signed integers −2ⁿ⁻¹…2ⁿ⁻¹ − 1 (TIFF 6.0, SMinSampleValue), of floating point 0…1. Lab stays as it is. NULL for
/// complex samples. Takes over the reference to `image`.
VipsImage *hv_unsigned_samples(VipsImage *image);
/// 1 when a field of the metadata tells where the picture was taken, or is the notes of the camera's maker, which may tell it
/// too; otherwise 0.
int hv_is_position(VipsImage *image, const char *field);
/// 1 when the pixels are in memory; otherwise 0.
int hv_is_in_memory(VipsImage *image);

#endif
