/* fnmatch.h: shell patterns.
 *
 * Pattern and string are compared here in traced code, byte by byte. The real function is asked
 * as well and has the last word; where the two differ, or where the pattern has what is not
 * modelled (extended patterns, collating elements, characters of several bytes), what the
 * match depended on is lost. */
#include "model.h"
#include "charset.h"
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

int __plx_m_isalnum(int), __plx_m_isalpha(int), __plx_m_isblank(int), __plx_m_iscntrl(int),
    __plx_m_isdigit(int), __plx_m_isgraph(int), __plx_m_islower(int), __plx_m_isprint(int),
    __plx_m_ispunct(int), __plx_m_isspace(int), __plx_m_isupper(int), __plx_m_isxdigit(int);

/* A bracket without its partner is an ordinary character. */
enum verdict { no, yes, unknown, ordinary };

/* Many stars can make for very many attempts. */
enum { most_steps = 100000 };

struct attempt {
    const char *string;
    int flags;
    unsigned steps;
};

static int folded(const struct attempt *attempt, char c)
{
    int character = (unsigned char)c;
    return attempt->flags & FNM_CASEFOLD ? (*__ctype_tolower_loc())[character] : character;
}

/* A period that only a period of the pattern matches. */
static int is_guarded(const struct attempt *attempt, const char *s)
{
    if (!(attempt->flags & FNM_PERIOD) || *s != '.')
        return 0;
    return s == attempt->string || (attempt->flags & FNM_PATHNAME && s[-1] == '/');
}

/* Whether a character is in the class named at *pattern, which stands behind "[:" and moves behind
 * ":]". */
static enum verdict in_class(const char **pattern, int c)
{
#define CLASS(name)                                                                                \
    if (strncmp(*pattern, #name ":]", sizeof #name + 1) == 0) {                                    \
        *pattern += sizeof #name + 1;                                                              \
        return __plx_m_is##name(c) ? yes : no;                                                     \
    }
    CLASS(alnum) CLASS(alpha) CLASS(blank) CLASS(cntrl) CLASS(digit) CLASS(graph)
    CLASS(lower) CLASS(print) CLASS(punct) CLASS(space) CLASS(upper) CLASS(xdigit)
    return unknown;
}

/* Whether a character is in the set whose text begins at *pattern, behind its bracket; moves behind
 * the set. */
static enum verdict in_set(struct attempt *attempt, const char **pattern, char character)
{
    const char *p = *pattern;
    int c = folded(attempt, character), is_negated = *p == '!' || *p == '^', is_found = 0;
    if (is_negated)
        p++;
    for (int is_first = 1; is_first || *p != ']'; is_first = 0) {
        if (*p == '[' && (p[1] == '.' || p[1] == '='))
            return unknown;
        if (*p == '[' && p[1] == ':') {
            p += 2;
            enum verdict verdict = in_class(&p, c);
            if (verdict == unknown)
                return unknown;
            is_found |= verdict == yes;
            continue;
        }
        if (*p == '\\' && !(attempt->flags & FNM_NOESCAPE))
            p++;
        if (*p == '\0')
            return ordinary;
        int low = folded(attempt, *p++), high = low;
        if (*p == '-' && p[1] != ']') {
            p++;
            if (*p == '[')
                return unknown;
            if (*p == '\\' && !(attempt->flags & FNM_NOESCAPE))
                p++;
            if (*p == '\0')
                return ordinary;
            high = folded(attempt, *p++);
        }
        if (c >= low && c <= high)
            is_found = 1;
    }
    *pattern = p + 1;
    return is_found != is_negated ? yes : no;
}

static enum verdict match(struct attempt *attempt, const char *p, const char *s)
{
    int flags = attempt->flags;
    for (;; p++, s++) {
        if (++attempt->steps > most_steps)
            return unknown;
        switch (*p) {
        case '\0':
            return *s == '\0' || (flags & FNM_LEADING_DIR && *s == '/') ? yes : no;
        case '?':
            if (*s == '\0' || (flags & FNM_PATHNAME && *s == '/') || is_guarded(attempt, s))
                return no;
            break;
        case '*':
            if (is_guarded(attempt, s))
                return no;
            while (*p == '*')
                p++;
            for (;; s++) {
                enum verdict verdict = match(attempt, p, s);
                if (verdict != no)
                    return verdict;
                if (*s == '\0' || (flags & FNM_PATHNAME && *s == '/'))
                    return no;
            }
        case '[': {
            const char *set = p + 1;
            enum verdict verdict = in_set(attempt, &set, *s);
            if (verdict == ordinary) {
                if (*s != '[')
                    return no;
                break;
            }
            if (verdict != yes)
                return verdict;
            if (*s == '\0' || (flags & FNM_PATHNAME && *s == '/') || is_guarded(attempt, s))
                return no;
            p = set - 1;
            break;
        }
        case '\\':
            if (!(flags & FNM_NOESCAPE) && *++p == '\0')
                return no;
            /* fall through */
        default:
            if (folded(attempt, *p) != folded(attempt, *s))
                return no;
        }
    }
}

/* In UTF-8, only ASCII is modelled. */
static int is_simple(const char *s)
{
    if (current_charset() == UTF8)
        for (; *s != '\0'; s++)
            if ((unsigned char)*s >= 0x80)
                return 0;
    return 1;
}

int __plx_m_fnmatch(const char *pattern, const char *string, int flags)
{
    FIX(flags);
    int real = fnmatch(pattern, string, flags);
    if (!__plx_peek(pattern, strlen(pattern) + 1) && !__plx_peek(string, strlen(string) + 1))
        return real;
    enum verdict verdict = unknown;
    if (!(flags & FNM_EXTMATCH) && current_charset() != OTHER && is_simple(pattern) &&
        is_simple(string)) {
        struct attempt attempt = {.string = string, .flags = flags};
        verdict = match(&attempt, pattern, string);
    }
    if (verdict == unknown || real != (verdict == yes ? 0 : FNM_NOMATCH))
        LOSE("fnmatch");
    return real;
}
