/* getopt.h: options of the command line, as glibc takes them.
 *
 * Every comparison of an argument's bytes is a branch: with '-', with each letter of the short
 * options, with each name of the long ones. What follows from the comparisons (which option it is)
 * is handed back as a concrete value, because the branches say all about it.
 *
 * Messages are libc's own, in libc's own translation. */
#include "model.h"
#include <getopt.h>
#include <libintl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

char *__plx_m_strchr(const char *s, int c);

/* What to do with an argument that is no option. */
enum ordering { move_behind, stop_there, hand_out };

/* Where the scan stands between calls. */
static struct {
    int is_running;
    enum ordering ordering;
    /* Short options still to come in the present argument, or NULL. */
    char *rest;
    /* Arguments [first, last) are no options and have been passed over. */
    int first, last;
    /* What the last call left in optarg and optopt. libc writes both after every call, also when
     * that one had nothing to say. */
    char *argument;
    int offender;
} scan;

/* One call. */
struct call {
    int count;
    char **arguments;
    /* Without the leading sign. */
    const char *letters;
    const struct option *names;
    int *index;
    int names_after_one_dash;
    int is_noisy;
};

/* The domain under which libc keeps its messages. */
#define TRANSLATED(text) dcgettext("libc", text, LC_MESSAGES)

static void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (fwide(stderr, 0) > 0) {
        char *text;
        if (vasprintf(&text, format, arguments) >= 0) {
            fwprintf(stderr, L"%s", text);
            free(text);
        }
    } else {
        vfprintf(stderr, format, arguments);
    }
    va_end(arguments);
}

/* What the program is told when an argument is missing. */
static int missing(const struct call *call)
{
    return call->letters[0] == ':' ? ':' : '?';
}

static int begin(const char *letters, int posix)
{
    if (optind == 0)
        optind = 1;
    scan.first = scan.last = optind;
    scan.rest = NULL;
    scan.is_running = 1;
    if (letters[0] == '-')
        scan.ordering = hand_out;
    else if (letters[0] == '+' || posix || getenv("POSIXLY_CORRECT") != NULL)
        scan.ordering = stop_there;
    else
        scan.ordering = move_behind;
    return letters[0] == '-' || letters[0] == '+';
}

static void reverse(char **from, char **to)
{
    while (from < --to) {
        char *other = *from;
        *from++ = *to;
        *to = other;
    }
}

/* Moves the arguments passed over behind the options that came after them. */
static void exchange(char **arguments)
{
    reverse(arguments + scan.first, arguments + scan.last);
    reverse(arguments + scan.last, arguments + optind);
    reverse(arguments + scan.first, arguments + optind);
    scan.first += optind - scan.last;
    scan.last = optind;
}

/* The answer is told by the way taken, not by a symbolic value, which would be asked again. */
static int is_option(const char *argument)
{
    if (argument[0] != '-')
        return 0;
    if (argument[1] == '\0')
        return 0;
    return 1;
}

/* Whether a name begins with these characters, of which none is NUL. */
static int begins_with(const char *name, const char *s, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '\0')
            return 0;
        if (name[i] != s[i])
            return 0;
    }
    return 1;
}

/* Of two options with a common beginning it matters not which is meant. */
static int are_alike(const struct option *a, const struct option *b)
{
    return a->has_arg == b->has_arg && a->flag == b->flag && a->val == b->val;
}

static int is_rival(const struct call *call, const struct option *first, const struct option *other)
{
    return call->names_after_one_dash || !are_alike(first, other);
}

static int ambiguous(const struct call *call, const char *prefix, size_t length,
                     const struct option *first)
{
    if (call->is_noisy) {
        flockfile(stderr);
        complain(TRANSLATED("%s: option '%s%s' is ambiguous; possibilities:"), call->arguments[0],
                 prefix, scan.rest);
        for (const struct option *other = call->names; other->name != NULL; other++)
            if (strncmp(other->name, scan.rest, length) == 0 &&
                (other == first || (other > first && is_rival(call, first, other))))
                complain(" '%s%s'", prefix, other->name);
        complain("\n");
        funlockfile(stderr);
    }
    scan.rest = NULL;
    optind++;
    scan.offender = 0;
    return '?';
}

/* The option was found, with or without a value: its argument, and what the program wants to hear. */
static int take_long(const struct call *call, const char *prefix, const struct option *found,
                     char *value)
{
    optind++;
    scan.rest = NULL;
    if (value != NULL) {
        if (found->has_arg == no_argument) {
            if (call->is_noisy)
                complain(TRANSLATED("%s: option '%s%s' doesn't allow an argument\n"),
                         call->arguments[0], prefix, found->name);
            scan.offender = found->val;
            return '?';
        }
        scan.argument = value;
    } else if (found->has_arg == required_argument) {
        if (optind >= call->count) {
            if (call->is_noisy)
                complain(TRANSLATED("%s: option '%s%s' requires an argument\n"), call->arguments[0],
                         prefix, found->name);
            scan.offender = found->val;
            return missing(call);
        }
        scan.argument = call->arguments[optind++];
    }
    if (call->index != NULL)
        *call->index = (int)(found - call->names);
    if (found->flag != NULL) {
        *found->flag = found->val;
        return 0;
    }
    return found->val;
}

/* A long option starts at scan.rest. -1 if it may be short ones. */
static int long_option(const struct call *call, const char *prefix)
{
    char *end = scan.rest, *value = NULL;
    for (; *end != '\0'; end++)
        if (*end == '=') {
            value = end + 1;
            break;
        }
    size_t length = (size_t)(end - scan.rest);

    /* A whole name wins; else the first that begins like this, if there is no other. */
    const struct option *first = NULL, *rival = NULL, *option;
    for (option = call->names; option->name != NULL; option++) {
        if (!begins_with(option->name, scan.rest, length))
            continue;
        if (strlen(option->name) == length)
            return take_long(call, prefix, option, value);
        if (first == NULL)
            first = option;
        else if (rival == NULL && is_rival(call, first, option))
            rival = option;
    }
    if (rival != NULL)
        return ambiguous(call, prefix, length, first);
    if (first != NULL)
        return take_long(call, prefix, first, value);

    if (call->names_after_one_dash && call->arguments[optind][1] != '-' &&
        __plx_m_strchr(call->letters, *scan.rest) != NULL)
        return -1;
    if (call->is_noisy)
        complain(TRANSLATED("%s: unrecognized option '%s%s'\n"), call->arguments[0], prefix,
                 scan.rest);
    scan.rest = NULL;
    optind++;
    scan.offender = 0;
    return '?';
}

static int argument_missing(const struct call *call, char letter)
{
    if (call->is_noisy)
        complain(TRANSLATED("%s: option requires an argument -- '%c'\n"), call->arguments[0], letter);
    scan.offender = letter;
    return missing(call);
}

/* A short option is at scan.rest. */
static int short_option(const struct call *call)
{
    char letter = *scan.rest++;
    const char *known = __plx_m_strchr(call->letters, letter);
    int is_last = 0;
    if (*scan.rest == '\0') {
        is_last = 1;
        optind++;
    }
    /* The same letter, but concrete: the comparisons have pinned it down. */
    if (known != NULL)
        letter = *known;
    if (known == NULL || letter == ':' || letter == ';') {
        if (call->is_noisy)
            complain(TRANSLATED("%s: invalid option -- '%c'\n"), call->arguments[0], letter);
        scan.offender = letter;
        if (is_last)
            scan.rest = NULL;
        return '?';
    }
    if (letter == 'W' && known[1] == ';' && call->names != NULL) {
        /* -W name is --name. */
        if (is_last) {
            if (optind == call->count) {
                scan.rest = NULL;
                return argument_missing(call, letter);
            }
            scan.rest = call->arguments[optind];
        }
        struct call as_long = *call;
        as_long.names_after_one_dash = 0;
        return long_option(&as_long, "-W ");
    }
    if (known[1] == ':') {
        int is_optional = known[2] == ':', result = letter;
        if (!is_last) {
            scan.argument = scan.rest;
            optind++;
        } else if (!is_optional) {
            if (optind == call->count)
                result = argument_missing(call, letter);
            else
                scan.argument = call->arguments[optind++];
        }
        scan.rest = NULL;
        return result;
    }
    if (is_last)
        scan.rest = NULL;
    return letter;
}

/* Goes to the next argument with options. Gives 0, or what the program is told at once. Each
 * byte is looked at once: it is a branch every time. */
static int next_argument(const struct call *call, int *has_two_dashes)
{
    /* The program may have moved optind back. */
    if (scan.last > optind)
        scan.last = optind;
    if (scan.first > optind)
        scan.first = optind;

    int stands_at_option = 0;
    if (scan.ordering == move_behind) {
        if (scan.first != scan.last && scan.last != optind)
            exchange(call->arguments);
        else if (scan.last != optind)
            scan.first = optind;
        while (optind < call->count && !stands_at_option) {
            stands_at_option = is_option(call->arguments[optind]);
            if (!stands_at_option)
                optind++;
        }
        scan.last = optind;
    } else if (optind != call->count) {
        stands_at_option = is_option(call->arguments[optind]);
    }
    if (stands_at_option) {
        const char *argument = call->arguments[optind];
        *has_two_dashes = 0;
        if (argument[1] != '-')
            return 0;
        *has_two_dashes = 1;
        if (argument[2] != '\0')
            return 0;
        /* Nothing behind "--" is an option. */
        optind++;
        if (scan.first != scan.last && scan.last != optind)
            exchange(call->arguments);
        else if (scan.first == scan.last)
            scan.first = optind;
        /* The number of arguments may be symbolic; where the scan stands is a matter of
         * comparisons with it. */
        while (optind < call->count)
            optind++;
        scan.last = optind;
    }
    if (optind == call->count) {
        if (scan.first != scan.last)
            optind = scan.first;
        return -1;
    }
    if (scan.ordering == stop_there)
        return -1;
    scan.argument = call->arguments[optind++];
    return 1;
}

static int step(struct call *call, int posix)
{
    if (call->count < 1)
        return -1;
    scan.argument = NULL;
    if (optind == 0 || !scan.is_running)
        call->letters += begin(call->letters, posix);
    else if (call->letters[0] == '-' || call->letters[0] == '+')
        call->letters++;
    call->is_noisy = opterr != 0 && call->letters[0] != ':';

    if (scan.rest == NULL) {
        int has_two_dashes, result = next_argument(call, &has_two_dashes);
        if (result != 0)
            return result;
        char *argument = call->arguments[optind];
        if (call->names != NULL) {
            if (has_two_dashes) {
                scan.rest = argument + 2;
                return long_option(call, "--");
            }
            if (call->names_after_one_dash &&
                (argument[2] != '\0' || __plx_m_strchr(call->letters, argument[1]) == NULL)) {
                scan.rest = argument + 1;
                result = long_option(call, "-");
                if (result != -1)
                    return result;
            }
        }
        scan.rest = argument + 1;
    }
    return short_option(call);
}

static int next_option(struct call *call, int posix)
{
    int result = step(call, posix);
    optarg = scan.argument;
    optopt = scan.offender;
    return result;
}

int __plx_m_getopt(int count, char *const *arguments, const char *letters)
{
    struct call call = {.count = count, .arguments = (char **)arguments, .letters = letters};
    return next_option(&call, 0);
}

/* What getopt is called in programs that ask for POSIX alone. */
int __plx_m___posix_getopt(int count, char *const *arguments, const char *letters)
{
    struct call call = {.count = count, .arguments = (char **)arguments, .letters = letters};
    return next_option(&call, 1);
}

int __plx_m_getopt_long(int count, char *const *arguments, const char *letters,
                        const struct option *names, int *index)
{
    struct call call = {.count = count,
                        .arguments = (char **)arguments,
                        .letters = letters,
                        .names = names,
                        .index = index};
    return next_option(&call, 0);
}

int __plx_m_getopt_long_only(int count, char *const *arguments, const char *letters,
                             const struct option *names, int *index)
{
    struct call call = {.count = count,
                        .arguments = (char **)arguments,
                        .letters = letters,
                        .names = names,
                        .index = index,
                        .names_after_one_dash = 1};
    return next_option(&call, 0);
}
