/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine `recovery`: IEEE 802.1CB's sequence recovery, for --key redundancy. Each stream of numbered
 * frames has a line: the highest number and which of those below it were accepted. A key's hash
 * picks a set of lines; in a full one the stream that was quiet for the longest time makes room.
 *
 * What the standard discards as rogue, a number too far from the highest, passes here and is
 * counted: a monitor loses nothing for it.
 */
#ifndef XDD_ENGINE_RECOVERY_H
#define XDD_ENGINE_RECOVERY_H

#include "redundancy.h"
#include "store.h"

#define XDD_RECOVERY_WAYS 4 /* lines of a set */

/* The lines of a set, and under which lock. */
struct xdd_set {
	struct xdd_line *line[XDD_RECOVERY_WAYS];
	u32 number;
};

/* Returns false where a line is missing. */
XDD_INLINE bool xdd_recovery_locate(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				    const struct xdd_digest *digest, struct xdd_set *set)
{
	u32 rest;

	set->number = xdd_range(digest->lo >> 32, xdd_lines(fixed) / XDD_RECOVERY_WAYS, &rest);
	for (u32 i = 0; i < XDD_RECOVERY_WAYS; i++) {
		set->line[i] = xdd_line_number(fixed, store, set->number * XDD_RECOVERY_WAYS + i);
		if (!set->line[i])
			return false;
	}
	return true;
}

XDD_INLINE bool xdd_stream_is(const struct xdd_stream *stream, const struct xdd_digest *digest)
{
	return stream->digest[0] == digest->lo && stream->digest[1] == digest->hi;
}

XDD_INLINE bool xdd_stream_is_free(const struct xdd_stream *stream)
{
	return !(stream->digest[0] | stream->digest[1]);
}

/* The stream of @digest, or else the one to give up for it: a free one, or the quietest. */
XDD_INLINE struct xdd_stream *xdd_recovery_find(const struct xdd_set *set,
						const struct xdd_digest *digest)
{
	struct xdd_stream *found = &set->line[0]->stream;

	for (u32 i = 0; i < XDD_RECOVERY_WAYS; i++) {
		struct xdd_stream *stream = &set->line[i]->stream;

		if (xdd_stream_is(stream, digest))
			return stream;
		if (stream->time_ns < found->time_ns)
			found = stream;
	}
	return found;
}

XDD_INLINE u64 *xdd_history_word(struct xdd_stream *stream, u32 number)
{
	return &stream->history[number / 64 % (XDD_MAX_HISTORY / 64)];
}

/* Begin with the number @number, whichever it is: the standard's TakeAny. */
XDD_INLINE void xdd_stream_begin(struct xdd_stream *stream, const struct xdd_digest *digest,
				 u16 number, u64 now_ns)
{
	xdd_memset(stream, 0, sizeof(*stream));
	stream->digest[0] = digest->lo;
	stream->digest[1] = digest->hi;
	stream->time_ns = now_ns;
	stream->last = number;
	*xdd_history_word(stream, number) = 1ULL << number % 64;
}

/* A number @ahead (1..XDD_MAX_HISTORY - 1) above the highest: those between are not there yet. */
XDD_INLINE void xdd_stream_advance(struct xdd_stream *stream, u32 ahead)
{
	for (u32 i = 1; i < XDD_MAX_HISTORY; i++) {
		u32 number = stream->last + i;

		if (i == ahead)
			break;
		*xdd_history_word(stream, number) &= ~(1ULL << number % 64);
	}
	stream->last += ahead;
	*xdd_history_word(stream, stream->last) |= 1ULL << stream->last % 64;
}

/* MatchRecoveryAlgorithm (7.4.3.5): a copy is what has the last number. */
XDD_INLINE u32 xdd_recovery_match(struct xdd_stream *stream, u16 number)
{
	if (number == stream->last)
		return XDD_SEEN;
	stream->last = number;
	return 0;
}

/* VectorRecoveryAlgorithm (7.4.3.4). Returns XDD_SEEN for a copy, XDD_ROGUE, or 0. */
XDD_INLINE u32 xdd_recovery_vector(struct xdd_stream *stream, u16 number, s32 history)
{
	s32 delta = (s32)((u32)(number - stream->last) << 16) >> 16;
	u64 bit = 1ULL << number % 64, *word = xdd_history_word(stream, number);

	if (delta >= history || delta <= -history)
		return XDD_ROGUE;
	if (delta > 0) {
		xdd_stream_advance(stream, delta);
		return 0;
	}
	if (*word & bit)
		return XDD_SEEN;
	*word |= bit;
	return 0;
}

/*
 * The verdict on the number of @question, in its stream or in the one that makes room for it. A
 * stream that accepted nothing for longer than the window begins anew. So does that of a node
 * whose number is rogue: PRP and HSR know of no history.
 */
XDD_INLINE u32 xdd_recovery_touch(XDD_FIXED struct xdd_fixed *fixed, const struct xdd_set *set,
				  const struct xdd_question *question)
{
	const struct xdd_key *key = &question->identity->key;
	const struct xdd_digest *digest = &question->identity->digest;
	struct xdd_stream *stream = xdd_recovery_find(set, digest);
	u64 now = question->now_ns, last = stream->time_ns;
	bool quiet = (now > last ? now - last : last - now) > question->window_ns;
	u32 found;

	if (!xdd_stream_is(stream, digest) || quiet) {
		found = quiet || xdd_stream_is_free(stream) ? 0 : XDD_EVICTED;
		xdd_stream_begin(stream, digest, key->sequence, now);
		return found;
	}
	if (fixed->history)
		found = xdd_recovery_vector(stream, key->sequence, fixed->history);
	else
		found = xdd_recovery_match(stream, key->sequence);
	if (found & XDD_ROGUE && key->head.proto == XDD_SCHEME_NODE)
		xdd_stream_begin(stream, digest, key->sequence, now);
	if (!found || fixed->refresh)
		stream->time_ns = now;
	return found;
}

XDD_INLINE u32 xdd_recovery_ask(XDD_FIXED struct xdd_fixed *fixed, struct xdd_store *store,
				struct xdd_question *question)
{
	struct xdd_lock *lock;
	struct xdd_set set;
	u32 found;

	if (!xdd_recovery_locate(fixed, store, &question->identity->digest, &set))
		return XDD_MISSING;
	if (fixed->placement != XDD_PLACEMENT_shared)
		return xdd_recovery_touch(fixed, &set, question);
	lock = xdd_lock_at(store, set.number);
	if (!lock)
		return XDD_MISSING;
	xdd_lock(lock);
	found = xdd_recovery_touch(fixed, &set, question);
	xdd_unlock(lock);
	return found;
}

#endif
