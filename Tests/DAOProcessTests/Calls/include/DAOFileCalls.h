#ifndef DAO_FILE_CALLS_H
#define DAO_FILE_CALLS_H

#include <stdint.h>

// The calls that a program makes to the operating system on files below a directory: they can be recorded, be made to
// fail, and be preceded by an action.
//
// The functions of the C library are replaced in a program that is linked with this target, also for the shared
// libraries that it loads. Only Linux supports that. Elsewhere, and under ThreadSanitizer, which replaces them itself,
// nothing is replaced and `dao_calls_are_watched` returns 0.

/// Whether calls can be watched.
int dao_calls_are_watched(void);

/// Begins to watch the calls on a directory and the files in it, by absolute paths. NULL ends it. The count of calls
/// begins again, and nothing is recorded or changed. Files that are watched are not synced.
void dao_calls_watch(const char *directory);

/// The groups of calls that are counted and changed.
enum {
    DAO_CALLS_OPEN = 1,    ///< open
    DAO_CALLS_CREATE = 2,  ///< open that may create a file, mkdir, rename, link
    DAO_CALLS_READ = 4,    ///< read, pread
    DAO_CALLS_WRITE = 8,   ///< write, pwrite, writev, ftruncate
    DAO_CALLS_SYNC = 16,   ///< fsync, fdatasync
    DAO_CALLS_REMOVE = 32, ///< unlink
    DAO_CALLS_LOCK = 64,   ///< fcntl and flock, except to unlock
    DAO_CALLS_STATUS = 128, ///< stat, fstat, access, fchmod
    DAO_CALLS_MAP = 256,   ///< mmap
    DAO_CALLS_CLOSE = 512, ///< close
};

/// What happens to a call, beside an error number.
enum {
    DAO_CALLS_DELAY = -1, ///< It takes longer: a millisecond, unless `dao_calls_set_delay` says otherwise.
    DAO_CALLS_SHORT = -2, ///< It writes half of what it should.
};

/// Counts the calls of some groups from 1 on, and changes one of them.
///
/// - groups: The groups, added.
/// - number: The number of the call; 0 to count only.
/// - fault: An error number, `DAO_CALLS_DELAY` or `DAO_CALLS_SHORT`.
/// - for_ever: Whether all later calls are changed too. EINTR then comes at every second call, because programs rightly
///   repeat a call until it is not interrupted.
void dao_calls_fail(int groups, uint64_t number, int fault, int for_ever);

/// Sets how much longer calls take, in microseconds.
void dao_calls_set_delay(int microseconds);

/// Counts the calls of some groups from 1 on, and runs an action before one of them. The calls of the action are not
/// watched.
void dao_calls_act(int groups, uint64_t number, void (*action)(void));

/// The number of calls that were counted.
uint64_t dao_calls_count(void);

/// A name of the call that was changed first; NULL when none was.
const char *dao_calls_changed(void);

/// Kinds of records.
enum {
    DAO_RECORD_CREATE = 1, ///< A file was created: its number and path.
    DAO_RECORD_WRITE,      ///< Bytes were written: the number of the file, the offset, and the bytes.
    DAO_RECORD_TRUNCATE,   ///< A file got another length, which is in the offset.
    DAO_RECORD_SYNC,       ///< A file was synced.
    DAO_RECORD_SYNC_NAMES, ///< A directory was synced.
    DAO_RECORD_RENAME,     ///< A file was renamed: both paths, with a zero between them.
    DAO_RECORD_REMOVE,     ///< A name was removed: the path.
    DAO_RECORD_LINK,       ///< A file got a second name: both paths, with a zero between them.
    DAO_RECORD_MAP,        ///< A file was mapped so that it can be written without calls.
    DAO_RECORD_MARK,       ///< A text of the program.
};

/// The beginning of a record. `length` bytes follow.
struct dao_record {
    uint32_t kind;
    /// Whether the bytes that were written were synced by the same call.
    uint32_t is_synced;
    /// The inode.
    uint64_t file;
    uint64_t offset;
    uint64_t length;
};

/// Begins to record what changes files, in the order in which it happens, into a file outside of the directory.
void dao_calls_record(int descriptor);

/// Adds a text to the record.
void dao_calls_mark(const char *text);

/// Locks an open file against all other descriptors, also of this process, if no other lock is in the way.
void dao_lock_file(int descriptor);

#endif
