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
