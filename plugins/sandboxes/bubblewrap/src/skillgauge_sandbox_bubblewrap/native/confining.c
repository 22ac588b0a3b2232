/* Confines a copy of the launcher, before it starts a command. */

#include "launcher.h"

#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int map_ids(unsigned long user, unsigned long user_outside, unsigned long group, unsigned long group_outside)
{
    char users[64], groups[64];
    snprintf(users, sizeof users, "%lu %lu 1", user, user_outside);
    snprintf(groups, sizeof groups, "%lu %lu 1", group, group_outside);
    return write_file("/proc/self/uid_map", users) < 0 ? -1 : write_file("/proc/self/gid_map", groups);
}

static rlim_t lowered(unsigned long bound, rlim_t now) { return now == RLIM_INFINITY || bound < now ? bound : now; }

static int limit(struct fields limits)
{
    while (limits.at != limits.end) {
        int kind = number(&limits);
        unsigned long soft = number(&limits), hard = number(&limits);
        struct rlimit bounds;
        if (getrlimit(kind, &bounds) < 0)
            return failed_at("getrlimit");
        bounds.rlim_cur = lowered(soft, bounds.rlim_cur);
        bounds.rlim_max = lowered(hard, bounds.rlim_max);
        if (bounds.rlim_cur > bounds.rlim_max)
            bounds.rlim_cur = bounds.rlim_max;
        if (setrlimit(kind, &bounds) < 0)
            return failed_at("setrlimit");
    }
    return 0;
}

static int filter_calls(struct fields steps)
{
    size_t count = (steps.end - steps.at) / 4;
    if (count == 0)
        return 0;
    struct sock_filter code[count];
    for (size_t step = 0; step < count; step++) {
        code[step].code = number(&steps);
        code[step].jt = number(&steps);
        code[step].jf = number(&steps);
        code[step].k = number(&steps);
    }
    struct sock_fprog program = {count, code};
    return check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0), "seccomp");
}

int confine(const struct request *asked, mode_t mask)
{
    for (char **file = asked->groups.at; file != asked->groups.end; file++)
        if (write_file(*file, "0") < 0)
            return -1;
    if (check(unshare(CLONE_NEWCGROUP), "unshare") < 0 || make_mounts(asked->mounts) < 0)
        return -1;
    if (check(syscall(SYS_pivot_root, ".", "."), "pivot_root") < 0 || check(umount2(".", MNT_DETACH), "umount") < 0)
        return -1;
    umask(mask);
    if (check(chdir(asked->cwd), asked->cwd) < 0)
        return -1;
    if (check(unshare(CLONE_NEWUSER), "unshare") < 0) /* another one, so that it owns none of the namespaces */
        return -1;
    if (map_ids(asked->user, 0, asked->user, 0) < 0 || limit(asked->limits) < 0)
        return -1;
    for (int capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; capability++)
        continue;
    struct __user_cap_header_struct version = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    if (check(syscall(SYS_capset, &version, none), "capset") < 0)
        return -1;
    if (check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl") < 0 ||
        check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl") < 0)
        return -1;
    return filter_calls(asked->filter);
}
