/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a run over records came to. */
#ifndef USER_RECORDS_SUMMARY_H
#define USER_RECORDS_SUMMARY_H

#include <stdio.h>

#include "user/cluster/branch.h"
#include "user/cluster/remote.h"
#include "user/derive.h"
#include "user/records/key.h"

struct summary {
	const struct options *options;
	const struct derived *derived;
	struct xdd_store *store;
	const struct key_rule *rule;
	const struct remote *
		remote; /* or NULL; and the leaf of a tree: both NULL: the filter is in the store */
	const struct branch *leaf;
	u64 records, bytes; /* separators included */
	u64 distinct, duplicates;
	u64 bypassed[RECORD_BYPASS_MAX];
	u64 last_ns; /* time of the last record, or its number */
	double seconds;
	bool interrupted; /* by a signal */
	bool complete;	  /* all that was there was read, and written */
};

/* The object of --json as text, to be freed; or NULL. */
char *summary_json(const struct summary *s);

void summary_text(const struct summary *s, FILE *to);

#endif
