#include "DAOSQLiteChecksums.h"
#include "DAOSQLiteLayer.h"

#include <string.h>

// Constants that older headers of SQLite do not have.
#ifndef SQLITE_IOCAP_SUBPAGE_READ
#define SQLITE_IOCAP_SUBPAGE_READ 0x00008000
#endif

enum {
    header_length = 100,
    log_header_length = dao_log_header_length,
    frame_header_length = dao_frame_header_length,
    /// The lock of the connection that writes, in the index of the log.
    write_lock = 0,
};

// MARK: Sums

static inline void put_little(uint8_t *bytes, uint32_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    memcpy(bytes, &word, 4);
}

static dao_sums sums_of_page(const uint8_t *page, size_t length) {
    return dao_sums_add((dao_sums){0, 0}, page, length - DAO_CHECKSUM_LENGTH, 0);
}

int dao_checksum_matches(const void *page, size_t length) {
    dao_sums sums = sums_of_page(page, length);
    const uint8_t *stored = (const uint8_t *)page + length - DAO_CHECKSUM_LENGTH;
    return dao_little(stored) == sums.first && dao_little(stored + 4) == sums.second;
}

// MARK: Files

/// What is known about the pages of a file.
typedef enum {
    /// The file had no first page yet.
    unknown,
    without_checksums,
    with_checksums,
} page_format;

/// An open database file or log.
typedef struct file file;
struct file {
    dao_layer_file layer;
    /// The database file: this file, or that of this log.
    file *database;

    // Of a database file.
    page_format format;
    size_t page_length;
    int verifies;
    /// Whether pages were written before the first page said that the file has checksums.
    int wrote_early;
    dao_damaged_page damage;
    /// A page.
    uint8_t *scratch;
    size_t scratch_length;
    /// The frames of the log, a bit each, that get their checksums when the running transaction of this connection
    /// is committed.
    uint8_t *overwritten;
    size_t overwritten_length;
    int has_overwritten;

    // Of a log.
    /// Where the last write ended.
    sqlite3_int64 end_of_write;
};

static inline sqlite3_file *below(file *file) { return file->layer.below; }

/// Returns a buffer of a length, which is valid until the next call; NULL when there is no memory.
static uint8_t *scratch(file *file, size_t length) {
    if (file->scratch_length < length) {
        uint8_t *larger = sqlite3_realloc64(file->scratch, length);
        if (!larger) return NULL;
        file->scratch = larger;
        file->scratch_length = length;
    }
    return file->scratch;
}

/// Reads the format out of the beginning of the first page. Returns 0 when that is not the beginning of a database.
static int read_header(const uint8_t *header, page_format *format, size_t *page_length) {
    if (memcmp(header, "SQLite format 3", 16) != 0) return 0;
    size_t length = dao_page_length((uint32_t)header[16] << 8 | header[17]);
    if (length == 0) return 0;
    *page_length = length;
    *format = header[20] == DAO_CHECKSUM_LENGTH ? with_checksums : without_checksums;
    return 1;
}

/// Takes the format of a first page that was read. A file that has checksums keeps them: damage of the header must not
/// end the verification.
static void note_read(file *file, const uint8_t *header) {
    page_format format;
    size_t page_length;
    if (file->format == with_checksums || !read_header(header, &format, &page_length)) return;
    file->format = format;
    file->page_length = page_length;
}

/// Looks into the file when another connection has created its first page.
static void find_format(file *file) {
    uint8_t header[header_length];
    if (file->format != unknown) return;
    if (below(file)->pMethods->xRead(below(file), header, header_length, 0) == SQLITE_OK) note_read(file, header);
}

static int is_whole_page(int length) { return length > 1 && dao_page_length((uint32_t)length) != 0; }

static int damaged(file *database, sqlite3_int64 page, int is_in_log) {
    database->damage = (dao_damaged_page){page, is_in_log};
    return SQLITE_IOERR_DATA;
}

// MARK: Pages of the database

/// Verifies each page of which a part was read. Where a part is missing in the buffer, the page is read as a whole.
static int verify_pages(file *file, const uint8_t *buffer, int amount, sqlite3_int64 offset) {
    sqlite3_int64 length = (sqlite3_int64)file->page_length, end = offset + amount;
    for (sqlite3_int64 start = offset - offset % length; start < end; start += length) {
        const uint8_t *page = buffer + (start - offset);
        if (start < offset || start + length > end) {
            uint8_t *whole = scratch(file, (size_t)length);
            if (!whole) return SQLITE_IOERR_NOMEM;
            int code = below(file)->pMethods->xRead(below(file), whole, (int)length, start);
            if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return code;
            page = whole;
        }
        if (!dao_checksum_matches(page, (size_t)length)) return damaged(file, start / length + 1, 0);
    }
    return SQLITE_OK;
}

static int read_page(sqlite3_file *opened, void *buffer, int amount, sqlite3_int64 offset) {
    file *file = (struct file *)opened;
    int code = below(file)->pMethods->xRead(below(file), buffer, amount, offset);
    // The end of a file that was cut is read as zeros.
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return code;
    if (offset == 0 && amount >= header_length) note_read(file, buffer);
    if (offset != 0) find_format(file);
    if (file->format != with_checksums || !file->verifies) return code;
    // SQLite looks at the header before it takes a lock, and reads the page later.
    if (offset + amount <= header_length) return code;
    // What is missing would be read as zeros, whose checksum is right.
    if (code == SQLITE_IOERR_SHORT_READ && !dao_layer_can_lack_pages(&file->layer)) {
        return damaged(file, offset / (sqlite3_int64)file->page_length + 1, 0);
    }
    int verified = verify_pages(file, buffer, amount, offset);
    return verified == SQLITE_OK ? code : verified;
}

/// Writes a page with its checksum.
static int write_summed(file *file, const void *page, int length, sqlite3_int64 offset) {
    uint8_t *summed = scratch(file, (size_t)length);
    if (!summed) return SQLITE_IOERR_NOMEM;
    dao_sums sums = sums_of_page(page, (size_t)length);
    memmove(summed, page, (size_t)length - DAO_CHECKSUM_LENGTH);
    put_little(summed + length - 8, sums.first);
    put_little(summed + length - 4, sums.second);
    return below(file)->pMethods->xWrite(below(file), summed, length, offset);
}

/// Gives a checksum to the pages that were written before the first page.
static int sum_early_pages(file *file) {
    sqlite3_int64 size = 0, length = (sqlite3_int64)file->page_length;
    int code = below(file)->pMethods->xFileSize(below(file), &size);
    for (sqlite3_int64 offset = length; code == SQLITE_OK && offset + length <= size; offset += length) {
        uint8_t *page = scratch(file, (size_t)length);
        if (!page) return SQLITE_IOERR_NOMEM;
        code = below(file)->pMethods->xRead(below(file), page, (int)length, offset);
        if (code == SQLITE_OK) code = write_summed(file, page, (int)length, offset);
    }
    return code;
}

static int write_page(sqlite3_file *opened, const void *page, int amount, sqlite3_int64 offset) {
    file *file = (struct file *)opened;
    if (offset == 0 && amount >= header_length) {
        page_format before = file->format;
        if (read_header(page, &file->format, &file->page_length) && before == unknown && file->format == with_checksums
            && file->wrote_early) {
            int code = sum_early_pages(file);
            if (code != SQLITE_OK) return code;
        }
    } else {
        find_format(file);
    }
    if (file->format == unknown) file->wrote_early = 1;
    if (file->format == with_checksums && is_whole_page(amount)) return write_summed(file, page, amount, offset);
    return below(file)->pMethods->xWrite(below(file), page, amount, offset);
}

// MARK: Frames of the log

/// The number of the frame, from zero, whose page is at a position of the log; -1 when no page begins there.
static sqlite3_int64 frame_of_page(file *log, int amount, sqlite3_int64 offset) {
    sqlite3_int64 length = (sqlite3_int64)log->database->page_length;
    sqlite3_int64 first = log_header_length + frame_header_length;
    if (length == 0 || amount != length || offset < first || (offset - first) % (length + frame_header_length) != 0) return -1;
    return (offset - first) / (length + frame_header_length);
}

static int is_overwritten(const file *database, sqlite3_int64 frame) {
    if (!database->has_overwritten || (size_t)(frame / 8) >= database->overwritten_length) return 0;
    return database->overwritten[frame / 8] >> (frame % 8) & 1;
}

static int set_overwritten(file *database, sqlite3_int64 frame) {
    size_t needed = (size_t)(frame / 8) + 1;
    if (needed > database->overwritten_length) {
        size_t length = needed * 2;
        uint8_t *longer = sqlite3_realloc64(database->overwritten, length);
        if (!longer) return SQLITE_IOERR_NOMEM;
        memset(longer + database->overwritten_length, 0, length - database->overwritten_length);
        database->overwritten = longer;
        database->overwritten_length = length;
    }
    database->overwritten[frame / 8] |= (uint8_t)(1 << (frame % 8));
    database->has_overwritten = 1;
    return SQLITE_OK;
}

static void forget_overwritten(file *database) {
    if (!database->has_overwritten) return;
    memset(database->overwritten, 0, database->overwritten_length);
    database->has_overwritten = 0;
}

/// Verifies the page of a frame. The checksum of a frame continues that of the frame before.
static int verify_frame(file *log, const uint8_t *page, int length, sqlite3_int64 frame) {
    sqlite3_file *base = below(log);
    sqlite3_int64 step = length + frame_header_length, start = log_header_length + frame * step;
    uint8_t header[frame_header_length], before[8], mark[4];
    int code = base->pMethods->xRead(base, header, frame_header_length, start);
    if (code == SQLITE_OK) code = base->pMethods->xRead(base, before, 8, frame == 0 ? log_header_length - 8 : start - step + 16);
    if (code != SQLITE_OK) return code;
    dao_sums initial = {dao_big(before), dao_big(before + 4)}, stored = {dao_big(header + 16), dao_big(header + 20)};
    // The log says which order of bytes its checksums have: that of the computer that has begun it.
    int is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    for (int attempt = 0; attempt < 2; attempt++) {
        dao_sums sums = dao_sums_add(dao_sums_add(initial, header, 8, is_big), page, (size_t)length, is_big);
        if (sums.first == stored.first && sums.second == stored.second) return SQLITE_OK;
        if (base->pMethods->xRead(base, mark, 4, 0) != SQLITE_OK || (dao_big(mark) & 1) == (uint32_t)is_big) break;
        is_big = !is_big;
    }
    return damaged(log->database, dao_big(header), 1);
}

static int read_log(sqlite3_file *opened, void *buffer, int amount, sqlite3_int64 offset) {
    file *log = (file *)opened, *database = log->database;
    int code = below(log)->pMethods->xRead(below(log), buffer, amount, offset);
    if (code != SQLITE_OK || !database->verifies) return code;
    find_format(database);
    if (database->format != with_checksums) return code;
    sqlite3_int64 frame = frame_of_page(log, amount, offset);
    if (frame < 0 || is_overwritten(database, frame)) return code;
    return verify_frame(log, buffer, amount, frame);
}

/// Notes which frames of the running transaction have no valid checksum until it is committed.
///
/// SQLite writes the header of a frame and then its page. A transaction that is larger than the cache also overwrites
/// pages of its own frames in place. From then on it writes headers with zeros for checksums, and corrects all of them
/// when it commits.
static int note_frame(file *log, const uint8_t *bytes, int amount, sqlite3_int64 offset) {
    static const uint8_t zeros[frame_header_length - 8];
    file *database = log->database;
    if (amount != frame_header_length) {
        sqlite3_int64 frame = offset == log->end_of_write ? -1 : frame_of_page(log, amount, offset);
        return frame < 0 ? SQLITE_OK : set_overwritten(database, frame);
    }
    sqlite3_int64 frame = (offset - log_header_length) / ((sqlite3_int64)database->page_length + frame_header_length);
    if (memcmp(bytes + 8, zeros, sizeof(zeros)) == 0) return set_overwritten(database, frame);
    if (is_overwritten(database, frame)) database->overwritten[frame / 8] &= (uint8_t) ~(1 << (frame % 8));
    return SQLITE_OK;
}

static int write_log(sqlite3_file *opened, const void *bytes, int amount, sqlite3_int64 offset) {
    file *log = (file *)opened;
    if (log->database->format == with_checksums && offset >= log_header_length) {
        int code = note_frame(log, bytes, amount, offset);
        if (code != SQLITE_OK) return code;
    }
    log->end_of_write = offset + amount;
    return below(log)->pMethods->xWrite(below(log), bytes, amount, offset);
}

// MARK: Other methods of files

static int close_file(sqlite3_file *opened) {
    file *file = (struct file *)opened;
    sqlite3_free(file->scratch);
    sqlite3_free(file->overwritten);
    file->scratch = file->overwritten = NULL;
    return below(file)->pMethods->xClose(below(file));
}

/// SQLite must not read a part of a page past this layer.
static int device_characteristics(sqlite3_file *opened) {
    sqlite3_file *base = below((file *)opened);
    return base->pMethods->xDeviceCharacteristics(base) & ~SQLITE_IOCAP_SUBPAGE_READ;
}

/// The end of a write transaction: SQLite has corrected the checksums of its frames, or nobody reads them.
static int lock_index(sqlite3_file *opened, int offset, int count, int flags) {
    file *file = (struct file *)opened;
    if (offset == write_lock && (flags & SQLITE_SHM_UNLOCK)) forget_overwritten(file);
    return below(file)->pMethods->xShmLock(below(file), offset, count, flags);
}

/// Pages with checksums are not mapped, and the first page is always read, since it says whether there are any.
static int fetch(sqlite3_file *opened, sqlite3_int64 offset, int amount, void **page) {
    file *file = (struct file *)opened;
    *page = NULL;
    if (offset == 0 || file->format != without_checksums) return SQLITE_OK;
    return below(file)->pMethods->xFetch(below(file), offset, amount, page);
}

// MARK: The VFS

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *opened, int flags, int *opened_flags) {
    int is_log = (flags & SQLITE_OPEN_WAL) != 0;
    if (!is_log && !(flags & SQLITE_OPEN_MAIN_DB)) {
        sqlite3_vfs *base = vfs->pAppData;
        return base->xOpen(base, name, opened, flags, opened_flags);
    }
    file *file = (struct file *)opened;
    int code = dao_layer_open_below(vfs, name, &file->layer, sizeof(*file), flags, opened_flags);
    if (code != SQLITE_OK) return code;
    file->verifies = 1;
    file->database = is_log ? (struct file *)sqlite3_database_file_object(name) : file;
    sqlite3_io_methods *methods = &file->layer.methods;
    methods->xClose = close_file;
    methods->xRead = is_log ? read_log : read_page;
    methods->xWrite = is_log ? write_log : write_page;
    methods->xDeviceCharacteristics = device_characteristics;
    if (methods->xShmLock) methods->xShmLock = lock_index;
    if (methods->xFetch) methods->xFetch = fetch;
    return SQLITE_OK;
}

const char *dao_checksums_register(void) {
    static sqlite3_vfs vfs;
    return dao_layer_register(&vfs, "dao-checksums", sizeof(file), open_file);
}

// MARK: Connections

/// The file of a connection that was opened with this VFS; otherwise NULL.
static file *file_of(sqlite3 *database) {
    sqlite3_file *opened = NULL;
    int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &opened);
    if (code != SQLITE_OK || !opened || !opened->pMethods || opened->pMethods->xRead != read_page) return NULL;
    return (file *)opened;
}

int dao_checksums_exist(sqlite3 *database) {
    file *file = file_of(database);
    if (!file) return 0;
    find_format(file);
    return file->format == with_checksums;
}

void dao_checksums_set_verified(sqlite3 *database, int verifies) {
    file *file = file_of(database);
    if (file) file->verifies = verifies;
}

dao_damaged_page dao_checksums_damage(sqlite3 *database) {
    file *file = file_of(database);
    return file ? file->damage : (dao_damaged_page){0, 0};
}
