/* The compiled form of launcher.py: the same arguments, calls and answers, for a fraction of the processor time.

   launcher.py says how it works and why it is out of reach of what it starts; functions have the same names here.
   A function that can fail returns -1 with `errno`, and `culprit` names what it failed at. Nothing is released that
   ends with the process. */

#ifndef LAUNCHER_H
#define LAUNCHER_H

#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { MOST_HANDLES = 250 };

/* How far a call got, as its answer says. */
enum { STARTED, UNCONFINED, NOT_STARTED };

/* Numbers and texts, one after the other: a part of a request, or steps that make mounts. */
struct fields {
    char **at;
    char **end;
};

struct request {
    unsigned long user;
    char *cwd;
    struct fields groups, limits, ports, filter, mounts, argv, env;
};

/* fields.c */

extern const char *culprit;

int failed_at(const char *what);
int check(long result, const char *what);
char *next(struct fields *from);
unsigned long number(struct fields *from);
int write_file(const char *path, const char *text);
int read_request(int handle, struct request *into);

/* mounting.c */

int make_shared(struct fields plan);
int make_own(struct fields plan);
int make_mounts(struct fields plan);

/* confining.c */

int map_ids(unsigned long user, unsigned long user_outside, unsigned long group, unsigned long group_outside);
int confine(const struct request *asked, mode_t mask);

/* commands.c */

int receive(int control, int *handles);
int hand_out(int channel, struct fields ports);
pid_t spawn(const struct request *asked, const int *streams, const sigset_t *news);
int end_of(pid_t command, int answer, const sigset_t *news);

#endif
