/* The functions that external code may call, as the Modelica specification declares them (12.9.6). */
#ifndef MODELICA_UTILITIES_H
#define MODELICA_UTILITIES_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MODELICA_NORETURN
#define MODELICA_NORETURNATTR __attribute__((noreturn))
#define MODELICA_FORMATATTR_PRINTF __attribute__((format(printf, 1, 2)))
#define MODELICA_FORMATATTR_VPRINTF __attribute__((format(printf, 1, 0)))
#else
#define MODELICA_NORETURN
#define MODELICA_NORETURNATTR
#define MODELICA_FORMATATTR_PRINTF
#define MODELICA_FORMATATTR_VPRINTF
#endif

void ModelicaMessage(const char *string);
void ModelicaFormatMessage(const char *format, ...) MODELICA_FORMATATTR_PRINTF;
void ModelicaVFormatMessage(const char *format, va_list arguments) MODELICA_FORMATATTR_VPRINTF;
void ModelicaWarning(const char *string);
void ModelicaFormatWarning(const char *format, ...) MODELICA_FORMATATTR_PRINTF;
void ModelicaVFormatWarning(const char *format, va_list arguments) MODELICA_FORMATATTR_VPRINTF;
MODELICA_NORETURN void ModelicaError(const char *string) MODELICA_NORETURNATTR;
MODELICA_NORETURN void ModelicaFormatError(const char *format, ...) MODELICA_NORETURNATTR MODELICA_FORMATATTR_PRINTF;
MODELICA_NORETURN void ModelicaVFormatError(const char *format, va_list arguments) MODELICA_NORETURNATTR
    MODELICA_FORMATATTR_VPRINTF;
char *ModelicaAllocateString(size_t length);
char *ModelicaAllocateStringWithErrorReturn(size_t length);
char *ModelicaDuplicateString(const char *string);
char *ModelicaDuplicateStringWithErrorReturn(const char *string);

#ifdef __cplusplus
}
#endif

#endif
