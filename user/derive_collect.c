/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --collect: how many keys of a period find room, and what that takes. */
#include <errno.h>

#include "user/derive_work.h"
#include "user/joint/set.h"
#include "user/message.h"
#include "xdd/collect.h"

/* Of an entry of a hash map: what the kernel keeps beside key and value, and two places of a table of pointers. */
#define AROUND 64

u64 collect_bytes(u64 keys)
{
	return keys * (sizeof(u64) + sizeof(struct xdd_collected) + AROUND);
}

int derive_collect(struct work *w)
{
	const struct options *o = w->o;
	struct xdd_fixed *f = &w->out->fixed;
	char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
	u64 bytes = collect_bytes(o->collect);

	if (!o->collect || w->target != DERIVE_NIC)
		return 0;
	if (o->scope == SCOPE_INTERFACE)
		return refuse(w->err, w->err_size, -EINVAL,
			      "--scope interface makes a packet's key another one on each "
			      "interface, which no other host knows: leave it or --collect out");
	if (o->collect > JOINT_KEYS_MAX)
		return refuse(w->err, w->err_size, -ERANGE,
			      "--collect %s: at most %u keys of a period can be joined",
			      o->text[OPT_collect], JOINT_KEYS_MAX);
	if (!derive_room(w, bytes))
		return refuse(w->err, w->err_size, -ENOMEM,
			      "the keys of --collect would take %s beside the filter, but %s of "
			      "memory are free: collect fewer",
			      units_size_text(bytes, needed), units_size_text(w->available, there));
	if (!o->secret_file)
		derive_warn(w->out, "--collect: no joint can ask for the keys: each instance has a "
				    "secret of its own: add --secret-file FILE");
	f->collect_keys = o->collect;
	return 0;
}
