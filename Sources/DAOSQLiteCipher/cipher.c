// Compiled where the package has the trait Encryption, so that nobody else needs the headers of a cryptographic library.
#ifdef DAO_ENCRYPTION

#include "DAOSQLiteCipher.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "DAOSQLiteLayer.h"
#include "crypto.h"

// Constants that older headers of SQLite do not have.
#ifndef SQLITE_IOCAP_SUBPAGE_READ
#define SQLITE_IOCAP_SUBPAGE_READ 0x00008000
#endif

enum {
    header_length = 32,
    largest_page = 65536,
    salt_length = 16,
    version = 1,
    /// The byte of the file that SQLite locks. No page holds it.
    lock_byte = 0x40000000,
    /// The locks of the connections that write and that move the log into the database, in the index of the log.
    write_lock = 0,
    checkpoint_lock = 1,
    /// The reserved bytes of a page.
    our_reserve = 64,
    sqlcipher_reserve = 80,
    /// Where the salt is among our reserved bytes.
    our_salt = dao_nonce_length + dao_tag_length,
    our_tail = our_reserve - our_salt,
    sqlcipher_rounds = 256000,
    our_rounds = 256000,
};

static const char magic[salt_length] = "SQLite format 3";

// MARK: The secret

/// The keys of a file.
typedef struct keys keys;
struct keys {
    keys *next;
    dao_cipher_format format;
    uint8_t salt[salt_length];
    uint32_t rounds;
    uint8_t key[dao_key_length], mac_key[dao_key_length];
    /// The end of the first page.
    uint8_t tail[our_tail];
};

struct dao_cipher {
    pthread_mutex_t mutex;
    int references;
    dao_cipher_format format;
    int is_passphrase, has_salt;
    uint8_t salt[salt_length];
    /// The length of the pages of a file of SQLCipher whose first page does not say it.
    size_t page_length;
    /// The salt of the next file that is made, whose keys are derived.
    int has_new_salt;
    uint8_t new_salt[salt_length];
    keys *derived;
    size_t length;
    uint8_t secret[];
};

dao_cipher *dao_cipher_create(
    const void *secret, size_t length, int is_passphrase, dao_cipher_format format, const uint8_t *salt) {
    dao_cipher *cipher = calloc(1, sizeof(*cipher) + length);
    if (!cipher) return NULL;
    pthread_mutex_init(&cipher->mutex, NULL);
    cipher->references = 1;
    cipher->format = format;
    cipher->is_passphrase = is_passphrase;
    cipher->has_salt = salt != NULL;
    if (salt) memcpy(cipher->salt, salt, salt_length);
    cipher->length = length;
    memcpy(cipher->secret, secret, length);
    return cipher;
}

void dao_cipher_retain(dao_cipher *cipher) { __atomic_add_fetch(&cipher->references, 1, __ATOMIC_RELAXED); }

void dao_cipher_release(dao_cipher *cipher) {
    if (!cipher || __atomic_sub_fetch(&cipher->references, 1, __ATOMIC_ACQ_REL) > 0) return;
    for (keys *entry = cipher->derived, *next; entry; entry = next) {
        next = entry->next;
        dao_wipe(entry, sizeof(*entry));
        free(entry);
    }
    pthread_mutex_destroy(&cipher->mutex);
    dao_wipe(cipher, sizeof(*cipher) + cipher->length);
    free(cipher);
}

int dao_cipher_is_same(const dao_cipher *left, const dao_cipher *right) {
    return left->length == right->length && left->is_passphrase == right->is_passphrase
        && dao_is_same(left->secret, right->secret, left->length);
}

/// Our keys are made from the key or from what the passphrase gives, and the salt, so that no two files have one key.
static int make_ours(const dao_cipher *cipher, keys *made) {
    uint8_t master[dao_key_length], hash[dao_hash_length], text[salt_length + 8] = {'d', 'a', 'o', ' ', 'k', 'e', 'y', version};
    int is_made = cipher->is_passphrase
        ? dao_derive(cipher->secret, cipher->length, made->salt, salt_length, made->rounds, master)
        : cipher->length == dao_key_length && memcpy(master, cipher->secret, dao_key_length);
    memcpy(text + 8, made->salt, salt_length);
    is_made = is_made && dao_hmac(master, text, sizeof(text), hash);
    if (is_made) memcpy(made->key, hash, dao_key_length);
    // The proof tells nothing about the key: it is part of another hash.
    memcpy(text, "dao mark", 8);
    is_made = is_made && dao_hmac(made->key, text, sizeof(text), hash);
    if (is_made) {
        uint32_t thousands = made->rounds / 1000;
        memcpy(made->tail, made->salt, salt_length);
        memcpy(made->tail + 16, (uint8_t[]){version, (uint8_t)(cipher->is_passphrase + 1), (uint8_t)(thousands >> 8), (uint8_t)thousands}, 4);
        memcpy(made->tail + 20, hash, 4);
    }
    dao_wipe(master, sizeof(master));
    dao_wipe(hash, sizeof(hash));
    return is_made;
}

static int make_sqlcipher(const dao_cipher *cipher, keys *made) {
    uint8_t mac_salt[salt_length];
    if (cipher->is_passphrase) {
        if (!dao_derive(cipher->secret, cipher->length, made->salt, salt_length, sqlcipher_rounds, made->key)) return 0;
    } else {
        if (cipher->length != dao_key_length) return 0;
        memcpy(made->key, cipher->secret, dao_key_length);
    }
    for (int i = 0; i < salt_length; i++) mac_salt[i] = made->salt[i] ^ 0x3a;
    return dao_derive(made->key, dao_key_length, mac_salt, salt_length, 2, made->mac_key);
}

/// Returns the keys of a salt, which live as long as the secret; NULL when they cannot be made.
static const keys *keys_of(dao_cipher *cipher, dao_cipher_format format, const uint8_t salt[salt_length], uint32_t rounds) {
    pthread_mutex_lock(&cipher->mutex);
    keys *entry = cipher->derived;
    while (entry && (entry->format != format || entry->rounds != rounds || memcmp(entry->salt, salt, salt_length) != 0)) {
        entry = entry->next;
    }
    if (!entry && (entry = calloc(1, sizeof(*entry)))) {
        entry->format = format;
        entry->rounds = rounds;
        memcpy(entry->salt, salt, salt_length);
        if (format == dao_cipher_ours ? make_ours(cipher, entry) : make_sqlcipher(cipher, entry)) {
            entry->next = cipher->derived;
            cipher->derived = entry;
        } else {
            dao_wipe(entry, sizeof(*entry));
            free(entry);
            entry = NULL;
        }
    }
    pthread_mutex_unlock(&cipher->mutex);
    return entry;
}

/// The rounds of the derivation for a file that is made.
static uint32_t new_rounds(const dao_cipher *cipher, dao_cipher_format format) {
    return format == dao_cipher_sqlcipher ? sqlcipher_rounds : cipher->is_passphrase ? our_rounds : 0;
}

/// Chooses the salt of a file that is made.
static int take_new_salt(dao_cipher *cipher, int has_plain_header, uint8_t salt[salt_length]) {
    if (has_plain_header) {
        memcpy(salt, cipher->salt, salt_length);
        return 1;
    }
    pthread_mutex_lock(&cipher->mutex);
    int had_salt = cipher->has_new_salt;
    if (had_salt) memcpy(salt, cipher->new_salt, salt_length);
    cipher->has_new_salt = 0;
    pthread_mutex_unlock(&cipher->mutex);
    return had_salt || dao_random(salt, salt_length);
}

/// The rounds of the derivation that the end of our first page says.
static uint32_t rounds_of(const uint8_t *tail) { return ((uint32_t)tail[18] << 8 | tail[19]) * 1000; }

void dao_cipher_prepare(dao_cipher *cipher, const uint8_t *header, const uint8_t *tail) {
    if (!header) {
        uint8_t salt[salt_length];
        if (cipher->format == dao_cipher_sqlcipher && cipher->has_salt) memcpy(salt, cipher->salt, salt_length);
        else if (!take_new_salt(cipher, 0, salt)) return;
        if (!keys_of(cipher, cipher->format, salt, new_rounds(cipher, cipher->format))) return;
        pthread_mutex_lock(&cipher->mutex);
        memcpy(cipher->new_salt, salt, salt_length);
        cipher->has_new_salt = 1;
        pthread_mutex_unlock(&cipher->mutex);
    } else if (tail && dao_cipher_is_ours(header, tail)) {
        if (tail[16] == version && tail[17] == cipher->is_passphrase + 1) {
            keys_of(cipher, dao_cipher_ours, tail, rounds_of(tail));
        }
    } else if (memcmp(header, magic, sizeof(magic)) != 0) {
        keys_of(cipher, dao_cipher_sqlcipher, header, sqlcipher_rounds);
    } else if (cipher->has_salt) {
        keys_of(cipher, dao_cipher_sqlcipher, cipher->salt, sqlcipher_rounds);
    }
}

// MARK: Pages

/// How the pages of a file are sealed.
typedef struct {
    const keys *keys;
    dao_keys *contexts;
    size_t page_length;
    int reserve;
    /// The plain bytes at the beginning of the file. Where there are only 16, they are the salt of SQLCipher.
    int plain;
} seals;

static void forget(seals *seals) {
    dao_keys_free(seals->contexts);
    memset(seals, 0, sizeof(*seals));
}

/// Chooses keys. Returns 0 without memory.
static int use(seals *seals, const keys *keys, size_t page_length, int plain) {
    if (!keys) return 0;
    forget(seals);
    int is_ours = keys->format == dao_cipher_ours;
    seals->contexts = dao_keys_create(keys->key, is_ours ? NULL : keys->mac_key);
    seals->keys = keys;
    seals->page_length = page_length;
    seals->reserve = is_ours ? our_reserve : sqlcipher_reserve;
    seals->plain = plain;
    return seals->contexts != NULL;
}

/// What of a page is not encrypted and yet authentic. Returns its length.
static size_t associated(const seals *seals, uint32_t page, const uint8_t *bytes, uint8_t data[salt_length + 5 + header_length]) {
    memcpy(data, seals->keys->salt, salt_length);
    data[salt_length] = version;
    dao_put_big(data + salt_length + 1, page);
    if (page != 1) return salt_length + 5;
    memcpy(data + salt_length + 5, bytes, header_length);
    return salt_length + 5 + header_length;
}

/// Seals a page into another buffer.
static int seal(seals *seals, uint32_t page, const uint8_t *plain, uint8_t *sealed) {
    size_t start = page == 1 ? (size_t)seals->plain : 0, end = seals->page_length - (size_t)seals->reserve;
    uint8_t *tail = sealed + end, data[salt_length + 5 + header_length];
    if (seals->keys->format == dao_cipher_ours) {
        memcpy(sealed, plain, start);
        // On every page, so that a damaged first one is told from another key.
        memcpy(tail + our_salt, seals->keys->tail, our_tail);
        size_t length = associated(seals, page, plain, data);
        return dao_random(tail, dao_nonce_length)
            && dao_gcm_seal(
                   seals->contexts, tail, data, length, plain + start, end - start, sealed + start, tail + dao_nonce_length);
    }
    if (start == salt_length) {
        memcpy(sealed, seals->keys->salt, salt_length);
    } else {
        memcpy(sealed, plain, start);
    }
    return dao_random(tail, dao_block_length)
        && dao_cbc_seal(seals->contexts, tail, plain + start, end - start, sealed + start)
        && dao_page_hmac(seals->contexts, sealed + start, end - start + dao_block_length, page, tail + dao_block_length);
}

/// Opens a page into another buffer. Returns 0 when its bytes are not those that were sealed.
static int unseal(seals *seals, uint32_t page, const uint8_t *sealed, uint8_t *plain) {
    size_t start = page == 1 ? (size_t)seals->plain : 0, end = seals->page_length - (size_t)seals->reserve;
    const uint8_t *tail = sealed + end;
    if (seals->keys->format == dao_cipher_ours) {
        uint8_t data[salt_length + 5 + header_length];
        size_t length = associated(seals, page, sealed, data);
        if (memcmp(tail + our_salt, seals->keys->tail, our_tail) != 0) return 0;
        if (!dao_gcm_open(
                seals->contexts, tail, data, length, sealed + start, end - start, plain + start, tail + dao_nonce_length)) {
            return 0;
        }
        memcpy(plain, sealed, start);
    } else {
        uint8_t hash[dao_hash_length];
        if (!dao_page_hmac(seals->contexts, sealed + start, end - start + dao_block_length, page, hash)
            || !dao_is_same(hash, tail + dao_block_length, dao_hash_length)
            || !dao_cbc_open(seals->contexts, tail, sealed + start, end - start, plain + start)) {
            return 0;
        }
        memcpy(plain, start == salt_length ? (const uint8_t *)magic : sealed, start);
    }
    memset(plain + end, 0, (size_t)seals->reserve);
    return 1;
}

static int is_zero(const uint8_t *bytes, size_t length) {
    return length == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0);
}

// MARK: What a file is

/// Bytes of a file or of what is beside it.
typedef struct source source;
struct source {
    /// Returns the number of bytes that were read; -1 for an error.
    ssize_t (*read)(const source *source, void *bytes, size_t length, int64_t offset);
    int descriptor;
    sqlite3_file *file;
    /// Becomes 1 when a read fails. What was not read is not absent.
    int *has_failed;
};

static ssize_t read_descriptor(const source *source, void *bytes, size_t length, int64_t offset) {
    size_t done = 0;
    for (int interruptions = 0; source->descriptor >= 0 && done < length;) {
        ssize_t count = pread(source->descriptor, (uint8_t *)bytes + done, length - done, offset + (int64_t)done);
        if (count < 0 && errno == EINTR && ++interruptions < 100) continue;
        if (count < 0) return -1;
        if (count == 0) break;
        done += (size_t)count;
    }
    return (ssize_t)done;
}

static ssize_t read_opened(const source *source, void *bytes, size_t length, int64_t offset) {
    sqlite3_int64 size;
    if (!source->file) return 0;
    if (source->file->pMethods->xFileSize(source->file, &size) != SQLITE_OK) return -1;
    if (offset >= size) return 0;
    if ((int64_t)length > size - offset) length = (size_t)(size - offset);
    return source->file->pMethods->xRead(source->file, bytes, (int)length, offset) == SQLITE_OK ? (ssize_t)length : -1;
}

static int has(const source *source, void *bytes, size_t length, int64_t offset) {
    ssize_t count = source->read(source, bytes, length, offset);
    if (count < 0) *source->has_failed = 1;
    return count == (ssize_t)length;
}

/// Whether a page of the given length, at a position, is one that the keys have sealed.
static int is_sealed(
    seals *seals, const keys *keys, const source *source, int64_t offset, uint32_t page, size_t length, int plain,
    uint8_t *buffer) {
    return has(source, buffer, length, offset) && use(seals, keys, length, plain)
        && unseal(seals, page, buffer, buffer + largest_page);
}

/// The lengths of pages, the usual ones first.
static const size_t lengths[] = {4096, 1024, 8192, 16384, 32768, 65536, 2048, 512};
enum { length_count = sizeof(lengths) / sizeof(*lengths) };

/// Whether the beginning of a file could be that of an encrypted one. Of 496 random bytes, one in a hundred million times fewer
/// than 190 or more than 246 are different.
static int looks_random(const source *source) {
    uint8_t bytes[512], is_there[256] = {0};
    int count = 0;
    if (!has(source, bytes, sizeof(bytes), 0)) return 0;
    for (size_t i = salt_length; i < sizeof(bytes); i++) count += !is_there[bytes[i]]++;
    return count >= 190 && count <= 246;
}

/// The keys of a file of SQLCipher, proved by its first page, its log or its journal.
static dao_cipher_state look_at_sqlcipher(
    dao_cipher *cipher, const uint8_t *salt, int plain, size_t page_length, const source *database, const source *log,
    const source *journal, seals *seals, uint8_t *buffer) {
    const keys *keys = keys_of(cipher, dao_cipher_sqlcipher, salt, sqlcipher_rounds);
    uint8_t header[header_length];
    int has_second = 0;
    if (!keys) return dao_cipher_unreadable;
    for (size_t i = 0; i < length_count; i++) {
        if (page_length != 0 && page_length != lengths[i]) continue;
        if (is_sealed(seals, keys, database, 0, 1, lengths[i], plain, buffer)) return dao_cipher_opens;
        has_second = has_second || is_sealed(seals, keys, database, (int64_t)lengths[i], 2, lengths[i], plain, buffer);
    }
    // A power cut can have torn the first page while it was moved there from the log, or before the journal gave it back.
    if (has(log, header, dao_log_header_length, 0) && (dao_big(header) & ~1u) == 0x377f0682) {
        size_t length = dao_page_length(dao_big(header + 8));
        if (length && has(log, header, 4, dao_log_header_length)
            && is_sealed(
                seals, keys, log, dao_log_header_length + dao_frame_header_length, dao_big(header), length, plain, buffer)) {
            __atomic_store_n(&cipher->page_length, length, __ATOMIC_RELAXED);
            return dao_cipher_opens;
        }
    }
    static const uint8_t mark[8] = {0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7};
    if (journal && has(journal, header, 28, 0) && memcmp(header, mark, sizeof(mark)) == 0) {
        size_t length = dao_page_length(dao_big(header + 24));
        int64_t first = dao_big(header + 20);
        if (length && has(journal, header, 4, first)
            && is_sealed(seals, keys, journal, first + 4, dao_big(header), length, plain, buffer)) {
            __atomic_store_n(&cipher->page_length, length, __ATOMIC_RELAXED);
            return dao_cipher_opens;
        }
    }
    // Another connection has proved it before.
    page_length = __atomic_load_n(&cipher->page_length, __ATOMIC_RELAXED);
    if (page_length && use(seals, keys, page_length, plain)) return dao_cipher_opens;
    forget(seals);
    return has_second ? dao_cipher_damaged : looks_random(database) ? dao_cipher_unknown : dao_cipher_other;
}

int dao_cipher_looks_random(int database) {
    int has_failed = 0;
    source source = {read_descriptor, database, NULL, &has_failed};
    return looks_random(&source);
}

/// Whether the end of a page is that of one of ours.
static int is_mark(const uint8_t *tail) { return tail[16] >= version && (tail[17] == 1 || tail[17] == 2); }

/// Whether the end of a page is one that this version makes. No other bytes are taken for it.
static int is_exact_mark(const uint8_t *tail) {
    return tail[16] == version
        && ((tail[17] == 1 && rounds_of(tail) == 0) || (tail[17] == 2 && rounds_of(tail) == our_rounds));
}

/// What the end of one of our pages says about the secret.
static dao_cipher_state prove(dao_cipher *cipher, const uint8_t *tail, const keys **keys) {
    if (tail[16] > version) return dao_cipher_newer;
    if (tail[17] != cipher->is_passphrase + 1) return dao_cipher_wrong_key;
    *keys = keys_of(cipher, dao_cipher_ours, tail, rounds_of(tail));
    if (!*keys) return dao_cipher_unreadable;
    return dao_is_same((*keys)->tail, tail, our_tail) ? dao_cipher_opens : dao_cipher_wrong_key;
}

/// Whether the first two pages, of which the first is damaged, are ours.
static dao_cipher_state look_at_marks(dao_cipher *cipher, const source *database) {
    dao_cipher_state result = dao_cipher_other;
    for (size_t i = 0; i < length_count; i++) {
        for (int page = 1; page <= 2; page++) {
            uint8_t tail[our_tail];
            const keys *keys;
            if (!has(database, tail, our_tail, page * (int64_t)lengths[i] - our_tail) || !is_exact_mark(tail)) continue;
            result = prove(cipher, tail, &keys);
            if (result == dao_cipher_opens) return dao_cipher_damaged;
        }
    }
    return result;
}

/// Finds out how a file is sealed. `buffer` has room for two pages. Without `journal` the file was looked at before.
static dao_cipher_state look(
    dao_cipher *cipher, const source *database, const source *log, const source *journal, seals *seals, uint8_t *buffer) {
    uint8_t header[header_length], tail[our_tail];
    ssize_t count = database->read(database, header, header_length, 0);
    if (count < 0) return dao_cipher_unreadable;
    if (count == 0) return dao_cipher_empty;
    if (is_zero(header, (size_t)count)) {
        // SQLite writes other pages before the first one when a transaction does not fit into memory.
        if (!journal || has(journal, tail, 1, 0)) return dao_cipher_empty;
        dao_cipher_state state = look_at_marks(cipher, database);
        return state == dao_cipher_other ? dao_cipher_empty : state;
    }
    if (count < header_length) {
        int is_begun = memcmp(header, magic, (size_t)count < salt_length ? (size_t)count : salt_length) == 0;
        return is_begun ? dao_cipher_damaged : dao_cipher_other;
    }
    size_t length = dao_page_length((uint32_t)header[16] << 8 | header[17]);
    if (memcmp(header, magic, sizeof(magic)) != 0) {
        dao_cipher_state state = look_at_marks(cipher, database);
        if (state != dao_cipher_other) return state;
        return look_at_sqlcipher(cipher, header, salt_length, 0, database, log, journal, seals, buffer);
    }
    if (length && header[20] == sqlcipher_reserve && cipher->has_salt) {
        return look_at_sqlcipher(cipher, cipher->salt, header_length, length, database, log, journal, seals, buffer);
    }
    const keys *keys;
    int is_whole = length && has(database, tail, our_tail, (int64_t)length - our_tail);
    dao_cipher_state state = dao_cipher_plain;
    if (is_whole && dao_cipher_is_ours(header, tail)) {
        state = prove(cipher, tail, &keys);
        if (state == dao_cipher_opens) return use(seals, keys, length, header_length) ? state : dao_cipher_unreadable;
    }
    // The mark of the second page tells damage of the first one from another key.
    dao_cipher_state marks = look_at_marks(cipher, database);
    if (marks == dao_cipher_damaged || (state == dao_cipher_plain && marks != dao_cipher_other)) return marks;
    if (state != dao_cipher_plain) return state;
    if (length && header[20] == sqlcipher_reserve) return dao_cipher_needs_salt;
    return !is_whole && header[20] == our_reserve ? dao_cipher_damaged : dao_cipher_plain;
}

int dao_cipher_is_ours(const uint8_t *header, const uint8_t *tail) {
    return memcmp(header, magic, sizeof(magic)) == 0 && header[20] == our_reserve && is_mark(tail);
}

dao_cipher_state dao_cipher_look(dao_cipher *cipher, int database, int log, int journal) {
    seals seals = {0};
    uint8_t *buffer = malloc(2 * largest_page);
    if (!buffer) return dao_cipher_unreadable;
    int has_failed = 0;
    source sources[] = {
        {read_descriptor, database, NULL, &has_failed}, {read_descriptor, log, NULL, &has_failed},
        {read_descriptor, journal, NULL, &has_failed}};
    dao_cipher_state state = look(cipher, &sources[0], &sources[1], &sources[2], &seals, buffer);
    forget(&seals);
    dao_wipe(buffer, 2 * largest_page);
    free(buffer);
    return has_failed && state != dao_cipher_opens ? dao_cipher_unreadable : state;
}

// MARK: Files

typedef enum { is_database, is_log, is_journal } kind;

/// An open database file, log or journal.
typedef struct file file;
struct file {
    dao_layer_file layer;
    kind kind;
    /// The database file: this file, or that of this log or journal.
    file *database;
    /// A frame's header and a sealed page, and a plain page.
    uint8_t *buffer;

    // Of a database file.
    dao_cipher *cipher;
    seals seals;
    /// The format of the file if it is made by this connection, and whether its header is plain.
    dao_cipher_format format;
    int has_plain_header;
    dao_damaged_seal damage;
    /// Whether this connection has written into the log since it has the lock.
    int has_written;
    /// The last frame that this connection has written since it has the lock, and its sums; -1 for none.
    sqlite3_int64 last_frame;
    dao_sums last_sums;
    /// The first frame of the running transaction whose page was overwritten; -1 for none. SQLite corrects the headers from
    /// there on when it commits.
    sqlite3_int64 rewritten_from;
    /// The page that a checkpoint has read from the log, plain and sealed. It is written as it was sealed.
    int is_moving;
    uint32_t moved_page;
    uint8_t *moved;

    // Of a log.
    /// Whether its sums take words with the highest byte first.
    int is_big;
    /// The header of a frame whose page has not come yet, and its position; -1 for none.
    sqlite3_int64 header_offset;
    uint8_t header[dao_frame_header_length];
    /// The next frame that a recovery reads, and the sums of the sealed pages and of the plain ones; -1 when none runs.
    sqlite3_int64 next_recovered;
    dao_sums sealed_sums, plain_sums;

    // Of a journal.
    /// Where the page is whose number was seen last, and where its sum is; -1 for none.
    sqlite3_int64 page_offset, sum_offset;
    uint32_t page;
    /// The sum of the sealed page less that of the plain one.
    uint32_t difference;
};

static inline sqlite3_file *below(file *file) { return file->layer.below; }

static int read_below(file *file, void *bytes, size_t length, sqlite3_int64 offset) {
    return below(file)->pMethods->xRead(below(file), bytes, (int)length, offset);
}

static int write_below(file *file, const void *bytes, size_t length, sqlite3_int64 offset) {
    return below(file)->pMethods->xWrite(below(file), bytes, (int)length, offset);
}

static int damaged(file *database, uint32_t page, int is_in_log) {
    database->damage = (dao_damaged_seal){page, is_in_log, 0};
    return SQLITE_IOERR_DATA;
}

/// Finds out how the pages are sealed, once.
static dao_cipher_state find(file *database) {
    if (database->seals.keys) return dao_cipher_opens;
    int has_failed = 0;
    source file = {read_opened, -1, below(database), &has_failed}, none = {read_descriptor, -1, NULL, &has_failed};
    dao_cipher_state state = look(database->cipher, &file, &none, NULL, &database->seals, database->buffer);
    return has_failed && state != dao_cipher_opens ? dao_cipher_unreadable : state;
}

/// Chooses the keys of a file that has no page yet.
static int begin(file *database, size_t page_length) {
    dao_cipher *cipher = database->cipher;
    uint8_t salt[salt_length];
    int is_ours = database->format == dao_cipher_ours;
    if (!take_new_salt(cipher, database->has_plain_header, salt)) return 0;
    return use(
        &database->seals, keys_of(cipher, database->format, salt, new_rounds(cipher, database->format)), page_length,
        is_ours || database->has_plain_header ? header_length : salt_length);
}

static int is_page(const file *database, int amount) { return (size_t)amount == database->seals.page_length; }

// MARK: Pages of the database

/// Whether the file ends before a page.
static int is_absent(file *database, uint32_t page) {
    sqlite3_int64 size;
    return below(database)->pMethods->xFileSize(below(database), &size) == SQLITE_OK
        && size <= (sqlite3_int64)(page - 1) * (sqlite3_int64)database->seals.page_length;
}

/// Writes zeros, sealed, where a page makes the file longer and those between are not written, so that every page that is there is
/// authentic. Only transactions without a log leave such holes; any other is what a file that was cut has lost, and stays.
static int fill_hole(file *database, sqlite3_int64 end) {
    static const uint8_t zeros[largest_page];
    sqlite3_int64 length = (sqlite3_int64)database->seals.page_length, size;
    if (!dao_layer_can_lack_pages(&database->layer) || database->is_moving) return SQLITE_OK;
    int code = below(database)->pMethods->xFileSize(below(database), &size);
    // The first page is not sealed before it has its header, and the page of the locks is no page of the database.
    for (sqlite3_int64 offset = size < length ? length : (size + length - 1) / length * length; code == SQLITE_OK && offset < end; offset += length) {
        if (offset / length == lock_byte / length) continue;
        if (!seal(&database->seals, (uint32_t)(offset / length) + 1, zeros, database->buffer)) return SQLITE_IOERR_WRITE;
        code = write_below(database, database->buffer, (size_t)length, offset);
    }
    return code;
}

static int read_database(sqlite3_file *opened, void *buffer, int amount, sqlite3_int64 offset) {
    file *database = (file *)opened;
    switch (find(database)) {
        case dao_cipher_empty: return read_below(database, buffer, (size_t)amount, offset);
        case dao_cipher_opens: break;
        case dao_cipher_unreadable: return SQLITE_IOERR_READ;
        default: return SQLITE_NOTADB;
    }
    size_t length = database->seals.page_length, within = (size_t)(offset % (sqlite3_int64)length);
    if (within + (size_t)amount > length) return SQLITE_IOERR_READ;
    uint32_t page = (uint32_t)(offset / (sqlite3_int64)length) + 1;
    uint8_t *sealed = database->buffer, *plain = is_page(database, amount) ? buffer : sealed + largest_page;
    int code = read_below(database, sealed, length, offset - (sqlite3_int64)within);
    if (code == SQLITE_IOERR_SHORT_READ) {
        // A page that was never written is read as zeros, as SQLite asks for. One that is missing, or a part of it, would be
        // zeros of a value.
        if (page > 1 && !(dao_layer_can_lack_pages(&database->layer) && is_absent(database, page))) {
            return damaged(database, page, 0);
        }
        memset(buffer, 0, (size_t)amount);
        return code;
    }
    if (code != SQLITE_OK) return code;
    if (unseal(&database->seals, page, sealed, plain)) {
        if (plain != buffer) memcpy(buffer, plain + within, (size_t)amount);
        return SQLITE_OK;
    }
    // Another connection has begun the file after this one, or SQLCipher has made the file longer without the page. Files of our
    // format have no such holes.
    if ((page == 1 || database->seals.keys->format == dao_cipher_sqlcipher) && is_zero(sealed, length)) {
        memset(buffer, 0, (size_t)amount);
        return SQLITE_OK;
    }
    if (page == 1) {
        // SQLite looks at the header before it takes a lock. A torn page is in the log.
        if (amount < (int)length && within + (size_t)amount <= 100) {
            memset(buffer, 0, (size_t)amount);
            int plain_bytes = database->seals.plain == header_length ? header_length - (int)within : 0;
            if (plain_bytes > 0) memcpy(buffer, sealed + within, (size_t)(plain_bytes < amount ? plain_bytes : amount));
            return SQLITE_OK;
        }
        const keys *before = database->seals.keys;
        forget(&database->seals);
        if (find(database) == dao_cipher_opens && database->seals.keys != before) {
            return read_database(opened, buffer, amount, offset);
        }
    }
    return damaged(database, page, 0);
}

static int write_database(sqlite3_file *opened, const void *bytes, int amount, sqlite3_int64 offset) {
    file *database = (file *)opened;
    switch (find(database)) {
        case dao_cipher_opens: break;
        case dao_cipher_empty:
            if (amount > 1 && dao_page_length((uint32_t)amount) && begin(database, (size_t)amount)) break;
            return SQLITE_IOERR_WRITE;
        case dao_cipher_unreadable: return SQLITE_IOERR_READ;
        default: return SQLITE_NOTADB;
    }
    if (!is_page(database, amount) || offset % amount != 0) return SQLITE_IOERR_WRITE;
    uint32_t page = (uint32_t)(offset / amount) + 1;
    // SQLite must leave the reserved bytes free.
    if (page == 1 && ((const uint8_t *)bytes)[20] != database->seals.reserve) return SQLITE_CORRUPT;
    if (database->seals.keys->format == dao_cipher_ours) {
        int code = fill_hole(database, offset);
        if (code != SQLITE_OK) return code;
    }
    if (database->moved_page == page && memcmp(database->moved, bytes, (size_t)amount) == 0) {
        return write_below(database, database->moved + largest_page, (size_t)amount, offset);
    }
    if (!seal(&database->seals, page, bytes, database->buffer)) return SQLITE_IOERR_WRITE;
    return write_below(database, database->buffer, (size_t)amount, offset);
}

// MARK: The log

// The header of a frame holds the number of its page (4), the size of the database for the last frame of a commit (4), two
// salts (8) and the sums of all frames so far (8). SQLite above this layer has sums of plain pages, in the index of the log
// and in what it reads when it recovers a log; those in the file are of sealed pages.

static sqlite3_int64 frame_length(const file *database) {
    return (sqlite3_int64)database->seals.page_length + dao_frame_header_length;
}

static sqlite3_int64 frame_offset(const file *database, sqlite3_int64 frame) {
    return dao_log_header_length + frame * frame_length(database);
}

/// Whether the log says that its sums take words with the highest byte first.
static int is_big_endian(file *log) {
    uint8_t mark[4];
    return read_below(log, mark, 4, 0) == SQLITE_OK ? (int)(dao_big(mark) & 1) : __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/// The sums before a frame, as they are in the file.
static int sums_before(file *log, sqlite3_int64 frame, dao_sums *sums) {
    file *database = log->database;
    uint8_t stored[8];
    if (frame > 0 && database->last_frame == frame - 1) {
        *sums = database->last_sums;
        return SQLITE_OK;
    }
    log->is_big = is_big_endian(log);
    sqlite3_int64 offset = frame == 0 ? dao_log_header_length - 8 : frame_offset(database, frame - 1) + 16;
    int code = read_below(log, stored, 8, offset);
    *sums = (dao_sums){dao_big(stored), dao_big(stored + 4)};
    return code;
}

static dao_sums sums_with(const file *log, dao_sums sums, const uint8_t *frame) {
    return dao_sums_add(
        dao_sums_add(sums, frame, 8, log->is_big), frame + dao_frame_header_length, log->database->seals.page_length,
        log->is_big);
}

/// Checks, once a transaction, that the last frame of the log continues the one before. Another program that has written into a log of SQLCipher
/// since has taken the sums from the index of the log, where they are those of plain pages, and a power cut would lose its
/// commits and ours after them.
static int check_last(file *log, sqlite3_int64 frame) {
    file *database = log->database;
    dao_sums before;
    if (database->has_written) return SQLITE_OK;
    database->has_written = 1;
    if (frame == 0 || database->seals.keys->format == dao_cipher_ours) return SQLITE_OK;
    int code = sums_before(log, frame - 1, &before);
    if (code == SQLITE_OK) {
        code = read_below(log, log->buffer, (size_t)frame_length(database), frame_offset(database, frame - 1));
    }
    if (code != SQLITE_OK) return code;
    dao_sums sums = sums_with(log, before, log->buffer);
    if (sums.first == dao_big(log->buffer + 16) && sums.second == dao_big(log->buffer + 20)) return SQLITE_OK;
    database->damage = (dao_damaged_seal){dao_big(log->buffer), 1, 1};
    return SQLITE_IOERR_DATA;
}

/// Writes a frame whose header and sealed page are in the buffer.
static int write_frame(file *log, sqlite3_int64 frame, int has_page) {
    static const uint8_t zeros[dao_frame_header_length - 8];
    file *database = log->database;
    uint8_t *bytes = log->buffer;
    // SQLite corrects a header without salts later.
    if (memcmp(bytes + 8, zeros, sizeof(zeros)) != 0) {
        dao_sums sums;
        int code = sums_before(log, frame, &sums);
        if (code != SQLITE_OK) return code;
        sums = sums_with(log, sums, bytes);
        dao_put_big(bytes + 16, sums.first);
        dao_put_big(bytes + 20, sums.second);
        database->last_frame = frame;
        database->last_sums = sums;
    } else {
        database->last_frame = -1;
    }
    size_t length = has_page ? (size_t)frame_length(database) : dao_frame_header_length;
    int code = write_below(log, bytes, length, frame_offset(database, frame));
    if (code != SQLITE_OK) database->last_frame = -1;
    return code;
}

static int write_log(sqlite3_file *opened, const void *bytes, int amount, sqlite3_int64 offset) {
    static const uint8_t zeros[dao_frame_header_length - 8];
    file *log = (file *)opened, *database = log->database;
    uint8_t *sealed = log->buffer + dao_frame_header_length;
    if (offset < dao_log_header_length) {
        database->last_frame = -1;
        return write_below(log, bytes, (size_t)amount, offset);
    }
    if (find(database) != dao_cipher_opens) return SQLITE_IOERR_WRITE;
    sqlite3_int64 frame = (offset - dao_log_header_length) / frame_length(database);
    sqlite3_int64 within = offset - frame_offset(database, frame);
    int code;
    if (within == 0 && amount == dao_frame_header_length) {
        if (database->rewritten_from >= 0 && frame >= database->rewritten_from
            && memcmp((const uint8_t *)bytes + 8, zeros, sizeof(zeros)) != 0) {
            // The page is in the log already.
            code = read_below(log, sealed, database->seals.page_length, offset + dao_frame_header_length);
            if (code != SQLITE_OK) return code;
            memcpy(log->buffer, bytes, dao_frame_header_length);
            return write_frame(log, frame, 0);
        }
        log->header_offset = offset;
        memcpy(log->header, bytes, dao_frame_header_length);
        return SQLITE_OK;
    }
    if (within != dao_frame_header_length || !is_page(database, amount)) return SQLITE_IOERR_WRITE;
    if (log->header_offset == offset - dao_frame_header_length) {
        if ((code = check_last(log, frame)) != SQLITE_OK) return code;
        memcpy(log->buffer, log->header, dao_frame_header_length);
        log->header_offset = -1;
        if (!seal(&database->seals, dao_big(log->buffer), bytes, sealed)) return SQLITE_IOERR_WRITE;
        return write_frame(log, frame, 1);
    }
    // A transaction that is larger than the cache overwrites pages of its own frames.
    if (database->rewritten_from < 0 || frame < database->rewritten_from) database->rewritten_from = frame;
    database->last_frame = -1;
    code = read_below(log, log->buffer, dao_frame_header_length, offset - dao_frame_header_length);
    if (code != SQLITE_OK) return code;
    if (!seal(&database->seals, dao_big(log->buffer), bytes, sealed)) return SQLITE_IOERR_WRITE;
    return write_below(log, sealed, (size_t)amount, offset);
}

/// Reads a frame for a recovery, which reads all frames from the first on: the sums in the file are verified, and SQLite
/// gets those that it expects.
static int recover_frame(file *log, sqlite3_int64 frame, uint8_t *result) {
    file *database = log->database;
    uint8_t *bytes = log->buffer, *plain = result + dao_frame_header_length;
    memcpy(result, bytes, dao_frame_header_length);
    if (frame == 0) {
        uint8_t stored[8];
        int code = read_below(log, stored, 8, dao_log_header_length - 8);
        if (code != SQLITE_OK) return code;
        log->sealed_sums = log->plain_sums = (dao_sums){dao_big(stored), dao_big(stored + 4)};
        log->next_recovered = 0;
        log->is_big = is_big_endian(log);
    }
    if (frame != log->next_recovered) {
        return unseal(&database->seals, dao_big(bytes), bytes + dao_frame_header_length, plain)
            ? SQLITE_OK
            : damaged(database, dao_big(bytes), 1);
    }
    log->sealed_sums = sums_with(log, log->sealed_sums, bytes);
    if (log->sealed_sums.first != dao_big(bytes + 16) || log->sealed_sums.second != dao_big(bytes + 20)) {
        // The end of the log: SQLite stops at a frame with other salts.
        log->next_recovered = -1;
        memset(result + 8, 0, dao_frame_header_length - 8);
        memset(plain, 0, database->seals.page_length);
        return SQLITE_OK;
    }
    // A frame whose sums are right and whose page is not authentic is no end.
    if (!unseal(&database->seals, dao_big(bytes), bytes + dao_frame_header_length, plain)) {
        return damaged(database, dao_big(bytes), 1);
    }
    log->plain_sums = sums_with(log, log->plain_sums, result);
    dao_put_big(result + 16, log->plain_sums.first);
    dao_put_big(result + 20, log->plain_sums.second);
    log->next_recovered++;
    return SQLITE_OK;
}

static int read_log(sqlite3_file *opened, void *buffer, int amount, sqlite3_int64 offset) {
    file *log = (file *)opened, *database = log->database;
    if (offset < dao_log_header_length || amount < 512) return read_below(log, buffer, (size_t)amount, offset);
    switch (find(database)) {
        case dao_cipher_opens: break;
        // The file was emptied, and its log is that of another one.
        case dao_cipher_empty: return read_below(log, buffer, (size_t)amount, offset);
        default: return SQLITE_NOTADB;
    }
    sqlite3_int64 frame = (offset - dao_log_header_length) / frame_length(database);
    sqlite3_int64 within = offset - frame_offset(database, frame);
    int code = read_below(log, log->buffer, (size_t)frame_length(database), frame_offset(database, frame));
    if (code != SQLITE_OK) return code;
    if (within == 0 && amount == frame_length(database)) return recover_frame(log, frame, buffer);
    if (within != dao_frame_header_length || (size_t)amount > database->seals.page_length) return SQLITE_IOERR_READ;
    uint32_t page = dao_big(log->buffer);
    const uint8_t *sealed = log->buffer + dao_frame_header_length;
    uint8_t *plain = is_page(database, amount) ? buffer : log->buffer + dao_frame_header_length + largest_page;
    if (!unseal(&database->seals, page, sealed, plain)) return damaged(database, page, 1);
    if (plain != buffer) memcpy(buffer, plain, (size_t)amount);
    if (database->is_moving && plain == buffer) {
        if (!database->moved) database->moved = malloc(2 * largest_page);
        if (database->moved) {
            memcpy(database->moved, plain, (size_t)amount);
            memcpy(database->moved + largest_page, sealed, (size_t)amount);
            database->moved_page = page;
        }
    }
    return SQLITE_OK;
}

// MARK: The journal

// A record of the journal is the number of a page (4), the page, and a sum of a random number and some bytes of the page (4).

/// The sum of a page: every 200th byte from its end.
static uint32_t journal_sum(const uint8_t *page, size_t length) {
    uint32_t sum = 0;
    for (int64_t i = (int64_t)length - 200; i > 0; i -= 200) sum += page[i];
    return sum;
}

static void note_sum(file *journal, const uint8_t *sealed, const uint8_t *plain, size_t length, sqlite3_int64 offset) {
    journal->difference = journal_sum(sealed, length) - journal_sum(plain, length);
    journal->sum_offset = offset + (sqlite3_int64)length;
    journal->page_offset = -1;
}

static void note_number(file *journal, const uint8_t *bytes, sqlite3_int64 offset) {
    journal->page = dao_big(bytes);
    journal->page_offset = offset + 4;
}

static int write_journal(sqlite3_file *opened, const void *bytes, int amount, sqlite3_int64 offset) {
    file *journal = (file *)opened, *database = journal->database;
    if (amount == 4 && offset == journal->sum_offset) {
        uint8_t sum[4];
        dao_put_big(sum, dao_big(bytes) + journal->difference);
        journal->sum_offset = -1;
        return write_below(journal, sum, 4, offset);
    }
    if (amount == 4) note_number(journal, bytes, offset);
    if (amount != 4 && offset == journal->page_offset) {
        if (find(database) != dao_cipher_opens || !is_page(database, amount)
            || !seal(&database->seals, journal->page, bytes, journal->buffer)) {
            return SQLITE_IOERR_WRITE;
        }
        note_sum(journal, journal->buffer, bytes, (size_t)amount, offset);
        return write_below(journal, journal->buffer, (size_t)amount, offset);
    }
    return write_below(journal, bytes, (size_t)amount, offset);
}

static int read_journal(sqlite3_file *opened, void *buffer, int amount, sqlite3_int64 offset) {
    file *journal = (file *)opened, *database = journal->database;
    int code = read_below(journal, buffer, (size_t)amount, offset);
    if (code != SQLITE_OK) return code;
    if (amount == 4 && offset == journal->sum_offset) {
        dao_put_big(buffer, dao_big(buffer) - journal->difference);
        journal->sum_offset = -1;
    } else if (amount == 4) {
        note_number(journal, buffer, offset);
    } else if (offset == journal->page_offset && find(database) == dao_cipher_opens && is_page(database, amount)) {
        memcpy(journal->buffer, buffer, (size_t)amount);
        if (unseal(&database->seals, journal->page, journal->buffer, buffer)) {
            note_sum(journal, journal->buffer, buffer, (size_t)amount, offset);
        } else {
            // A torn record: its sum is wrong, and the journal ends there.
            memset(buffer, 0, (size_t)amount);
        }
    }
    return SQLITE_OK;
}

// MARK: Other methods of files

static int close_file(sqlite3_file *opened) {
    file *file = (struct file *)opened;
    if (file->kind == is_database) {
        forget(&file->seals);
        dao_cipher_release(file->cipher);
    }
    if (file->moved) dao_wipe(file->moved, 2 * largest_page);
    if (file->buffer) dao_wipe(file->buffer, 2 * largest_page + dao_frame_header_length);
    free(file->moved);
    free(file->buffer);
    file->moved = file->buffer = NULL;
    return below(file)->pMethods->xClose(below(file));
}

/// SQLite must not write a page in pieces, nor read a part of one past this layer.
static int device_characteristics(sqlite3_file *opened) {
    sqlite3_file *base = below((file *)opened);
    return (base->pMethods->xDeviceCharacteristics(base) & ~SQLITE_IOCAP_SUBPAGE_READ) | SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int lock_index(sqlite3_file *opened, int offset, int count, int flags) {
    file *database = (file *)opened;
    if (offset == write_lock) {
        database->rewritten_from = database->last_frame = -1;
        database->has_written = 0;
    }
    if (offset == checkpoint_lock) {
        database->is_moving = (flags & SQLITE_SHM_LOCK) != 0;
        database->moved_page = 0;
    }
    return below(database)->pMethods->xShmLock(below(database), offset, count, flags);
}

// MARK: Temporary files

// Tables, sorted rows and the journals of statements that do not fit into memory. Such a file has a random key, which is
// forgotten with it. It is kept in blocks, behind each of which are its nonce and its tag.

enum {
    block_length = 4096,
    sealed_block_length = block_length + dao_nonce_length + dao_tag_length,
};

typedef struct {
    dao_layer_file layer;
    dao_keys *keys;
    /// The length that SQLite sees.
    sqlite3_int64 length;
    /// The block in `plain`, whether it has changed since it was read, and its number; -1 for none.
    sqlite3_int64 block;
    int is_changed;
    uint8_t plain[block_length], sealed[sealed_block_length];
} temporary;

static int write_block(temporary *file) {
    if (!file->is_changed) return SQLITE_OK;
    uint8_t *nonce = file->sealed + block_length;
    if (!dao_random(nonce, dao_nonce_length)
        || !dao_gcm_seal(
            file->keys, nonce, (const uint8_t *)&file->block, sizeof(file->block), file->plain, block_length, file->sealed,
            nonce + dao_nonce_length)) {
        return SQLITE_IOERR_WRITE;
    }
    sqlite3_file *base = file->layer.below;
    int code = base->pMethods->xWrite(base, file->sealed, sealed_block_length, file->block * sealed_block_length);
    if (code == SQLITE_OK) file->is_changed = 0;
    return code;
}

static int read_block(temporary *file, sqlite3_int64 block) {
    if (file->block == block) return SQLITE_OK;
    int code = write_block(file);
    if (code != SQLITE_OK) return code;
    file->block = -1;
    sqlite3_file *base = file->layer.below;
    code = base->pMethods->xRead(base, file->sealed, sealed_block_length, block * sealed_block_length);
    const uint8_t *nonce = file->sealed + block_length;
    if (code == SQLITE_IOERR_SHORT_READ || (code == SQLITE_OK && is_zero(file->sealed, sealed_block_length))) {
        // It was never written.
        memset(file->plain, 0, block_length);
    } else if (code != SQLITE_OK) {
        return code;
    } else if (!dao_gcm_open(
                   file->keys, nonce, (const uint8_t *)&block, sizeof(block), file->sealed, block_length, file->plain,
                   nonce + dao_nonce_length)) {
        return SQLITE_IOERR_READ;
    }
    file->block = block;
    return SQLITE_OK;
}

static int read_temporary(sqlite3_file *opened, void *buffer, int amount, sqlite3_int64 offset) {
    temporary *file = (temporary *)opened;
    uint8_t *to = buffer;
    sqlite3_int64 end = offset + amount < file->length ? offset + amount : file->length;
    while (offset < end) {
        int code = read_block(file, offset / block_length);
        if (code != SQLITE_OK) return code;
        sqlite3_int64 start = offset % block_length, count = block_length - start;
        if (count > end - offset) count = end - offset;
        memcpy(to, file->plain + start, (size_t)count);
        to += count;
        offset += count;
    }
    size_t rest = (size_t)((uint8_t *)buffer + amount - to);
    memset(to, 0, rest);
    return rest ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int write_temporary(sqlite3_file *opened, const void *bytes, int amount, sqlite3_int64 offset) {
    temporary *file = (temporary *)opened;
    const uint8_t *from = bytes;
    sqlite3_int64 end = offset + amount;
    while (offset < end) {
        int code = read_block(file, offset / block_length);
        if (code != SQLITE_OK) return code;
        sqlite3_int64 start = offset % block_length, count = block_length - start;
        if (count > end - offset) count = end - offset;
        memcpy(file->plain + start, from, (size_t)count);
        file->is_changed = 1;
        from += count;
        offset += count;
        if (offset > file->length) file->length = offset;
    }
    return SQLITE_OK;
}

static int truncate_temporary(sqlite3_file *opened, sqlite3_int64 length) {
    temporary *file = (temporary *)opened;
    sqlite3_file *base = file->layer.below;
    sqlite3_int64 blocks = (length + block_length - 1) / block_length;
    if (length < file->length) file->length = length;
    if (file->block >= blocks) {
        file->block = -1;
        file->is_changed = 0;
    }
    return base->pMethods->xTruncate(base, blocks * sealed_block_length);
}

static int size_of_temporary(sqlite3_file *opened, sqlite3_int64 *length) {
    *length = ((temporary *)opened)->length;
    return SQLITE_OK;
}

/// Nothing is passed on that speaks of lengths.
static int control_temporary(sqlite3_file *opened, int operation, void *argument) {
    (void)opened, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int close_temporary(sqlite3_file *opened) {
    temporary *file = (temporary *)opened;
    sqlite3_file *base = file->layer.below;
    dao_keys_free(file->keys);
    file->keys = NULL;
    dao_wipe(file->plain, block_length);
    return base->pMethods->xClose(base);
}

static int open_temporary(sqlite3_vfs *vfs, const char *name, sqlite3_file *opened, int flags, int *opened_flags) {
    temporary *file = (temporary *)opened;
    uint8_t key[dao_key_length];
    int code = dao_layer_open_below(vfs, name, &file->layer, sizeof(*file), flags, opened_flags);
    if (code != SQLITE_OK) return code;
    file->keys = dao_random(key, sizeof(key)) ? dao_keys_create(key, NULL) : NULL;
    dao_wipe(key, sizeof(key));
    if (!file->keys) {
        file->layer.below->pMethods->xClose(file->layer.below);
        file->layer.base.pMethods = NULL;
        return SQLITE_NOMEM;
    }
    file->block = -1;
    sqlite3_io_methods *methods = &file->layer.methods;
    methods->iVersion = 1;
    methods->xClose = close_temporary;
    methods->xRead = read_temporary;
    methods->xWrite = write_temporary;
    methods->xTruncate = truncate_temporary;
    methods->xFileSize = size_of_temporary;
    methods->xFileControl = control_temporary;
    return SQLITE_OK;
}

// MARK: The VFS

/// The secret of the file that this thread opens.
static _Thread_local dao_cipher *opening;

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *opened, int flags, int *opened_flags) {
    kind kind;
    if (flags & SQLITE_OPEN_MAIN_DB) {
        kind = is_database;
    } else if (flags & SQLITE_OPEN_WAL) {
        kind = is_log;
    } else if (flags & SQLITE_OPEN_MAIN_JOURNAL) {
        kind = is_journal;
    } else if (flags & SQLITE_OPEN_SUPER_JOURNAL) {
        // Several files are not written together.
        return SQLITE_CANTOPEN;
    } else {
        return open_temporary(vfs, name, opened, flags, opened_flags);
    }
    dao_cipher *cipher = opening;
    // A file that a statement attaches has no secret.
    if (kind == is_database && !cipher) return SQLITE_AUTH;
    opening = NULL;
    file *file = (struct file *)opened;
    int code = dao_layer_open_below(vfs, name, &file->layer, sizeof(*file), flags, opened_flags);
    if (code != SQLITE_OK) return code;
    file->buffer = malloc(2 * largest_page + dao_frame_header_length);
    if (!file->buffer) {
        below(file)->pMethods->xClose(below(file));
        file->layer.base.pMethods = NULL;
        return SQLITE_NOMEM;
    }
    file->kind = kind;
    file->database = kind == is_database ? file : (struct file *)sqlite3_database_file_object(name);
    file->last_frame = file->rewritten_from = file->header_offset = file->next_recovered = -1;
    file->page_offset = file->sum_offset = -1;
    if (kind == is_database) {
        dao_cipher_retain(cipher);
        file->cipher = cipher;
        file->format = cipher->format;
        file->has_plain_header = cipher->format == dao_cipher_sqlcipher && cipher->has_salt;
    }
    sqlite3_io_methods *methods = &file->layer.methods;
    // Pages are not mapped into memory.
    if (methods->iVersion > 2) methods->iVersion = 2;
    methods->xFetch = NULL;
    methods->xUnfetch = NULL;
    methods->xClose = close_file;
    methods->xRead = kind == is_database ? read_database : kind == is_log ? read_log : read_journal;
    methods->xWrite = kind == is_database ? write_database : kind == is_log ? write_log : write_journal;
    methods->xDeviceCharacteristics = device_characteristics;
    if (methods->xShmLock) methods->xShmLock = lock_index;
    return SQLITE_OK;
}

static const char *vfs_name(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static sqlite3_vfs vfs;
    pthread_mutex_lock(&mutex);
    const char *name = dao_layer_register(
        &vfs, "dao-cipher", sizeof(file) > sizeof(temporary) ? sizeof(file) : sizeof(temporary), open_file);
    pthread_mutex_unlock(&mutex);
    return name;
}

// MARK: Connections

int dao_cipher_open(const char *path, sqlite3 **database, int flags, dao_cipher *cipher) {
    const char *name = vfs_name();
    *database = NULL;
    if (!name) return SQLITE_NOMEM;
    opening = cipher;
    int code = sqlite3_open_v2(path, database, flags, name);
    opening = NULL;
    return code;
}

const char *dao_cipher_layer(void) {
    const char *name = vfs_name();
    return name ? name : "";
}

int dao_cipher_attach(sqlite3 *database, const char *statement, dao_cipher *cipher) {
    if (!vfs_name()) return SQLITE_NOMEM;
    opening = cipher;
    int code = sqlite3_exec(database, statement, NULL, NULL, NULL);
    opening = NULL;
    return code;
}

/// The file of a schema of a connection that was opened with this VFS; otherwise NULL.
static file *file_of(sqlite3 *database, const char *schema) {
    sqlite3_file *opened = NULL;
    int code = sqlite3_file_control(database, schema, SQLITE_FCNTL_FILE_POINTER, &opened);
    if (code != SQLITE_OK || !opened || !opened->pMethods || opened->pMethods->xRead != read_database) return NULL;
    return (file *)opened;
}

int dao_cipher_is_used(sqlite3 *database) { return file_of(database, "main") != NULL; }

int dao_cipher_reserve(sqlite3 *database, const char *schema) {
    file *file = file_of(database, schema);
    if (!file) return SQLITE_OK;
    dao_cipher_state state = find(file);
    // Without the reserve, a file that could not be read now and is empty would get pages that have no room for a tag.
    if (state == dao_cipher_unreadable) return SQLITE_IOERR_READ;
    if (state != dao_cipher_empty) return SQLITE_OK;
    // SQLite writes the number that was reserved before into the variable.
    int reserve = file->format == dao_cipher_ours ? our_reserve : sqlcipher_reserve;
    return sqlite3_file_control(database, schema, SQLITE_FCNTL_RESERVE_BYTES, &reserve);
}

void dao_cipher_use_format(sqlite3 *database, sqlite3 *other) {
    file *to = file_of(database, "main"), *from = file_of(other, "main");
    if (!to || !from || find(from) != dao_cipher_opens) return;
    to->format = from->seals.keys->format;
    to->has_plain_header = to->format == dao_cipher_sqlcipher && from->seals.plain == header_length;
}

dao_damaged_seal dao_cipher_damage(sqlite3 *database) {
    file *file = file_of(database, "main");
    return file ? file->damage : (dao_damaged_seal){0, 0, 0};
}

#endif
