// SHA256_Init and its companions need no allocation; what replaces them in OpenSSL 3 does.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/sha.h>
