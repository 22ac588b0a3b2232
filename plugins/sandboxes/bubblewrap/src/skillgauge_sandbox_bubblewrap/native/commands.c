/* Calls and their commands: what comes with a call, the start of the command, and its end. */

#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNALLED = 128, BACKLOG = 128 };

union handles_on_the_way {
    struct cmsghdr header;
    char space[CMSG_SPACE(MOST_HANDLES * sizeof(int))];
};

/* File descriptors of the next call: how many, none once nobody can call any more. */
int receive(int control, int *handles)
{
    union handles_on_the_way extra;
    char byte;
    struct iovec rest = {&byte, 1};
    struct msghdr message = {.msg_iov = &rest, .msg_iovlen = 1, .msg_control = &extra, .msg_controllen = sizeof extra};
    ssize_t received;
    do
        received = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    if (received <= 0 || message.msg_controllen == 0)
        return 0;
    size_t bytes = extra.header.cmsg_len - CMSG_LEN(0);
    memcpy(handles, CMSG_DATA(&extra.header), bytes);
    return bytes / sizeof(int);
}

/* Hand listening sockets to the relay outside, and wait until it has them. The channel stays open here. */
int hand_out(int channel, struct fields ports)
{
    size_t count = ports.end - ports.at;
    int listeners[MOST_HANDLES];
    if (count > MOST_HANDLES)
        abort();
    for (size_t port = 0; port < count; port++) {
        struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        place.sin_port = htons(number(&ports));
        listeners[port] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (bind(listeners[port], (struct sockaddr *)&place, sizeof place) < 0 || listen(listeners[port], BACKLOG) < 0)
            return failed_at("relay");
    }
    union handles_on_the_way extra = {
        .header = {.cmsg_len = CMSG_LEN(count * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct iovec rest = {"?", 1};
    struct msghdr message = {.msg_iov = &rest, .msg_iovlen = 1, .msg_control = &extra};
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    memcpy(CMSG_DATA(&extra.header), listeners, count * sizeof(int));
    char answer;
    ssize_t answered = sendmsg(channel, &message, 0) < 0 ? -1 : recv(channel, &answer, 1, 0);
    for (size_t port = 0; port < count; port++)
        close(listeners[port]);
    if (answered == 0)
        errno = ENOTCONN;
    return answered > 0 ? 0 : failed_at("relay");
}

/* Start the command; its id. */
pid_t spawn(const struct request *asked, const int *streams, const sigset_t *news)
{
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigprocmask(SIG_BLOCK, news, NULL);
    setenv("PATH", "/bin:/usr/bin", 1); /* where the command has none; C libraries differ in what they take */
    for (char **variable = asked->env.at; variable != asked->env.end; variable++)
        if (strncmp(*variable, "PATH=", 5) == 0)
            putenv(*variable);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    int copies[3];
    for (int stream = 0; stream < 3; stream++) {
        copies[stream] = fcntl(streams[stream], F_DUPFD_CLOEXEC, 3); /* beyond what is overwritten */
        posix_spawn_file_actions_adddup2(&actions, copies[stream], stream);
    }
    pid_t command;
    int error = posix_spawnp(&command, asked->argv.at[0], &actions, &attributes, asked->argv.at, asked->env.at);
    for (int stream = 0; stream < 3; stream++)
        close(copies[stream]);
    errno = error;
    return error ? -1 : command;
}

/* Reap whatever ends, until the command has, or nobody waits for it any more; how it ended. */
int end_of(pid_t command, int answer, const sigset_t *news)
{
    struct pollfd watched[] = {{signalfd(-1, news, SFD_CLOEXEC), POLLIN, 0}, {answer, 0, 0}};
    if (watched[0].fd < 0)
        _exit(1);
    for (;;) {
        if (poll(watched, 2, -1) < 0)
            continue;
        if (watched[1].revents) /* an error, once its reader is gone */
            _exit(1);
        struct signalfd_siginfo about;
        if (read(watched[0].fd, &about, sizeof about) != sizeof about)
            continue;
        if (about.ssi_signo == SIGTERM && about.ssi_pid == 0) /* from outside: who is within has an id */
            _exit(SIGNALLED + SIGTERM);                       /* without telling how the command ended */
        int status;
        pid_t reaped;
        while ((reaped = waitpid(-1, &status, WNOHANG)) > 0)
            if (reaped == command)
                return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
}
