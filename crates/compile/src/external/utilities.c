/* What the caller of external code provides to it: messages, errors, strings (specification 12.9.6).

   An error must not return to the code that reports it. It jumps to the frame of `gyrator_protected`, which called
   that code, so that no frame of another language is left by a jump. */
#include "ModelicaUtilities.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <unistd.h>
#endif

struct text {
  struct text *next;
  char content[];
};

/* Where an error goes; the strings of the call; what was printed, and the text of the error. */
static __thread jmp_buf *target;
static __thread struct text *strings;
static __thread char *printed;
static __thread size_t printed_length;
static __thread char *error;

static char *formatted(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  char *text = length < 0 ? NULL : malloc((size_t)length + 1);
  if (text != NULL) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

static void print(const char *before, const char *text) {
  size_t more = strlen(before) + strlen(text) + 1;
  char *longer = realloc(printed, printed_length + more + 1);
  if (longer == NULL) return;
  printed = longer;
  printed_length += (size_t)sprintf(printed + printed_length, "%s%s", before, text);
  if (printed[printed_length - 1] != '\n') {
    printed[printed_length++] = '\n';
    printed[printed_length] = 0;
  }
}

MODELICA_NORETURNATTR static void fail(char *text) {
  if (target == NULL) {
    /* A thread of the external code itself: there is no call that could end. */
    fprintf(stderr, "external code failed outside of a call: %s\n", text == NULL ? "" : text);
    abort();
  }
  free(error);
  error = text;
  longjmp(*target, 1);
}

void ModelicaMessage(const char *string) { print("", string); }

void ModelicaVFormatMessage(const char *format, va_list arguments) {
  char *text = formatted(format, arguments);
  if (text != NULL) print("", text);
  free(text);
}

void ModelicaFormatMessage(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  ModelicaVFormatMessage(format, arguments);
  va_end(arguments);
}

void ModelicaWarning(const char *string) { print("warning: ", string); }

void ModelicaVFormatWarning(const char *format, va_list arguments) {
  char *text = formatted(format, arguments);
  if (text != NULL) print("warning: ", text);
  free(text);
}

void ModelicaFormatWarning(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  ModelicaVFormatWarning(format, arguments);
  va_end(arguments);
}

void ModelicaError(const char *string) { fail(strdup(string)); }

void ModelicaVFormatError(const char *format, va_list arguments) { fail(formatted(format, arguments)); }

void ModelicaFormatError(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = formatted(format, arguments);
  va_end(arguments);
  fail(text);
}

#ifdef __linux__
/* Code that would end the process ends its call instead. The linker puts these functions in the place of those that they are
   named after (`--wrap`). A process or a thread that the code has started itself ends as it wants to. */
static pid_t process;
__attribute__((constructor)) static void begin(void) { process = getpid(); }

static int is_call(void) { return target != NULL && getpid() == process; }

MODELICA_NORETURNATTR static void ended(const char *how, int status) {
  char text[100];
  snprintf(text, sizeof text, "it called `%s(%d)`, which would end the program", how, status);
  fail(strdup(text));
}

MODELICA_NORETURNATTR void __wrap_exit(int status) {
  if (is_call()) ended("exit", status);
  exit(status);
}

MODELICA_NORETURNATTR void __wrap__exit(int status) {
  if (is_call()) ended("_exit", status);
  _exit(status);
}

MODELICA_NORETURNATTR void __wrap__Exit(int status) {
  if (is_call()) ended("_Exit", status);
  _Exit(status);
}

MODELICA_NORETURNATTR void __wrap_quick_exit(int status) {
  if (is_call()) ended("quick_exit", status);
  quick_exit(status);
}

MODELICA_NORETURNATTR void __wrap_abort(void) {
  if (is_call()) fail(strdup("it called `abort`"));
  abort();
}

MODELICA_NORETURNATTR void __wrap___assert_fail(const char *condition, const char *file, unsigned line,
                                                const char *function) {
  if (is_call()) ModelicaFormatError("the assertion `%s` of `%s` failed (%s, line %u)", condition, function, file, line);
  fprintf(stderr, "%s:%u: assertion `%s` failed\n", file, line, condition);
  abort();
}
#endif

char *ModelicaAllocateStringWithErrorReturn(size_t length) {
  struct text *made = length > (size_t)-1 - sizeof(struct text) - 1 ? NULL : malloc(sizeof(struct text) + length + 1);
  if (made == NULL) return NULL;
  made->next = strings;
  strings = made;
  made->content[length] = 0;
  return made->content;
}

char *ModelicaAllocateString(size_t length) {
  char *made = ModelicaAllocateStringWithErrorReturn(length);
  if (made == NULL) ModelicaError("there is not enough memory for a string");
  return made;
}

char *ModelicaDuplicateStringWithErrorReturn(const char *string) {
  size_t length = strlen(string);
  char *made = ModelicaAllocateStringWithErrorReturn(length);
  return made == NULL ? NULL : memcpy(made, string, length);
}

char *ModelicaDuplicateString(const char *string) {
  char *made = ModelicaDuplicateStringWithErrorReturn(string);
  if (made == NULL) ModelicaError("there is not enough memory for a string");
  return made;
}

/* Whether the code reported an error. */
int gyrator_protected(void (*code)(const void *, const void *, void *), const void *function, const void *arguments,
                      void *answer) {
  jmp_buf here;
  jmp_buf *volatile outer = target;
  if (setjmp(here) != 0) {
    target = outer;
    return 1;
  }
  target = &here;
  code(function, arguments, answer);
  target = outer;
  return 0;
}

const char *gyrator_error(void) { return error == NULL ? "" : error; }

const char *gyrator_printed(void) { return printed == NULL ? "" : printed; }

/* Frees what belongs to the call that is over. */
void gyrator_release(void) {
  while (strings != NULL) {
    struct text *next = strings->next;
    free(strings);
    strings = next;
  }
  free(printed);
  printed = NULL;
  printed_length = 0;
  free(error);
  error = NULL;
}
