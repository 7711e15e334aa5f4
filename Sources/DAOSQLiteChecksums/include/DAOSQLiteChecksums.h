#ifndef DAO_SQLITE_CHECKSUMS_H
#define DAO_SQLITE_CHECKSUMS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "DAOSQLiteLayer.h"

// A layer below SQLite (a VFS over the default one) that keeps a checksum in the last eight bytes of every page of a
// database file, in the format of SQLite's own extension "cksumvfs". Only files whose header reserves exactly eight bytes
// of each page have checksums; other files are passed through.
//
// The checksum of a page is computed when the page is written to the database file, and verified when it is read from
// there. Pages in the write-ahead log are verified with the checksums that SQLite itself writes with every frame of the
// log and checks only after a crash. So a damaged frame is neither read, nor moved into the database file.

/// The number of bytes of each page that the checksum takes.
#define DAO_CHECKSUM_LENGTH 8

/// Registers the layer, once in a process. A thread at a time calls it.
///
/// Returns: the name of the VFS, for `sqlite3_open_v2`; NULL when SQLite cannot register it.
const char *dao_checksums_register(void);

/// Whether the file of a connection has checksums. SQLite has read or written its first page before.
int dao_checksums_exist(sqlite3 *database);

/// Sets whether the connection verifies checksums; by default it does. They are computed in either case.
void dao_checksums_set_verified(sqlite3 *database, int verifies);

/// A page that did not match its checksum.
typedef struct {
    /// The number of the page, from one; zero when there was none.
    int64_t page;
    /// Whether the page was read from the write-ahead log.
    int is_in_log;
} dao_damaged_page;

/// The page at which the last read of a connection failed with `SQLITE_IOERR_DATA`.
dao_damaged_page dao_checksums_damage(sqlite3 *database);

/// Whether the last bytes of a page are the checksum of the others.
///
/// `length` is a power of two from 512. A page of zeros has a valid checksum.
int dao_checksum_matches(const void *page, size_t length);

#endif
