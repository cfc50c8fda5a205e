#include "CVipsInternal.h"
#include <math.h>

// Blending and compositing by W3C Compositing and Blending Level 1. libvips' own blends colours that are multiplied by alpha,
// which counts it twice, and leaves out that of the other picture where one lies atop the other.

typedef struct {
    hv_mode mode;
    int is_deep;
    /// The largest sample.
    double most;
} Parameters;

static double hard_light(double below, double above) {
    return above <= 0.5 ? below * 2 * above : below + (2 * above - 1) - below * (2 * above - 1);
}

static double soft_light(double below, double above) {
    if (above <= 0.5) return below - (1 - 2 * above) * below * (1 - below);
    double root = below <= 0.25 ? ((16 * below - 12) * below + 4) * below : sqrt(below);
    return below + (2 * above - 1) * (root - below);
}

/// The colour of two opaque ones.
static double blended(hv_mode mode, double below, double above) {
    switch (mode) {
    case hv_multiply: return below * above;
    case hv_screen: return below + above - below * above;
    case hv_overlay: return hard_light(above, below);
    case hv_darken: return VIPS_MIN(below, above);
    case hv_lighten: return VIPS_MAX(below, above);
    case hv_colour_dodge: return below <= 0 ? 0 : above >= 1 ? 1 : VIPS_MIN(1, below / (1 - above));
    case hv_colour_burn: return below >= 1 ? 1 : above <= 0 ? 0 : 1 - VIPS_MIN(1, (1 - below) / above);
    case hv_hard_light: return hard_light(below, above);
    case hv_soft_light: return soft_light(below, above);
    case hv_difference: return fabs(below - above);
    case hv_exclusion: return below + above - 2 * below * above;
    default: return above;
    }
}

/// How much of the picture below, and of that above, is in the result, by the alpha of both. What is blended lies over the other.
static void parts(hv_mode mode, double below, double above, double *of_below, double *of_above) {
    switch (mode) {
    case hv_clear: *of_above = 0, *of_below = 0; break;
    case hv_source: *of_above = 1, *of_below = 0; break;
    case hv_in: *of_above = below, *of_below = 0; break;
    case hv_out: *of_above = 1 - below, *of_below = 0; break;
    case hv_atop: *of_above = below, *of_below = 1 - above; break;
    case hv_below_over: *of_above = 1 - below, *of_below = 1; break;
    case hv_below_in: *of_above = 0, *of_below = above; break;
    case hv_below_out: *of_above = 0, *of_below = 1 - above; break;
    case hv_below_atop: *of_above = 1 - below, *of_below = above; break;
    case hv_xor: *of_above = 1 - below, *of_below = 1 - above; break;
    case hv_add: *of_above = 1, *of_below = 1; break;
    default: *of_above = 1, *of_below = 1 - above;
    }
}

/// One pixel, of red, green, blue and alpha of 0…1.
static void combine(hv_mode mode, const double *below, const double *above, double *to) {
    double of_below, of_above;
    parts(mode, below[3], above[3], &of_below, &of_above);
    of_below *= below[3];
    of_above *= above[3];
    to[3] = VIPS_MIN(1, of_below + of_above);
    for (int band = 0; band < 3; band++) {
        double colour = above[band];
        if (mode >= hv_multiply) colour += below[3] * (blended(mode, below[band], colour) - colour);
        to[band] = to[3] > 0 ? VIPS_MIN(1, (of_below * below[band] + of_above * colour) / to[3]) : 0;
    }
}

static double sample(const void *pixels, size_t place, const Parameters *parameters) {
    return (parameters->is_deep ? ((const uint16_t *)pixels)[place] : ((const uint8_t *)pixels)[place]) / parameters->most;
}

static void combine_row(const Parameters *parameters, const void *below, const void *above, void *to, size_t count) {
    for (size_t place = 0; place < 4 * count; place += 4) {
        double pixels[3][4];
        for (size_t band = 0; band < 4; band++) {
            pixels[0][band] = sample(below, place + band, parameters);
            pixels[1][band] = sample(above, place + band, parameters);
        }
        combine(parameters->mode, pixels[0], pixels[1], pixels[2]);
        for (size_t band = 0; band < 4; band++) {
            double rounded = pixels[2][band] * parameters->most + 0.5;
            if (parameters->is_deep) ((uint16_t *)to)[place + band] = (uint16_t)rounded;
            else ((uint8_t *)to)[place + band] = (uint8_t)rounded;
        }
    }
}

static int generate(VipsRegion *out, void *sequence, void *unused, void *context, gboolean *stop) {
    (void)unused, (void)stop;
    VipsRegion **in = sequence;
    const VipsRect *part = &out->valid;
    if (vips_region_prepare(in[0], part) || vips_region_prepare(in[1], part)) return -1;
    for (int y = part->top; y < part->top + part->height; y++)
        combine_row(context, VIPS_REGION_ADDR(in[0], part->left, y), VIPS_REGION_ADDR(in[1], part->left, y),
            VIPS_REGION_ADDR(out, part->left, y), (size_t)part->width);
    return 0;
}

VipsImage *hv_composite(VipsImage *below, VipsImage *above, hv_mode mode) {
    VipsImage *out = vips_image_new();
    VipsImage **in = vips_allocate_input_array(out, below, above, NULL);
    Parameters *parameters = VIPS_NEW(out, Parameters);
    if (in && parameters && !vips_check_bands("hv_composite", below, 4) && !vips_check_8or16("hv_composite", below)
        && !vips_check_format_same("hv_composite", below, above) && !vips_check_size_same("hv_composite", below, above)
        && !vips_check_bands_same("hv_composite", below, above)
        && !vips_image_pipeline_array(out, VIPS_DEMAND_STYLE_THINSTRIP, in)) {
        parameters->mode = mode;
        parameters->is_deep = below->BandFmt == VIPS_FORMAT_USHORT;
        parameters->most = parameters->is_deep ? 65535 : 255;
        // The result reads from both for as long as it lives.
        for (int i = 0; i < 2; i++) {
            g_object_ref(in[i]);
            vips_object_local(out, in[i]);
        }
        if (!vips_image_generate(out, vips_start_many, generate, vips_stop_many, in, parameters)) return out;
    }
    g_object_unref(out);
    return NULL;
}
