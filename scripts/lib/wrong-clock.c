/* A wall clock that is wrong by WRONG_CLOCK_SECONDS, for one process: to be preloaded (LD_PRELOAD). Only the real-time
 * clock is wrong; the monotonic ones go on as they are. Where a wait names a moment of the wrong clock it is handed on as
 * the moment of the right one, as a kernel whose own clock is wrong would take it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t error_in_seconds(void) {
    static int is_known;
    static time_t seconds;
    if (!is_known) {
        const char *text = getenv("WRONG_CLOCK_SECONDS");
        seconds = text ? (time_t)atol(text) : 0;
        is_known = 1;
    }
    return seconds;
}

/* The system call itself: looking up the library's own function would ask for the time before there is an answer. */
int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += error_in_seconds();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec precise;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *now, int base) {
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

/* Moments of the monotonic clock count from the machine's start: none of them is so large. */
static struct timespec righted(const struct timespec *moment) {
    struct timespec result = *moment;
    if (result.tv_sec > 1000000000) result.tv_sec -= error_in_seconds();
    return result;
}

int pthread_cond_timedwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict moment) {
    int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *) =
        dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    struct timespec right = righted(moment);
    return wait(condition, mutex, &right);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict moment) {
    int (*wait)(sem_t *, const struct timespec *) = dlsym(RTLD_NEXT, "sem_timedwait");
    struct timespec right = righted(moment);
    return wait(semaphore, &right);
}
