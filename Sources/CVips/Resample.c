#include "CVipsInternal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// libvips resamples row by row through a pipeline that is made for pictures larger than memory. For small ones, of which
// galleries are made, the pipeline costs more than the arithmetic, so that is done here: Lanczos with three lobes, first
// down, which vectors do well, then across, in fixed point, so that every machine makes the same bytes.

enum { precision = 14, half = 1 << (precision - 1) };

/// Which samples make one, and how much each counts.
typedef struct {
    int size;
    int *first;
    int *count;
    int16_t *weights;
} Kernel;

static double lanczos(double x) {
    if (x == 0) return 1;
    if (x <= -3 || x >= 3) return 0;
    x *= G_PI;
    return 3 * sin(x) * sin(x / 3) / (x * x);
}

static void drop(Kernel *kernel) {
    free(kernel->first);
    free(kernel->count);
    free(kernel->weights);
}

static int prepare(Kernel *kernel, int from, int to) {
    double scale = (double)from / to, stretch = scale > 1 ? scale : 1, reach = 3 * stretch;
    kernel->size = (int)ceil(reach) * 2 + 2;
    kernel->first = calloc((size_t)to, sizeof(int));
    kernel->count = calloc((size_t)to, sizeof(int));
    kernel->weights = calloc((size_t)to * (size_t)kernel->size, sizeof(int16_t));
    double *exact = calloc((size_t)kernel->size, sizeof(double));
    int failed = !kernel->first || !kernel->count || !kernel->weights || !exact;
    for (int place = 0; place < to && !failed; place++) {
        double middle = (place + 0.5) * scale;
        int low = (int)(middle - reach + 0.5), high = (int)(middle + reach + 0.5);
        if (low < 0) low = 0;
        if (high > from) high = from;
        if (high - low > kernel->size) high = low + kernel->size;
        double sum = 0;
        for (int i = low; i < high; i++) sum += exact[i - low] = lanczos((i + 0.5 - middle) / stretch);
        // The weights add up to one, so that a plain colour stays what it is.
        int rest = 1 << precision, largest = 0;
        int16_t *weights = kernel->weights + (size_t)place * (size_t)kernel->size;
        for (int i = 0; i < high - low; i++) {
            weights[i] = (int16_t)lround(exact[i] / sum * (1 << precision));
            rest -= weights[i];
            if (weights[i] > weights[largest]) largest = i;
        }
        weights[largest] = (int16_t)(weights[largest] + rest);
        kernel->first[place] = low;
        kernel->count[place] = high - low;
    }
    free(exact);
    return failed;
}

static uint8_t clipped(int value) {
    value >>= precision;
    return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
}

static void across(const uint8_t *from, uint8_t *to, int width, int bands, const Kernel *kernel) {
    for (int x = 0; x < width; x++) {
        const int16_t *weights = kernel->weights + (size_t)x * (size_t)kernel->size;
        const uint8_t *place = from + (size_t)kernel->first[x] * (size_t)bands;
        int count = kernel->count[x];
        if (bands == 3) {
            int red = half, green = half, blue = half;
            for (int i = 0; i < count; i++, place += 3) {
                red += place[0] * weights[i];
                green += place[1] * weights[i];
                blue += place[2] * weights[i];
            }
            *to++ = clipped(red);
            *to++ = clipped(green);
            *to++ = clipped(blue);
        } else {
            for (int band = 0; band < bands; band++) {
                int sum = half;
                for (int i = 0; i < count; i++) sum += place[i * bands + band] * weights[i];
                *to++ = clipped(sum);
            }
        }
    }
}

static void down(VipsImage *image, size_t stride, uint8_t *to, int *sums, const Kernel *kernel, int y) {
    const int16_t *weights = kernel->weights + (size_t)y * (size_t)kernel->size;
    for (size_t i = 0; i < stride; i++) sums[i] = half;
    for (int row = 0; row < kernel->count[y]; row++) {
        const uint8_t *place = VIPS_IMAGE_ADDR(image, 0, kernel->first[y] + row);
        int weight = weights[row];
        for (size_t i = 0; i < stride; i++) sums[i] += place[i] * weight;
    }
    for (size_t i = 0; i < stride; i++) to[i] = clipped(sums[i]);
}

VipsImage *hv_resample(VipsImage *image, int width, int height) {
    if (vips_image_wio_input(image)) return NULL;
    int bands = vips_image_get_bands(image);
    size_t stride = (size_t)image->Xsize * (size_t)bands;
    Kernel columns = {0}, rows = {0};
    uint8_t *middle = malloc(stride), *line = malloc((size_t)width * (size_t)bands);
    int *sums = malloc(stride * sizeof(int));
    VipsImage *out = vips_image_new_memory();
    int failed = prepare(&columns, image->Xsize, width) | prepare(&rows, image->Ysize, height);
    failed = failed || !middle || !line || !sums || !out;
    if (failed) vips_error("hv_resample", "%s", "out of memory");
    failed = failed || vips_image_pipelinev(out, VIPS_DEMAND_STYLE_ANY, image, NULL);
    if (!failed) {
        out->Xsize = width;
        out->Ysize = height;
        for (int y = 0; y < height && !failed; y++) {
            down(image, stride, middle, sums, &rows, y);
            across(middle, line, width, bands, &columns);
            failed = vips_image_write_line(out, y, line);
        }
    }
    drop(&columns);
    drop(&rows);
    free(middle);
    free(line);
    free(sums);
    if (failed && out) g_object_unref(out);
    return failed ? NULL : out;
}
