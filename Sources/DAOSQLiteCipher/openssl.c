// Compiled where the package has the trait Encryption, so that nobody else needs the headers of a cryptographic library.
#ifdef DAO_ENCRYPTION

#include "crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

int dao_random(uint8_t *bytes, size_t length) { return RAND_bytes(bytes, (int)length) == 1; }

int dao_derive(
    const uint8_t *secret, size_t length, const uint8_t *salt, size_t salt_length, uint32_t rounds,
    uint8_t key[dao_key_length]) {
    return PKCS5_PBKDF2_HMAC(
               (const char *)secret, (int)length, salt, (int)salt_length, (int)rounds, EVP_sha512(), dao_key_length, key)
        == 1;
}

int dao_hmac(const uint8_t key[dao_key_length], const uint8_t *bytes, size_t length, uint8_t hash[dao_hash_length]) {
    return HMAC(EVP_sha512(), key, dao_key_length, bytes, length, hash, NULL) != NULL;
}

void dao_wipe(void *bytes, size_t length) { OPENSSL_cleanse(bytes, length); }

int dao_is_same(const uint8_t *left, const uint8_t *right, size_t length) { return CRYPTO_memcmp(left, right, length) == 0; }

struct dao_keys {
    /// Contexts with the key, for blocks (GCM) or for CBC.
    EVP_CIPHER_CTX *sealing, *opening;
    /// Contexts for GCM with the key of a nonce.
    EVP_CIPHER_CTX *gcm_sealing, *gcm_opening;
    /// The second of the two keys from which XAES-256-GCM makes that of a nonce.
    uint8_t mask[dao_block_length];
    /// The two hashes of HMAC after the key, and one that is at work.
    EVP_MD_CTX *inner, *outer, *hash;
};

/// The first block of a hash of HMAC: the key, each byte combined with another one.
static int begin_hash(EVP_MD_CTX *hash, const uint8_t *key, uint8_t pad) {
    uint8_t block[128];
    memset(block, pad, sizeof(block));
    for (int i = 0; i < dao_key_length; i++) block[i] ^= key[i];
    int is_done = EVP_DigestInit_ex(hash, EVP_sha512(), NULL) == 1 && EVP_DigestUpdate(hash, block, sizeof(block)) == 1;
    OPENSSL_cleanse(block, sizeof(block));
    return is_done;
}

static int prepare_gcm(dao_keys *keys, const uint8_t *key) {
    static const uint8_t zeros[dao_block_length];
    int length;
    keys->gcm_sealing = EVP_CIPHER_CTX_new();
    keys->gcm_opening = EVP_CIPHER_CTX_new();
    if (!keys->gcm_sealing || !keys->gcm_opening) return 0;
    if (EVP_EncryptInit_ex(keys->sealing, EVP_aes_256_ecb(), NULL, key, NULL) != 1) return 0;
    EVP_CIPHER_CTX_set_padding(keys->sealing, 0);
    if (EVP_EncryptUpdate(keys->sealing, keys->mask, &length, zeros, dao_block_length) != 1) return 0;
    int carry = keys->mask[0] >> 7;
    for (int i = 0; i < dao_block_length; i++) {
        int next = i + 1 < dao_block_length ? keys->mask[i + 1] >> 7 : 0;
        keys->mask[i] = (uint8_t)(keys->mask[i] << 1 | next);
    }
    if (carry) keys->mask[dao_block_length - 1] ^= 0x87;
    return EVP_EncryptInit_ex(keys->gcm_sealing, EVP_aes_256_gcm(), NULL, NULL, NULL) == 1
        && EVP_DecryptInit_ex(keys->gcm_opening, EVP_aes_256_gcm(), NULL, NULL, NULL) == 1;
}

static int prepare_cbc(dao_keys *keys, const uint8_t *key, const uint8_t *mac_key) {
    keys->opening = EVP_CIPHER_CTX_new();
    keys->inner = EVP_MD_CTX_new();
    keys->outer = EVP_MD_CTX_new();
    keys->hash = EVP_MD_CTX_new();
    if (!keys->opening || !keys->inner || !keys->outer || !keys->hash) return 0;
    if (EVP_EncryptInit_ex(keys->sealing, EVP_aes_256_cbc(), NULL, key, NULL) != 1) return 0;
    if (EVP_DecryptInit_ex(keys->opening, EVP_aes_256_cbc(), NULL, key, NULL) != 1) return 0;
    return begin_hash(keys->inner, mac_key, 0x36) && begin_hash(keys->outer, mac_key, 0x5c);
}

dao_keys *dao_keys_create(const uint8_t key[dao_key_length], const uint8_t *mac_key) {
    dao_keys *keys = calloc(1, sizeof(*keys));
    if (!keys) return NULL;
    keys->sealing = EVP_CIPHER_CTX_new();
    if (keys->sealing && (mac_key ? prepare_cbc(keys, key, mac_key) : prepare_gcm(keys, key))) return keys;
    dao_keys_free(keys);
    return NULL;
}

void dao_keys_free(dao_keys *keys) {
    if (!keys) return;
    EVP_CIPHER_CTX_free(keys->sealing);
    EVP_CIPHER_CTX_free(keys->opening);
    EVP_CIPHER_CTX_free(keys->gcm_sealing);
    EVP_CIPHER_CTX_free(keys->gcm_opening);
    EVP_MD_CTX_free(keys->inner);
    EVP_MD_CTX_free(keys->outer);
    EVP_MD_CTX_free(keys->hash);
    OPENSSL_cleanse(keys, sizeof(*keys));
    free(keys);
}

/// The key of a nonce.
static int key_of_nonce(dao_keys *keys, const uint8_t *nonce, uint8_t key[dao_key_length]) {
    uint8_t blocks[dao_key_length];
    int length;
    for (int i = 0; i < 2; i++) {
        uint8_t *block = blocks + i * dao_block_length;
        memcpy(block, (uint8_t[]){0, (uint8_t)(i + 1), 'X', 0}, 4);
        memcpy(block + 4, nonce, 12);
        for (int j = 0; j < dao_block_length; j++) block[j] ^= keys->mask[j];
    }
    return EVP_EncryptUpdate(keys->sealing, key, &length, blocks, dao_key_length) == 1 && length == dao_key_length;
}

int dao_gcm_seal(
    dao_keys *keys, const uint8_t nonce[dao_nonce_length], const uint8_t *associated, size_t associated_length,
    const uint8_t *plain, size_t length, uint8_t *sealed, uint8_t tag[dao_tag_length]) {
    EVP_CIPHER_CTX *context = keys->gcm_sealing;
    uint8_t key[dao_key_length], end[dao_block_length];
    int count;
    int is_done = key_of_nonce(keys, nonce, key) && EVP_EncryptInit_ex(context, NULL, NULL, key, nonce + 12) == 1
        && EVP_EncryptUpdate(context, NULL, &count, associated, (int)associated_length) == 1
        && EVP_EncryptUpdate(context, sealed, &count, plain, (int)length) == 1
        && EVP_EncryptFinal_ex(context, end, &count) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, dao_tag_length, tag) == 1;
    OPENSSL_cleanse(key, sizeof(key));
    return is_done;
}

int dao_gcm_open(
    dao_keys *keys, const uint8_t nonce[dao_nonce_length], const uint8_t *associated, size_t associated_length,
    const uint8_t *sealed, size_t length, uint8_t *plain, const uint8_t tag[dao_tag_length]) {
    EVP_CIPHER_CTX *context = keys->gcm_opening;
    uint8_t key[dao_key_length], end[dao_block_length];
    int count;
    int is_done = key_of_nonce(keys, nonce, key) && EVP_DecryptInit_ex(context, NULL, NULL, key, nonce + 12) == 1
        && EVP_DecryptUpdate(context, NULL, &count, associated, (int)associated_length) == 1
        && EVP_DecryptUpdate(context, plain, &count, sealed, (int)length) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, dao_tag_length, (void *)tag) == 1
        && EVP_DecryptFinal_ex(context, end, &count) == 1;
    OPENSSL_cleanse(key, sizeof(key));
    return is_done;
}

int dao_cbc_seal(
    dao_keys *keys, const uint8_t start[dao_block_length], const uint8_t *plain, size_t length, uint8_t *sealed) {
    int count;
    return EVP_EncryptInit_ex(keys->sealing, NULL, NULL, NULL, start) == 1
        && EVP_CIPHER_CTX_set_padding(keys->sealing, 0) == 1
        && EVP_EncryptUpdate(keys->sealing, sealed, &count, plain, (int)length) == 1 && count == (int)length;
}

int dao_cbc_open(
    dao_keys *keys, const uint8_t start[dao_block_length], const uint8_t *sealed, size_t length, uint8_t *plain) {
    int count;
    return EVP_DecryptInit_ex(keys->opening, NULL, NULL, NULL, start) == 1
        && EVP_CIPHER_CTX_set_padding(keys->opening, 0) == 1
        && EVP_DecryptUpdate(keys->opening, plain, &count, sealed, (int)length) == 1 && count == (int)length;
}

int dao_page_hmac(dao_keys *keys, const uint8_t *bytes, size_t length, uint32_t page, uint8_t hash[dao_hash_length]) {
    uint8_t number[4] = {(uint8_t)page, (uint8_t)(page >> 8), (uint8_t)(page >> 16), (uint8_t)(page >> 24)};
    uint8_t first[dao_hash_length];
    return EVP_MD_CTX_copy_ex(keys->hash, keys->inner) == 1 && EVP_DigestUpdate(keys->hash, bytes, length) == 1
        && EVP_DigestUpdate(keys->hash, number, sizeof(number)) == 1 && EVP_DigestFinal_ex(keys->hash, first, NULL) == 1
        && EVP_MD_CTX_copy_ex(keys->hash, keys->outer) == 1 && EVP_DigestUpdate(keys->hash, first, sizeof(first)) == 1
        && EVP_DigestFinal_ex(keys->hash, hash, NULL) == 1;
}

#endif
