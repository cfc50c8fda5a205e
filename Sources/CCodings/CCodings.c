#include "CCodings.h"

#include <brotli/decode.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

// The functions that are used; the tables and the loaders are generated from these lists.
#define ZLIB(X) X(inflateInit2_) X(inflate) X(inflateReset) X(inflateEnd)
#define BROTLI(X) X(BrotliDecoderCreateInstance) X(BrotliDecoderDecompressStream) X(BrotliDecoderDestroyInstance)
#define ZSTD(X) X(ZSTD_createDStream) X(ZSTD_DCtx_setParameter) X(ZSTD_decompressStream) X(ZSTD_isError) X(ZSTD_freeDStream)

#define DECLARE(name) static __typeof__(&name) lib_##name;
ZLIB(DECLARE) BROTLI(DECLARE) ZSTD(DECLARE)

#define RESOLVE(name) && (lib_##name = (__typeof__(lib_##name))dlsym(library, #name))
static int load_zlib(void *library) { return library ZLIB(RESOLVE); }
static int load_brotli(void *library) { return library BROTLI(RESOLVE); }
static int load_zstd(void *library) { return library ZSTD(RESOLVE); }

static struct {
    const char *library;
    int (*load)(void *library);
    int is_loaded;
} codecs[] = {
    [HC_GZIP] = {"libz.so.1", load_zlib},
    [HC_DEFLATE] = {"libz.so.1", load_zlib},
    [HC_BROTLI] = {"libbrotlidec.so.1", load_brotli},
    [HC_ZSTD] = {"libzstd.so.1", load_zstd},
};

struct hc_decoder {
    hc_coding coding;
    int has_begun;
    union {
        z_stream zlib;
        BrotliDecoderState *brotli;
        ZSTD_DStream *zstd;
    };
};

const char *hc_decoder_library(hc_coding coding) { return codecs[coding].library; }

/// What failed for want of descriptors or memory is tried again.
static int is_loaded(hc_coding coding) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!codecs[coding].is_loaded) {
        void *library = dlopen(codecs[coding].library, RTLD_NOW | RTLD_LOCAL);
        codecs[coding].is_loaded = codecs[coding].load(library);
        if (!codecs[coding].is_loaded && library) dlclose(library);
    }
    int result = codecs[coding].is_loaded;
    pthread_mutex_unlock(&lock);
    return result;
}

/// The largest window of zstd that a receiver has to accept (RFC 9659, 3), as a power of two.
static const int zstd_window = 23;

hc_decoder *hc_decoder_open(hc_coding coding) {
    hc_decoder *decoder = is_loaded(coding) ? calloc(1, sizeof *decoder) : NULL;
    if (!decoder) return NULL;
    decoder->coding = coding;
    int is_open = 1;
    switch (coding) {
    case HC_GZIP: is_open = lib_inflateInit2_(&decoder->zlib, 16 + MAX_WBITS, ZLIB_VERSION, sizeof(z_stream)) == Z_OK; break;
    case HC_DEFLATE: break;
    case HC_BROTLI: is_open = (decoder->brotli = lib_BrotliDecoderCreateInstance(NULL, NULL, NULL)) != NULL; break;
    case HC_ZSTD:
        is_open = (decoder->zstd = lib_ZSTD_createDStream()) != NULL;
        if (is_open) lib_ZSTD_DCtx_setParameter(decoder->zstd, ZSTD_d_windowLogMax, zstd_window);
    }
    if (is_open) return decoder;
    free(decoder);
    return NULL;
}

/// Some servers send "deflate" without the zlib header that belongs to it. That has 8 in the low half of its first byte; bare
/// data has not, as the bits there are padding.
static int begin_deflate(z_stream *stream, uint8_t first) {
    int bits = (first & 15) == 8 ? MAX_WBITS : -MAX_WBITS;
    return lib_inflateInit2_(stream, bits, ZLIB_VERSION, sizeof *stream) == Z_OK;
}

static hc_decoding decode_zlib(hc_decoder *decoder, const uint8_t **input, size_t *count, uint8_t *output, size_t *room) {
    z_stream *stream = &decoder->zlib;
    stream->next_in = (uint8_t *)*input;
    stream->avail_in = *count < UINT_MAX ? *count : UINT_MAX;
    stream->next_out = output;
    stream->avail_out = *room < UINT_MAX ? *room : UINT_MAX;
    int code = lib_inflate(stream, Z_NO_FLUSH);
    *count -= stream->next_in - *input;
    *input = stream->next_in;
    *room -= stream->next_out - output;
    // Without progress there is no more to be made of the input.
    if (code == Z_OK || code == Z_BUF_ERROR) return HC_MORE;
    if (code != Z_STREAM_END) return HC_DAMAGED;
    lib_inflateReset(stream);
    return HC_END;
}

static hc_decoding decode_brotli(hc_decoder *decoder, const uint8_t **input, size_t *count, uint8_t *output, size_t *room) {
    switch (lib_BrotliDecoderDecompressStream(decoder->brotli, count, input, room, &output, NULL)) {
    case BROTLI_DECODER_RESULT_SUCCESS: return HC_END;
    case BROTLI_DECODER_RESULT_ERROR: return HC_DAMAGED;
    default: return HC_MORE;
    }
}

static hc_decoding decode_zstd(hc_decoder *decoder, const uint8_t **input, size_t *count, uint8_t *output, size_t *room) {
    ZSTD_inBuffer in = {*input, *count, 0};
    ZSTD_outBuffer out = {output, *room, 0};
    size_t left = lib_ZSTD_decompressStream(decoder->zstd, &out, &in);
    *input += in.pos;
    *count -= in.pos;
    *room -= out.pos;
    if (lib_ZSTD_isError(left)) return HC_DAMAGED;
    return left == 0 ? HC_END : HC_MORE;
}

hc_decoding hc_decode(hc_decoder *decoder, const uint8_t **input, size_t *count, uint8_t *output, size_t *room) {
    switch (decoder->coding) {
    case HC_DEFLATE:
        if (*count == 0 && !decoder->has_begun) return HC_MORE;
        if (!decoder->has_begun && !(decoder->has_begun = begin_deflate(&decoder->zlib, **input))) return HC_DAMAGED;
        return decode_zlib(decoder, input, count, output, room);
    case HC_GZIP: return decode_zlib(decoder, input, count, output, room);
    case HC_BROTLI: return decode_brotli(decoder, input, count, output, room);
    default: return decode_zstd(decoder, input, count, output, room);
    }
}

void hc_decoder_close(hc_decoder *decoder) {
    switch (decoder->coding) {
    case HC_GZIP: lib_inflateEnd(&decoder->zlib); break;
    case HC_DEFLATE:
        if (decoder->has_begun) lib_inflateEnd(&decoder->zlib);
        break;
    case HC_BROTLI: lib_BrotliDecoderDestroyInstance(decoder->brotli); break;
    case HC_ZSTD: lib_ZSTD_freeDStream(decoder->zstd);
    }
    free(decoder);
}
