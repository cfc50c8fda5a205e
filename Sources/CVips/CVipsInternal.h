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
void *hv_encode_jpeg(
    VipsImage *image, int quality, int is_progressive, const void *profile, size_t profile_count, size_t *count);
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
/// `true` when a field of EXIF tells where the picture was taken, or is the notes of the camera's maker, which may tell it too
/// (Exif 2.3, 4.6.6 and 4.6.5): libvips has the fields of the GPS directory as those of directory 3.
int hv_is_position(const char *field);
/// 1 when the XMP of an image tells where the picture was taken (XMP, part 2, 2.6: properties named GPS…); otherwise 0.
int hv_xmp_has_position(VipsImage *image);
/// 1 when the pixels are in memory; otherwise 0.
int hv_is_in_memory(VipsImage *image);

#endif
