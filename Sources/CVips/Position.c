#define _GNU_SOURCE
#include "CVipsInternal.h"
#include <string.h>

/// Properties of EXIF (XMP, part 2, 2.6), and those of Photoshop and the IPTC for the place that is shown or where the picture
/// was taken (IPTC Photo Metadata 2022.1). No program names their spaces otherwise.
static int xmp_tells_place(const uint8_t *bytes, size_t count) {
    static const char *words[] = {"GPS", ":City", ":State", ":ProvinceState", ":Country", ":Location", ":Sublocation"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(bytes, count, words[i], strlen(words[i]))) return 1;
    return 0;
}

/// Data sets of the IPTC for a place (IIM 4.2, 2:26, 27, 90, 92, 95, 100 and 101), and EXIF or XMP among the resources of
/// Photoshop, with which they come in a JPEG.
static int iptc_tells_place(const uint8_t *bytes, size_t count) {
    static const uint8_t places[] = {26, 27, 90, 92, 95, 100, 101};
    for (size_t i = 0; i + 3 <= count; i++)
        if (bytes[i] == 0x1C && bytes[i + 1] == 2 && memchr(places, bytes[i + 2], sizeof places)) return 1;
    static const char *resources[] = {"8BIM\x04\x22", "8BIM\x04\x23", "8BIM\x04\x24"};
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
        if (memmem(bytes, count, resources[i], 6)) return 1;
    return 0;
}

int hv_is_position(VipsImage *image, const char *field) {
    // libvips has the fields of the GPS directory as those of directory 3 (Exif 2.3, 4.6.6 and 4.6.5).
    if (g_str_has_prefix(field, "exif-ifd3-") || !strcmp(field, "exif-ifd2-MakerNote")) return 1;
    int is_xmp = !strcmp(field, VIPS_META_XMP_NAME);
    const void *bytes;
    size_t count;
    if ((!is_xmp && strcmp(field, VIPS_META_IPTC_NAME) && strcmp(field, VIPS_META_PHOTOSHOP_NAME))
        || vips_image_get_blob(image, field, &bytes, &count))
        return 0;
    return is_xmp ? xmp_tells_place(bytes, count) : iptc_tells_place(bytes, count);
}
