// Runs statements on an encrypted file through the layer alone, for check.py:
//
//   layer FILE ours|sqlcipher KEY STATEMENT…
//
// KEY is a passphrase, or "raw:" and 64 hexadecimal digits. Instead of a statement: ".abort" ends the process as a kill does,
// ".fork PATH" goes on in a child too, there on another file; ".damage ROUNDS SEED OTHER" damages the file in many ways, one at a
// time, also with pages of another file, and counts what nobody notices. The exit code is 77 when a text of the environment variable CANARY was written to any file.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "DAOSQLiteCipher.h"

static const char *canary;
static int has_leaked;

static void look_for_canary(const void *bytes, size_t length) {
    if (canary && memmem(bytes, length, canary, strlen(canary))) has_leaked = 1;
}

static ssize_t watched_write(int descriptor, const void *bytes, size_t length) {
    look_for_canary(bytes, length);
    return write(descriptor, bytes, length);
}

static ssize_t watched_pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
    look_for_canary(bytes, length);
    return pwrite(descriptor, bytes, length, offset);
}

static void watch(void) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    canary = getenv("CANARY");
    if (!canary) return;
    vfs->xSetSystemCall(vfs, "write", (sqlite3_syscall_ptr)watched_write);
    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)watched_pwrite);
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)watched_pwrite);
}

static int print(void *unused, int count, char **values, char **names) {
    (void)unused, (void)names;
    for (int i = 0; i < count; i++) printf("%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
    printf("\n");
    return 0;
}

/// Looks at a file as the library does before it opens one.
static void look(const char *path, dao_cipher *cipher) {
    char beside[4096];
    int files[3];
    for (int i = 0; i < 3; i++) {
        snprintf(beside, sizeof(beside), "%s%s", path, i == 0 ? "" : i == 1 ? "-wal" : "-journal");
        files[i] = open(beside, O_RDONLY);
    }
    if (files[0] >= 0) dao_cipher_look(cipher, files[0], files[1], files[2]);
    for (int i = 0; i < 3; i++) close(files[i]);
}

static sqlite3 *opened(const char *path, dao_cipher *cipher) {
    sqlite3 *database;
    look(path, cipher);
    int code = dao_cipher_open(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, cipher);
    if (code != SQLITE_OK) {
        printf("cannot open: %d\n", code);
        exit(code);
    }
    dao_cipher_reserve(database, "main");
    sqlite3_busy_timeout(database, 10000);
    return database;
}

static char *contents(const char *path, long *length) {
    FILE *file = fopen(path, "r");
    if (!file) exit(66);
    fseek(file, 0, SEEK_END);
    *length = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)*length);
    if (!bytes || fread(bytes, 1, (size_t)*length, file) != (size_t)*length) exit(66);
    fclose(file);
    return bytes;
}

static uint64_t state;
static uint64_t number(uint64_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % limit;
}

static int is_ok(void *result, int count, char **values, char **names) {
    (void)names;
    if (count != 1 || !values[0] || strcmp(values[0], "ok") != 0) *(int *)result = 0;
    return 0;
}

/// Whether the file opens with all of its pages in order.
static int is_sound(const char *path, dao_cipher *cipher) {
    sqlite3 *database;
    int is_right = 1, code = dao_cipher_open(path, &database, SQLITE_OPEN_READWRITE, cipher);
    if (code == SQLITE_OK) code = sqlite3_exec(database, "PRAGMA integrity_check", is_ok, &is_right, NULL);
    sqlite3_close(database);
    return code == SQLITE_OK && is_right;
}

static int damage(const char *path, dao_cipher *cipher, int zeros, long rounds, const char *other_path) {
    long length, other_length, page = 4096, unnoticed = 0;
    char *whole = contents(path, &length), *other = contents(other_path, &other_length), *bytes = malloc((size_t)length);
    if (!bytes) return 1;
    for (long round = 0; round < rounds; round++) {
        memcpy(bytes, whole, (size_t)length);
        long size = length, pages = length / page, at = (long)number((uint64_t)length);
        switch (number(8)) {
            case 0: size = (long)number((uint64_t)(length - 1)) + 1; break;
            case 1: {
                long first = (long)number((uint64_t)pages), second = (long)number((uint64_t)pages);
                memcpy(bytes + first * page, whole + second * page, (size_t)page);
                break;
            }
            case 2: {
                long first = (long)number((uint64_t)pages);
                if (first < other_length / page) memcpy(bytes + first * page, other + first * page, (size_t)page);
                break;
            }
            case 3:
                for (long i = at; i < length && i < at + 16; i++) bytes[i] = (char)number(256);
                break;
            case 4:
                // A page of zeros is one that SQLCipher has not written.
                if (zeros) memset(bytes + at / page * page, 0, (size_t)page);
                break;
            default: bytes[at] ^= (char)(1 << number(8));
        }
        if (size == length && memcmp(bytes, whole, (size_t)length) == 0) continue;
        int file = open(path, O_WRONLY | O_TRUNC);
        if (file < 0 || write(file, bytes, (size_t)size) != size) return 1;
        close(file);
        if (is_sound(path, cipher)) {
            unnoticed++;
            printf("unnoticed in round %ld at %ld\n", round, at);
        }
    }
    int file = open(path, O_WRONLY | O_TRUNC);
    if (file < 0 || write(file, whole, (size_t)length) != length) return 1;
    close(file);
    printf("%ld unnoticed of %ld\n", unnoticed, rounds);
    return is_sound(path, cipher) ? 0 : 1;
}

int main(int count, char **words) {
    if (count < 4) return 64;
    dao_cipher_format format = strcmp(words[2], "ours") == 0 ? dao_cipher_ours : dao_cipher_sqlcipher;
    const char *key = words[3];
    uint8_t raw[32];
    int is_raw = strncmp(key, "raw:", 4) == 0;
    for (int i = 0; is_raw && i < 32; i++) {
        unsigned byte;
        if (sscanf(key + 4 + 2 * i, "%2x", &byte) != 1) return 64;
        raw[i] = (uint8_t)byte;
    }
    dao_cipher *cipher = is_raw ? dao_cipher_create(raw, 32, 0, format, NULL) : dao_cipher_create(key, strlen(key), 1, format, NULL);
    watch();
    sqlite3 *database = opened(words[1], cipher);
    int code = SQLITE_OK, is_child = 0;
    for (int i = 4; i < count && code == SQLITE_OK; i++) {
        char *message = NULL;
        if (strcmp(words[i], ".abort") == 0) {
            fflush(stdout);
            _exit(has_leaked ? 77 : 9);
        }
        if (strcmp(words[i], ".damage") == 0) {
            sqlite3_close(database);
            state = (uint64_t)atol(words[i + 2]);
            return damage(words[1], cipher, format == dao_cipher_ours, atol(words[i + 1]), words[i + 3]);
        }
        if (strcmp(words[i], ".fork") == 0) {
            is_child = fork() == 0;
            // A connection is not taken over a fork.
            if (is_child) database = opened(words[i + 1], cipher);
            i++;
            continue;
        }
        code = sqlite3_exec(database, words[i], print, NULL, &message);
        if (code != SQLITE_OK) {
            dao_damaged_seal damage = dao_cipher_damage(database);
            printf(
                "error %d: %s in %s; page %lld, foreign %d\n", sqlite3_extended_errcode(database), message, words[i],
                (long long)damage.page, damage.is_foreign_log);
        }
        sqlite3_free(message);
    }
    fflush(stdout);
    if (is_child) _exit(code);
    while (wait(NULL) > 0) {}
    int closed = sqlite3_close(database);
    dao_cipher_release(cipher);
    return has_leaked ? 77 : code != SQLITE_OK ? code & 0xff : closed;
}
