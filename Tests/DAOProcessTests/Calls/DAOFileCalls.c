#define _GNU_SOURCE
#include "DAOFileCalls.h"
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DAO_IS_SANITIZED 1
#endif
#endif

#if defined(__linux__) && !defined(DAO_IS_SANITIZED)

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// The function of the C library that a function here replaces.
#define REAL(name) \
    ({ \
        static __typeof__(name) *found; \
        if (!found) found = (__typeof__(name) *)dlsym(RTLD_NEXT, #name); \
        found; \
    })

enum { descriptor_limit = 65536, longest_path = 4096 };

// `lock` orders the records and guards `output`. The other variables change only while no call runs.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char directory[longest_path];
static size_t directory_length;
static int output = -1;
static atomic_uchar watched[descriptor_limit];
static _Thread_local int is_inside;

static int groups;
static uint64_t chosen;
static int fault;
static int is_for_ever;
static int delay = 1000;
static void (*action)(void);
static atomic_uint_fast64_t count;
static _Atomic(const char *) changed;

int dao_calls_are_watched(void) { return 1; }

void dao_calls_watch(const char *path) {
    dao_calls_record(-1);
    dao_calls_fail(0, 0, 0, 0);
    directory_length = path ? strlen(path) : 0;
    if (directory_length >= longest_path) directory_length = 0;
    if (directory_length) memcpy(directory, path, directory_length);
}

void dao_calls_fail(int new_groups, uint64_t number, int new_fault, int for_ever) {
    groups = 0;
    chosen = number;
    fault = new_fault;
    is_for_ever = for_ever;
    action = NULL;
    count = 0;
    changed = NULL;
    groups = new_groups;
}

void dao_calls_act(int new_groups, uint64_t number, void (*new_action)(void)) {
    dao_calls_fail(0, number, 0, 0);
    action = new_action;
    groups = new_groups;
}

void dao_calls_set_delay(int microseconds) { delay = microseconds; }

uint64_t dao_calls_count(void) { return count; }
const char *dao_calls_changed(void) { return changed; }

// MARK: What is watched and changed

static int watches_path(const char *path) {
    return directory_length && path && !strncmp(path, directory, directory_length)
        && (path[directory_length] == 0 || path[directory_length] == '/');
}

static int watches(int descriptor) { return descriptor >= 0 && descriptor < descriptor_limit && watched[descriptor]; }

/// Counts a call. Returns 0 when it runs, an error number when it fails, or DAO_CALLS_SHORT.
static int change(int group, const char *name) {
    if (is_inside || !(groups & group)) return 0;
    uint64_t number = ++count;
    if (!chosen || number < chosen || (number > chosen && !is_for_ever)) return 0;
    changed = name;
    if (action) {
        int error = errno;
        is_inside = 1;
        action();
        is_inside = 0;
        errno = error;
        return 0;
    }
    if (fault == EINTR && (number - chosen) % 2) return 0;
    if (fault != DAO_CALLS_DELAY) return fault;
    usleep(delay);
    return 0;
}

#define FAIL_IF_CHOSEN(is_known, group, result) FAIL_CALL_IF_CHOSEN(__func__, is_known, group, result)
#define FAIL_CALL_IF_CHOSEN(name, is_known, group, result) \
    if (is_known) { \
        int code = change(group, name); \
        if (code > 0) { \
            errno = code; \
            return result; \
        } \
    }

// MARK: The record

static void add(uint32_t kind, int is_synced, uint64_t file, uint64_t offset, const void *bytes, size_t length) {
    struct dao_record record = {kind, (uint32_t)is_synced, file, offset, length};
    struct iovec parts[2] = {{&record, sizeof record}, {(void *)bytes, length}};
    // A record with a gap would prove nothing.
    if (REAL(writev)(output, parts, 2) != (ssize_t)(sizeof record + length)) abort();
}

static void add_paths(uint32_t kind, const char *first, const char *second) {
    char text[2 * longest_path];
    int length = snprintf(text, sizeof text, "%s%c%s", first, 0, second);
    if (length < 0 || (size_t)length >= sizeof text) abort();
    add(kind, 0, 0, 0, text, (size_t)length);
}

static uint64_t inode(int descriptor) {
    struct stat status;
    return REAL(fstat)(descriptor, &status) == 0 ? status.st_ino : 0;
}

static int is_directory(int descriptor) {
    struct stat status;
    return REAL(fstat)(descriptor, &status) == 0 && S_ISDIR(status.st_mode);
}

// A call of another thread that is being recorded ends first: half a record cannot be read.
void dao_calls_record(int descriptor) {
    pthread_mutex_lock(&lock);
    output = descriptor;
    pthread_mutex_unlock(&lock);
}

void dao_calls_mark(const char *text) {
    pthread_mutex_lock(&lock);
    if (output >= 0) add(DAO_RECORD_MARK, 0, 0, 0, text, strlen(text));
    pthread_mutex_unlock(&lock);
}

static int begin(int is_known) {
    if (!is_known) return 0;
    pthread_mutex_lock(&lock);
    if (output >= 0) return 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

// Between these two, a call and its record are one.
#define BEGIN(is_known) \
    int is_recorded = begin((is_known) && !is_inside)
#define END \
    if (is_recorded) { \
        int code = errno; \
        pthread_mutex_unlock(&lock); \
        errno = code; \
    }

// MARK: Opening and closing

static int open_file(const char *name, __typeof__(open) *real, const char *path, int flags, mode_t mode) {
    int is_known = watches_path(path);
    if (is_known) {
        int code = change(flags & O_CREAT ? DAO_CALLS_OPEN | DAO_CALLS_CREATE : DAO_CALLS_OPEN, name);
        if (code > 0) {
            errno = code;
            return -1;
        }
    }
    BEGIN(is_known);
    struct stat status;
    int is_new = is_recorded && flags & O_CREAT && REAL(stat)(path, &status) != 0;
    int descriptor = real(path, flags, mode);
    if (descriptor >= 0 && descriptor < descriptor_limit) watched[descriptor] = is_known && !is_inside;
    if (is_recorded && descriptor >= 0) {
        if (is_new) add(DAO_RECORD_CREATE, 0, inode(descriptor), 0, path, strlen(path));
        else if (flags & O_TRUNC) add(DAO_RECORD_TRUNCATE, 0, inode(descriptor), 0, NULL, 0);
    }
    END;
    return descriptor;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
        va_end(arguments); \
        return open_file(__func__, (__typeof__(open) *)REAL(name), path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

int close(int descriptor) {
    int is_known = watches(descriptor);
    if (is_known) watched[descriptor] = 0;
    int code = is_known ? change(DAO_CALLS_CLOSE, __func__) : 0;
    int result = REAL(close)(descriptor);
    if (code <= 0) return result;
    // Linux has closed the descriptor, whatever close returns.
    errno = code;
    return -1;
}

// MARK: Reading and writing

ssize_t read(int descriptor, void *bytes, size_t length) {
    FAIL_IF_CHOSEN(watches(descriptor), DAO_CALLS_READ, -1);
    return REAL(read)(descriptor, bytes, length);
}

ssize_t pread(int descriptor, void *bytes, size_t length, off_t offset) {
    FAIL_IF_CHOSEN(watches(descriptor), DAO_CALLS_READ, -1);
    return REAL(pread)(descriptor, bytes, length, offset);
}

ssize_t pread64(int descriptor, void *bytes, size_t length, off64_t offset) {
    FAIL_IF_CHOSEN(watches(descriptor), DAO_CALLS_READ, -1);
    return REAL(pread64)(descriptor, bytes, length, offset);
}

// Writes at an offset, or at the position of the descriptor when the offset is negative.
static ssize_t write_bytes(const char *name, int descriptor, const void *bytes, size_t length, off_t offset) {
    int is_known = watches(descriptor);
    if (is_known) {
        int code = change(DAO_CALLS_WRITE, name);
        if (code > 0) {
            errno = code;
            return -1;
        }
        if (code == DAO_CALLS_SHORT && length > 1) length /= 2;
    }
    BEGIN(is_known);
    off_t place = is_recorded && offset < 0 ? lseek(descriptor, 0, SEEK_CUR) : offset;
    ssize_t result = offset < 0 ? REAL(write)(descriptor, bytes, length) : REAL(pwrite)(descriptor, bytes, length, offset);
    if (is_recorded && result > 0) {
        int is_synced = (fcntl(descriptor, F_GETFL) & O_DSYNC) != 0;
        add(DAO_RECORD_WRITE, is_synced, inode(descriptor), (uint64_t)place, bytes, (size_t)result);
    }
    END;
    return result;
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
    return write_bytes(__func__, descriptor, bytes, length, -1);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
    return write_bytes(__func__, descriptor, bytes, length, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset) {
    return write_bytes(__func__, descriptor, bytes, length, offset);
}

ssize_t writev(int descriptor, const struct iovec *parts, int part_count) {
    if (!watches(descriptor)) return REAL(writev)(descriptor, parts, part_count);
    // One write, of which the record has one part.
    size_t length = 0;
    for (int i = 0; i < part_count; i++) length += parts[i].iov_len;
    char *bytes = malloc(length);
    if (!bytes) abort();
    size_t end = 0;
    for (int i = 0; i < part_count; end += parts[i].iov_len, i++) memcpy(bytes + end, parts[i].iov_base, parts[i].iov_len);
    ssize_t result = write_bytes(__func__, descriptor, bytes, length, -1);
    free(bytes);
    return result;
}

static int truncate_file(const char *name, int descriptor, off_t length) {
    int is_known = watches(descriptor);
    FAIL_CALL_IF_CHOSEN(name, is_known, DAO_CALLS_WRITE, -1);
    BEGIN(is_known);
    int result = REAL(ftruncate)(descriptor, length);
    if (is_recorded && result == 0) add(DAO_RECORD_TRUNCATE, 0, inode(descriptor), (uint64_t)length, NULL, 0);
    END;
    return result;
}

int ftruncate(int descriptor, off_t length) { return truncate_file(__func__, descriptor, length); }
int ftruncate64(int descriptor, off64_t length) { return truncate_file(__func__, descriptor, length); }

static int sync_file(const char *name, __typeof__(fsync) *real, int descriptor) {
    int is_known = watches(descriptor);
    FAIL_CALL_IF_CHOSEN(name, is_known, DAO_CALLS_SYNC, -1);
    BEGIN(is_known);
    // Nobody cuts the power of a test, and it has to be fast.
    int result = is_known ? 0 : real(descriptor);
    if (is_recorded) {
        if (is_directory(descriptor)) add(DAO_RECORD_SYNC_NAMES, 0, 0, 0, NULL, 0);
        else add(DAO_RECORD_SYNC, 0, inode(descriptor), 0, NULL, 0);
    }
    END;
    return result;
}

int fsync(int descriptor) { return sync_file(__func__, REAL(fsync), descriptor); }
int fdatasync(int descriptor) { return sync_file(__func__, REAL(fdatasync), descriptor); }

// MARK: Maps

static void *map_file(
    const char *name, __typeof__(mmap) *real, void *address, size_t length, int protection, int flags, int descriptor,
    off_t offset
) {
    int is_known = !(flags & MAP_ANONYMOUS) && watches(descriptor);
    FAIL_CALL_IF_CHOSEN(name, is_known, DAO_CALLS_MAP, MAP_FAILED);
    BEGIN(is_known && protection & PROT_WRITE && flags & MAP_SHARED);
    void *result = real(address, length, protection, flags, descriptor, offset);
    if (is_recorded && result != MAP_FAILED) add(DAO_RECORD_MAP, 0, inode(descriptor), 0, NULL, 0);
    END;
    return result;
}

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
    return map_file(__func__, REAL(mmap), address, length, protection, flags, descriptor, offset);
}

void *mmap64(void *address, size_t length, int protection, int flags, int descriptor, off64_t offset) {
    return map_file(__func__, REAL(mmap64), address, length, protection, flags, descriptor, offset);
}

// MARK: Names

int rename(const char *from, const char *to) {
    int is_known = watches_path(from) || watches_path(to);
    FAIL_IF_CHOSEN(is_known, DAO_CALLS_CREATE, -1);
    BEGIN(is_known);
    int result = REAL(rename)(from, to);
    if (is_recorded && result == 0) add_paths(DAO_RECORD_RENAME, from, to);
    END;
    return result;
}

int link(const char *from, const char *to) {
    int is_known = watches_path(from) || watches_path(to);
    FAIL_IF_CHOSEN(is_known, DAO_CALLS_CREATE, -1);
    BEGIN(is_known);
    int result = REAL(link)(from, to);
    if (is_recorded && result == 0) add_paths(DAO_RECORD_LINK, from, to);
    END;
    return result;
}

int unlink(const char *path) {
    int is_known = watches_path(path);
    FAIL_IF_CHOSEN(is_known, DAO_CALLS_REMOVE, -1);
    BEGIN(is_known);
    int result = REAL(unlink)(path);
    if (is_recorded && result == 0) add(DAO_RECORD_REMOVE, 0, 0, 0, path, strlen(path));
    END;
    return result;
}

// MARK: Locks and status

static int control(const char *name, __typeof__(fcntl) *real, int descriptor, int command, void *argument) {
    int is_lock = command == F_SETLK || command == F_SETLKW || command == F_GETLK;
    // No local file system refuses to unlock.
    int is_known = is_lock && ((struct flock *)argument)->l_type != F_UNLCK && watches(descriptor);
    FAIL_CALL_IF_CHOSEN(name, is_known, DAO_CALLS_LOCK, -1);
    int result = real(descriptor, command, argument);
    int is_copy = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
    if (is_copy && result >= 0 && result < descriptor_limit) watched[result] = (unsigned char)watches(descriptor);
    return result;
}

#define CONTROL(name) \
    int name(int descriptor, int command, ...) { \
        va_list arguments; \
        va_start(arguments, command); \
        void *argument = va_arg(arguments, void *); \
        va_end(arguments); \
        return control(__func__, REAL(name), descriptor, command, argument); \
    }
CONTROL(fcntl)
CONTROL(fcntl64)

int flock(int descriptor, int operation) {
    FAIL_IF_CHOSEN(operation != LOCK_UN && watches(descriptor), DAO_CALLS_LOCK, -1);
    return REAL(flock)(descriptor, operation);
}

int stat(const char *path, struct stat *status) {
    FAIL_IF_CHOSEN(watches_path(path), DAO_CALLS_STATUS, -1);
    return REAL(stat)(path, status);
}

int stat64(const char *path, struct stat64 *status) {
    FAIL_IF_CHOSEN(watches_path(path), DAO_CALLS_STATUS, -1);
    return REAL(stat64)(path, status);
}

int fstat(int descriptor, struct stat *status) {
    FAIL_IF_CHOSEN(watches(descriptor), DAO_CALLS_STATUS, -1);
    return REAL(fstat)(descriptor, status);
}

int fstat64(int descriptor, struct stat64 *status) {
    FAIL_IF_CHOSEN(watches(descriptor), DAO_CALLS_STATUS, -1);
    return REAL(fstat64)(descriptor, status);
}

int access(const char *path, int mode) {
    FAIL_IF_CHOSEN(watches_path(path), DAO_CALLS_STATUS, -1);
    return REAL(access)(path, mode);
}

int fchmod(int descriptor, mode_t mode) {
    FAIL_IF_CHOSEN(watches(descriptor), DAO_CALLS_STATUS, -1);
    return REAL(fchmod)(descriptor, mode);
}

void dao_lock_file(int descriptor) {
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    fcntl(descriptor, F_OFD_SETLK, &range);
}

#else

int dao_calls_are_watched(void) { return 0; }
void dao_calls_watch(const char *path) { (void)path; }
void dao_calls_fail(int groups, uint64_t number, int fault, int for_ever) {
    (void)groups, (void)number, (void)fault, (void)for_ever;
}
void dao_calls_act(int groups, uint64_t number, void (*action)(void)) { (void)groups, (void)number, (void)action; }
void dao_calls_set_delay(int microseconds) { (void)microseconds; }
uint64_t dao_calls_count(void) { return 0; }
const char *dao_calls_changed(void) { return NULL; }
void dao_calls_record(int descriptor) { (void)descriptor; }
void dao_calls_mark(const char *text) { (void)text; }
void dao_lock_file(int descriptor) { (void)descriptor; }

#endif
