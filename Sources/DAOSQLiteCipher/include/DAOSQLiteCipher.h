#ifndef DAO_SQLITE_CIPHER_H
#define DAO_SQLITE_CIPHER_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

// A layer below SQLite (a VFS over the default one) that seals the pages of a database file, of its write-ahead log and of
// its journal: they are encrypted and authenticated. SQLite above it sees plain pages. Temporary files are sealed with keys that
// are forgotten with them.
//
// Two formats:
//
// - "ours": AES-256-GCM with a key for each page from a random nonce of 192 bits (XAES-256-GCM). The first 32 bytes of the
//   file are SQLite's own and plain, so that the file says what it is; the last 64 bytes of each page are a nonce (24), a
//   tag (16), and the same on every page: a salt (16), the version of the format (1), how the key was derived (1), the number
//   of thousands of rounds of the derivation (2, the highest byte first) and a proof of the key (4). The associated data are
//   the salt, the version, the number of the page, and on the first page the plain bytes.
// - "SQLCipher 4": the default format of SQLCipher 4 (https://www.zetetic.net/sqlcipher/design/): AES-256-CBC with
//   HMAC-SHA512, whose key 256,000 rounds of PBKDF2-HMAC-SHA512 derive; the last 80 bytes of a page are the initialisation
//   vector (16) and the code (64).
//
// The sums in the log and the journal are those of the sealed pages. Sums of plain pages would tell about their contents.

typedef enum {
    dao_cipher_ours = 1,
    dao_cipher_sqlcipher = 2,
} dao_cipher_format;

/// The secret of the connections of an engine, and the keys that were derived from it. It has a lock of its own.
typedef struct dao_cipher dao_cipher;

/// Creates the secret of an engine.
///
/// - `secret`, `length`: A passphrase, or a key of 32 bytes.
/// - `format`: The format of a new file. The format of another one is recognised.
/// - `salt`: 16 bytes, which a file of SQLCipher does not have because its first 32 bytes are plain; or NULL.
///
/// Returns: NULL without memory.
dao_cipher *dao_cipher_create(
    const void *secret, size_t length, int is_passphrase, dao_cipher_format format, const uint8_t *salt);

void dao_cipher_retain(dao_cipher *cipher);

/// Frees the secret when its last user releases it. What it held is overwritten.
void dao_cipher_release(dao_cipher *cipher);

/// Derives the key of a file, which takes long for a passphrase, or that of a file that is made next.
///
/// `header` is its first 32 bytes, `tail` the last 24 of its first page; NULL for a file without pages.
void dao_cipher_prepare(dao_cipher *cipher, const uint8_t *header, const uint8_t *tail);

/// Whether two secrets are the same.
int dao_cipher_is_same(const dao_cipher *left, const dao_cipher *right);

/// What a file is to a secret.
typedef enum {
    /// There is no page yet.
    dao_cipher_empty,
    /// The secret opens it.
    dao_cipher_opens,
    /// A plain SQLite file.
    dao_cipher_plain,
    /// The file is ours, and the secret is another one.
    dao_cipher_wrong_key,
    /// The file is ours, and made by a later version of this library.
    dao_cipher_newer,
    /// The first page is damaged, and others prove the key.
    dao_cipher_damaged,
    /// The file looks like random bytes: the secret is another one, the file is damaged, or no database.
    dao_cipher_unknown,
    /// The header is plain, as SQLCipher can leave it, and the salt was not given.
    dao_cipher_needs_salt,
    /// The file is no database.
    dao_cipher_other,
    /// The file cannot be read.
    dao_cipher_unreadable,
} dao_cipher_state;

/// Looks what the file behind a descriptor is to a secret. Its log and its journal prove the key when the first page is
/// damaged. Derives the key.
///
/// `log` and `journal` are descriptors, or -1.
dao_cipher_state dao_cipher_look(dao_cipher *cipher, int database, int log, int journal);

/// Whether the bytes at the beginning of a file are as different as those of an encrypted one.
int dao_cipher_looks_random(int database);

/// Whether the beginning of a file, at least 32 bytes, and the last 24 bytes of its first page are those of a file that is
/// ours.
int dao_cipher_is_ours(const uint8_t *header, const uint8_t *tail);

/// The name of the layer, as a VFS; empty without memory.
const char *dao_cipher_layer(void);

/// Opens a connection to a file with `sqlite3_open_v2`.
int dao_cipher_open(const char *path, sqlite3 **database, int flags, dao_cipher *cipher);

/// Runs a statement that attaches a file, which has the name of this VFS in its URI, with a secret.
int dao_cipher_attach(sqlite3 *database, const char *statement, dao_cipher *cipher);

/// Reserves the bytes of the format in each page of a file that is still empty.
///
/// Returns a result code of SQLite; an error when the file cannot be read.
int dao_cipher_reserve(sqlite3 *database, const char *schema);

/// Gives the empty file of a connection the format of another one.
void dao_cipher_use_format(sqlite3 *database, sqlite3 *other);

/// Whether a connection was opened with ``dao_cipher_open``.
int dao_cipher_is_used(sqlite3 *database);

/// A page whose bytes are not those that were sealed.
typedef struct {
    /// The number of the page, from one; zero when there was none.
    int64_t page;
    /// Whether the page was read from the write-ahead log.
    int is_in_log;
    /// Whether the log was continued by a program that does not know this layer's sums.
    int is_foreign_log;
} dao_damaged_seal;

/// The page at which the last call of a connection failed with `SQLITE_IOERR_DATA`.
dao_damaged_seal dao_cipher_damage(sqlite3 *database);

#endif
