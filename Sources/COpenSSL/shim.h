#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>

// Macros and variadic functions that Swift cannot import.

static inline int askgate_public_key_selection(void) { return EVP_PKEY_PUBLIC_KEY; }

static inline EVP_PKEY *askgate_generate_rsa(unsigned int bits) { return EVP_RSA_gen(bits); }

static inline EVP_PKEY *askgate_generate_ec(const char *curve) { return EVP_EC_gen(curve); }

static inline EVP_PKEY *askgate_generate_ed25519(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }

static inline long askgate_memory_bio_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }

// OpenSSL keeps the names of parameters by pointer, so they have to be C's own constants.

static inline int askgate_push_rsa(OSSL_PARAM_BLD *builder, const BIGNUM *modulus, const BIGNUM *exponent) {
    return OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) &&
           OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent);
}

static inline int askgate_push_point(OSSL_PARAM_BLD *builder, const char *group, const void *point, size_t size) {
    return OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, group, 0) &&
           OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, size);
}

static inline int askgate_mac_init(EVP_MAC_CTX *context, const unsigned char *key, size_t size, const char *digest) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)digest, 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_init(context, key, size, parameters);
}

// TLS over memory.

static inline int askgate_set_server_name(SSL *ssl, const char *name) { return (int)SSL_set_tlsext_host_name(ssl, name); }

static inline int askgate_require_tls12(SSL_CTX *context) {
    return (int)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

static inline void askgate_set_modes(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
}

static inline size_t askgate_bio_pending(BIO *bio) { return BIO_ctrl_pending(bio); }

static inline void askgate_set_memory_end(BIO *bio) { BIO_set_mem_eof_return(bio, -1); }
