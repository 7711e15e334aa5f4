#include "DAOSQLiteLayer.h"

#include <string.h>

// MARK: Sums

dao_sums dao_sums_add(dao_sums to, const uint8_t *bytes, size_t length, int is_big_endian) {
    uint32_t first = to.first, second = to.second;
    if (is_big_endian) {
        for (size_t offset = 0; offset < length; offset += 8) {
            first += dao_big(bytes + offset) + second;
            second += dao_big(bytes + offset + 4) + first;
        }
    } else {
        for (size_t offset = 0; offset < length; offset += 8) {
            first += dao_little(bytes + offset) + second;
            second += dao_little(bytes + offset + 4) + first;
        }
    }
    return (dao_sums){first, second};
}

size_t dao_page_length(uint32_t stored) {
    size_t length = stored == 1 ? 65536 : stored;
    return length >= 512 && length <= 65536 && (length & (length - 1)) == 0 ? length : 0;
}

// MARK: Methods of files

static inline sqlite3_file *below(sqlite3_file *opened) { return ((dao_layer_file *)opened)->below; }

#define FORWARD(name, parameters, arguments) \
    static int forward##name parameters { \
        sqlite3_file *base = below(opened); \
        return base->pMethods->x##name arguments; \
    }

FORWARD(Close, (sqlite3_file *opened), (base))
FORWARD(Read, (sqlite3_file *opened, void *buffer, int amount, sqlite3_int64 offset), (base, buffer, amount, offset))
FORWARD(Write, (sqlite3_file *opened, const void *bytes, int amount, sqlite3_int64 offset), (base, bytes, amount, offset))
FORWARD(Truncate, (sqlite3_file *opened, sqlite3_int64 size), (base, size))
FORWARD(Sync, (sqlite3_file *opened, int flags), (base, flags))
FORWARD(FileSize, (sqlite3_file *opened, sqlite3_int64 *size), (base, size))
FORWARD(CheckReservedLock, (sqlite3_file *opened, int *result), (base, result))
FORWARD(FileControl, (sqlite3_file *opened, int operation, void *argument), (base, operation, argument))
FORWARD(SectorSize, (sqlite3_file *opened), (base))
FORWARD(DeviceCharacteristics, (sqlite3_file *opened), (base))
FORWARD(ShmMap, (sqlite3_file *opened, int region, int size, int extends, void volatile **address),
        (base, region, size, extends, address))
FORWARD(ShmLock, (sqlite3_file *opened, int offset, int count, int flags), (base, offset, count, flags))
FORWARD(ShmUnmap, (sqlite3_file *opened, int deletes), (base, deletes))
FORWARD(Fetch, (sqlite3_file *opened, sqlite3_int64 offset, int amount, void **page), (base, offset, amount, page))
FORWARD(Unfetch, (sqlite3_file *opened, sqlite3_int64 offset, void *page), (base, offset, page))

static int forwardLock(sqlite3_file *opened, int level) {
    dao_layer_file *file = (dao_layer_file *)opened;
    int code = file->below->pMethods->xLock(file->below, level);
    if (code == SQLITE_OK && level > file->lock) file->lock = level;
    return code;
}

static int forwardUnlock(sqlite3_file *opened, int level) {
    dao_layer_file *file = (dao_layer_file *)opened;
    if (level < file->lock) file->lock = level;
    return file->below->pMethods->xUnlock(file->below, level);
}

static void forwardShmBarrier(sqlite3_file *opened) { below(opened)->pMethods->xShmBarrier(below(opened)); }

static void set_methods(dao_layer_file *file) {
    const sqlite3_io_methods *base = file->below->pMethods;
    sqlite3_io_methods *methods = &file->methods;
    methods->iVersion = base->iVersion < 3 ? base->iVersion : 3;
    methods->xClose = forwardClose;
    methods->xRead = forwardRead;
    methods->xWrite = forwardWrite;
    methods->xTruncate = forwardTruncate;
    methods->xSync = forwardSync;
    methods->xFileSize = forwardFileSize;
    methods->xLock = forwardLock;
    methods->xUnlock = forwardUnlock;
    methods->xCheckReservedLock = forwardCheckReservedLock;
    methods->xFileControl = forwardFileControl;
    methods->xSectorSize = forwardSectorSize;
    methods->xDeviceCharacteristics = forwardDeviceCharacteristics;
    if (base->iVersion >= 2) {
        methods->xShmMap = base->xShmMap ? forwardShmMap : NULL;
        methods->xShmLock = base->xShmLock ? forwardShmLock : NULL;
        methods->xShmBarrier = base->xShmBarrier ? forwardShmBarrier : NULL;
        methods->xShmUnmap = base->xShmUnmap ? forwardShmUnmap : NULL;
    }
    if (base->iVersion >= 3) {
        methods->xFetch = base->xFetch ? forwardFetch : NULL;
        methods->xUnfetch = base->xUnfetch ? forwardUnfetch : NULL;
    }
    file->base.pMethods = methods;
}

// MARK: The VFS

static inline sqlite3_vfs *base_of(sqlite3_vfs *vfs) { return vfs->pAppData; }

static size_t rounded(size_t length) { return (length + 15) & ~(size_t)15; }

int dao_layer_open_below(
    sqlite3_vfs *vfs, const char *name, dao_layer_file *file, size_t file_length, int flags, int *opened_flags) {
    memset(file, 0, rounded(file_length));
    file->below = (sqlite3_file *)((uint8_t *)file + rounded(file_length));
    int code = base_of(vfs)->xOpen(base_of(vfs), name, file->below, flags, opened_flags);
    if (!file->below->pMethods) return code;
    if (code != SQLITE_OK) {
        file->below->pMethods->xClose(file->below);
        return code;
    }
    set_methods(file);
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int syncs) { return base_of(vfs)->xDelete(base_of(vfs), name, syncs); }

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    return base_of(vfs)->xAccess(base_of(vfs), name, flags, result);
}

static int full_path(sqlite3_vfs *vfs, const char *name, int length, char *result) {
    return base_of(vfs)->xFullPathname(base_of(vfs), name, length, result);
}

static void *open_library(sqlite3_vfs *vfs, const char *name) { return base_of(vfs)->xDlOpen(base_of(vfs), name); }

static void library_error(sqlite3_vfs *vfs, int length, char *message) {
    base_of(vfs)->xDlError(base_of(vfs), length, message);
}

static void (*library_symbol(sqlite3_vfs *vfs, void *library, const char *name))(void) {
    return base_of(vfs)->xDlSym(base_of(vfs), library, name);
}

static void close_library(sqlite3_vfs *vfs, void *library) { base_of(vfs)->xDlClose(base_of(vfs), library); }

static int randomness(sqlite3_vfs *vfs, int length, char *bytes) {
    return base_of(vfs)->xRandomness(base_of(vfs), length, bytes);
}

static int sleep_for(sqlite3_vfs *vfs, int microseconds) { return base_of(vfs)->xSleep(base_of(vfs), microseconds); }

static int current_time(sqlite3_vfs *vfs, double *time) { return base_of(vfs)->xCurrentTime(base_of(vfs), time); }

static int last_error(sqlite3_vfs *vfs, int length, char *message) {
    return base_of(vfs)->xGetLastError(base_of(vfs), length, message);
}

static int current_time_in_milliseconds(sqlite3_vfs *vfs, sqlite3_int64 *time) {
    return base_of(vfs)->xCurrentTimeInt64(base_of(vfs), time);
}

static int set_system_call(sqlite3_vfs *vfs, const char *name, sqlite3_syscall_ptr call) {
    return base_of(vfs)->xSetSystemCall(base_of(vfs), name, call);
}

static sqlite3_syscall_ptr get_system_call(sqlite3_vfs *vfs, const char *name) {
    return base_of(vfs)->xGetSystemCall(base_of(vfs), name);
}

static const char *next_system_call(sqlite3_vfs *vfs, const char *name) {
    return base_of(vfs)->xNextSystemCall(base_of(vfs), name);
}

const char *dao_layer_register(sqlite3_vfs *vfs, const char *name, size_t file_length, dao_layer_open open) {
    sqlite3_vfs *base = sqlite3_vfs_find(NULL);
    if (vfs->zName) return vfs->zName;
    if (!base) return NULL;
    vfs->iVersion = base->iVersion < 3 ? base->iVersion : 3;
    vfs->szOsFile = (int)rounded(file_length) + base->szOsFile;
    vfs->mxPathname = base->mxPathname;
    vfs->pAppData = base;
    vfs->xOpen = open;
    vfs->xDelete = delete_file;
    vfs->xAccess = access_file;
    vfs->xFullPathname = full_path;
    vfs->xDlOpen = base->xDlOpen ? open_library : NULL;
    vfs->xDlError = base->xDlError ? library_error : NULL;
    vfs->xDlSym = base->xDlSym ? library_symbol : NULL;
    vfs->xDlClose = base->xDlClose ? close_library : NULL;
    vfs->xRandomness = randomness;
    vfs->xSleep = sleep_for;
    vfs->xCurrentTime = base->xCurrentTime ? current_time : NULL;
    vfs->xGetLastError = base->xGetLastError ? last_error : NULL;
    if (base->iVersion >= 2) vfs->xCurrentTimeInt64 = base->xCurrentTimeInt64 ? current_time_in_milliseconds : NULL;
    if (base->iVersion >= 3) {
        vfs->xSetSystemCall = base->xSetSystemCall ? set_system_call : NULL;
        vfs->xGetSystemCall = base->xGetSystemCall ? get_system_call : NULL;
        vfs->xNextSystemCall = base->xNextSystemCall ? next_system_call : NULL;
    }
    vfs->zName = name;
    if (sqlite3_vfs_register(vfs, 0) == SQLITE_OK) return vfs->zName;
    vfs->zName = NULL;
    return NULL;
}
