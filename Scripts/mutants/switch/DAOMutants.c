#include "DAOMutants.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { largest = 1 << 16 };

static unsigned char nowhere[largest];
int dao_mutant_selected = -1;
unsigned char *dao_mutants_reached = nowhere;

/// Reads the environment before anything of Swift runs. The notes go into a file that is mapped into memory: they
/// survive a crash, and processes that a case starts write into the same file.
__attribute__((constructor)) static void begin(void) {
    const char *number = getenv("DAO_MUTANT");
    if (number) dao_mutant_selected = atoi(number);
    const char *path = getenv("DAO_MUTANTS_REACHED");
    if (path) {
        int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file >= 0 && ftruncate(file, largest) == 0) {
            void *map = mmap(NULL, largest, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (map != MAP_FAILED) dao_mutants_reached = map;
        }
        if (file >= 0) close(file);
    }
    // The result of each case is read as soon as it is there.
    if (number || path) setvbuf(stdout, NULL, _IOLBF, 0);
}
