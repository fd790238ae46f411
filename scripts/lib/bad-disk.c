/* A disk that is full, or slow, while the file BAD_DISK says so: to be preloaded (LD_PRELOAD) into a database server.
 *
 *   full   no file grows: ENOSPC. What a file has already can be written over, as on a disk without a free block
 *   slow   each fsync and fdatasync takes 200 milliseconds more
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int is(const char *trouble) {
    static const char *path;
    char text[8] = "";
    if (!path) path = getenv("BAD_DISK");
    if (!path) return 0;
    int error = errno;
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        if (syscall(SYS_read, file, text, sizeof text - 1) < 0) text[0] = 0;
        syscall(SYS_close, file);
    }
    errno = error;
    return strncmp(text, trouble, strlen(trouble)) == 0;
}

/* Whether a write that ends there needs space that the file does not have. */
static int grows(int file, off_t end) {
    struct stat facts;
    return is("full") && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && end > facts.st_size;
}

static ssize_t refuse(void) {
    errno = ENOSPC;
    return -1;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    if (grows(file, at + (off_t)count)) return refuse();
    return syscall(SYS_pwrite64, file, bytes, count, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off_t at) { return pwrite(file, bytes, count, at); }

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at) {
    ssize_t (*real)(int, const struct iovec *, int, off_t) = dlsym(RTLD_NEXT, "pwritev");
    off_t end = at;
    for (int part = 0; part < count; part++) end += (off_t)parts[part].iov_len;
    return grows(file, end) ? refuse() : real(file, parts, count, at);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off_t at) { return pwritev(file, parts, count, at); }

ssize_t write(int file, const void *bytes, size_t count) {
    off_t at = lseek(file, 0, SEEK_CUR);
    if (at >= 0 && grows(file, at + (off_t)count)) return refuse();
    return syscall(SYS_write, file, bytes, count);
}

int posix_fallocate(int file, off_t at, off_t count) {
    int (*real)(int, off_t, off_t) = dlsym(RTLD_NEXT, "posix_fallocate");
    return grows(file, at + count) ? ENOSPC : real(file, at, count);
}

int fsync(int file) {
    if (is("slow")) usleep(200000);
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    if (is("slow")) usleep(200000);
    return (int)syscall(SYS_fdatasync, file);
}
