// The functions that keep their state in a value of the caller: they allocate nothing and look no algorithm up, which costs
// more than the digest of a key. OpenSSL 3 calls them deprecated.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/md5.h>
#include <openssl/sha.h>
