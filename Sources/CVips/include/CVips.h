/// The part of libvips that the codec worker uses, as plain functions: Swift cannot call variable arguments.
///
/// Images are counted references: each function that returns one gives the caller a reference, or NULL after an error
/// that `hv_take_error` tells. Nothing here may be called from two threads at once, and all of it only after `hv_start`.
#ifndef HALCYON_CVIPS_H
#define HALCYON_CVIPS_H

#include <stddef.h>
#include <stdint.h>

typedef struct _VipsImage VipsImage;

/// Which decoder reads the bytes. It is chosen by our own look at the signature; libvips is never asked to guess.
typedef enum { hv_jpeg, hv_png, hv_gif, hv_webp, hv_tiff, hv_heif, hv_svg, hv_jxl } hv_loader;

/// Starts the library without its plug-ins, with one thread and no cache, and blocks every decoder but those above.
/// Whatever it and GLib print goes to standard error. 0 on success.
int hv_start(void);
/// Opens the plug-in (`heif` or `jxl`) that Debian keeps apart, because opening all of them costs 15 ms; 0 on success. Of
/// `jxl` only the library that comes with it is used.
int hv_open_plugin(const char *name);
/// Whether the plug-in is there to be opened.
int hv_has_plugin(const char *name);
/// Whether an operation is there, such as `jpegsave_target`.
int hv_has(const char *operation);
/// The text of the errors since the last call, which the caller frees with `hv_free`.
char *hv_take_error(void);
void hv_free(void *bytes);
void hv_release(VipsImage *image);

/// Ends evaluation of an image once the monotonic clock has passed `deadline` nanoseconds; 0 for none.
void hv_set_deadline(int64_t deadline);
/// Whether a deadline ended an evaluation since it was set.
int hv_was_killed(void);

/// Which of an image's metadata are kept: all, all but what says that it is one of several or has a preview, the
/// profile, none.
typedef enum { hv_every_metadata, hv_metadata_of_still, hv_profile_only, hv_no_metadata } hv_kept;

/// What an image says of itself.
typedef struct {
    int width, height, bands, page_height, pages, orientation, loop;
    /// 8, 16, or 32 for floating point.
    int depth;
    /// 1 gray, 3 RGB, 4 CMYK, 0 anything else.
    int colours;
    int has_alpha, has_profile;
} hv_info;
void hv_describe(VipsImage *image, hv_info *info);
/// What it carries besides pixels and profile: 1 for EXIF, 2 for XMP, 4 for IPTC, added up.
int hv_carried_metadata(VipsImage *image);
/// Copies up to `count` frame delays in milliseconds and returns how many there are.
int hv_delays(VipsImage *image, int *delays, int count);

/// Opens a picture in memory, which must outlive the image; the header is read, pixels are decoded when asked for.
///
/// `shrink` is JPEG's 1, 2, 4 or 8, `scale` that of WebP and SVG; `pages` from `page` on, −1 for all. `sequential` promises to
/// read from top to bottom once. `strictness`: 0 takes what can be had, 1 refuses what is cut off, 2 what is damaged.
/// `unlimited` lets the entities of a drawing grow.
VipsImage *hv_load(hv_loader loader, const void *bytes, size_t count, int shrink, double scale, int page, int pages,
    int sequential, int strictness, int unlimited);
/// The pixels of a plain JPEG (gray, or three components that become RGB), decoded into memory at once, with the metadata of
/// its header, which `hv_load` gave; much cheaper than `hv_load` for small ones. NULL without an error where libvips is to
/// try, because the file is not plain, not whole or not right.
VipsImage *hv_decode_jpeg(VipsImage *header, const void *bytes, size_t count, int shrink);
/// Decodes a JPEG row by row and keeps nothing; not 0, with an error, if it is damaged or cut off, also where decoders get over
/// it by making something up.
int hv_check_jpeg(const void *bytes, size_t count);
/// The first picture of a JPEG XL, decoded into memory at once, turned as it is shown, and of 8 or 16 bits; `hv_load` gives
/// only its header.
VipsImage *hv_decode_jxl(const void *bytes, size_t count);
/// An image of 8-bit samples, copied; bands as they are counted: 1 or 2 gray, 3 or 4 RGB.
VipsImage *hv_from_pixels(const void *pixels, int width, int height, int bands);
/// Evaluates the image into memory.
VipsImage *hv_materialise(VipsImage *image);
/// The samples of an image of 8 bits, row by row without gaps, to be freed with `hv_free`; NULL after an error.
void *hv_pixels(VipsImage *image, size_t *count);

VipsImage *hv_autorotate(VipsImage *image);
VipsImage *hv_crop(VipsImage *image, int left, int top, int width, int height);
VipsImage *hv_resize(VipsImage *image, double horizontal, double vertical);
/// The same for an image of 8 bits whose pixels are in memory, and faster for small ones. Alpha counts as it should: what is
/// clear lends its neighbours no colour.
VipsImage *hv_resample(VipsImage *image, int width, int height);
/// Brings an image to exactly this size by repeating its last row or column, or leaving some out.
VipsImage *hv_fit(VipsImage *image, int width, int height);
/// Clockwise by 90, 180 or 270 degrees.
VipsImage *hv_turn(VipsImage *image, int degrees);
/// Clockwise by any angle about the middle; the canvas grows and is clear where no picture is. Needs an alpha channel.
VipsImage *hv_rotate(VipsImage *image, double degrees);
VipsImage *hv_flip(VipsImage *image, int vertical);
VipsImage *hv_blur(VipsImage *image, double sigma);
/// Premultiplies into floating point, and back into samples of `depth` bits.
VipsImage *hv_premultiply(VipsImage *image, int depth);
VipsImage *hv_unpremultiply(VipsImage *image, int depth);
/// Rounds and clips to samples of 8 or 16 bits.
VipsImage *hv_cast(VipsImage *image, int depth);
/// sRGB of 8 or 16 bits, or gray of them; alpha stays.
VipsImage *hv_to_rgb(VipsImage *image, int depth);
VipsImage *hv_to_gray(VipsImage *image, int depth);
/// Into sRGB by the profile in the image, or by the library's own one where there is none.
VipsImage *hv_to_srgb_profile(VipsImage *image, int depth);
/// Adds an alpha channel that is opaque throughout.
VipsImage *hv_add_alpha(VipsImage *image);
/// Puts the image on a ground of one colour and drops its alpha channel.
VipsImage *hv_flatten(VipsImage *image, const double *colour, int count);
/// out[i] = in[i] × scale[i] + offset[i], rounded and clipped to `depth`.
VipsImage *hv_linear(VipsImage *image, const double *scale, const double *offset, int count, int depth);
/// Each pixel times a matrix of `bands` rows, in floating point.
VipsImage *hv_recombine(VipsImage *image, const double *matrix, int bands);
/// Each sample of an 8- or 16-bit image looked up in a table of one band, which holds 256 or 65,536 samples of that depth.
VipsImage *hv_map(VipsImage *image, const void *table, int count, int depth);
VipsImage *hv_extract_bands(VipsImage *image, int first, int count);
VipsImage *hv_join_bands(VipsImage *image, VipsImage *more);
/// An image of one colour, of the size and kind of another, with `count` samples a pixel.
VipsImage *hv_fill(VipsImage *like, const double *colour, int count);
/// Combines by one of the Porter and Duff operators or blend modes, named as libvips names them. Not premultiplied.
VipsImage *hv_composite(VipsImage *base, VipsImage *over, const char *mode);
/// The product of two images, divided by the greatest sample of `depth`.
VipsImage *hv_multiply_alpha(VipsImage *alpha, VipsImage *mask, int depth);
/// One above the other, all of one size and one kind of samples, in memory.
///
/// Not by vips_arrayjoin: version 8.14 hands out pixels of a region that it has just given up, and those are freed at once
/// where they are asked for by a thread that is not one of libvips' own, as here.
VipsImage *hv_stack(VipsImage **images, int count);
/// The mean of each band.
int hv_means(VipsImage *image, double *means, int count);
/// Whether no pixel is translucent: 1 or 0, −1 after an error.
int hv_is_opaque(VipsImage *image, int depth);
/// The pixels of one image with the metadata of another. Returns a copy.
VipsImage *hv_with_metadata(VipsImage *image, VipsImage *from);
/// Drops what is not chosen of the metadata. Returns a copy.
VipsImage *hv_choose_metadata(VipsImage *image, hv_kept chosen);
/// Gives a strip of frames its page height, delays in milliseconds and loop count (0 for ever).
VipsImage *hv_animate(VipsImage *image, int page_height, const int *delays, int count, int loop);

/// How a picture is encoded; what a format does not know is left out.
typedef struct {
    int quality, lossless, progressive, effort;
    hv_kept metadata;
    /// Names the HEIF compression: 1 for HEVC, 0 for AV1.
    int hevc;
} hv_encoding;
/// Encodes into memory, to be freed with `hv_free`; NULL after an error.
void *hv_save(VipsImage *image, hv_loader format, const hv_encoding *encoding, size_t *count);

/// Takes from this process what a decoder does not need: new programs, sockets, other processes, privileges. What the
/// system cannot take is left.
void hv_confine(void);
/// Bounds address space, file size (bytes) and open files for good; the process ends with the one that started it.
void hv_bound(uint64_t memory, uint64_t file_size, uint64_t files);
/// The process ends once it has used so many more seconds of a processor's time; to be called again for each request.
void hv_bound_processor(double seconds);
/// Memory is given back instead of being kept for threads that there are not.
void hv_tune_memory(void);
void hv_trim_memory(void);
/// Whether memory is zero when it is taken: for decoders that leave parts of a damaged picture as they found them.
void hv_blank_memory(int is_blank);
/// The process writes `count` bytes to the descriptor and ends with code 75 unless it is disarmed within `seconds`.
void hv_arm(int descriptor, const void *bytes, size_t count, double seconds);
void hv_disarm(void);

#endif
