/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/age/once.h"

#include <errno.h>

#include "user/age/ager.h"
#include "user/loader/instance.h"
#include "user/message.h"
#include "xdd/slices.h"

/* Walking so many lines takes about a tenth of a second. */
#define QUICK_LINES (1u << 20)

static int walk(struct instance *in, char *err, size_t err_size)
{
	struct ager *ager;
	int code = instance_lock_ageing(in);

	if (code)
		return code;
	ager = ager_open(in, err, err_size);
	code = ager ? ager_round(ager) : -ENOMEM;
	ager_close(ager);
	return code;
}

void age_once(const char *name)
{
	char err[MESSAGE_MAX];
	struct instance in;

	if (instance_open(&in, name, err, sizeof(err)))
		return;
	if (xdd_engine_has_timers(in.fixed.engine) && xdd_lines(&in.fixed) <= QUICK_LINES)
		walk(&in, err, sizeof(err));
	instance_close(&in);
}
