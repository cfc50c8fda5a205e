#include "JXL.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/// The Butteraugli distance of libjxl for a quality, as in its own programs: 90 is 1.0, visually lossless.
static float distance_of(int quality) {
    if (quality >= 100) return 0.1f;
    if (quality >= 30) return 0.1f + (float)(100 - quality) * 0.09f;
    return 53.0f / 3000.0f * (float)(quality * quality) - 23.0f / 20.0f * (float)quality + 25.0f;
}

static int describe(JxlEncoder *encoder, VipsImage *image, const hv_encoding *how) {
    int is_deep = image->BandFmt == VIPS_FORMAT_USHORT, is_gray = image->Bands < 3;
    JxlBasicInfo info;
    hv_libjxl.JxlEncoderInitBasicInfo(&info);
    info.xsize = (uint32_t)image->Xsize;
    info.ysize = (uint32_t)image->Ysize;
    info.bits_per_sample = is_deep ? 16 : 8;
    info.num_color_channels = is_gray ? 1 : 3;
    info.num_extra_channels = image->Bands % 2 == 0;
    info.alpha_bits = info.num_extra_channels ? info.bits_per_sample : 0;
    info.uses_original_profile = how->lossless ? JXL_TRUE : JXL_FALSE;
    if (hv_libjxl.JxlEncoderSetBasicInfo(encoder, &info)) return -1;
    const void *profile = NULL;
    size_t count = 0;
    if (hv_get_profile(image, &profile, &count) && !hv_libjxl.JxlEncoderSetICCProfile(encoder, profile, count)) return 0;
    JxlColorEncoding colours;
    hv_libjxl.JxlColorEncodingSetToSRGB(&colours, is_gray ? JXL_TRUE : JXL_FALSE);
    return hv_libjxl.JxlEncoderSetColorEncoding(encoder, &colours) ? -1 : 0;
}

/// Adds EXIF and XMP as boxes: EXIF is preceded by its offset, 0 (ISO/IEC 18181-2, 9.9 and 9.10).
static int add_metadata(JxlEncoder *encoder, VipsImage *image) {
    uint8_t *exif = NULL, *xmp = NULL;
    size_t exif_count = 0, xmp_count = 0;
    hv_get_exif(image, &exif, &exif_count, &xmp, &xmp_count);
    int failed = 0;
    if (exif || xmp) failed = hv_libjxl.JxlEncoderUseBoxes(encoder) != JXL_ENC_SUCCESS;
    if (exif && !failed) {
        uint8_t *box = calloc(1, exif_count + 4);
        failed = !box;
        if (box) {
            memcpy(box + 4, exif, exif_count);
            failed = hv_libjxl.JxlEncoderAddBox(encoder, "Exif", box, exif_count + 4, JXL_FALSE) != JXL_ENC_SUCCESS;
        }
        free(box);
    }
    if (xmp && !failed)
        failed = hv_libjxl.JxlEncoderAddBox(encoder, "xml ", xmp, xmp_count, JXL_FALSE) != JXL_ENC_SUCCESS;
    g_free(exif);
    g_free(xmp);
    return failed;
}

static int add_picture(JxlEncoder *encoder, VipsImage *image, const hv_encoding *how) {
    // Images with more bits than screens display need a level above the one that common decoders support.
    int level = hv_libjxl.JxlEncoderGetRequiredCodestreamLevel(encoder);
    if (level < 0 || (level > 5 && hv_libjxl.JxlEncoderSetCodestreamLevel(encoder, level))) return -1;
    JxlEncoderFrameSettings *settings = hv_libjxl.JxlEncoderFrameSettingsCreate(encoder, NULL);
    if (!settings) return -1;
    hv_libjxl.JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, how->effort);
    int failed = how->lossless ? hv_libjxl.JxlEncoderSetFrameLossless(settings, JXL_TRUE)
                               : hv_libjxl.JxlEncoderSetFrameDistance(settings, distance_of(how->quality));
    JxlPixelFormat format = {.num_channels = (uint32_t)image->Bands,
        .data_type = image->BandFmt == VIPS_FORMAT_USHORT ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
        .endianness = JXL_NATIVE_ENDIAN};
    if (failed
        || hv_libjxl.JxlEncoderAddImageFrame(
            settings, &format, VIPS_IMAGE_ADDR(image, 0, 0), VIPS_IMAGE_SIZEOF_IMAGE(image)))
        return -1;
    hv_libjxl.JxlEncoderCloseInput(encoder);
    return 0;
}

/// `true` when there is the memory that libjxl takes: it ends the process where it is refused. That is a megabyte for each square
/// of 256 pixels, however few the picture has of it, and some bytes for each pixel (measured with version 0.7).
static int has_room(VipsImage *image) {
    size_t squares = (size_t)((image->Xsize + 255) / 256) * (size_t)((image->Ysize + 255) / 256);
    size_t count = (squares << 20) + VIPS_IMAGE_N_PELS(image) * (image->Bands % 2 == 0 ? 76 : 58);
    void *room = mmap(NULL, count, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return 0;
    munmap(room, count);
    return 1;
}

/// The bytes of the file, to be freed with `g_free`.
static uint8_t *read_output(JxlEncoder *encoder, size_t *count) {
    size_t size = 64 << 10, used = 0;
    uint8_t *bytes = g_try_malloc(size);
    while (bytes && !hv_is_late()) {
        uint8_t *next = bytes + used;
        size_t left = size - used;
        JxlEncoderStatus status = hv_libjxl.JxlEncoderProcessOutput(encoder, &next, &left);
        used = (size_t)(next - bytes);
        if (status == JXL_ENC_SUCCESS) {
            *count = used;
            return bytes;
        }
        if (status != JXL_ENC_NEED_MORE_OUTPUT) break;
        uint8_t *larger = g_try_realloc(bytes, 2 * size);
        if (!larger) break;
        bytes = larger;
        size *= 2;
    }
    g_free(bytes);
    return NULL;
}

void *hv_encode_jxl(VipsImage *image, const hv_encoding *how, size_t *count) {
    int is_plain = (image->BandFmt == VIPS_FORMAT_UCHAR || image->BandFmt == VIPS_FORMAT_USHORT) && image->Bands <= 4;
    JxlEncoder *encoder = hv_libjxl.JxlEncoderCreate && is_plain ? hv_libjxl.JxlEncoderCreate(NULL) : NULL;
    VipsImage *ready = encoder ? hv_materialise(image) : NULL;
    uint8_t *bytes = NULL;
    if (ready && !has_room(ready))
        vips_error("jxl", "%s", "out of memory");
    else if (ready && !describe(encoder, ready, how) && !add_metadata(encoder, ready) && !add_picture(encoder, ready, how))
        bytes = read_output(encoder, count);
    if (ready) g_object_unref(ready);
    if (encoder) hv_libjxl.JxlEncoderDestroy(encoder);
    if (!bytes && !hv_was_killed()) vips_error("jxl", "%s", "libjxl does not encode it");
    return bytes;
}
