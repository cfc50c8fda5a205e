#ifndef HALCYON_JXL_H
#define HALCYON_JXL_H

#include "CVipsInternal.h"
#include <jxl/decode.h>
#include <jxl/encode.h>

// libvips' own way to JPEG XL has each picture turned twice, takes the last frame of an animation, writes low qualities at the
// default one and knows no metadata, so that libjxl is asked straight. It comes with libvips' plug-in and is opened with it,
// when the first such picture is read or written.

#define HV_JXL_FUNCTIONS(X)                                                                                              \
    X(JxlDecoderCreate) X(JxlDecoderDestroy) X(JxlDecoderSubscribeEvents) X(JxlDecoderSetDecompressBoxes)                  \
    X(JxlDecoderSetInput) X(JxlDecoderCloseInput) X(JxlDecoderProcessInput) X(JxlDecoderGetBasicInfo)                      \
    X(JxlDecoderGetExtraChannelInfo) X(JxlDecoderGetColorAsEncodedProfile) X(JxlDecoderGetICCProfileSize)                  \
    X(JxlDecoderGetColorAsICCProfile) X(JxlDecoderImageOutBufferSize) X(JxlDecoderSetImageOutBuffer)                       \
    X(JxlDecoderGetBoxType) X(JxlDecoderSetBoxBuffer) X(JxlDecoderReleaseBoxBuffer)                                        \
    X(JxlEncoderCreate) X(JxlEncoderDestroy) X(JxlEncoderInitBasicInfo) X(JxlEncoderSetBasicInfo)                          \
    X(JxlEncoderSetICCProfile) X(JxlEncoderSetColorEncoding) X(JxlColorEncodingSetToSRGB)                                  \
    X(JxlEncoderFrameSettingsCreate) X(JxlEncoderFrameSettingsSetOption) X(JxlEncoderSetFrameDistance)                     \
    X(JxlEncoderSetFrameLossless) X(JxlEncoderAddImageFrame) X(JxlEncoderUseBoxes) X(JxlEncoderAddBox)                     \
    X(JxlEncoderCloseInput) X(JxlEncoderProcessOutput) X(JxlEncoderGetRequiredCodestreamLevel)                             \
    X(JxlEncoderSetCodestreamLevel)

#define HV_JXL_FIELD(name) __typeof__(name) *name;
typedef struct { HV_JXL_FUNCTIONS(HV_JXL_FIELD) } hv_jxl_functions;
#undef HV_JXL_FIELD

/// What libjxl does; nothing before `hv_open_jxl`.
extern hv_jxl_functions hv_libjxl;

/// Gives an image that is nobody else's the EXIF and XMP data, which may be missing, as fields that other encoders write.
void hv_set_exif(VipsImage *image, const void *exif, size_t exif_count, const void *xmp, size_t xmp_count);
/// What of EXIF (as a TIFF) and XMP other formats would write for the image, each to be freed with `g_free`.
void hv_take_exif(VipsImage *image, uint8_t **exif, size_t *exif_count, uint8_t **xmp, size_t *xmp_count);

#endif
