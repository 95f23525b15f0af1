// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-dedup plan cluster: what would fit, where a demand does not. Nothing is advised that the plan has not tried. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "user/plan/cluster.h"
#include "user/units.h"

#define DOUBLINGS 4	     /* of a window, both ways */
#define BEARABLE_TARGET 0.25 /* a false rate beyond that is no advice */
#define SEARCH_STEPS 10

struct advice {
	char *text;
	bool failed; /* no memory */
	u32 said;
};

static void say(struct advice *a, const char *what)
{
	size_t length = strlen(a->text);

	snprintf(a->text + length, CLUSTER_ADVICE_MAX - length, "%s%s", a->said++ ? "; or " : "",
		 what);
}

static bool fits(struct advice *a, const struct cluster_demand *d)
{
	struct cluster_plan p;
	int rc = cluster_plan(d, &p);

	a->failed |= rc == -ENOMEM;
	return !rc && p.fits;
}

/* The nearest one, so many times as long or as short. */
static void try_windows(struct advice *a, const struct cluster_demand *d)
{
	struct cluster_demand tried = *d;
	char window[UNITS_TEXT_MAX], text[64];

	for (u32 i = 2; i < 2 * (DOUBLINGS + 1); i++) {
		tried.window_ns = i % 2 ? d->window_ns >> i / 2 : d->window_ns << i / 2;
		if (!fits(a, &tried))
			continue;
		snprintf(text, sizeof(text), "--window %s",
			 units_time_word(tried.window_ns, window));
		say(a, text);
		return;
	}
}

static void try_targets(struct advice *a, const struct cluster_demand *d)
{
	struct cluster_demand tried = *d;
	char text[64];

	while ((tried.policy.target *= 1.25) <= BEARABLE_TARGET) {
		if (!fits(a, &tried))
			continue;
		snprintf(text, sizeof(text), "--false-rate-target %.2g", tried.policy.target);
		say(a, text);
		return;
	}
}

/* Fewer hosts that tell each other, with a server of their own, and what comes to them. */
static void try_groups(struct advice *a, const struct cluster_demand *d)
{
	struct cluster_demand tried = *d;
	char text[160];

	for (u32 groups = 2; groups * 2 <= d->hosts; groups *= 2) {
		tried.hosts = ceil(d->hosts / groups);
		tried.rate = d->rate * tried.hosts / d->hosts;
		if (!fits(a, &tried))
			continue;
		snprintf(text, sizeof(text),
			 "%u groups of %.0f hosts with a --group and a server each, between which "
			 "no copy is found",
			 groups, tried.hosts);
		say(a, text);
		return;
	}
}

/* Two digits, rounded down. */
static double two_digits(double value)
{
	double unit = pow(10, floor(log10(value)) - 1);

	return floor(value / unit + 1e-9) * unit;
}

static void try_rate(struct advice *a, const struct cluster_demand *d)
{
	double least = 1, most = d->rate, bits = d->packet_bytes ? d->packet_bytes * 8 : 1;
	struct cluster_demand tried = *d;
	char rate[UNITS_TEXT_MAX], text[160];

	for (u32 i = 0; i < SEARCH_STEPS; i++) {
		tried.rate = sqrt(least * most);
		if (fits(a, &tried))
			least = tried.rate;
		else
			most = tried.rate;
	}
	tried.rate = two_digits(least * bits) / bits;
	if (tried.rate < 1 || !fits(a, &tried))
		return;
	snprintf(text, sizeof(text),
		 "--rate %s%s (fewer packets, or a coarser --key such as flow, which makes fewer "
		 "keys of them)",
		 units_count_text(tried.rate * bits, rate), d->packet_bytes ? "bit" : "");
	say(a, text);
}

int cluster_advice(const struct cluster_demand *d, char text[CLUSTER_ADVICE_MAX])
{
	struct advice a = { .text = text };

	*text = 0;
	try_windows(&a, d);
	try_targets(&a, d);
	try_rate(&a, d);
	try_groups(&a, d);
	return a.failed ? -ENOMEM : 0;
}
