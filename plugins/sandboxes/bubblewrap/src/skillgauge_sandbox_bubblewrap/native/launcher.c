/* Has a copy of itself ready for the next call. */

#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PIDFD_OPEN = 434 };

struct launcher {
    int control;   /* where calls come */
    int processes; /* /proc as it is outside */
    int taking;    /* by which a copy tells that it has a call */
    int taken;
    bool alone;
    mode_t mask;
    struct fields own;
    int failed; /* what prevents copies, 0 if nothing does */
};

/* Prepare the parts that commands may share, in a user namespace that is the same for all. */
static int prepare_all(struct fields shared)
{
    unsigned long user = geteuid(), group = getegid();
    if (check(unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare") < 0)
        return -1;
    if (write_file("/proc/self/setgroups", "deny") < 0 || map_ids(0, user, 0, group) < 0)
        return -1;
    if (check(mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL), "/") < 0)
        return -1;
    return make_shared(shared);
}

static int start_loopback(void)
{
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int some = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = some < 0 ? -1 : ioctl(some, SIOCSIFFLAGS, &loopback);
    close(some);
    return check(result, "lo");
}

/* Prepare the parts that are the same for all commands, and no two may share. */
static int prepare(struct fields own, bool alone)
{
    setsid();
    if (check(sethostname("sandbox", 7), "sethostname") < 0 || (alone && start_loopback() < 0))
        return -1;
    return make_own(own);
}

static void tell(int answer, const void *what, size_t bytes)
{
    if (write(answer, what, bytes) < 0) { /* nobody waits for it any more, which is noticed where it is waited for */
    }
}

/* The part of an answer that says how far a call got, and what was wrong. */
static void tell_of_failure(int answer, int stage, int error, const char *what)
{
    char told[2 * sizeof(int) + PATH_MAX];
    int numbers[] = {stage, error};
    size_t length = strnlen(what, PATH_MAX);
    memcpy(told, numbers, sizeof numbers);
    memcpy(told + sizeof numbers, what, length);
    tell(answer, told, sizeof numbers + length);
}

/* Run as a copy: prepare, wait for a call, confine itself, run the command, report it. */
static _Noreturn void be_first(const struct launcher *made)
{
    dup2(2, 1); /* only the launcher itself reports there */
    char name[16] = "";
    if (readlinkat(made->processes, "self", name, sizeof name - 1) < 0)
        _exit(1);
    int id = atoi(name);
    close(made->processes);
    int failed = prepare(made->own, made->alone) < 0 ? errno : 0;
    int handles[MOST_HANDLES];
    int count = receive(made->control, handles);
    if (count < 5)
        _exit(0);
    tell(made->taking, "!", 1);
    close(made->control);
    close(made->taking);
    int answer = handles[1], *streams = handles + 2, *channels = handles + 5;
    tell(answer, &id, sizeof id);
    sigset_t news;
    sigemptyset(&news);
    sigaddset(&news, SIGCHLD);
    sigaddset(&news, SIGTERM);
    int stage = UNCONFINED;
    struct request asked;
    pid_t command = -1;
    errno = failed;
    if (!failed && read_request(handles[0], &asked) == 0 && confine(&asked, made->mask) == 0) {
        stage = NOT_STARTED;
        int handed = 0;
        for (int channel = 0; handed == 0 && channel < count - 5; channel++)
            handed = hand_out(channels[channel], asked.ports);
        if (handed == 0)
            command = spawn(&asked, streams, &news);
    }
    if (command < 0) {
        tell_of_failure(answer, stage, errno, culprit);
        _exit(1);
    }
    int started[] = {STARTED, 0};
    tell(answer, started, sizeof started);
    for (int stream = 0; stream < 3; stream++)
        close(streams[stream]);
    int code = end_of(command, answer, &news);
    tell(answer, &code, sizeof code);
    _exit(0);
}

static void forget(struct pollfd *waiting)
{
    close(waiting->fd);
    waiting->fd = -1;
}

/* Make a copy that waits for a call, and watch it; returns its id. */
static pid_t make_copy(const struct launcher *made, struct pollfd *waiting)
{
    if (made->failed) {
        errno = made->failed;
        return -1;
    }
    unsigned long namespaces =
        CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | (made->alone ? CLONE_NEWNET : 0);
    pid_t copy = syscall(SYS_clone, namespaces | CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (copy == 0)
        be_first(made);
    if (copy < 0)
        return failed_at("clone");
    waiting->fd = syscall(PIDFD_OPEN, copy, 0);
    if (waiting->fd < 0)
        abort();
    return copy;
}

/* Answer the next call with what prevents copies. */
static void refuse(int control)
{
    int error = errno, none = 0, handles[MOST_HANDLES];
    int count = receive(control, handles);
    if (count > 1) {
        tell(handles[1], &none, sizeof none);
        tell_of_failure(handles[1], UNCONFINED, error, culprit);
    }
    for (int handle = 0; handle < count; handle++)
        close(handles[handle]);
}

/* Make copies until nobody can call any more; print the ids of those that nobody called, for our parent to reap. */
static void serve(struct launcher *made)
{
    pid_t copy = -1;
    bool is_closed = false;
    struct pollfd watched[] = {{made->taken, POLLIN, 0}, {-1, POLLIN, 0}, {made->control, POLLIN, 0}};
    struct pollfd *taken = &watched[0], *waiting = &watched[1], *control = &watched[2];
    while (!is_closed || waiting->fd >= 0) {
        control->fd = is_closed ? -1 : made->control;
        control->events = waiting->fd < 0 ? POLLIN : 0;
        if (poll(watched, 3, -1) < 0)
            continue;
        if (taken->revents) { /* one event at a time: it may close what the next one is about */
            char byte;
            if (read(made->taken, &byte, 1) == 1)
                forget(waiting);
            copy = make_copy(made, waiting);
        } else if (waiting->revents) {
            printf("%d ", copy);
            forget(waiting);
        } else if (control->revents & POLLHUP) {
            is_closed = true;
        } else if (control->revents) {
            copy = make_copy(made, waiting);
            if (copy < 0)
                refuse(made->control);
        }
    }
    fflush(stdout);
}

int main(int count, char **words)
{
    if (count < 4)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    unsigned long shared = strtoul(words[3], NULL, 10);
    struct fields common = {words + 4, words + count};
    struct launcher made = {.control = atoi(words[1]), .alone = strcmp(words[2], "alone") == 0, .mask = umask(0)};
    int pipe[2];
    if (shared > (unsigned long)(count - 4) || pipe2(pipe, O_CLOEXEC) < 0)
        return 2;
    made.taken = pipe[0], made.taking = pipe[1];
    made.processes = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC); /* which is covered from now on */
    common.end = common.at + shared;
    made.own = (struct fields){common.end, words + count};
    made.failed = prepare_all(common) < 0 ? errno : 0;
    serve(&made);
    return 0;
}
