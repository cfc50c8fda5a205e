#define _GNU_SOURCE
#include "JXL.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

hv_jxl_functions hv_libjxl;

int hv_open_jxl(void *module) {
    // dlsym also searches the libraries that the plug-in is linked with.
#define FIND(name)                                                                                                       \
    hv_libjxl.name = (__typeof__(name) *)dlsym(module, #name);                                                             \
    if (!hv_libjxl.name) return -1;
    HV_JXL_FUNCTIONS(FIND)
#undef FIND
    return 0;
}

// The functions of a profile before libjxl 0.9, with an unused format as their second parameter, and from then on. The
// library that was opened decides, not the header of the build: a program meets other versions than that.
typedef JxlDecoderStatus Encoded7(const JxlDecoder *, const JxlPixelFormat *, JxlColorProfileTarget, JxlColorEncoding *);
typedef JxlDecoderStatus Encoded9(const JxlDecoder *, JxlColorProfileTarget, JxlColorEncoding *);
typedef JxlDecoderStatus Size7(const JxlDecoder *, const JxlPixelFormat *, JxlColorProfileTarget, size_t *);
typedef JxlDecoderStatus Size9(const JxlDecoder *, JxlColorProfileTarget, size_t *);
typedef JxlDecoderStatus ICC7(const JxlDecoder *, const JxlPixelFormat *, JxlColorProfileTarget, uint8_t *, size_t);
typedef JxlDecoderStatus ICC9(const JxlDecoder *, JxlColorProfileTarget, uint8_t *, size_t);

/// Calls one of them: `GET(Size, JxlDecoderGetICCProfileSize, …)`.
#define GET(type, name, decoder, ...)                                                                                    \
    (hv_libjxl.JxlDecoderVersion() < 9000                                                                                  \
            ? ((type##7 *)hv_libjxl.name)(decoder, NULL, JXL_COLOR_PROFILE_TARGET_DATA, __VA_ARGS__)                       \
            : ((type##9 *)hv_libjxl.name)(decoder, JXL_COLOR_PROFILE_TARGET_DATA, __VA_ARGS__))

/// The limit for metadata; larger blocks are ignored. A compressed block does not state its length.
enum { most_metadata = 1 << 20, first_metadata = 16 << 10 };

/// The content of a box read so far.
typedef struct {
    uint8_t *bytes;
    size_t count, size;
} Box;

struct hv_jxl_pictures {
    JxlDecoder *decoder;
    JxlBasicInfo info;
    JxlPixelFormat format;
    VipsImage *image;
    int has_inks, is_done;
    /// The EXIF and XMP boxes, and the one that is being read.
    Box exif, xmp, *box;
    uint8_t *profile;
    size_t profile_count;
    /// The times of the frames in milliseconds, of an animation whose header is read.
    int *delays, delay_count;
};

typedef hv_jxl_pictures Reader;

static int failed(const char *reason) {
    vips_error("jxl", "%s", reason);
    return -1;
}

static int read_info(Reader *reader) {
    if (hv_libjxl.JxlDecoderGetBasicInfo(reader->decoder, &reader->info)) return failed("it has no header");
    JxlBasicInfo *info = &reader->info;
    if (info->xsize > VIPS_MAX_COORD || info->ysize > VIPS_MAX_COORD) return failed("it is too wide or too high");
    for (uint32_t i = 0; i < info->num_extra_channels; i++) {
        JxlExtraChannelInfo extra;
        if (hv_libjxl.JxlDecoderGetExtraChannelInfo(reader->decoder, i, &extra)) return failed("a channel says nothing");
        if (extra.type == JXL_CHANNEL_BLACK) reader->has_inks = 1;
    }
    int is_deep = info->bits_per_sample > 8 || info->exponent_bits_per_sample > 0;
    reader->format = (JxlPixelFormat){.num_channels = (info->num_color_channels == 1 ? 1 : 3) + (info->alpha_bits > 0),
        .data_type = is_deep ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8, .endianness = JXL_NATIVE_ENDIAN};
    return 0;
}

static int is_srgb(const JxlColorEncoding *colours) {
    int is_ours = colours->white_point == JXL_WHITE_POINT_D65 && colours->transfer_function == JXL_TRANSFER_FUNCTION_SRGB;
    if (colours->color_space == JXL_COLOR_SPACE_GRAY) return is_ours;
    return is_ours && colours->color_space == JXL_COLOR_SPACE_RGB && colours->primaries == JXL_PRIMARIES_SRGB;
}

/// Reads the profile of the pixels; none for sRGB, which is the meaning of a missing profile.
static void read_profile(Reader *reader) {
    JxlColorEncoding colours;
    if (!GET(Encoded, JxlDecoderGetColorAsEncodedProfile, reader->decoder, &colours) && is_srgb(&colours)) return;
    size_t count = 0;
    if (GET(Size, JxlDecoderGetICCProfileSize, reader->decoder, &count) || !count) return;
    uint8_t *profile = g_try_malloc(count);
    if (!profile) return;
    if (GET(ICC, JxlDecoderGetColorAsICCProfile, reader->decoder, profile, count)) {
        g_free(profile);
        return;
    }
    g_free(reader->profile);
    reader->profile = profile;
    reader->profile_count = count;
}

/// An image of the kind of the source; its pixels are black until they are read.
static VipsImage *plain(const Reader *reader) {
    int bands = (int)reader->format.num_channels, is_deep = reader->format.data_type == JXL_TYPE_UINT16;
    VipsInterpretation colours = reader->has_inks ? VIPS_INTERPRETATION_CMYK
        : bands < 3 ? (is_deep ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W)
                    : (is_deep ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB);
    VipsImage *black, *cast, *out = NULL;
    if (vips_black(&black, (int)reader->info.xsize, (int)reader->info.ysize, "bands", bands, NULL)) return NULL;
    if (!vips_cast(black, &cast, is_deep ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR, NULL)) {
        // A missing resolution is that of screens, as for other formats.
        if (vips_copy(cast, &out, "interpretation", colours, "xres", 72 / 25.4, "yres", 72 / 25.4, NULL)) out = NULL;
        g_object_unref(cast);
    }
    g_object_unref(black);
    return out;
}

static int make_room(Reader *reader) {
    VipsImage *kind = plain(reader);
    if (!kind) return -1;
    reader->image = hv_new_like(kind, kind->Xsize, kind->Ysize);
    g_object_unref(kind);
    if (!reader->image) return -1;
    size_t wanted, there = VIPS_IMAGE_SIZEOF_IMAGE(reader->image);
    if (hv_libjxl.JxlDecoderImageOutBufferSize(reader->decoder, &reader->format, &wanted) || wanted != there)
        return failed("its pixels have another size than it says");
    if (hv_libjxl.JxlDecoderSetImageOutBuffer(
            reader->decoder, &reader->format, VIPS_IMAGE_ADDR(reader->image, 0, 0), there))
        return failed("its pixels cannot be read");
    return 0;
}

/// Completes the box that is being read; the unused part of its buffer is not counted.
static void end_box(Reader *reader) {
    if (!reader->box) return;
    reader->box->count = reader->box->size - hv_libjxl.JxlDecoderReleaseBoxBuffer(reader->decoder);
    reader->box = NULL;
}

static void drop_box(Box *box) {
    free(box->bytes);
    *box = (Box){0};
}

static void grow_box(Reader *reader) {
    Box *box = reader->box;
    if (!box) return;
    size_t used = box->size - hv_libjxl.JxlDecoderReleaseBoxBuffer(reader->decoder);
    size_t size = used ? 2 * used : first_metadata;
    uint8_t *bytes = size <= most_metadata ? realloc(box->bytes, size) : NULL;
    if (bytes) {
        *box = (Box){.bytes = bytes, .size = size};
        if (!hv_libjxl.JxlDecoderSetBoxBuffer(reader->decoder, bytes + used, size - used)) return;
    }
    drop_box(box);
    reader->box = NULL;
}

static void begin_box(Reader *reader) {
    end_box(reader);
    JxlBoxType type;
    if (hv_libjxl.JxlDecoderGetBoxType(reader->decoder, type, JXL_TRUE)) return;
    Box *box = !memcmp(type, "Exif", 4) ? &reader->exif : !memcmp(type, "xml ", 4) ? &reader->xmp : NULL;
    // Of several boxes of one type only the first is used.
    if (!box || box->bytes) return;
    reader->box = box;
    grow_box(reader);
}

/// Notes the time of the frame whose header was read (ISO/IEC 18181-1, AnimationHeader: ticks a second).
static int note_frame(Reader *reader) {
    JxlFrameHeader frame;
    if (hv_libjxl.JxlDecoderGetFrameHeader(reader->decoder, &frame)) return failed("a frame has no header");
    const JxlAnimationHeader *animation = &reader->info.animation;
    double ticks = animation->tps_numerator ? (double)animation->tps_numerator / animation->tps_denominator : 1;
    int count = reader->delay_count;
    // Room for a power of two.
    if (!(count & (count - 1))) {
        int *delays = count < 1 << 24 ? realloc(reader->delays, (size_t)VIPS_MAX(1, 2 * count) * sizeof *delays) : NULL;
        if (!delays) return failed("out of memory");
        reader->delays = delays;
    }
    reader->delays[reader->delay_count++] = (int)VIPS_MIN(frame.duration * 1000.0 / ticks, 3600e3);
    return 0;
}

/// Reads the header, or the next frame and the metadata.
static int read_all(Reader *reader, int wants_pixels) {
    for (;;) {
        if (hv_is_late()) return failed("it takes too long");
        switch (hv_libjxl.JxlDecoderProcessInput(reader->decoder)) {
        case JXL_DEC_BASIC_INFO:
            if (read_info(reader)) return -1;
            break;
        case JXL_DEC_COLOR_ENCODING:
            read_profile(reader);
            if (!wants_pixels && !reader->info.have_animation) return 0;
            break;
        case JXL_DEC_FRAME:
            if (note_frame(reader)) return -1;
            reader->is_done = 1;
            break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            if (make_room(reader)) return -1;
            break;
        case JXL_DEC_FULL_IMAGE:
            reader->is_done = 1;
            // What follows is the next frame.
            if (reader->info.have_animation) return 0;
            break;
        case JXL_DEC_BOX: begin_box(reader); break;
        case JXL_DEC_BOX_NEED_MORE_OUTPUT: grow_box(reader); break;
        case JXL_DEC_SUCCESS: return reader->is_done ? 0 : failed("it holds no picture");
        // Errors after the image are ignored.
        case JXL_DEC_NEED_MORE_INPUT: return reader->is_done ? 0 : failed("it ends too early");
        case JXL_DEC_ERROR: return reader->is_done ? 0 : failed("its bits make no sense");
        default: break;
        }
    }
}

/// The image as displayed: not premultiplied, with its profile and metadata.
static VipsImage *finished(Reader *reader) {
    VipsImage *image = reader->image;
    reader->image = NULL;
    if (reader->info.alpha_premultiplied && reader->info.alpha_bits > 0) {
        VipsImage *straight = hv_unpremultiply(image, reader->format.data_type == JXL_TYPE_UINT16 ? 16 : 8);
        g_object_unref(image);
        if (!straight) return NULL;
        image = hv_materialise(straight);
        g_object_unref(straight);
        if (!image) return NULL;
    }
    if (reader->profile) {
        vips_image_set_blob_copy(image, VIPS_META_ICC_NAME, reader->profile, reader->profile_count);
    }
    // EXIF starts at the offset that its first four bytes give (ISO/IEC 18181-2, 9.9).
    const uint8_t *exif = reader->exif.bytes;
    size_t count = reader->exif.count, skipped = 0;
    if (count > 4) skipped = 4 + ((size_t)exif[0] << 24 | (size_t)exif[1] << 16 | (size_t)exif[2] << 8 | exif[3]);
    int has_exif = count > 4 && skipped < count;
    if (has_exif || reader->xmp.count)
        hv_set_exif(image, has_exif ? exif + skipped : NULL, has_exif ? count - skipped : 0, reader->xmp.bytes,
            reader->xmp.count);
    return image;
}

/// Begins to read a file; NULL after an error.
static Reader *begin(const void *bytes, size_t count, int events) {
    Reader *reader = calloc(1, sizeof *reader);
    if (reader) reader->decoder = hv_libjxl.JxlDecoderCreate ? hv_libjxl.JxlDecoderCreate(NULL) : NULL;
    if (reader && reader->decoder) {
        hv_libjxl.JxlDecoderSetDecompressBoxes(reader->decoder, JXL_TRUE);
        if (!hv_libjxl.JxlDecoderSubscribeEvents(reader->decoder, events)
            && !hv_libjxl.JxlDecoderSetInput(reader->decoder, bytes, count)) {
            hv_libjxl.JxlDecoderCloseInput(reader->decoder);
            return reader;
        }
    }
    hv_end_jxl(reader);
    failed("out of memory");
    return NULL;
}

hv_jxl_pictures *hv_begin_jxl(const void *bytes, size_t count) {
    return begin(bytes, count, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE | JXL_DEC_BOX);
}

VipsImage *hv_next_jxl(hv_jxl_pictures *reader) {
    reader->is_done = 0;
    int is_read = !read_all(reader, 1);
    end_box(reader);
    if (is_read) return finished(reader);
    if (reader->image) g_object_unref(reader->image);
    reader->image = NULL;
    return NULL;
}

void hv_end_jxl(hv_jxl_pictures *reader) {
    if (!reader) return;
    if (reader->decoder) hv_libjxl.JxlDecoderDestroy(reader->decoder);
    if (reader->image) g_object_unref(reader->image);
    drop_box(&reader->exif);
    drop_box(&reader->xmp);
    g_free(reader->profile);
    free(reader->delays);
    free(reader);
}

VipsImage *hv_open_jxl_header(const void *bytes, size_t count) {
    Reader *reader = begin(bytes, count, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FRAME);
    if (!reader) return NULL;
    VipsImage *out = read_all(reader, 0) ? NULL : plain(reader);
    if (out && reader->profile)
        vips_image_set_blob_copy(out, VIPS_META_ICC_NAME, reader->profile, reader->profile_count);
    if (out && reader->delay_count) {
        vips_image_set_int(out, VIPS_META_N_PAGES, reader->delay_count);
        vips_image_set_array_int(out, "delay", reader->delays, reader->delay_count);
        vips_image_set_int(out, "loop", (int)VIPS_MIN(reader->info.animation.num_loops, INT_MAX));
    }
    hv_end_jxl(reader);
    return out;
}
