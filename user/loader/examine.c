/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "examine.h"

#include <errno.h>
#include <string.h>

#include "user/message.h"
#include "user/nic/check.h"
#include "user/nic/facts.h"

static unsigned int queues_of(const struct attachment *a, const struct check_report *report)
{
	struct link_facts facts;
	bool software = !link_facts(NULL, a->ifindex, &facts) && *facts.kind;

	return software && report->rx_queues < 2 ? 2 : report->rx_queues;
}

int examine(const struct attachment *a, const struct options *o, int mode, bool tell,
	    unsigned int *rx_queues, char *err, size_t err_size)
{
	struct options asked = *o;
	struct check_report report;
	int code;

	asked.mode = mode;
	code = check_interface(a->name, &asked, &report);
	for (int i = 0; i < report.n; i++) {
		const struct check_finding *f = &report.finding[i];
		bool bad = f->severity == CHECK_PROBLEM;

		if (!strcmp(f->about, "program"))
			continue;
		if (bad && !o->force)
			return refuse(err, err_size, f->code ?: code, "%s: %s%s%s", a->name,
				      f->text, *f->cure ? ": " : "", f->cure);
		if (tell && f->severity != CHECK_OK)
			note("%s: %s%s%s", a->name, f->text, *f->cure ? ": " : "", f->cure);
	}
	if (queues_of(a, &report) > *rx_queues)
		*rx_queues = queues_of(a, &report);
	if (!code || o->force || code == -EBUSY)
		return 0;
	errno = -code;
	return refuse(err, err_size, code, "%s: cannot be examined: %m", a->name);
}
