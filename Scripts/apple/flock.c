// Preloaded on Linux, lets flock(2) behave as on Apple's systems, where its locks and those of fcntl(2) are in one list and conflict.
// Open file description locks of the whole file do so here.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

int flock(int descriptor, int operation) {
    struct flock lock = {.l_whence = SEEK_SET};
    lock.l_type = (operation & LOCK_UN) ? F_UNLCK : (operation & LOCK_EX) ? F_WRLCK : F_RDLCK;
    int waits = !(operation & (LOCK_NB | LOCK_UN));
    int result = fcntl(descriptor, waits ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    // What the next line has locked is unlocked as well.
    if (operation & LOCK_UN) return (int)syscall(SYS_flock, descriptor, operation);
    // A lock for writing needs a descriptor for writing, which flock does not.
    if (result != 0 && errno == EBADF) return (int)syscall(SYS_flock, descriptor, operation);
    if (result != 0 && errno == EAGAIN) errno = EWOULDBLOCK;
    return result;
}
