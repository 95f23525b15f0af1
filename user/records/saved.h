/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a saved filter says about the run that made it: its options, and how far it came. */
#ifndef USER_RECORDS_SAVED_H
#define USER_RECORDS_SAVED_H

#include <stddef.h>

#include "user/options.h"
#include "user/store_file.h"

#define SAVED_OPTIONS_MAX 40

struct saved_option {
	char name[24]; /* field of struct options */
	u64 value;     /* its bytes, the rest 0 */
	u64 given;     /* 1: it was on the command line */
};

struct saved {
	u64 records; /* before the next one */
	struct saved_option options[SAVED_OPTIONS_MAX];
};

/* Fill @saved from @o. Returns the bytes of it that are used, at most STORE_FILE_ABOUT_MAX. */
u32 saved_fill(struct saved *saved, const struct options *o, u64 records);

/*
 * Complete @o by what @file says: options that were not given become those of the file. Those of
 * the filter's structure that were given here and not there stay, since they may ask for what is
 * the default; *@stayed names one of them, or is NULL.
 *
 * Returns 0 with *@records; or with a line in @err -EINVAL for an option that was given and
 * differs, or -EPROTONOSUPPORT for a file whose options are others than this version's.
 */
int saved_take(const struct store_file *file, struct options *o, u64 *records, const char **stayed,
	       char *err, size_t err_size);

/* The line for option @name, which differs from what @file was saved with. Returns -EINVAL. */
int saved_differs(const struct store_file *file, const char *name, char *err, size_t err_size);

#endif
