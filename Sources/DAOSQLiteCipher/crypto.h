#ifndef DAO_CRYPTO_H
#define DAO_CRYPTO_H

#include <stddef.h>
#include <stdint.h>

// The cryptography of the system's library that the layer needs. All functions but those that return nothing return 1, or 0
// when the library fails or the bytes are not authentic.

enum {
    dao_key_length = 32,
    dao_hash_length = 64,
    dao_tag_length = 16,
    /// Of AES-256-GCM with extended nonces.
    dao_nonce_length = 24,
    /// Of AES-256-CBC.
    dao_block_length = 16,
};

int dao_random(uint8_t *bytes, size_t length);

/// PBKDF2 with HMAC-SHA512 (RFC 8018).
int dao_derive(
    const uint8_t *secret, size_t length, const uint8_t *salt, size_t salt_length, uint32_t rounds,
    uint8_t key[dao_key_length]);

/// HMAC-SHA512 (RFC 2104).
int dao_hmac(const uint8_t key[dao_key_length], const uint8_t *bytes, size_t length, uint8_t hash[dao_hash_length]);

void dao_wipe(void *bytes, size_t length);

/// Compares in a time that does not depend on the bytes.
int dao_is_same(const uint8_t *left, const uint8_t *right, size_t length);

/// The contexts of the keys of a file. One thread at a time uses them.
typedef struct dao_keys dao_keys;

/// `mac_key` is NULL for AES-256-GCM, otherwise that of HMAC-SHA512 beside AES-256-CBC. Returns: NULL without memory.
dao_keys *dao_keys_create(const uint8_t key[dao_key_length], const uint8_t *mac_key);

void dao_keys_free(dao_keys *keys);

/// XAES-256-GCM (https://c2sp.org/XAES-256-GCM): AES-256-GCM with a key for each nonce of 192 bits.
int dao_gcm_seal(
    dao_keys *keys, const uint8_t nonce[dao_nonce_length], const uint8_t *associated, size_t associated_length,
    const uint8_t *plain, size_t length, uint8_t *sealed, uint8_t tag[dao_tag_length]);

int dao_gcm_open(
    dao_keys *keys, const uint8_t nonce[dao_nonce_length], const uint8_t *associated, size_t associated_length,
    const uint8_t *sealed, size_t length, uint8_t *plain, const uint8_t tag[dao_tag_length]);

/// AES-256-CBC without padding; the length is a multiple of 16.
int dao_cbc_seal(
    dao_keys *keys, const uint8_t start[dao_block_length], const uint8_t *plain, size_t length, uint8_t *sealed);

int dao_cbc_open(
    dao_keys *keys, const uint8_t start[dao_block_length], const uint8_t *sealed, size_t length, uint8_t *plain);

/// The HMAC-SHA512 of bytes and a number of four bytes, the lowest first.
int dao_page_hmac(dao_keys *keys, const uint8_t *bytes, size_t length, uint32_t page, uint8_t hash[dao_hash_length]);

#endif
