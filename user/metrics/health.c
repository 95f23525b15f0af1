/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/health.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/clock.h"
#include "user/loader/faults.h"
#include "user/metrics/fullness.h"

static void add_site(const struct xdd_health *site, u64 now, struct health_view *view)
{
	for (u32 i = 0; i < view->n; i++) {
		struct health_part *part = &view->part[i];
		enum health_state state = health_state(&site[1 + i], now);

		if (state > part->state)
			part->state = state;
		part->asked += site[1 + i].asked;
	}
}

static void sum_up(struct health_view *view)
{
	for (u32 i = 0; i < view->n; i++) {
		view->failed += view->part[i].state == HEALTH_FAILED;
		view->recovering += view->part[i].state == HEALTH_RECOVERING;
		view->asked += view->part[i].asked;
	}
}

/* Counted one by one, by the ager or by whoever read @fullness. */
static void density_of_slices(const struct xdd_fixed *fixed, const struct fullness *fullness,
			      struct health_view *view)
{
	u32 lines = xdd_slice_lines(fixed);

	for (u32 i = 0; i < view->n; i++) {
		u32 first = xdd_part_first(fixed, i) / lines;
		u32 end = xdd_part_first(fixed, i + 1) / lines;
		double sum = 0;

		for (u32 slice = first; slice < end; slice++)
			sum += fullness->slices[slice];
		view->part[i].density = sum / (end - first);
	}
}

/* Counted part by part. */
static int density_of_parts(const struct instance *in, u32 sites, struct health_view *view)
{
	const struct xdd_fixed *fixed = &in->fixed;
	struct xdd_slice slice;

	for (u32 i = 0; i < view->n; i++) {
		double lines = xdd_part_first(fixed, i + 1) - xdd_part_first(fixed, i), live = 0;

		for (u32 site = 0; site < sites; site++) {
			u32 at = site * view->n + i;

			if (bpf_map_lookup_elem(in->maps.slices, &at, &slice))
				return -errno;
			live += slice.live;
		}
		view->part[i].density = live / (lines * xdd_line_cells(fixed) * sites);
	}
	return 0;
}

static int read_density(const struct instance *in, const struct fullness *fullness, u32 sites,
			struct health_view *view)
{
	bool bits = xdd_engine_has_bits(in->fixed.engine);

	for (u32 i = 0; i < view->n; i++)
		view->part[i].density = view->n > 1 ? NAN : fullness->density;
	if (bits && view->n == 1)
		view->part[0].density = loads_mean(&fullness->loads, 0);
	if (!fullness->known && !bits)
		return 0;
	if (fullness->slices)
		density_of_slices(&in->fixed, fullness, view);
	else if (xdd_parts_counted(&in->fixed))
		return density_of_parts(in, sites, view);
	return 0;
}

int health_view_read(const struct instance *in, const struct fullness *fullness,
		     struct health_view *view)
{
	struct faults f;
	int err = faults_open(&f, in);

	memset(view, 0, sizeof(*view));
	if (err || !f.sites)
		return err;
	view->n = xdd_parts(&in->fixed);
	view->part = calloc(view->n, sizeof(*view->part));
	if (view->part) {
		for (u32 site = 0; site < f.sites; site++)
			add_site(faults_site(&f, site), now_ns(), view);
		sum_up(view);
		err = read_density(in, fullness, f.sites, view);
	} else {
		err = -ENOMEM;
	}
	faults_close(&f);
	if (err)
		health_view_free(view);
	return err;
}

void health_view_free(struct health_view *view)
{
	free(view->part);
	view->part = NULL;
}

json_t *health_view_json(const struct health_view *view)
{
	json_t *all = json_array();

	for (u32 i = 0; i < view->n; i++) {
		const struct health_part *part = &view->part[i];
		json_t *density = isnan(part->density) ? json_null() : json_real(part->density);

		json_array_append_new(all,
				      json_pack("{s:I, s:s, s:o, s:I}", "id", (json_int_t)i,
						"state", health_state_names[part->state], "density",
						density, "unanswered", (json_int_t)part->asked));
	}
	return all;
}

const char *health_view_text(const struct health_view *view, char text[HEALTH_TEXT_MAX])
{
	int used = snprintf(text, HEALTH_TEXT_MAX, "%u of %u slices failed", view->failed, view->n);

	if (!view->failed && !view->recovering)
		snprintf(text, HEALTH_TEXT_MAX, "%u slices ok", view->n);
	else if (view->recovering)
		snprintf(text + used, HEALTH_TEXT_MAX - used, ", %u recovering", view->recovering);
	return text;
}
