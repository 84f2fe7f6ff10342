/* A library that is loaded before all others and makes one call on files of a folder fail, or ends the process there.

   It counts the calls of some kinds on files below a folder; at the chosen one it does what it was told. It also keeps
   the clock so many seconds from where it stands. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITES = 1, READS = 2, SYNCS = 4, NAMES = 8, MAKES = 16 };
enum { FAIL = 1, FAIL_ON, KILL, KILL_TORN };

static char under[4096], said[8192];
static long at, seen, aside;
static int kinds, how, error;

void arm(const char *folder, int which, long place, int what, int number) {
    snprintf(under, sizeof under, "%s", folder);
    kinds = which, at = place, how = what, error = number, seen = 0, said[0] = 0;
}
long counted(void) { return seen; }
const char *struck(void) { return said; }
void shift(long seconds) { aside = seconds; }

/* Whether this call is the one, or one after it where all that follow fail. */
static int strikes(int kind, const char *name, const char *path) {
    if (!how || !(kinds & kind) || !path || strncmp(path, under, strlen(under))) return 0;
    long place = __sync_add_and_fetch(&seen, 1);
    if (place < at || (place > at && how != FAIL_ON)) return 0;
    if (!said[0]) snprintf(said, sizeof said, "%s %s", name, path + strlen(under));
    if (how == KILL || (how == KILL_TORN && kind != WRITES)) kill(getpid(), SIGKILL);
    return 1;
}

static int strikes_file(int kind, const char *name, int file) {
    char link[64], path[4096];
    if (!how || !(kinds & kind)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strikes(kind, name, path);
}

#define REAL(result, name, ...) \
    static result (*real)(__VA_ARGS__); \
    if (!real) real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)
#define FAILS return errno = error, -1

/* Half of what was to be written, and then nothing more ever. */
#define TORN(half) \
    if (how == KILL_TORN) { if ((half) < 0) {} kill(getpid(), SIGKILL); }

#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
        REAL(int, name, const char *, int, ...); \
        if (strikes(flags & O_CREAT ? MAKES : READS, "open", path)) FAILS; \
        return real(path, flags, mode); \
    }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
        REAL(int, name, int, const char *, int, ...); \
        if (strikes(flags & O_CREAT ? MAKES : READS, "open", path)) FAILS; \
        return real(folder, path, flags, mode); \
    }
OPENS_AT(openat)
OPENS_AT(openat64)

ssize_t write(int file, const void *from, size_t size) {
    REAL(ssize_t, write, int, const void *, size_t);
    if (strikes_file(WRITES, "write", file)) { TORN(real(file, from, size / 2)); FAILS; }
    return real(file, from, size);
}

#define WRITES_AT(name, offset) \
    ssize_t name(int file, const void *from, size_t size, offset place) { \
        REAL(ssize_t, name, int, const void *, size_t, offset); \
        if (strikes_file(WRITES, "write", file)) { TORN(real(file, from, size / 2, place)); FAILS; } \
        return real(file, from, size, place); \
    }
WRITES_AT(pwrite, off_t)
WRITES_AT(pwrite64, off64_t)

ssize_t read(int file, void *to, size_t size) {
    REAL(ssize_t, read, int, void *, size_t);
    if (strikes_file(READS, "read", file)) FAILS;
    return real(file, to, size);
}

#define READS_AT(name, offset) \
    ssize_t name(int file, void *to, size_t size, offset place) { \
        REAL(ssize_t, name, int, void *, size_t, offset); \
        if (strikes_file(READS, "read", file)) FAILS; \
        return real(file, to, size, place); \
    }
READS_AT(pread, off_t)
READS_AT(pread64, off64_t)

#define ON_FILE(name, kind) \
    int name(int file) { \
        REAL(int, name, int); \
        if (strikes_file(kind, #name, file)) FAILS; \
        return real(file); \
    }
ON_FILE(fsync, SYNCS)
ON_FILE(fdatasync, SYNCS)

int rename(const char *path, const char *to) {
    REAL(int, rename, const char *, const char *);
    if (strikes(NAMES | MAKES, "rename", path)) FAILS;
    return real(path, to);
}
int unlink(const char *path) {
    REAL(int, unlink, const char *);
    if (strikes(NAMES, "unlink", path)) FAILS;
    return real(path);
}
int mkdir(const char *path, mode_t mode) {
    REAL(int, mkdir, const char *, mode_t);
    if (strikes(MAKES, "mkdir", path)) FAILS;
    return real(path, mode);
}
int chmod(const char *path, mode_t mode) {
    REAL(int, chmod, const char *, mode_t);
    if (strikes(NAMES, "chmod", path)) FAILS;
    return real(path, mode);
}
int ftruncate64(int file, off64_t size) {
    REAL(int, ftruncate64, int, off64_t);
    if (strikes_file(WRITES, "ftruncate", file)) FAILS;
    return real(file, size);
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(int, clock_gettime, clockid_t, struct timespec *);
    int found = real(clock, now);
    if (!found && clock == CLOCK_REALTIME) now->tv_sec += aside;
    return found;
}
