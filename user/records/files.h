/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files that a run over records writes beside stdout. */
#ifndef USER_RECORDS_FILES_H
#define USER_RECORDS_FILES_H

#include "user/capture/sink.h"

/* Open @path, of --@option, or do nothing if that is NULL. Before the input is read: what cannot be written
 * is found before hours of it. Returns 0, -EINVAL or a negative errno, and has complained.
 */
int records_open(struct sink *sink, const char *option, const char *path);

/* @path, of --@option or NULL, is not to replace one of the @n files @inputs; "-" is stdin, and so is none. Returns 0; or
 * -EINVAL, and has complained.
 */
int records_refuse_input(const char *option, const char *path, char *const *inputs, int n);

/* Write @json to @sink, and give it the name @path, of --summary. Returns 0 or a negative errno, and has
 * complained.
 */
int records_write_summary(struct sink *sink, const char *json, const char *path);

#endif
