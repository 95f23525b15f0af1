/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Metrics of what is loaded, over HTTP and in a file, beside whatever else the process does. */
#ifndef USER_EXPORT_EXPORTER_H
#define USER_EXPORT_EXPORTER_H

#include <stdbool.h>
#include <stddef.h>

#include <xdd/types.h>

struct exporter;
struct group;
struct options;

/*
 * Begin to export as --metrics and --textfile of @o say: no instance until exporter_about(). Returns 0
 * and an exporter, or NULL if neither was given, in *@exporter; or a negative errno with one line in
 * @err. That nothing can be served there yet is told, and tried again. @o outlives the exporter.
 */
int exporter_open(const struct options *o, struct exporter **exporter, char *err, size_t err_size);

/* From now on export instance @name, which stays where it is, or whatever is loaded if it is NULL. */
void exporter_about(struct exporter *exporter, const char *name);

/* The instances that @group has for members, and what they say of that; it outlives the exporter. */
void exporter_group(struct exporter *exporter, const struct group *group);

/* To wait for: readable when somebody asks. -1: nobody can. */
int exporter_fd(const struct exporter *exporter);

/* Hear who asks, read an instance if somebody waits for that, answer, and write the file if it is due. An error with
 * the file is told once. NULL is ignored.
 */
void exporter_step(struct exporter *exporter);

/* When exporter_step() is due even if nobody asks, by CLOCK_MONOTONIC; the end of time for NULL. */
u64 exporter_due_ns(const struct exporter *exporter);

/* Removes the file, if it is one: nobody would bring it up to date. NULL is ignored. */
void exporter_close(struct exporter *exporter);

#endif
