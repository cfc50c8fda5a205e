#ifndef CCODINGS_H
#define CCODINGS_H

#include <stddef.h>
#include <stdint.h>

/// The content codings of HTTP that are decoded (RFC 9110, 8.4.1; RFC 7932; RFC 9659).
typedef enum { HC_GZIP, HC_DEFLATE, HC_BROTLI, HC_ZSTD } hc_coding;

typedef enum {
    /// All of the input was used, or the output is full.
    HC_MORE,
    /// The end of the coded data was reached.
    HC_END,
    HC_DAMAGED,
} hc_decoding;

typedef struct hc_decoder hc_decoder;

/// A decoder by the library that libcurl itself uses; loaded at the first use. Null: it cannot be loaded, or there is no memory.
hc_decoder *hc_decoder_open(hc_coding coding);
/// The name of the library that decodes a coding.
const char *hc_decoder_library(hc_coding coding);
/// Decodes as much as fits, and takes off what was used from the input, and what was written from the room of the output. After
/// HC_END the next call begins anew.
hc_decoding hc_decode(hc_decoder *decoder, const uint8_t **input, size_t *count, uint8_t *output, size_t *room);
void hc_decoder_close(hc_decoder *decoder);

#endif
