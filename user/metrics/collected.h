/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What status and metrics say of the keys of a period, which joint detection asks for (xdd/collect.h). */
#ifndef USER_METRICS_COLLECTED_H
#define USER_METRICS_COLLECTED_H

#include <jansson.h>

#include "user/loader/instance.h"
#include "xdd/collect.h"

struct collected {
	bool there; /* the instance was loaded with --collect */
	u64 room;   /* keys */
	bool alone; /* a period was going on when its agent ended: until one comes the program goes on with it */
	struct xdd_collecting now;
};

/* Returns 0 or a negative errno. */
int collected_read(const struct instance *in, struct collected *collected);

/* Nothing where it is not there. */
void collected_print(const struct collected *collected);
json_t *collected_json(const struct collected *collected);

#endif
