#ifndef DAO_SQLITE_LAYER_H
#define DAO_SQLITE_LAYER_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// What layers below SQLite have in common: a VFS over the default one that passes everything on, until a layer replaces
// some of its methods; and the sums of the write-ahead log, as "The SQLite Database File Format" describes them.

/// An open file: the beginning of the structure of a layer. The file of the VFS below follows that structure in memory.
typedef struct {
    sqlite3_file base;
    /// The methods of this file, which has only those that the file below has.
    sqlite3_io_methods methods;
    sqlite3_file *below;
    /// The lock on the file that the connection holds.
    int lock;
} dao_layer_file;

/// Whether a page behind the end of the file can be one that was never written: only for a connection that writes without a
/// log, whose transaction is larger than its cache. SQLite does not write the pages that such a transaction has freed. For
/// everybody else the file was cut.
static inline int dao_layer_can_lack_pages(const dao_layer_file *file) { return file->lock >= SQLITE_LOCK_RESERVED; }

typedef int (*dao_layer_open)(sqlite3_vfs *vfs, const char *name, sqlite3_file *opened, int flags, int *opened_flags);

/// Registers a VFS over the default one, once in a process. A thread at a time calls it.
///
/// `vfs` is memory that is never freed, zeros before the first call. `file_length` is the size of the layer's structure.
/// Returns: the name; NULL when SQLite cannot register it.
const char *dao_layer_register(sqlite3_vfs *vfs, const char *name, size_t file_length, dao_layer_open open);

/// Fills the structure of a layer with zeros and opens the file below with methods that pass everything on.
///
/// Returns: the code of the VFS below. When it is not `SQLITE_OK`, the file has no methods.
int dao_layer_open_below(
    sqlite3_vfs *vfs, const char *name, dao_layer_file *file, size_t file_length, int flags, int *opened_flags);

/// Two sums modulo 2^32, each of which takes in the other.
typedef struct {
    uint32_t first, second;
} dao_sums;

/// Adds bytes, a multiple of eight, as words of an order.
dao_sums dao_sums_add(dao_sums to, const uint8_t *bytes, size_t length, int is_big_endian);

/// The length of a page that the header of a database or a log says, in two or four bytes; zero when it is none.
size_t dao_page_length(uint32_t stored);

static inline uint32_t dao_big(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static inline uint32_t dao_little(const uint8_t *bytes) {
    uint32_t word;
    memcpy(&word, bytes, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

static inline void dao_put_big(uint8_t *bytes, uint32_t word) {
    bytes[0] = (uint8_t)(word >> 24);
    bytes[1] = (uint8_t)(word >> 16);
    bytes[2] = (uint8_t)(word >> 8);
    bytes[3] = (uint8_t)word;
}

/// Lengths in the log of a database.
enum {
    dao_log_header_length = 32,
    dao_frame_header_length = 24,
};

#endif
