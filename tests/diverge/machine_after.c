/* An assembler for a small stack machine, and the machine. Reads a program from standard input, one instruction a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODES 64
#define STACK 32
#define CELLS 8
#define STEPS 200
#define LINE 80

enum operation {
  OP_PUSH,
  OP_POP,
  OP_DUP,
  OP_SWAP,
  OP_OVER,
  OP_ADD,
  OP_SUB,
  OP_MUL,
  OP_DIV,
  OP_MOD,
  OP_NEG,
  OP_NOT,
  OP_LT,
  OP_EQ,
  OP_MIN,
  OP_MAX,
  OP_LOAD,
  OP_STORE,
  OP_JUMP,
  OP_ZERO,
  OP_PRINT,
  OP_EMIT,
  OP_DEPTH,
  OP_CLEAR,
  OP_HALT,
  OP_COUNT
};

struct description {
  const char *name;
  int operands;
  int pops;
};

static const struct description descriptions[OP_COUNT] = {
  {"push", 1, 0},
  {"pop", 0, 1},
  {"dup", 0, 1},
  {"swap", 0, 2},
  {"over", 0, 2},
  {"add", 0, 2},
  {"sub", 0, 2},
  {"mul", 0, 2},
  {"div", 0, 2},
  {"mod", 0, 2},
  {"neg", 0, 1},
  {"not", 0, 1},
  {"lt", 0, 2},
  {"eq", 0, 2},
  {"min", 0, 2},
  {"max", 0, 2},
  {"load", 1, 0},
  {"store", 1, 1},
  {"jump", 1, 0},
  {"zero", 1, 1},
  {"print", 0, 1},
  {"emit", 0, 1},
  {"depth", 0, 0},
  {"clear", 0, 0},
  {"halt", 0, 0},
};

struct code {
  enum operation operation;
  long operand;
  int line;
};

struct machine {
  struct code codes[CODES];
  int count;
  int next;
  int running;
  long stack[STACK];
  int depth;
  long cells[CELLS];
  const char *fault;
};

static void fault(struct machine *m, const char *why) {
  if (!m->fault)
    m->fault = why;
  m->running = 0;
}

static void push(struct machine *m, long value) {
  if (m->depth >= STACK) {
    fault(m, "the stack is full");
    return;
  }
  m->stack[m->depth++] = value;
}

static long pop(struct machine *m) {
  if (m->depth <= 0) {
    fault(m, "the stack is empty");
    return 0;
  }
  return m->stack[--m->depth];
}

static void do_push(struct machine *m, const struct code *code) {
  push(m, code->operand);
}

static void do_pop(struct machine *m, const struct code *code) {
  (void)code;
  pop(m);
}

static void do_dup(struct machine *m, const struct code *code) {
  (void)code;
  long top = pop(m);
  push(m, top);
  push(m, top);
}

static void do_swap(struct machine *m, const struct code *code) {
  (void)code;
  long second = pop(m);
  long first = pop(m);
  push(m, second);
  push(m, first);
}

static void do_over(struct machine *m, const struct code *code) {
  (void)code;
  long second = pop(m);
  long first = pop(m);
  push(m, first);
  push(m, second);
  push(m, first);
}

static void do_add(struct machine *m, const struct code *code) {
  (void)code;
  long second = pop(m);
  long first = pop(m);
  push(m, first + second);
}

static void do_sub(struct machine *m, const struct code *code) {
  (void)code;
  long second = pop(m);
  long first = pop(m);
  push(m, first - second);
}

static void do_mul(struct machine *m, const struct code *code) {
  (void)code;
  long second = pop(m);
  long first = pop(m);
  push(m, (first % 1000) * (second % 1000));
}

static void do_div(struct machine *m, const struct code *code) {
  (void)code;
  long second = pop(m);
  long first = pop(m);
  if (second == 0)
    fault(m, "division by zero");
  else
    push(m, first / second);
}

static void do_mod(struct machine *m, const struct code *code) {
  (void)code;
  long second = pop(m);
  long first = pop(m);
  if (second == 0)
    fault(m, "remainder of a division by zero");
  else
    push(m, first % second);
}

static void do_neg(struct machine *m, const struct code *code) {
  (void)code;
  push(m, -pop(m));
}

static void do_not(struct machine *m, const struct code *code) {
  (void)code;
  push(m, !pop(m));
}

static void do_lt(struct machine *m, const struct code *code) {
  (void)code;
  long second = pop(m);
  long first = pop(m);
  push(m, first < second);
}

static void do_eq(struct machine *m, const struct code *code) {
  (void)code;
  long second = pop(m);
  long first = pop(m);
  push(m, first == second);
}

static void do_min(struct machine *m, const struct code *code) {
  (void)code;
  long second = pop(m);
  long first = pop(m);
  push(m, first < second ? first : second);
}

static void do_max(struct machine *m, const struct code *code) {
  (void)code;
  long second = pop(m);
  long first = pop(m);
  push(m, first > second ? first : second);
}

static void do_load(struct machine *m, const struct code *code) {
  if (code->operand < 0 || code->operand >= CELLS)
    fault(m, "no such cell");
  else
    push(m, m->cells[code->operand]);
}

static void do_store(struct machine *m, const struct code *code) {
  if (code->operand < 0 || code->operand >= CELLS)
    fault(m, "no such cell");
  else
    m->cells[code->operand] = pop(m);
}

static void do_jump(struct machine *m, const struct code *code) {
  m->next = code->operand;
}

static void do_zero(struct machine *m, const struct code *code) {
  if (pop(m) == 0)
    m->next = code->operand;
}

static void do_print(struct machine *m, const struct code *code) {
  (void)code;
  printf("%ld\n", pop(m));
}

static void do_emit(struct machine *m, const struct code *code) {
  (void)code;
  long letter = pop(m);
  if (letter < 32 || letter > 126)
    putchar('?');
  else
    putchar((int)letter);
}

static void do_depth(struct machine *m, const struct code *code) {
  (void)code;
  push(m, m->depth);
}

static void do_clear(struct machine *m, const struct code *code) {
  (void)code;
  m->depth = 0;
}

static void do_halt(struct machine *m, const struct code *code) {
  (void)code;
  m->running = 0;
}

static void step_over(struct machine *m, const struct code *instruction) {
  switch (instruction->operation) {
  case OP_PUSH:
    do_push(m, instruction);
    break;
  case OP_POP:
    do_pop(m, instruction);
    break;
  case OP_DUP:
    do_dup(m, instruction);
    break;
  case OP_SWAP:
    do_swap(m, instruction);
    break;
  case OP_OVER:
    do_over(m, instruction);
    break;
  case OP_ADD:
    do_add(m, instruction);
    break;
  case OP_SUB:
    do_sub(m, instruction);
    break;
  case OP_MUL:
    do_mul(m, instruction);
    break;
  case OP_DIV:
    do_div(m, instruction);
    break;
  case OP_MOD:
    do_mod(m, instruction);
    break;
  case OP_NEG:
    do_neg(m, instruction);
    break;
  case OP_NOT:
    do_not(m, instruction);
    break;
  case OP_LT:
    do_lt(m, instruction);
    break;
  case OP_EQ:
    do_eq(m, instruction);
    break;
  case OP_MIN:
    do_min(m, instruction);
    break;
  case OP_MAX:
    do_max(m, instruction);
    break;
  case OP_LOAD:
    do_load(m, instruction);
    break;
  case OP_STORE:
    do_store(m, instruction);
    break;
  case OP_JUMP:
    do_jump(m, instruction);
    break;
  case OP_ZERO:
    do_zero(m, instruction);
    break;
  case OP_PRINT:
    do_print(m, instruction);
    break;
  case OP_EMIT:
    do_emit(m, instruction);
    break;
  case OP_DEPTH:
    do_depth(m, instruction);
    break;
  case OP_CLEAR:
    do_clear(m, instruction);
    break;
  case OP_HALT:
    do_halt(m, instruction);
    break;
  case OP_COUNT:
    fault(m, "no such operation");
    break;
  }
}

static int is_blank_character(char c) {
  return c == ' ' || c == '\t';
}

/* The operation with a name; -1 if there is none. */
static int find_operation(const char *word) {
  int found = -1;
  for (int i = 0; i < OP_COUNT; i++)
    if (strcmp(descriptions[i].name, word) == 0)
      found = i;
  return found;
}

/* Whether a line is an instruction; 0 for an empty line or a comment, -1 for an error. */
static int assemble(struct machine *m, const char *line, int number) {
  int digits = 0;
  int negative = 0;
  long number_given = 0;
  char word[16];
  int used = 0;
  while (is_blank_character(*line))
    line++;
  if (*line == '\0' || *line == '#')
    return 0;
  while (*line >= 'a' && *line <= 'z') {
    if (used >= (int)sizeof word - 1) {
      printf("line %d: the name is too long\n", number);
      return -1;
    }
    word[used++] = *line++;
  }
  word[used] = '\0';
  int operation = find_operation(word);
  if (operation < 0) {
    printf("line %d: no such operation\n", number);
    return -1;
  }
  while (is_blank_character(*line))
    line++;
  if (*line == '-') {
    negative = 1;
    line++;
  }
  while (*line >= '0' && *line <= '9') {
    number_given = number_given * 10 + (*line - '0');
    digits++;
    line++;
    if (digits > 6) {
      printf("line %d: the number is too long\n", number);
      return -1;
    }
  }
  if (negative)
    number_given = -number_given;
  while (is_blank_character(*line))
    line++;
  if (*line != '\0' && *line != '#') {
    printf("line %d: something is left\n", number);
    return -1;
  }
  if (descriptions[operation].operands && digits == 0) {
    printf("line %d: a number is missing\n", number);
    return -1;
  }
  if (!descriptions[operation].operands && (digits > 0 || negative)) {
    printf("line %d: no number is wanted\n", number);
    return -1;
  }
  if (m->count >= CODES) {
    printf("line %d: the program is too long\n", number);
    return -1;
  }
  m->codes[m->count].operation = operation;
  m->codes[m->count].operand = number_given;
  m->codes[m->count].line = number;
  m->count++;
  return 1;
}

static int read_program(struct machine *m) {
  char line[LINE];
  int number = 0;
  int errors = 0;
  while (fgets(line, sizeof line, stdin)) {
    number++;
    size_t length = strlen(line);
    if (length > 0 && line[length - 1] == '\n')
      line[length - 1] = '\0';
    if (assemble(m, line, number) < 0)
      errors++;
  }
  return errors;
}

static void report(const struct machine *m) {
  long total = 0;
  for (int at = 0; at < m->depth; at++)
    total += m->stack[at];
  printf("%d left, sum %ld\n", m->depth, total);
  for (int i = 0; i < CELLS; i++)
    if (m->cells[i] != 0)
      printf("cell %d: %ld\n", i, m->cells[i]);
}

static int run(struct machine *m) {
  int steps = 0;
  m->next = 0;
  m->running = 1;
  while (m->running) {
    if (m->next < 0 || m->next >= m->count)
      break;
    if (steps++ >= STEPS) {
      fault(m, "too many steps");
      break;
    }
    const struct code *code = &m->codes[m->next++];
    if (m->depth < descriptions[code->operation].pops) {
      fault(m, "too little on the stack");
    } else {
      step_over(m, code);
    }
    if (m->fault) {
      printf("line %d: %s\n", code->line, m->fault);
      return 1;
    }
  }
  return m->fault ? 1 : 0;
}

int main(void) {
  struct machine *m = calloc(1, sizeof *m);
  if (!m)
    return 3;
  int errors = read_program(m);
  if (errors > 0) {
    printf("%d errors\n", errors);
    free(m);
    return 2;
  }
  int status = run(m);
  report(m);
  free(m);
  return status;
}
