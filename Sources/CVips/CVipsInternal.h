#ifndef HALCYON_CVIPS_INTERNAL_H
#define HALCYON_CVIPS_INTERNAL_H

#include "CVips.h"
#include <vips/vips.h>

/// Lets the deadline end an evaluation of the image.
void hv_watch(VipsImage *image);
/// Whether the deadline has passed; whoever asks then ends what it does.
int hv_is_late(void);
/// An image of the same kind and metadata, but of this size, with memory for its pixels; NULL after an error.
VipsImage *hv_new_like(VipsImage *image, int width, int height);
/// A plain JPEG (gray or RGB of 8 bits, in memory), with a profile or without and no other metadata; NULL without an error
/// where it is not plain. To be freed with `hv_free`.
void *hv_encode_jpeg(
    VipsImage *image, int quality, int is_progressive, const void *profile, size_t profile_count, size_t *count);
/// Gives an image the profile and the metadata of another; it must be nobody else's.
void hv_copy_metadata(VipsImage *to, VipsImage *from);
/// Finds libjxl in the opened plug-in; 0 on success.
int hv_open_jxl(void *module);
/// An image of the size and kind of a JPEG XL, with its profile and without its pixels.
VipsImage *hv_open_jxl_header(const void *bytes, size_t count);
/// A JPEG XL of 8 or 16 bits with the profile and metadata that the image carries, to be freed with `hv_free`.
void *hv_encode_jxl(VipsImage *image, const hv_encoding *how, size_t *count);
/// Whether the last of every so many samples is 255.
int hv_all_opaque(const uint8_t *samples, size_t count, size_t bands);
/// Whether the pixels are in memory.
int hv_is_in_memory(VipsImage *image);

#endif
