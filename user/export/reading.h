/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What metrics say, as it was read last. To read a large bit filter is to count its bits, which takes seconds: so
 * pages are made of what was read, that is done again only if somebody wants it, for a tenth of the time at most, and
 * one instance at a call, so that whoever calls does other work in between.
 */
#ifndef USER_EXPORT_READING_H
#define USER_EXPORT_READING_H

#include <stdbool.h>
#include <stddef.h>

#include <xdd/types.h>

struct group;
struct reading;

/* Nothing is read, until reading_about(). Returns NULL without memory. */
struct reading *reading_new(void);

/* From now on read instance @name, which stays where it is, or whatever is loaded if it is NULL. */
void reading_about(struct reading *reading, const char *name);

/* The instances that @group has for members, and what they say of that. It outlives @reading. */
void reading_group(struct reading *reading, const struct group *group);

/* Somebody wants a page: read all anew, unless that is under way, or was done a moment ago. */
void reading_want(struct reading *reading);

/* Whether reading_step() is due: it reads an instance, maps only: nothing that the datapath waits for. */
bool reading_is_due(const struct reading *reading);
void reading_step(struct reading *reading);

/* The page of what was read last into *@text, which the caller free()s. Returns 0 or a negative errno: it could not be
 * read.
 */
int reading_page(const struct reading *reading, bool openmetrics, char **text, size_t *length);

/* NULL is ignored. */
void reading_free(struct reading *reading);

#endif
