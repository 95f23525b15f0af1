/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What of a record is compared, and when it happened. */
#ifndef USER_RECORDS_KEY_H
#define USER_RECORDS_KEY_H

#include "user/store.h"

/* Records that are passed without a look: X(name, help) */
#define RECORD_BYPASSES(X)                                           \
	X(no_field, "they have no such --field")                     \
	X(no_time, "their --time-field is no time, or is not there") \
	X(internal, "the filter had no memory for them")

#define RECORD_BYPASS_ENUM(name, help) RECORD_##name,
enum record_bypass { RECORD_BYPASSES(RECORD_BYPASS_ENUM) RECORD_BYPASS_MAX };

struct span {
	const u8 *at;
	size_t len;
};

struct key_rule {
	u32 field;	/* from 1; 0: the whole record */
	u32 time_field; /* from 1; 0: the time is the record's number */
	u64 unit_ns;	/* of that time: a power of ten */
	u8 delimiter;
};

/*
 * The key of @record, without its separator, in @key; its time in *@time_ns, which stays as it is
 * without a time_field. Returns RECORD_BYPASS_MAX, or the reason why it has none.
 */
enum record_bypass key_find(const struct key_rule *rule, struct span record, struct span *key,
			    u64 *time_ns);

/* A time like "1722.25" in units of @unit_ns; spaces and carriage returns around it and digits
 * below a nanosecond are ignored. Returns 0 with *@ns below 2^62, or -EINVAL.
 */
int key_time(struct span text, u64 unit_ns, u64 *ns);

/* Digests of @n @keys, each shorter than RECORD_MAX and with 8 bytes in front that can be read. */
void key_digests(const struct xdd_store *store, const struct span *keys, u32 n,
		 struct xdd_digest *digests);

#endif
