#ifndef HALCYON_JXL_H
#define HALCYON_JXL_H

#include "CVipsInternal.h"
#include <jxl/decode.h>
#include <jxl/encode.h>

// JPEG XL through libjxl directly, because libvips' own support rotates each image twice, uses the last frame of an
// animation, writes low qualities at the default one and supports no metadata. libjxl comes with libvips' plug-in and
// is opened with it, when the first such image is read or written.

#define HV_JXL_FUNCTIONS(X)                                                                                              \
    X(JxlDecoderVersion) X(JxlDecoderCreate) X(JxlDecoderDestroy) X(JxlDecoderSubscribeEvents)                             \
    X(JxlDecoderSetDecompressBoxes)                                                                                        \
    X(JxlDecoderSetInput) X(JxlDecoderCloseInput) X(JxlDecoderProcessInput) X(JxlDecoderGetBasicInfo)                      \
    X(JxlDecoderGetExtraChannelInfo) X(JxlDecoderGetColorAsEncodedProfile) X(JxlDecoderGetICCProfileSize)                  \
    X(JxlDecoderGetColorAsICCProfile) X(JxlDecoderImageOutBufferSize) X(JxlDecoderSetImageOutBuffer)                       \
    X(JxlDecoderGetFrameHeader) X(JxlDecoderGetBoxType) X(JxlDecoderSetBoxBuffer) X(JxlDecoderReleaseBoxBuffer)                                        \
    X(JxlEncoderCreate) X(JxlEncoderDestroy) X(JxlEncoderInitBasicInfo) X(JxlEncoderSetBasicInfo)                          \
    X(JxlEncoderSetICCProfile) X(JxlEncoderSetColorEncoding) X(JxlColorEncodingSetToSRGB)                                  \
    X(JxlEncoderFrameSettingsCreate) X(JxlEncoderFrameSettingsSetOption) X(JxlEncoderSetFrameDistance)                     \
    X(JxlEncoderSetFrameLossless) X(JxlEncoderAddImageFrame) X(JxlEncoderUseBoxes) X(JxlEncoderAddBox)                     \
    X(JxlEncoderCloseInput) X(JxlEncoderProcessOutput) X(JxlEncoderGetRequiredCodestreamLevel)                             \
    X(JxlEncoderSetCodestreamLevel)

#define HV_JXL_FIELD(name) __typeof__(name) *name;
typedef struct { HV_JXL_FUNCTIONS(HV_JXL_FIELD) } hv_jxl_functions;
#undef HV_JXL_FIELD

/// The functions of libjxl; null before `hv_open_jxl`.
extern hv_jxl_functions hv_libjxl;

/// Sets the EXIF and XMP data, both optional, on an image without other references, as fields that other encoders
/// write.
void hv_set_exif(VipsImage *image, const void *exif, size_t exif_count, const void *xmp, size_t xmp_count);
/// The EXIF (as a TIFF) and XMP data that other formats would write for the image; the caller frees each with `g_free`.
void hv_get_exif(VipsImage *image, uint8_t **exif, size_t *exif_count, uint8_t **xmp, size_t *xmp_count);

#endif
