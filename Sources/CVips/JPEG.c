#include "CVipsInternal.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

// The JPEG coding of small images through libjpeg directly: in libvips, threads, operations and signals cost more than
// the coding itself. The same settings give the same bytes. Other images are left to libvips.

enum { most_scans = 100, profile_marker = JPEG_APP0 + 2, profile_head = 14, profile_part = 65533 - profile_head };

/// The error handling with jumps; libjpeg ends the process after an error by default.
typedef struct {
    struct jpeg_error_mgr manager;
    jmp_buf place;
} Errors;

static void jump_out(j_common_ptr state) { longjmp(((Errors *)state->err)->place, 1); }

static void ignore_message(j_common_ptr state) { (void)state; }

static void watch_errors(j_common_ptr state, Errors *errors) {
    state->err = jpeg_std_error(&errors->manager);
    errors->manager.error_exit = jump_out;
    errors->manager.output_message = ignore_message;
}

/// Reports a truncated file as an error; libjpeg would invent the rest.
static boolean refuse_end(j_decompress_ptr state) {
    ERREXIT(state, JERR_INPUT_EOF);
    return FALSE;
}

static void watch_decoding(j_common_ptr state) {
    // Each scan covers the whole image, and a small file can hold thousands.
    if (hv_is_late() || ((j_decompress_ptr)state)->input_scan_number > most_scans) jump_out(state);
}

VipsImage *hv_decode_jpeg(VipsImage *header, const void *bytes, size_t count, int shrink) {
    struct jpeg_decompress_struct state;
    struct jpeg_progress_mgr progress = {.progress_monitor = watch_decoding};
    Errors errors;
    VipsImage *volatile out = NULL;
    volatile int is_done = 0;
    watch_errors((j_common_ptr)&state, &errors);
    jpeg_create_decompress(&state);
    if (!setjmp(errors.place)) {
        state.progress = &progress;
        jpeg_mem_src(&state, bytes, count);
        state.src->fill_input_buffer = refuse_end;
        jpeg_read_header(&state, TRUE);
        int bands = header->Bands;
        if (bands == state.num_components && (bands == 1 || bands == 3)) {
            state.out_color_space = bands == 1 ? JCS_GRAYSCALE : JCS_RGB;
            state.scale_num = 1;
            state.scale_denom = (unsigned)shrink;
            jpeg_start_decompress(&state);
            out = hv_new_like(header, (int)state.output_width, (int)state.output_height);
            while (out && state.output_scanline < state.output_height) {
                JSAMPROW row = VIPS_IMAGE_ADDR(out, 0, (int)state.output_scanline);
                jpeg_read_scanlines(&state, &row, 1);
            }
            if (out) jpeg_finish_decompress(&state);
            is_done = out != NULL;
        }
    }
    jpeg_destroy_decompress(&state);
    if (is_done) return out;
    if (out) g_object_unref(out);
    return NULL;
}

typedef struct {
    Errors errors;
    char reason[JMSG_LENGTH_MAX];
} Checker;

static void refuse(j_common_ptr state) {
    state->err->format_message(state, ((Checker *)state->err)->reason);
    jump_out(state);
}

/// Treats libjpeg's warnings about invented data as errors; warnings without an effect on pixels are ignored.
static void check_warning(j_common_ptr state, int level) {
    if (level >= 0) return;
    switch (state->err->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_TOO_MUCH_DATA: return;
    default: refuse(state);
    }
}

int hv_check_jpeg(const void *bytes, size_t count) {
    struct jpeg_decompress_struct state;
    struct jpeg_progress_mgr progress = {.progress_monitor = watch_decoding};
    Checker checker = {.reason = ""};
    uint8_t *volatile row = NULL;
    volatile int is_done = 0;
    watch_errors((j_common_ptr)&state, &checker.errors);
    checker.errors.manager.error_exit = refuse;
    checker.errors.manager.emit_message = check_warning;
    jpeg_create_decompress(&state);
    if (!setjmp(checker.errors.place)) {
        state.progress = &progress;
        jpeg_mem_src(&state, bytes, count);
        state.src->fill_input_buffer = refuse_end;
        jpeg_read_header(&state, TRUE);
        jpeg_start_decompress(&state);
        row = malloc((size_t)state.output_width * (size_t)state.output_components);
        while (row && state.output_scanline < state.output_height) {
            JSAMPROW place = row;
            jpeg_read_scanlines(&state, &place, 1);
        }
        if (row) jpeg_finish_decompress(&state);
        else strcpy(checker.reason, "out of memory");
        is_done = row != NULL;
    }
    jpeg_destroy_decompress(&state);
    free(row);
    if (is_done) return 0;
    vips_error("jpeg", "%s", *checker.reason ? checker.reason : "it has too many scans, or takes too long");
    return -1;
}

/// Writes the profile in as many markers as it needs (ICC.1:2010, B.4).
static void write_profile(j_compress_ptr state, const uint8_t *profile, size_t count) {
    size_t parts = (count + profile_part - 1) / profile_part;
    for (size_t part = 0; part < parts; part++) {
        size_t length = count - part * profile_part < profile_part ? count - part * profile_part : profile_part;
        jpeg_write_m_header(state, profile_marker, (unsigned)(length + profile_head));
        const uint8_t head[profile_head] = {'I', 'C', 'C', '_', 'P', 'R', 'O', 'F', 'I', 'L', 'E', 0,
            (uint8_t)(part + 1), (uint8_t)parts};
        for (size_t i = 0; i < profile_head; i++) jpeg_write_m_byte(state, head[i]);
        for (size_t i = 0; i < length; i++) jpeg_write_m_byte(state, profile[part * profile_part + i]);
    }
}

static void watch_encoding(j_common_ptr state) {
    if (hv_is_late()) jump_out(state);
}

/// The destination of the file: memory that grows.
typedef struct {
    struct jpeg_destination_mgr manager;
    uint8_t *bytes;
    size_t size;
} Target;

static boolean grow(j_compress_ptr state) {
    // libjpeg calls this when all space is used, whatever free_in_buffer says.
    Target *target = (Target *)state->dest;
    size_t used = target->size, size = used ? 2 * used : 32 << 10;
    uint8_t *bytes = realloc(target->bytes, size);
    if (!bytes) ERREXIT1(state, JERR_OUT_OF_MEMORY, 0);
    target->bytes = bytes;
    target->size = size;
    target->manager.next_output_byte = bytes + used;
    target->manager.free_in_buffer = size - used;
    return TRUE;
}

static void begin(j_compress_ptr state) { grow(state); }

static void end(j_compress_ptr state) { (void)state; }

void *hv_encode_jpeg(VipsImage *image, const hv_encoding *how, const void *profile, size_t profile_count, size_t *count) {
    int bands = image->Bands;
    int is_plain = image->BandFmt == VIPS_FORMAT_UCHAR && (bands == 1 || bands == 3) && image->Xsize <= JPEG_MAX_DIMENSION
        && image->Ysize <= JPEG_MAX_DIMENSION && profile_count <= 255 * (size_t)profile_part;
    if (!is_plain) return NULL;
    struct jpeg_compress_struct state;
    struct jpeg_progress_mgr progress = {.progress_monitor = watch_encoding};
    Errors errors;
    Target target = {.manager = {.init_destination = begin, .empty_output_buffer = grow, .term_destination = end}};
    volatile int is_done = 0;
    watch_errors((j_common_ptr)&state, &errors);
    jpeg_create_compress(&state);
    if (!setjmp(errors.place)) {
        state.progress = &progress;
        state.dest = &target.manager;
        state.image_width = (JDIMENSION)image->Xsize;
        state.image_height = (JDIMENSION)image->Ysize;
        state.input_components = bands;
        state.in_color_space = bands == 1 ? JCS_GRAYSCALE : JCS_RGB;
        jpeg_set_defaults(&state);
        jpeg_set_quality(&state, how->quality, TRUE);
        state.optimize_coding = TRUE;
        if (how->progressive) jpeg_simple_progression(&state);
        // Chroma is halved up to quality 90, as libjpeg does by default, and stored in full above.
        if (how->quality > 90) state.comp_info[0].h_samp_factor = state.comp_info[0].v_samp_factor = 1;
        jpeg_start_compress(&state, TRUE);
        if (profile) write_profile(&state, profile, profile_count);
        while (state.next_scanline < state.image_height) {
            JSAMPROW row = VIPS_IMAGE_ADDR(image, 0, (int)state.next_scanline);
            jpeg_write_scanlines(&state, &row, 1);
        }
        jpeg_finish_compress(&state);
        is_done = 1;
    }
    jpeg_destroy_compress(&state);
    *count = target.size - target.manager.free_in_buffer;
    if (is_done) return target.bytes;
    free(target.bytes);
    return NULL;
}
