/* regex.h: regular expressions.
 *
 * A compiled pattern is libc's secret, so its text is kept, with labels, when it is compiled. When a
 * pattern is matched and pattern or string are labelled, a machine of our own goes over the
 * string beside libc's: it follows all ways through the pattern at once, so that each letter of the
 * pattern is compared with each byte of the string at most once, and these comparisons are the
 * branches. libc has the last word; where the two differ on whether and where it matches, and where
 * the pattern has what is not modelled, what the match depended on is lost. */
#include "model.h"
#include "charset.h"
#include "regular.h"
#include <ctype.h>
#include <langinfo.h>
#include <regex.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

size_t __plx_m_strlen(const char *s);
int __plx_m_isalnum(int), __plx_m_isalpha(int), __plx_m_isblank(int), __plx_m_iscntrl(int),
    __plx_m_isdigit(int), __plx_m_isgraph(int), __plx_m_islower(int), __plx_m_isprint(int),
    __plx_m_ispunct(int), __plx_m_isspace(int), __plx_m_isupper(int), __plx_m_isxdigit(int);

/* What is kept of a compiled pattern. */
struct pattern {
    const regex_t *owner;
    struct pattern *next;
    int is_extended, ignores_case, has_offsets;
    /* Whether anchors match at newlines, and whether dots and negated sets do not. */
    int lines_have_ends, lines_are_apart;
    /* Whether it was parsed, and could be. */
    enum verdict is_parsed;
    struct program *program;
    size_t size;
    char text[];
};

static struct pattern *patterns;

/* Held while the list is walked or changed, never while anything is matched. */
static volatile char list_is_busy;

static void lock_list(void)
{
    while (__atomic_test_and_set(&list_is_busy, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock_list(void)
{
    __atomic_clear(&list_is_busy, __ATOMIC_RELEASE);
}

static void forget(const regex_t *owner)
{
    struct pattern *forgotten = NULL;
    lock_list();
    for (struct pattern **link = &patterns; *link != NULL; link = &(*link)->next)
        if ((*link)->owner == owner) {
            forgotten = *link;
            *link = forgotten->next;
            break;
        }
    unlock_list();
    if (forgotten != NULL) {
        __plx_m_free(forgotten->program);
        __plx_m_free(forgotten);
    }
}

static struct pattern *find(const regex_t *owner)
{
    lock_list();
    struct pattern *pattern = patterns;
    while (pattern != NULL && pattern->owner != owner)
        pattern = pattern->next;
    unlock_list();
    return pattern;
}

static struct pattern *remember(const regex_t *owner, const char *text, size_t size)
{
    forget(owner);
    struct pattern *pattern = __plx_m_malloc(sizeof *pattern + size + 1);
    if (pattern == NULL)
        return NULL;
    memset(pattern, 0, sizeof *pattern);
    pattern->owner = owner;
    pattern->size = size;
    pattern->is_parsed = no;
    __plx_m_memcpy(pattern->text, text, size);
    pattern->text[size] = '\0';
    lock_list();
    pattern->next = patterns;
    patterns = pattern;
    unlock_list();
    return pattern;
}

/* In UTF-8, only ASCII is modelled. */
static int is_simple(const char *s, size_t size)
{
    if (current_charset() == UTF8)
        for (size_t i = 0; i < size; i++)
            if ((unsigned char)s[i] >= 0x80)
                return 0;
    return 1;
}

/* Parses a pattern, once. False if it is not understood. */
static int is_understood(struct pattern *pattern)
{
    if (pattern->is_parsed != no)
        return pattern->is_parsed == yes;
    pattern->is_parsed = unknown;
    /* Ranges are in the locale's order. */
    if (current_charset() == OTHER || (uint32_t)(uintptr_t)nl_langinfo(_NL_COLLATE_NRULES) != 0 ||
        !is_simple(pattern->text, pattern->size))
        return 0;
    pattern->program = __plx_m_malloc(sizeof *pattern->program);
    if (pattern->program != NULL &&
        parse(pattern->program, pattern->text, pattern->size, pattern->is_extended) == yes)
        pattern->is_parsed = yes;
    return pattern->is_parsed == yes;
}

/* One attempt. */
struct attempt {
    const struct pattern *pattern;
    const char *string;
    size_t size;
    int not_at_beginning, not_at_end;
    /* Where the present byte is. */
    size_t at;
    /* Steps that wait for the present byte, and in which round each was last put there. */
    short waiting[most_steps];
    int waiting_count;
    unsigned round, entered[most_steps];
    int is_done;
};

static int folded(const struct pattern *pattern, char c)
{
    int character = (unsigned char)c;
    return pattern->ignores_case ? (*__ctype_tolower_loc())[character] : character;
}

/* Whether a character is in a class; moves behind its name. */
static int is_in_class(const char **text, int c)
{
#define CLASS(name)                                                                                \
    if (strncmp(*text, #name ":]", sizeof #name + 1) == 0) {                                       \
        *text += sizeof #name + 1;                                                                 \
        return __plx_m_is##name(c);                                                                \
    }
    CLASS(alnum) CLASS(alpha) CLASS(blank) CLASS(cntrl) CLASS(digit) CLASS(graph)
    CLASS(lower) CLASS(print) CLASS(punct) CLASS(space) CLASS(upper) CLASS(xdigit)
    return 0;
}

static int is_in_set(const struct pattern *pattern, const char *text, char character)
{
    int c = folded(pattern, character), is_negated = *text == '^', is_found = 0;
    if (is_negated)
        text++;
    for (int is_first = 1; is_first || *text != ']'; is_first = 0) {
        if (text[0] == '[' && text[1] == ':') {
            text += 2;
            if (is_in_class(&text, (unsigned char)character))
                is_found = 1;
            continue;
        }
        int low = folded(pattern, *text++), high = low;
        if (text[0] == '-' && text[1] != ']') {
            high = folded(pattern, text[1]);
            text += 2;
        }
        if (c >= low && c <= high)
            is_found = 1;
    }
    if (is_negated && pattern->lines_are_apart && character == '\n')
        return 0;
    return is_found != is_negated;
}

static int is_at_beginning(const struct attempt *attempt)
{
    if (attempt->at == 0 && !attempt->not_at_beginning)
        return 1;
    return attempt->pattern->lines_have_ends && attempt->at > 0 &&
           attempt->string[attempt->at - 1] == '\n';
}

static int is_at_end(const struct attempt *attempt)
{
    if (attempt->at == attempt->size)
        return !attempt->not_at_end;
    return attempt->pattern->lines_have_ends && attempt->string[attempt->at] == '\n';
}

/* Follows the pattern from a step to all that wait for a byte. */
static void enter(struct attempt *attempt, int step)
{
    for (;;) {
        if (attempt->entered[step] == attempt->round)
            return;
        attempt->entered[step] = attempt->round;
        const struct step *here = &attempt->pattern->program->steps[step];
        switch (here->operation) {
        case LETTER: case ANY: case SET:
            attempt->waiting[attempt->waiting_count++] = (short)step;
            return;
        case BEGINNING:
            if (!is_at_beginning(attempt))
                return;
            step++;
            break;
        case ENDING:
            if (!is_at_end(attempt))
                return;
            step++;
            break;
        case JUMP:
            step += here->distance;
            break;
        case SPLIT:
            enter(attempt, step + 1);
            step += here->distance;
            break;
        case DONE:
            attempt->is_done = 1;
            return;
        }
    }
}

static int accepts(const struct pattern *pattern, const struct step *step, char c)
{
    switch (step->operation) {
    case LETTER:
        return folded(pattern, step->letter) == folded(pattern, c);
    case ANY:
        return c != '\0' && !(pattern->lines_are_apart && c == '\n');
    default:
        return is_in_set(pattern, step->text, c);
    }
}

/* Length of the longest match that begins at `start`, -1 if there is none; if only that counts, of
 * the shortest. */
static long match_at(struct attempt *attempt, size_t start, int any_will_do)
{
    long found = -1;
    short now[most_steps];
    attempt->at = start;
    attempt->waiting_count = 0;
    attempt->round++;
    enter(attempt, 0);
    for (;; attempt->at++) {
        if (attempt->is_done) {
            attempt->is_done = 0;
            found = (long)(attempt->at - start);
            if (any_will_do)
                return found;
        }
        if (attempt->waiting_count == 0 || attempt->at == attempt->size)
            return found;
        int count = attempt->waiting_count;
        memcpy(now, attempt->waiting, (size_t)count * sizeof *now);
        attempt->waiting_count = 0;
        attempt->round++;
        char c = attempt->string[attempt->at++];
        for (int i = 0; i < count; i++)
            if (accepts(attempt->pattern, &attempt->pattern->program->steps[now[i]], c))
                enter(attempt, now[i] + 1);
        attempt->at--;
    }
}

/* A match whose place libc did not say. */
enum { anywhere = -2 };

/* Searches as libc has done, with a result that is known: the beginning, or -1 if there was none;
 * and the length, or -1 if that is not known. False if the two disagree. */
static int confirms(struct attempt *attempt, size_t start, size_t last, long begin, long length)
{
    for (size_t at = start; at <= last; at++) {
        long found = match_at(attempt, at, length < 0);
        if (found >= 0)
            return begin == anywhere || (begin == (long)at && (length < 0 || length == found));
    }
    return begin == -1;
}

static int is_worth_it(const struct pattern *pattern, const char *string, size_t size)
{
    return __plx_peek(string, size) ||
           (pattern != NULL && __plx_peek(pattern->text, pattern->size));
}

int __plx_m_regcomp(regex_t *to, const char *text, int flags)
{
    FIX(flags);
    int result = regcomp(to, text, flags);
    __plx_clear(to, sizeof *to);
    forget(to);
    int is_labelled = __plx_peek(text, strlen(text) + 1) != 0;
    struct pattern *pattern = remember(to, text, __plx_m_strlen(text));
    if (pattern == NULL) {
        if (is_labelled)
            LOSE("regcomp");
        return result;
    }
    pattern->is_extended = (flags & REG_EXTENDED) != 0;
    pattern->ignores_case = (flags & REG_ICASE) != 0;
    pattern->lines_have_ends = (flags & REG_NEWLINE) != 0;
    pattern->lines_are_apart = (flags & REG_NEWLINE) != 0;
    pattern->has_offsets = !(flags & REG_NOSUB);
    if (is_labelled && is_understood(pattern) != (result == 0))
        LOSE("regcomp");
    if (result != 0)
        forget(to);
    return result;
}

int __plx_m_regexec(const regex_t *compiled, const char *string, size_t count, regmatch_t *matches,
                    int flags)
{
    FIX(flags);
    FIX(count);
    int result = regexec(compiled, string, count, matches, flags);
    struct pattern *pattern = find(compiled);
    int has_offsets = pattern != NULL && pattern->has_offsets && count > 0;
    if (has_offsets)
        __plx_clear(matches, count * sizeof *matches);
    if (!is_worth_it(pattern, string, strlen(string) + 1))
        return result;
    size_t size = __plx_m_strlen(string);
    int is_confirmed = 0;
    if (pattern != NULL && !(flags & REG_STARTEND) && (result == 0 || result == REG_NOMATCH) &&
        is_simple(string, size) && is_understood(pattern)) {
        struct attempt attempt = {.pattern = pattern,
                                  .string = string,
                                  .size = size,
                                  .not_at_beginning = (flags & REG_NOTBOL) != 0,
                                  .not_at_end = (flags & REG_NOTEOL) != 0};
        long begin = -1, length = -1;
        if (result == 0 && has_offsets) {
            begin = matches[0].rm_so;
            length = matches[0].rm_eo - begin;
        } else if (result == 0) {
            begin = anywhere;
        }
        is_confirmed = confirms(&attempt, 0, size, begin, length);
    }
    if (!is_confirmed)
        LOSE("regexec");
    return result;
}

void __plx_m_regfree(regex_t *compiled)
{
    forget(compiled);
    regfree(compiled);
}

/* GNU's own interface, in the one syntax that programs use with it besides POSIX's functions. */
const char *__plx_m_re_compile_pattern(const char *text, size_t size,
                                       struct re_pattern_buffer *to)
{
    FIX(size);
    reg_syntax_t syntax = re_syntax_options;
    const char *error = re_compile_pattern(text, size, to);
    __plx_clear(to, sizeof *to);
    forget(to);
    int is_labelled = __plx_peek(text, size) != 0;
    struct pattern *pattern = NULL;
    /* These only say what is an error, or are looked at below. */
    reg_syntax_t details = RE_ICASE | RE_CONTEXT_INVALID_DUP | RE_NO_EMPTY_RANGES;
    if ((syntax | details) == (RE_SYNTAX_POSIX_BASIC | details))
        pattern = remember(to, text, size);
    if (pattern != NULL) {
        pattern->ignores_case = (syntax & RE_ICASE) != 0;
        pattern->lines_have_ends = to->newline_anchor;
        pattern->has_offsets = 1;
    }
    if (is_labelled && (pattern == NULL || is_understood(pattern) != (error == NULL)))
        LOSE("re_compile_pattern");
    if (error != NULL)
        forget(to);
    return error;
}

static void forget_registers(struct re_registers *registers)
{
    if (registers == NULL)
        return;
    __plx_clear(registers, sizeof *registers);
    if (registers->start != NULL && registers->end != NULL) {
        __plx_clear(registers->start, registers->num_regs * sizeof *registers->start);
        __plx_clear(registers->end, registers->num_regs * sizeof *registers->end);
    }
}

/* Goes over positions from start to last, and says whether libc's answer is confirmed. */
static int is_confirmed_search(struct re_pattern_buffer *compiled, const char *string, size_t size,
                               size_t start, size_t last, long begin, long length)
{
    struct pattern *pattern = find(compiled);
    if (pattern == NULL || !is_simple(string, size) || !is_understood(pattern))
        return 0;
    struct attempt attempt = {.pattern = pattern,
                              .string = string,
                              .size = size,
                              .not_at_beginning = compiled->not_bol,
                              .not_at_end = compiled->not_eol};
    return confirms(&attempt, start, last, begin, length);
}

regoff_t __plx_m_re_match(struct re_pattern_buffer *compiled, const char *string, regoff_t size,
                          regoff_t start, struct re_registers *registers)
{
    FIX(size);
    FIX(start);
    regoff_t result = re_match(compiled, string, size, start, registers);
    forget_registers(registers);
    if (start < 0 || start > size || !is_worth_it(find(compiled), string, (size_t)size))
        return result;
    if (result < -1 || !is_confirmed_search(compiled, string, (size_t)size, (size_t)start,
                                            (size_t)start, result < 0 ? -1 : start, result))
        LOSE("re_match");
    return result;
}

regoff_t __plx_m_re_search(struct re_pattern_buffer *compiled, const char *string, regoff_t size,
                           regoff_t start, regoff_t range, struct re_registers *registers)
{
    FIX(size);
    FIX(start);
    FIX(range);
    regoff_t result = re_search(compiled, string, size, start, range, registers);
    forget_registers(registers);
    if (start < 0 || start > size || !is_worth_it(find(compiled), string, (size_t)size))
        return result;
    size_t last = range > size - start ? (size_t)size : (size_t)(start + range);
    long length = result >= 0 && registers != NULL ? registers->end[0] - registers->start[0] : -1;
    if (range < 0 || result < -1 ||
        !is_confirmed_search(compiled, string, (size_t)size, (size_t)start, last, result, length))
        LOSE("re_search");
    return result;
}
