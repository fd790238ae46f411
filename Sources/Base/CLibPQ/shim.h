#pragma once
#include <libpq-fe.h>
#if defined(__linux__)
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <poll.h>
#endif
