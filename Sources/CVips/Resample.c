#include "CVipsInternal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// The resampling of images in memory. libvips resamples row by row through a pipeline for images larger than memory.
// For the small images of galleries the pipeline costs more than the arithmetic, so it is done here: Lanczos with three
// lobes, first vertically, then horizontally, in fixed point, so that every machine gives the same bytes.
//
// Intermediate samples have 16 bits. Samples of opaque images are used unchanged. Those of translucent images are
// multiplied by their alpha before, so that the colours of transparent pixels do not bleed into others, and divided by
// it after; alpha is counted in 64ths meanwhile.

enum { precision = 14, half = 1 << (precision - 1), fine = 64, block = 8 };

/// The input samples of each output sample, with their weights.
typedef struct {
    /// The number of weights per output sample, which is even; unused weights are zero.
    int size;
    int *first;
    int *count;
    int16_t *weights;
} Kernel;

static double lanczos(double x) {
    if (x == 0) return 1;
    if (x <= -3 || x >= 3) return 0;
    // sin(x) by the triple-angle formula.
    x *= G_PI / 3;
    double third = sin(x);
    return (3 - 4 * third * third) * third * third / (3 * x * x);
}

static void free_kernel(Kernel *kernel) {
    free(kernel->first);
    free(kernel->count);
    free(kernel->weights);
}

/// Finds the kernel from `from` samples, of which the picture covers `covered`, to `to`.
static int prepare(Kernel *kernel, int from, double covered, int to) {
    double scale = covered / to, stretch = scale > 1 ? scale : 1, reach = 3 * stretch;
    double most = ceil(reach) * 2 + 2;
    kernel->size = ((most < from ? (int)most : from) + 1) & ~1;
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
        // The weights add up to exactly one, so that a uniform colour is unchanged.
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

/// Computes the weighted sums of rows of samples, rounded and clipped to 0…`top`. `taps` is even, `count` a multiple of
/// eight.
static void combine(
    const int16_t *const *rows, const int16_t *weights, int taps, int16_t *to, size_t count, int16_t top) {
#if defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128(), most = _mm_set1_epi16(top), rounding = _mm_set1_epi32(half);
    for (size_t i = 0; i < count; i += 8) {
        __m128i low = rounding, high = rounding;
        for (int tap = 0; tap < taps; tap += 2) {
            int32_t pair;
            memcpy(&pair, weights + tap, sizeof pair);
            __m128i weight = _mm_set1_epi32(pair);
            __m128i one = _mm_loadu_si128((const __m128i *)(rows[tap] + i));
            __m128i other = _mm_loadu_si128((const __m128i *)(rows[tap + 1] + i));
            low = _mm_add_epi32(low, _mm_madd_epi16(_mm_unpacklo_epi16(one, other), weight));
            high = _mm_add_epi32(high, _mm_madd_epi16(_mm_unpackhi_epi16(one, other), weight));
        }
        __m128i sum = _mm_packs_epi32(_mm_srai_epi32(low, precision), _mm_srai_epi32(high, precision));
        _mm_storeu_si128((__m128i *)(to + i), _mm_min_epi16(_mm_max_epi16(sum, zero), most));
    }
#else
    for (size_t i = 0; i < count; i += 8) {
        int32_t sums[8];
        for (int j = 0; j < 8; j++) sums[j] = half;
        for (int tap = 0; tap < taps; tap++)
            for (int j = 0; j < 8; j++) sums[j] += (int32_t)rows[tap][i + j] * weights[tap];
        for (int j = 0; j < 8; j++) {
            int32_t sum = sums[j] >> precision;
            to[i + j] = sum < 0 ? 0 : sum > top ? top : (int16_t)sum;
        }
    }
#endif
}

/// Transposes eight rows of eight samples; strides are counted in samples.
static void transpose(const int16_t *from, size_t from_stride, int16_t *to, size_t to_stride) {
#if defined(__SSE2__)
    __m128i rows[8], pairs[8];
    for (size_t i = 0; i < 8; i++) rows[i] = _mm_loadu_si128((const __m128i *)(from + i * from_stride));
    for (int i = 0; i < 4; i++) {
        pairs[2 * i] = _mm_unpacklo_epi16(rows[i], rows[i + 4]);
        pairs[2 * i + 1] = _mm_unpackhi_epi16(rows[i], rows[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        rows[2 * i] = _mm_unpacklo_epi16(pairs[i], pairs[i + 4]);
        rows[2 * i + 1] = _mm_unpackhi_epi16(pairs[i], pairs[i + 4]);
    }
    for (size_t i = 0; i < 4; i++) {
        _mm_storeu_si128((__m128i *)(to + 2 * i * to_stride), _mm_unpacklo_epi16(rows[i], rows[i + 4]));
        _mm_storeu_si128((__m128i *)(to + (2 * i + 1) * to_stride), _mm_unpackhi_epi16(rows[i], rows[i + 4]));
    }
#else
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < 8; j++) to[j * to_stride + i] = from[i * from_stride + j];
#endif
}

/// The state of one resampling.
typedef struct {
    const uint8_t *from;
    uint8_t *to;
    size_t width, height, new_width, new_height, bands;
    /// 1 when samples are multiplied by the last one of their pixel, the alpha.
    int is_translucent;
    int16_t top;
    Kernel columns, rows;
    /// The number of samples in a row of the source and of the result, rounded up to whole vectors.
    size_t room, new_room;
    /// The rows of the source in 16 bits that the kernel needs at a time, and the number of rows converted so far.
    int16_t *ring;
    size_t ring_size, ready;
    /// The buffers of one block of rows: the input rows, the same transposed, the transposed result, and the result.
    int16_t *lines, *transposed, *done, *result;
    const int16_t **taps;
} Work;

static void widen(const Work *work, const uint8_t *row, int16_t *to) {
    size_t count = work->width * work->bands;
    if (!work->is_translucent) {
        for (size_t i = 0; i < count; i++) to[i] = row[i];
        return;
    }
    size_t colours = work->bands - 1;
    for (size_t i = 0; i < count; i += work->bands) {
        unsigned alpha = row[i + colours];
        for (size_t band = 0; band < colours; band++)
            to[i + band] = (int16_t)((row[i + band] * alpha * fine + 127) / 255);
        to[i + colours] = (int16_t)(alpha * fine);
    }
}

/// Computes one row of the result, as wide as the source.
static void down(Work *work, size_t y, int16_t *to) {
    const Kernel *kernel = &work->rows;
    size_t first = (size_t)kernel->first[y], count = (size_t)kernel->count[y];
    for (; work->ready < first + count; work->ready++)
        widen(work, work->from + work->ready * work->width * work->bands,
            work->ring + work->ready % work->ring_size * work->room);
    int taps = (int)(count + 1) & ~1;
    for (int tap = 0; tap < taps; tap++) {
        // The tap that makes the number even has weight zero, but needs a row.
        size_t row = first + ((size_t)tap < count ? (size_t)tap : count - 1);
        work->taps[tap] = work->ring + row % work->ring_size * work->room;
    }
    combine(work->taps, kernel->weights + y * (size_t)kernel->size, taps, to, work->room, work->top);
}

/// Resamples a block of rows horizontally; they are transposed, so that the vectors run across them.
static void across(Work *work) {
    size_t step = work->bands * block;
    for (size_t i = 0; i < work->room; i += block)
        transpose(work->lines + i, work->room, work->transposed + i * block, block);
    const Kernel *kernel = &work->columns;
    for (size_t x = 0; x < work->new_width; x++) {
        size_t first = (size_t)kernel->first[x], count = (size_t)kernel->count[x];
        int taps = (int)(count + 1) & ~1;
        for (int tap = 0; tap < taps; tap++)
            work->taps[tap] = work->transposed + (first + ((size_t)tap < count ? (size_t)tap : count - 1)) * step;
        combine(work->taps, kernel->weights + x * (size_t)kernel->size, taps, work->done + x * step, step, work->top);
    }
    for (size_t i = 0; i < work->new_room; i += block)
        transpose(work->done + i * block, block, work->result + i, work->new_room);
}

static void narrow(const Work *work, const int16_t *from, uint8_t *to) {
    size_t bands = work->bands, colours = bands - 1;
    if (!work->is_translucent) {
        for (size_t i = 0; i < work->new_width * bands; i++) to[i] = (uint8_t)from[i];
        return;
    }
    for (size_t x = 0; x < work->new_width; x++, from += bands, to += bands) {
        int alpha = from[colours];
        for (size_t band = 0; band < colours; band++) {
            int colour = alpha ? (from[band] * 255 + alpha / 2) / alpha : 0;
            to[band] = colour > 255 ? 255 : (uint8_t)colour;
        }
        to[colours] = (uint8_t)((alpha + fine / 2) / fine);
    }
}

static int run(Work *work) {
    size_t most_taps = (size_t)(work->rows.size > work->columns.size ? work->rows.size : work->columns.size);
    work->room = (work->width * work->bands + 7) & ~(size_t)7;
    work->new_room = (work->new_width * work->bands + 7) & ~(size_t)7;
    work->ring_size = (size_t)work->rows.size;
    work->ring = calloc(work->ring_size * work->room, sizeof(int16_t));
    work->lines = calloc(block * work->room, sizeof(int16_t));
    work->transposed = calloc(block * work->room, sizeof(int16_t));
    work->done = calloc(block * work->new_room, sizeof(int16_t));
    work->result = calloc(block * work->new_room, sizeof(int16_t));
    work->taps = calloc(most_taps, sizeof(int16_t *));
    int failed = !work->ring || !work->lines || !work->transposed || !work->done || !work->result || !work->taps;
    for (size_t y = 0; y < work->new_height && !failed; y += block) {
        size_t count = work->new_height - y < block ? work->new_height - y : block;
        for (size_t row = 0; row < count; row++) down(work, y + row, work->lines + row * work->room);
        across(work);
        for (size_t row = 0; row < count; row++)
            narrow(work, work->result + row * work->new_room, work->to + (y + row) * work->new_width * work->bands);
        failed = hv_is_late();
    }
    free(work->ring);
    free(work->lines);
    free(work->transposed);
    free(work->done);
    free(work->result);
    free(work->taps);
    return failed;
}

int hv_all_opaque(const uint8_t *pixels, size_t count, size_t bands) {
    for (size_t i = bands - 1; i < count; i += bands)
        if (pixels[i] != 255) return 0;
    return 1;
}

VipsImage *hv_resample(VipsImage *image, double covered_width, double covered_height, int width, int height) {
    VipsImage *out = hv_new_like(image, width, height);
    if (!out) return NULL;
    size_t bands = (size_t)image->Bands;
    Work work = {.from = VIPS_IMAGE_ADDR(image, 0, 0), .to = VIPS_IMAGE_ADDR(out, 0, 0), .width = (size_t)image->Xsize,
        .height = (size_t)image->Ysize, .new_width = (size_t)width, .new_height = (size_t)height, .bands = bands};
    work.is_translucent =
        vips_image_hasalpha(image) && !hv_all_opaque(work.from, work.width * work.height * bands, bands);
    work.top = work.is_translucent ? 255 * fine : 255;
    int failed = prepare(&work.columns, image->Xsize, covered_width, width)
        | prepare(&work.rows, image->Ysize, covered_height, height);
    failed = failed || run(&work);
    free_kernel(&work.columns);
    free_kernel(&work.rows);
    if (!failed) return out;
    if (!hv_was_killed()) vips_error("hv_resample", "%s", "out of memory");
    g_object_unref(out);
    return NULL;
}

VipsImage *hv_nearest(VipsImage *image, int width, int height) {
    VipsImage *out = hv_new_like(image, width, height);
    if (!out) return NULL;
    size_t size = VIPS_IMAGE_SIZEOF_PEL(image);
    for (int64_t y = 0; y < height; y++) {
        const uint8_t *row = VIPS_IMAGE_ADDR(image, 0, (int)((2 * y + 1) * image->Ysize / (2 * (int64_t)height)));
        uint8_t *to = VIPS_IMAGE_ADDR(out, 0, (int)y);
        for (int64_t x = 0; x < width; x++, to += size)
            memcpy(to, row + (size_t)((2 * x + 1) * image->Xsize / (2 * (int64_t)width)) * size, size);
        if (hv_is_late()) {
            g_object_unref(out);
            return NULL;
        }
    }
    return out;
}
