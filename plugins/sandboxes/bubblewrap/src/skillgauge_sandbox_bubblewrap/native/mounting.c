/* Mounts: plans as plans.py writes them, steps by name and what each needs. */

#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHARED "/proc/shared"
#define OWN "/proc/own"

enum { ALL_BELOW = 0x8000, MOUNT_SETATTR = 442 };

struct attributes { /* `struct mount_attr` of the kernel */
    uint64_t set, clear, propagation, user_namespace;
};

static int make_folder(const char *path);

static int make_around(const char *path)
{
    const char *name = strrchr(path, '/');
    char around[PATH_MAX];
    if (name == NULL)
        return 0;
    snprintf(around, sizeof around, "%.*s", (int)(name - path), path);
    return make_folder(around) < 0 ? failed_at(path) : 0;
}

static int make_folder(const char *path)
{
    if (mkdir(path, 0755) == 0 || errno == EEXIST)
        return 0;
    if (errno != ENOENT || strchr(path, '/') == NULL)
        return failed_at(path);
    return make_around(path) < 0 ? -1 : check(mkdir(path, 0755), path);
}

static int make_file(const char *path)
{
    struct stat found;
    if (lstat(path, &found) == 0)
        return 0;
    if (make_around(path) < 0)
        return -1;
    int handle = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0444);
    return handle < 0 ? failed_at(path) : close(handle);
}

static int make_link(const char *text, const char *path)
{
    return make_around(path) < 0 ? -1 : check(symlink(text, path), path);
}

static int set_attributes(const char *path, unsigned long flags, unsigned long how)
{
    struct attributes wanted = {.set = flags};
    return check(syscall(MOUNT_SETATTR, AT_FDCWD, path, how, &wanted, sizeof wanted), path);
}

static int bind_over(const char *source, const char *target, unsigned long flags)
{
    if (mount(source, target, NULL, MS_BIND | MS_REC, NULL) < 0)
        return failed_at(target);
    return set_attributes(target, flags, ALL_BELOW);
}

static int bind_if_there(const char *source, const char *target, unsigned long flags)
{
    struct stat found;
    if (stat(source, &found) < 0)
        return 0;
    if ((S_ISDIR(found.st_mode) ? make_folder(target) : make_file(target)) < 0)
        return -1;
    return bind_over(source, target, flags);
}

static int mount_it(struct fields *from)
{
    char *source = next(from), *target = next(from), *kind = next(from);
    unsigned long flags = number(from);
    char *options = next(from);
    return check(mount(source, target, *kind ? kind : NULL, flags, *options ? options : NULL), target);
}

/* Do what a plan asks for, in the working directory. */
int make_mounts(struct fields steps)
{
    int result = 0;
    while (result == 0 && steps.at != steps.end) {
        const char *step = next(&steps);
        if (strcmp(step, "folder") == 0) {
            result = make_folder(next(&steps));
        } else if (strcmp(step, "file") == 0) {
            result = make_file(next(&steps));
        } else if (strcmp(step, "link") == 0) {
            char *text = next(&steps);
            result = make_link(text, next(&steps));
        } else if (strcmp(step, "mount") == 0) {
            result = mount_it(&steps);
        } else if (strcmp(step, "bind") == 0) {
            char *source = next(&steps), *target = next(&steps);
            result = bind_if_there(source, target, number(&steps));
        } else if (strcmp(step, "attributes") == 0) {
            char *path = next(&steps);
            unsigned long flags = number(&steps);
            result = set_attributes(path, flags, number(&steps));
        } else if (strcmp(step, "cover") == 0) {
            char *path = next(&steps);
            unsigned long flags = number(&steps);
            result = access(path, W_OK) < 0 ? 0 : bind_over(path, path, flags);
        } else {
            abort();
        }
    }
    return result;
}

/* Make what commands have in common, from where each is given it. */
int make_shared(struct fields plan)
{
    if (check(mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755"), "/proc") < 0)
        return -1;
    if (make_folder(SHARED) < 0 || make_folder(OWN) < 0 || check(chdir(SHARED), SHARED) < 0 || make_mounts(plan) < 0)
        return -1;
    return check(mount(NULL, "/proc", NULL, MS_PRIVATE | MS_REC, NULL), "/proc");
}

/* Make the root of a command, and make it the working directory. */
int make_own(struct fields plan)
{
    if (check(mount("tmpfs", OWN, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755"), OWN) < 0 || check(chdir(OWN), OWN) < 0)
        return -1;
    return make_mounts(plan);
}
