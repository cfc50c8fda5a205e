#include "JXL.h"
#include <string.h>

static const char exif_name[] = "Exif\0", xmp_name[] = "http://ns.adobe.com/xap/1.0/";
enum { app1 = 0xE1 };

/// Removes the orientation: the metadata describes images that are upright both when read and when written.
static void remove_orientation(VipsImage *image) {
    vips_image_remove(image, VIPS_META_ORIENTATION);
    vips_image_remove(image, "exif-ifd0-Orientation");
}

void hv_set_exif(VipsImage *image, const void *exif, size_t exif_count, const void *xmp, size_t xmp_count) {
    // libvips converts the block to fields, which encoders write.
    if (exif_count) vips_image_set_blob_copy(image, VIPS_META_EXIF_NAME, exif, exif_count);
    if (xmp_count) vips_image_set_blob_copy(image, VIPS_META_XMP_NAME, xmp, xmp_count);
    remove_orientation(image);
    vips_error_clear();
}

/// Encodes a black JPEG with the metadata of an image and with its size, which EXIF contains: libvips writes EXIF only
/// together with a format that it supports.
static int save_carrier(VipsImage *image, uint8_t **file, size_t *count) {
    VipsImage *black, *carrier;
    if (vips_black(&black, VIPS_MIN(image->Xsize, 65500), VIPS_MIN(image->Ysize, 65500), NULL)) return -1;
    carrier = hv_with_metadata(black, image);
    g_object_unref(black);
    if (!carrier) return -1;
    remove_orientation(carrier);
    vips_image_remove(carrier, VIPS_META_ICC_NAME);
    int failed = vips_jpegsave_buffer(carrier, (void **)file, count, "Q", 1, NULL);
    g_object_unref(carrier);
    return failed;
}

void hv_get_exif(VipsImage *image, uint8_t **exif, size_t *exif_count, uint8_t **xmp, size_t *xmp_count) {
    if (!hv_carried_metadata(image)) return;
    uint8_t *file = NULL;
    size_t count = 0;
    if (save_carrier(image, &file, &count)) {
        // An image without its metadata is better than an error.
        vips_error_clear();
        return;
    }
    for (size_t place = 2; place + 4 <= count && file[place] == 0xFF && file[place + 1] != 0xDA;) {
        size_t length = (size_t)file[place + 2] << 8 | file[place + 3];
        const uint8_t *body = file + place + 4;
        if (length < 2 || place + 2 + length > count) break;
        size_t body_count = length - 2;
        if (file[place + 1] == app1 && body_count > sizeof exif_name && !memcmp(body, exif_name, sizeof exif_name)) {
            g_free(*exif);
            *exif_count = body_count - sizeof exif_name;
            *exif = g_memdup2(body + sizeof exif_name, *exif_count);
        } else if (file[place + 1] == app1 && body_count > sizeof xmp_name
            && !memcmp(body, xmp_name, sizeof xmp_name)) {
            g_free(*xmp);
            *xmp_count = body_count - sizeof xmp_name;
            *xmp = g_memdup2(body + sizeof xmp_name, *xmp_count);
        }
        place += 2 + length;
    }
    hv_free(file);
}
