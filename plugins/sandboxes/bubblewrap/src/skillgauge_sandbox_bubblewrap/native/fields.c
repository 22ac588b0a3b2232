/* Fields of requests and of plans, and what reads and reports them. */

#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *culprit = "";

int failed_at(const char *what)
{
    culprit = what;
    return -1;
}

int check(long result, const char *what) { return result < 0 ? failed_at(what) : 0; }

/* The next of some fields. Whoever writes them is trusted, so too few are a mistake to find, and no attack. */
char *next(struct fields *from)
{
    if (from->at == from->end)
        abort();
    return *from->at++;
}

unsigned long number(struct fields *from) { return strtoul(next(from), NULL, 10); }

int write_file(const char *path, const char *text)
{
    int handle = open(path, O_WRONLY | O_CLOEXEC);
    if (handle < 0 || write(handle, text, strlen(text)) < 0)
        return failed_at(path);
    return close(handle);
}

static struct fields section(struct fields *from)
{
    unsigned long count = number(from);
    struct fields made = {from->at, from->at + count};
    if (count > (unsigned long)(from->end - from->at))
        abort();
    from->at += count;
    return made;
}

int read_request(int handle, struct request *into)
{
    struct stat about;
    if (fstat(handle, &about) < 0)
        return failed_at("request");
    char *text = malloc(about.st_size + 1);
    if (text == NULL || pread(handle, text, about.st_size, 0) != about.st_size)
        return failed_at("request");
    size_t count = 0;
    for (off_t place = 0; place < about.st_size; place++)
        count += text[place] == '\0';
    char **words = calloc(count + 1, sizeof *words);
    if (words == NULL)
        return failed_at("request");
    for (size_t word = 0; word < count; word++) {
        words[word] = text;
        text += strlen(text) + 1;
    }
    struct fields all = {words, words + count};
    struct fields place, *parts[] = {&place,        &into->groups, &into->limits, &into->ports,
                                     &into->filter, &into->mounts, &into->argv,   &into->env};
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
        *parts[part] = section(&all);
    into->user = number(&place);
    into->cwd = next(&place);
    *into->argv.end = *into->env.end = NULL; /* over what has been read */
    return 0;
}
