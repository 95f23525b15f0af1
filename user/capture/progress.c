// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "progress.h"

#include "user/clock.h"

#include <stdio.h>

#define NS_PER_S 1000000000ull
#define FIRST_NS (NS_PER_S / 2) /* what is done by then needs no bar */
#define EVERY_NS (NS_PER_S / 5)
#define BAR_WIDTH 40

void progress_start(struct progress *p, bool shown)
{
	p->shown = shown;
	p->calls = 0;
	p->started_ns = now_ns();
	p->next_ns = p->started_ns + FIRST_NS;
}

double progress_seconds(const struct progress *p)
{
	return (double)(now_ns() - p->started_ns) / NS_PER_S;
}

void progress_draw(struct progress *p, const struct capture_set *set)
{
	static const char full[] = "########################################";
	double seconds, share;
	u64 done, total;

	if (now_ns() < p->next_ns)
		return;
	p->next_ns = now_ns() + EVERY_NS;
	capture_set_progress(set, &done, &total);
	seconds = progress_seconds(p);
	fprintf(stderr, "\r\033[K");
	if (total && done) {
		share = done < total ? (double)done / total : 1;
		fprintf(stderr, "[%-*.*s] %3.0f %%, %.0f s left, ", BAR_WIDTH,
			(int)(share * BAR_WIDTH), full, share * 100, seconds / share - seconds);
	}
	fprintf(stderr, "%.0f MB at %.0f MB/s", done / 1e6, done / 1e6 / seconds);
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->shown && p->next_ns > p->started_ns + FIRST_NS)
		fprintf(stderr, "\r\033[K");
	p->shown = false;
}
