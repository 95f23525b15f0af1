// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/stream.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* The integral of x^-alpha from 1 to @x, and its inverse. */
static double area(double x, double alpha)
{
	return alpha == 1 ? log(x) : expm1((1 - alpha) * log(x)) / (1 - alpha);
}

static double area_inverse(double y, double alpha)
{
	return alpha == 1 ? exp(y) : exp(log1p(fmax(y * (1 - alpha), -1)) / (1 - alpha));
}

void stream_open(struct stream *stream, u64 domain, double alpha, u64 seed)
{
	*stream = (struct stream){ .domain = domain, .alpha = alpha, .seed = xdd_mix64(seed) };
	if (!alpha)
		return;
	stream->low = area(1.5, alpha) - 1;
	stream->high = area(domain + 0.5, alpha);
	stream->sure = 2 - area_inverse(area(2.5, alpha) - pow(2, -alpha), alpha);
}

/* Ranks with weights rank^-alpha by rejection from the area below the curve, inverted (Hoermann
 * and Derflinger 1996). `sure`: how far left of a rank a point needs no comparison.
 */
u64 stream_zipf(struct stream *stream)
{
	for (;;) {
		double part = ldexp(stream_draw(stream) >> 11, -53);
		double y = stream->high + part * (stream->low - stream->high);
		double x = area_inverse(y, stream->alpha), rank = floor(x + 0.5);

		rank = fmin(fmax(rank, 1), stream->domain);
		if (rank - x <= stream->sure ||
		    y >= area(rank + 0.5, stream->alpha) - pow(rank, -stream->alpha))
			return (u64)rank - 1;
	}
}

u64 stream_domain(u64 records, double distinct)
{
	double low = 0, high = 1 / distinct, r;

	for (int i = 0; i < 100; i++) {
		r = (low + high) / 2;
		if (-expm1(-r) / r > distinct)
			low = r;
		else
			high = r;
	}
	return fmax(round(records / r), 1);
}

int truth_open(struct truth *truth, u64 domain, u64 window)
{
	truth->window = window;
	truth->seen = calloc(window ? domain : domain / 64 + 1, sizeof(u64));
	return truth->seen ? 0 : -ENOMEM;
}

void truth_close(struct truth *truth)
{
	free(truth->seen);
	truth->seen = NULL;
}
