/// The part of libvips that the codec worker uses, as plain functions: Swift cannot call variable arguments.
///
/// Images are counted references: each function that returns one gives the caller a reference, or NULL after an error
/// that `hv_take_error` returns. No two threads may call these functions at once, and `hv_start` must be called first.
#ifndef HALCYON_CVIPS_H
#define HALCYON_CVIPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct _VipsImage VipsImage;

/// The decoders. The server selects one by its own signature detection; libvips never guesses the format.
typedef enum { hv_jpeg, hv_png, hv_gif, hv_webp, hv_tiff, hv_heif, hv_svg, hv_jxl, hv_jp2, hv_pnm, hv_pdf } hv_loader;

/// Starts the library without its plug-ins, with one thread and no cache, and blocks every decoder but those above. All
/// output of libvips and GLib goes to standard error. Returns 0 on success.
int hv_start(void);
/// Opens the plug-in (`heif`, `jxl` or `poppler`), which Debian packages separately; opening all plug-ins costs 15 ms. Returns 0
/// on success. Of `jxl` only the library that it is linked with is used.
int hv_open_plugin(const char *name);
/// 1 when the file of the plug-in exists; otherwise 0.
int hv_has_plugin(const char *name);
/// 1 when an operation exists, such as `jpegsave_target`; otherwise 0.
int hv_has(const char *operation);
/// The text of the errors since the last call; the caller frees it with `hv_free`.
char *hv_take_error(void);
void hv_free(void *bytes);
void hv_release(VipsImage *image);

/// Ends evaluations of images once the monotonic clock has passed `deadline` nanoseconds; 0 for no deadline.
void hv_set_deadline(int64_t deadline);
/// 1 when a deadline ended an evaluation since it was set; otherwise 0.
int hv_was_killed(void);

/// The metadata that an encoder writes: all, all except fields about multiple pages and previews, these without position and
/// maker's notes, only the profile, or none.
typedef enum {
    hv_every_metadata,
    hv_metadata_of_still,
    hv_metadata_without_position,
    hv_profile_only,
    hv_no_metadata
} hv_metadata_choice;

/// The properties of an image.
typedef struct {
    int width, height, bands, page_height, pages, orientation, loop;
    /// The bits per sample: 8, 16, or 32 for floating point.
    int depth;
    /// The colour space: 1 grey, 3 RGB, 4 CMYK, 0 for others.
    int colours;
    int has_alpha, has_profile;
    /// 1 for a JPEG of several scans, of which a decoder keeps all coefficients.
    int has_scans;
} hv_info;
void hv_describe(VipsImage *image, hv_info *info);
/// The metadata of an image besides the profile, as a sum: 1 for EXIF, 2 for XMP, 4 for IPTC, 8 when
/// one of them tells where the picture was taken.
int hv_carried_metadata(VipsImage *image);
/// Copies up to `count` frame delays in milliseconds and returns the total number of delays.
int hv_delays(VipsImage *image, int *delays, int count);

/// Opens an image in memory, which must outlive it; the header is read, pixels are decoded on demand.
///
/// `shrink` is JPEG's 1, 2, 4 or 8, `scale` that of WebP, SVG and PDF; `pages` is the number of pages from `page` on, −1 for
/// all. With `sequential` the caller must read from top to bottom once. `strictness`: 0 accepts damaged files, 1
/// refuses truncated ones, 2 refuses damaged ones. `unlimited` lifts the library's limits for SVGs.
VipsImage *hv_load(hv_loader loader, const void *bytes, size_t count, int shrink, double scale, int page, int pages,
    int sequential, int strictness, int unlimited);
/// The pixels of a plain JPEG (grey, or three components that become RGB), decoded into memory at once, with the
/// metadata of its header, which `hv_load` returned; much cheaper than `hv_load` for small images. NULL without an
/// error when libvips must decode it, because the file is not plain, is truncated or is damaged.
VipsImage *hv_decode_jpeg(VipsImage *header, const void *bytes, size_t count, int shrink);
/// The pixels of an AVIF or HEIC with 8 bits and without alpha, shrunk by 2, 4 or 8 as they are decoded, with the metadata of
/// its header, which `hv_load` returned. NULL without an error when libvips must decode it, because the file is not like that or
/// is damaged.
VipsImage *hv_decode_heif(VipsImage *header, const void *bytes, size_t size, int shrink);
/// 1 when the samples of the primary picture of an AVIF or HEIC are multiplied by its alpha (ISO/IEC 23008-12, `prem`).
int hv_is_premultiplied_heif(const void *bytes, size_t size);
/// Decodes a JPEG row by row and discards the pixels. Returns 0 if it is intact; otherwise sets an error, also for
/// damage that decoders conceal.
int hv_check_jpeg(const void *bytes, size_t count);
/// The pictures of a JPEG XL, of which `hv_load` reads only the header: the only one, or the frames of an animation.
typedef struct hv_jxl_pictures hv_jxl_pictures;
/// Begins to read a JPEG XL in memory, which must outlive this; NULL after an error.
hv_jxl_pictures *hv_begin_jxl(const void *bytes, size_t count);
/// The next picture, decoded into memory at once, in display orientation, with 8 or 16 bits; NULL after an error.
VipsImage *hv_next_jxl(hv_jxl_pictures *pictures);
void hv_end_jxl(hv_jxl_pictures *pictures);
/// An image of 8-bit samples, copied; 1 or 2 bands are grey, 3 or 4 RGB.
VipsImage *hv_from_pixels(const void *pixels, int width, int height, int bands);
/// Evaluates the image into memory.
VipsImage *hv_materialise(VipsImage *image);
/// The samples of an image of 8 bits, row by row without gaps, to be freed with `hv_free`; NULL after an error.
void *hv_pixels(VipsImage *image, size_t *count);

VipsImage *hv_autorotate(VipsImage *image);
VipsImage *hv_crop(VipsImage *image, int left, int top, int width, int height);
/// Resizes by a kernel of libvips, by its name.
VipsImage *hv_resize(VipsImage *image, double horizontal, double vertical, const char *kernel);
/// Resizes an image whose pixels are in memory: each pixel is the one of the image at its centre.
VipsImage *hv_nearest(VipsImage *image, int width, int height);
/// Resizes an image of 8 bits whose pixels are in memory; faster than `hv_resize` for small images. Alpha is weighted:
/// transparent pixels do not change the colour of their neighbours. The picture covers so much of the width and height, from the
/// left and the top.
VipsImage *hv_resample(VipsImage *image, double covered_width, double covered_height, int width, int height);
/// Brings an image to exactly this size by repeating its last row or column, or removing some.
VipsImage *hv_fit(VipsImage *image, int width, int height);
/// Lays the image on a larger one of a colour of `count` samples, with its first pixel at `left`, `top`.
VipsImage *hv_embed(
    VipsImage *image, int left, int top, int width, int height, const double *colour, int count);
/// Gives every pixel of a square of that side the mean of the square, from the first pixel on: of that part of it which is
/// in the image.
VipsImage *hv_pixelate(VipsImage *image, int width, int height);
/// image + amount × (image − blurred), rounded and clipped to `depth`.
VipsImage *hv_sharpen(VipsImage *image, VipsImage *blurred, double amount, int depth);
/// Finds the part of that size that is the most interesting: by its entropy, or by what draws attention. Returns 0 on success.
int hv_find_interest(VipsImage *image, int width, int height, int by_entropy, int *left, int *top);
/// Finds the rectangle outside of which no sample differs from that of the first pixel by more than `tolerance`; its width is 0
/// when all of the image is so. The pixels must be in memory. Returns 0 on success.
int hv_find_bounds(VipsImage *image, double tolerance, int *left, int *top, int *width, int *height);
/// Rotates clockwise by 90, 180 or 270 degrees.
VipsImage *hv_turn(VipsImage *image, int degrees);
/// Rotates clockwise by any angle about the centre; the canvas grows and is transparent outside the image. Needs an
/// alpha channel.
VipsImage *hv_rotate(VipsImage *image, double degrees);
VipsImage *hv_flip(VipsImage *image, int vertical);
VipsImage *hv_blur(VipsImage *image, double sigma);
/// Premultiplies into floating point, and converts back into samples of `depth` bits.
VipsImage *hv_premultiply(VipsImage *image, int depth);
VipsImage *hv_unpremultiply(VipsImage *image, int depth);
/// Rounds and clips to samples of 8 or 16 bits.
VipsImage *hv_cast(VipsImage *image, int depth);
/// Converts to sRGB of 8 or 16 bits, or to grey; alpha is unchanged.
VipsImage *hv_to_rgb(VipsImage *image, int depth);
VipsImage *hv_to_gray(VipsImage *image, int depth);
/// Converts to sRGB by the profile in the image, with an intent that it has; if there is none that can be used, inks by the
/// library's profile with black-point compensation, and other images without one: they keep theirs.
VipsImage *hv_to_srgb_profile(VipsImage *image, int depth);
/// The samples that a colour in sRGB, of eight bits each, has in an image in grey or RGB, by its profile if it has one that can
/// be used.
void hv_samples_of_colour(VipsImage *image, const uint8_t *colour, double *samples);
/// An image in sRGB, of that depth and in the colours of another one in RGB: in its profile if it has one that can be used.
VipsImage *hv_from_srgb(VipsImage *image, VipsImage *like, int depth);
/// Adds an alpha channel that is fully opaque.
VipsImage *hv_add_alpha(VipsImage *image);
/// Composites the image onto one colour and removes its alpha channel.
VipsImage *hv_flatten(VipsImage *image, const double *colour, int count);
/// out[i] = in[i] × scale[i] + offset[i], rounded and clipped to `depth`.
VipsImage *hv_linear(VipsImage *image, const double *scale, const double *offset, int count, int depth);
/// Multiplies each pixel by a matrix of `bands` rows, in floating point.
VipsImage *hv_recombine(VipsImage *image, const double *matrix, int bands);
/// Maps each sample of an 8- or 16-bit image by a table of one band, which holds 256 or 65,536 samples of that depth.
VipsImage *hv_map(VipsImage *image, const void *table, int count, int depth);
VipsImage *hv_extract_bands(VipsImage *image, int first, int count);
VipsImage *hv_join_bands(VipsImage *image, VipsImage *more);
/// An image of one colour, of the size and kind of another, with `count` samples per pixel.
VipsImage *hv_fill(VipsImage *like, const double *colour, int count);
/// The operators of Porter and Duff, then the separable blend modes (W3C Compositing and Blending Level 1).
typedef enum {
    hv_clear, hv_source, hv_over, hv_in, hv_out, hv_atop, hv_below_over, hv_below_in, hv_below_out, hv_below_atop, hv_xor, hv_add,
    hv_multiply, hv_screen, hv_overlay, hv_darken, hv_lighten, hv_colour_dodge, hv_colour_burn, hv_hard_light, hv_soft_light,
    hv_difference, hv_exclusion
} hv_mode;
/// Combines two images in RGBA, not premultiplied, of one size and of 8 or 16 bits both.
VipsImage *hv_composite(VipsImage *below, VipsImage *above, hv_mode mode);
/// The product of two images, divided by the largest sample of `depth`.
VipsImage *hv_multiply_alpha(VipsImage *alpha, VipsImage *mask, int depth);
/// Stacks images of one size and sample format one below the other, in memory.
///
/// vips_arrayjoin is not used: version 8.14 returns pixels of a region that it has just released, and those are freed
/// at once when the calling thread is not one of libvips' own, as here.
VipsImage *hv_stack(VipsImage **images, int count);
/// The mean of each band.
int hv_means(VipsImage *image, double *means, int count);
/// 1 when no pixel is translucent, otherwise 0; −1 after an error.
int hv_is_opaque(VipsImage *image, int depth);
/// A copy of one image with the metadata of another.
VipsImage *hv_with_metadata(VipsImage *image, VipsImage *from);
/// The same without the profile.
VipsImage *hv_with_metadata_alone(VipsImage *image, VipsImage *from);
/// A copy with only the chosen metadata.
VipsImage *hv_choose_metadata(VipsImage *image, hv_metadata_choice chosen);
/// Sets the page height of a strip of frames, the delays in milliseconds and the loop count (0 for forever).
VipsImage *hv_animate(VipsImage *image, int page_height, const int *delays, int count, int loop);

/// The parameters of an encoder; a format ignores those that it does not support.
typedef struct {
    int quality, lossless;
    /// 1 for colours at full size in AVIF and HEIC, 0 to halve them.
    int full_colours;
    int progressive, effort;
    hv_metadata_choice metadata;
    /// The HEIF compression: 1 for HEVC, 0 for AV1.
    int hevc;
} hv_encoding;
/// Encodes into memory, to be freed with `hv_free`; NULL after an error.
void *hv_save(VipsImage *image, hv_loader format, const hv_encoding *encoding, size_t *count);
/// Encodes an image of 8 bits, in RGB and in memory, as a PNG with a palette of up to 256 colours; NULL without an error when
/// the pixels of that, seen on black, differ from those of the image by a mean square of more than `most_difference`. Beside
/// metadata, and where not all colours fit, those of clear pixels become one.
void *hv_save_palette(VipsImage *image, const hv_encoding *encoding, double most_difference, size_t *count);

/// Gives up all capabilities for ever and, if this is root, the user: the process is `nobody` afterwards. To be called
/// while there is one thread.
void hv_drop_privileges(void);
/// Loads what drawings need from files, as fonts; opens all fonts of the system.
void hv_prepare_drawings(void);
/// Refuses every system call but those that decoders need: no file can be opened but the fonts of `hv_prepare_drawings`, no
/// socket or process made, nothing outside of the process reached. Everything that is read from files must have been
/// loaded. Restrictions that the system does not support are skipped.
void hv_confine(void);
/// Limits address space and file size (bytes) permanently; the process ends with its parent.
void hv_limit_resources(uint64_t memory, uint64_t file_size);
/// Limits the number of open files permanently, besides the fonts of `hv_prepare_drawings`.
void hv_limit_files(uint64_t files);
/// Reads from a socket up to `size` bytes and up to `most` descriptors that come along with them; returns the number of
/// bytes, −1 after an error.
ssize_t hv_receive(int socket, void *bytes, size_t size, int *descriptors, size_t most, size_t *count);
/// Ends the process once it has used that many more seconds of processor time; to be called again for each request.
void hv_limit_processor_time(double seconds);
/// Sets the allocator to use a single arena, because there is only one thread, and to keep memory from one picture to the next.
void hv_tune_memory(void);
/// Returns free memory to the system where it is much; to be called after each picture.
void hv_trim_memory(void);
/// Maps a file for reading; NULL on failure. There is one at a time. Where the file is cut short meanwhile, zeros are read,
/// and nothing ends by a signal.
const void *hv_map_source(int descriptor, size_t count);
void hv_unmap_source(const void *base, size_t count);
/// 1 when the file that was mapped last has been found cut short; otherwise 0.
int hv_source_was_cut(void);
/// Zeroes memory at allocation if `is_blank` is not 0: for decoders that leave parts of a damaged image unwritten.
void hv_zero_memory(int is_blank);
/// Writes `count` bytes to the descriptor and ends the process with code 75, unless disarmed within `seconds`.
void hv_set_alarm(int descriptor, const void *bytes, size_t count, double seconds);
void hv_cancel_alarm(void);

#endif
