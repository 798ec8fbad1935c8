/* Regular expressions as programs of a small machine: what regular.c runs. Parsing is part of the
 * traced code, because patterns are input, too; letters of the pattern keep their labels.
 *
 * POSIX's basic and extended syntax with GNU's additions, over single bytes. Not modelled, and
 * reported as unknown: back references, GNU's escapes with a meaning of their own (\w, \b, \< …),
 * collating elements, programs that become too long. */
#ifndef PARALLAX_REGULAR_H
#define PARALLAX_REGULAR_H

#include <stddef.h>
#include <string.h>

enum verdict { no, yes, unknown };

enum operation {
    /* One byte of the string. */
    LETTER, ANY, SET,
    /* Nothing, if it is so here. */
    BEGINNING, ENDING,
    /* Go on at a distance; or there and here. */
    JUMP, SPLIT,
    DONE,
};

struct step {
    enum operation operation;
    char letter;
    int distance;
    /* Of a set: the text behind its bracket. */
    const char *text;
};

enum { most_steps = 1000, most_repeats = 255 };

struct program {
    struct step steps[most_steps];
    int size;
};

/* The part of a pattern that is still to be parsed. */
struct parser {
    const char *at, *end;
    int is_extended, depth;
    struct program *program;
};

static int left(const struct parser *parser)
{
    return (int)(parser->end - parser->at);
}

/* Whether an operator stands here: with a backslash in the syntax where it needs one. */
static int is_operator(const struct parser *parser, char c, int is_bare)
{
    if (is_bare)
        return left(parser) > 0 && parser->at[0] == c;
    return left(parser) > 1 && parser->at[0] == '\\' && parser->at[1] == c;
}

/* Opens a gap in the program. All distances are relative, and none leads across its place. */
static int insert(struct program *program, int place, struct step step)
{
    if (program->size == most_steps)
        return 0;
    for (int i = program->size; i > place; i--)
        program->steps[i] = program->steps[i - 1];
    program->steps[place] = step;
    program->size++;
    return 1;
}

static int append(struct program *program, struct step step)
{
    return insert(program, program->size, step);
}

/* Repeats what the program has from `start` on: at least `least` times, at most `most` times,
 * which is negative if there is no limit. */
static enum verdict repeat(struct program *program, int start, int least, int most)
{
    int length = program->size - start, copies = most < 0 ? least : most;
    if (copies > most_repeats || (long)(length + 2) * (copies + 1) > most_steps)
        return unknown;
    struct step body[most_steps];
    for (int i = 0; i < length; i++)
        body[i] = program->steps[start + i];
    program->size = start;
    for (int copy = 0; copy < copies; copy++) {
        /* What is not needed can be passed by, all the rest of it at once. */
        int optional = copies - copy;
        if (copy >= least && !append(program, (struct step){.operation = SPLIT,
                                                            .distance = optional * (length + 1)}))
            return unknown;
        for (int i = 0; i < length; i++)
            if (!append(program, body[i]))
                return unknown;
    }
    if (most >= 0)
        return yes;
    /* Around again, or on. */
    if (!append(program, (struct step){.operation = SPLIT, .distance = length + 2}))
        return unknown;
    for (int i = 0; i < length; i++)
        if (!append(program, body[i]))
            return unknown;
    return append(program, (struct step){.operation = JUMP, .distance = -length - 1}) ? yes : unknown;
}

/* A number of an interval, -1 if there is none. */
static int parse_number(struct parser *parser)
{
    int number = -1;
    while (left(parser) > 0 && *parser->at >= '0' && *parser->at <= '9') {
        number = (number < 0 ? 0 : 10 * number) + (*parser->at++ - '0');
        if (number > 10000)
            number = 10000;
    }
    /* How often is a matter of the program's size. */
    FIX(number);
    return number;
}

/* Operators behind an atom that begins at `start`. */
static enum verdict parse_repeats(struct parser *parser, int start)
{
    for (;;) {
        int least, most;
        if (is_operator(parser, '*', 1)) {
            least = 0;
            most = -1;
            parser->at++;
        } else if (is_operator(parser, '+', parser->is_extended)) {
            least = 1;
            most = -1;
            parser->at += parser->is_extended ? 1 : 2;
        } else if (is_operator(parser, '?', parser->is_extended)) {
            least = 0;
            most = 1;
            parser->at += parser->is_extended ? 1 : 2;
        } else if (is_operator(parser, '{', parser->is_extended)) {
            parser->at += parser->is_extended ? 1 : 2;
            least = parse_number(parser);
            most = least;
            if (left(parser) > 0 && *parser->at == ',') {
                parser->at++;
                most = parse_number(parser);
                if (least < 0)
                    least = 0;
            } else if (least < 0) {
                return unknown;
            }
            if (!is_operator(parser, '}', parser->is_extended) || (most >= 0 && most < least))
                return unknown;
            parser->at += parser->is_extended ? 1 : 2;
        } else {
            return yes;
        }
        enum verdict verdict = repeat(parser->program, start, least, most);
        if (verdict != yes)
            return verdict;
    }
}

/* Moves behind a set's closing bracket. */
static enum verdict skip_set(struct parser *parser)
{
    if (left(parser) > 0 && *parser->at == '^')
        parser->at++;
    for (int is_first = 1; left(parser) > 0; is_first = 0) {
        char c = *parser->at++;
        if (c == ']' && !is_first)
            return yes;
        if (c == '[' && left(parser) > 0 && (*parser->at == '.' || *parser->at == '='))
            return unknown;
        if (c == '[' && left(parser) > 0 && *parser->at == ':') {
            do
                parser->at++;
            while (left(parser) > 1 && !(parser->at[0] == ':' && parser->at[1] == ']'));
            if (left(parser) < 2)
                return no;
            parser->at += 2;
        }
    }
    return no;
}

static enum verdict parse_choice(struct parser *parser);

/* Whether a dollar sign is an anchor where it stands. */
static int is_final(const struct parser *parser)
{
    struct parser behind = *parser;
    behind.at++;
    return parser->is_extended || left(&behind) == 0 || is_operator(&behind, ')', 0) ||
           is_operator(&behind, '|', 0);
}

/* Whether a backslash only takes away what the character means otherwise. */
static int is_plain_escape(char c, int is_extended)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
        return 0;
    switch (c) {
    case '<': case '>': case '`': case '\'':
        return 0;
    case '{': case '}': case '(': case ')': case '+': case '?': case '|':
        return is_extended;
    default:
        return 1;
    }
}

/* One atom with its operators. */
static enum verdict parse_atom(struct parser *parser, int is_first)
{
    struct program *program = parser->program;
    int start = program->size;
    struct step step = {.operation = LETTER};
    if (is_operator(parser, '(', parser->is_extended)) {
        parser->at += parser->is_extended ? 1 : 2;
        parser->depth++;
        enum verdict verdict = parse_choice(parser);
        if (verdict != yes)
            return verdict;
        if (!is_operator(parser, ')', parser->is_extended))
            return no;
        parser->at += parser->is_extended ? 1 : 2;
        parser->depth--;
        return parse_repeats(parser, start);
    }
    char c = *parser->at;
    if (c == '^' && (is_first || parser->is_extended)) {
        parser->at++;
        /* A star behind it is an ordinary one, or an error. */
        if (is_operator(parser, '*', 1))
            return unknown;
        return append(program, (struct step){.operation = BEGINNING}) ? yes : unknown;
    }
    if (c == '$' && is_final(parser)) {
        parser->at++;
        return append(program, (struct step){.operation = ENDING}) ? yes : unknown;
    }
    if (c == '*' && !(is_first && !parser->is_extended))
        return unknown;
    if (parser->is_extended && (c == '+' || c == '?' || c == '{'))
        return unknown;
    parser->at++;
    if (c == '.') {
        step.operation = ANY;
    } else if (c == '[') {
        step.operation = SET;
        step.text = parser->at;
        enum verdict verdict = skip_set(parser);
        if (verdict != yes)
            return verdict;
    } else if (c == '\\') {
        if (left(parser) == 0)
            return no;
        c = *parser->at++;
        if (!is_plain_escape(c, parser->is_extended))
            return unknown;
    }
    step.letter = c;
    return append(program, step) ? parse_repeats(parser, start) : unknown;
}

/* Alternatives, up to the end or the closing parenthesis. */
static enum verdict parse_choice(struct parser *parser)
{
    struct program *program = parser->program;
    int start = program->size, is_bare = parser->is_extended;
    for (int is_first = 1; left(parser) > 0 && !is_operator(parser, '|', is_bare); is_first = 0) {
        if (parser->depth > 0 && is_operator(parser, ')', is_bare))
            break;
        enum verdict verdict = parse_atom(parser, is_first);
        if (verdict != yes)
            return verdict;
    }
    if (!is_operator(parser, '|', is_bare))
        return yes;
    parser->at += is_bare ? 1 : 2;
    /* The first alternative, and a jump across what follows; or what follows. */
    int length = program->size - start, jump = program->size + 1;
    if (!insert(program, start, (struct step){.operation = SPLIT, .distance = length + 2}) ||
        !append(program, (struct step){.operation = JUMP}))
        return unknown;
    enum verdict verdict = parse_choice(parser);
    program->steps[jump].distance = program->size - jump;
    return verdict;
}

static enum verdict parse(struct program *program, const char *pattern, size_t size, int is_extended)
{
    struct parser parser = {.at = pattern, .end = pattern + size, .is_extended = is_extended,
                            .program = program};
    program->size = 0;
    enum verdict verdict = parse_choice(&parser);
    if (verdict != yes)
        return verdict;
    if (left(&parser) > 0)
        return unknown;
    return append(program, (struct step){.operation = DONE}) ? yes : unknown;
}

#endif
