/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Made streams of identifiers, and the truth about which of them came before. */
#ifndef USER_STREAM_H
#define USER_STREAM_H

#include <stdbool.h>

#include <xdd/hash.h>

/* Identifiers 0 to domain - 1, independent of each other. */
struct stream {
	u64 domain;
	double alpha; /* Zipf's exponent; 0: uniform */
	u64 seed, drawn;
	double low, high, sure; /* of stream_zipf() */
};

/* @domain at least 1; @alpha 0 or above. The same @seed gives the same stream. */
void stream_open(struct stream *stream, u64 domain, double alpha, u64 seed);

/* The next 64 random bits, and the next identifier by Zipf's law. */
static inline u64 stream_draw(struct stream *stream)
{
	return xdd_mix64(stream->seed + ++stream->drawn * XDD_GOLDEN);
}
u64 stream_zipf(struct stream *stream);

static inline u64 stream_next(struct stream *stream)
{
	if (stream->alpha)
		return stream_zipf(stream);
	return ((unsigned __int128)stream_draw(stream) * stream->domain) >> 64;
}

/* Identifiers of which @records uniform draws make a share of @distinct (above 0, below 1) first
 * occurrences: domain = records / r with (1 - e^-r) / r = distinct. At least 1.
 */
u64 stream_domain(u64 records, double distinct);

/* What is known about every identifier. */
struct truth {
	u64 *seen; /* a bit each, or with a window the record, from 1, that started it */
	u64 window;
};

/* @window: so many records, from the first one of a key on, hold its copies; 0: all do. Returns 0
 * or -ENOMEM. truth_close() frees.
 */
int truth_open(struct truth *truth, u64 domain, u64 window);
void truth_close(struct truth *truth);

/* Whether record @record, from 1, with identifier @id is a copy. Each is to be asked once, in order. */
static inline bool truth_ask(struct truth *truth, u64 id, u64 record)
{
	u64 *at = &truth->seen[truth->window ? id : id / 64];
	bool seen;

	if (truth->window) {
		seen = *at && record - *at < truth->window;
		if (!seen)
			*at = record;
		return seen;
	}
	seen = *at >> id % 64 & 1;
	*at |= 1ULL << id % 64;
	return seen;
}

/* The same where a record is a copy of what was @delivered, as this one is or is not, not of what came. */
static inline bool truth_delivered(struct truth *truth, u64 id, u64 record, bool delivered)
{
	u64 *at = &truth->seen[truth->window ? id : id / 64];
	bool seen = *at >> id % 64 & 1;

	if (!truth->window) {
		*at |= (u64)delivered << id % 64;
		return seen;
	}
	seen = *at && record - *at < truth->window;
	if (delivered)
		*at = record;
	return seen;
}

/* Fetch the memory that truth_ask() will need. */
static inline void truth_fetch(const struct truth *truth, u64 id)
{
	__builtin_prefetch(&truth->seen[truth->window ? id : id / 64], 1);
}

#endif
