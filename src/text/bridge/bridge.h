/* The C interface of the Rust crate in this folder. Every text is UTF-8 with its size in bytes; no
 * function unwinds, aborts or keeps a pointer that it was given. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  KAPITSA_BRIDGE_OK = 0,
  KAPITSA_BRIDGE_RAISED = 1, /* the template refused the input with raise_exception; the text says why */
  KAPITSA_BRIDGE_FAILED = 2, /* the text names the line and the cause */
};

/* Owned by the caller until kapitsa_text_free. */
typedef struct {
  char* data;
  size_t size;
} kapitsa_text;

void kapitsa_text_free(kapitsa_text text);

/* A compiled chat template. Immutable: threads may render it at the same time. */
typedef struct kapitsa_template kapitsa_template;

/* On success `*out` is set and `*error` empty; else `*error` is set and `*out` null. */
int kapitsa_template_compile(const char* source, size_t size, kapitsa_template** out,
                             kapitsa_text* error);
void kapitsa_template_free(kapitsa_template* compiled);

/* Asked now and then while a template is at work, on another thread than the caller's: 0 ends the work
 * with an error. A null function is never asked. */
typedef struct {
  int (*keep_going)(const void* data);
  const void* data;
} kapitsa_watch;

/* `context`: a JSON object, the variables of the template in their order. The result is the rendering
 * or the error text. */
int kapitsa_template_render(const kapitsa_template* compiled, const char* context, size_t size,
                            kapitsa_watch watch, kapitsa_text* result);

/* The same rendering as a JSON array of alternating pieces [trusted, untrusted, trusted, ...] (any may
 * be ""): untrusted is what came from the strings of the context, except bos_token and eos_token. */
int kapitsa_template_render_spans(const kapitsa_template* compiled, const char* context, size_t size,
                                  kapitsa_watch watch, kapitsa_text* result);

#ifdef __cplusplus
}
#endif
