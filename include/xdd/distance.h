/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long after the packet that began its window a copy came: a histogram, in which each bucket is twice as
 * wide as the one before. The audit fills it, for it knows these times, of the keys in its sample.
 */
#ifndef XDD_DISTANCE_H
#define XDD_DISTANCE_H

#include "types.h"

#define XDD_DISTANCE_BUCKETS 32

/* In BPF the entry of map `distances`, per CPU. */
struct xdd_distances {
	u64 sum_ns;
	/* [0]: copies up to 1 us away; [i]: up to 2^i us, but above 2^(i - 1); the last one: all further ones. */
	u64 copies[XDD_DISTANCE_BUCKETS];
};

XDD_ASSERT(sizeof(struct xdd_distances) == 8 + 8 * XDD_DISTANCE_BUCKETS, "it has no holes");

/* Bits that @n, below 2^63, takes: 0 for 0. By shifts and no branches, of which the verifier would follow each. */
XDD_INLINE u32 xdd_bit_length(u64 n)
{
	u64 bits = 0, more;

	for (u64 step = 32; step; step >>= 1) {
		more = ((((1ULL << step) - 1) - n) >> 63) * step;
		xdd_opaque(more);
		bits += more;
		n >>= more;
	}
	return bits + n;
}

/* Where a copy @apart_ns from the first one is counted: bounds belong to the bucket that they end. */
XDD_INLINE u32 xdd_distance_bucket(u64 apart_ns)
{
	u32 bucket = xdd_bit_length((apart_ns - !!apart_ns) / 1000);

	return bucket < XDD_DISTANCE_BUCKETS ? bucket : XDD_DISTANCE_BUCKETS - 1;
}

XDD_INLINE void xdd_distance_count(struct xdd_distances *distances, u64 apart_ns)
{
	u32 bucket = xdd_distance_bucket(apart_ns);

	xdd_opaque(bucket);
	distances->sum_ns += apart_ns;
	distances->copies[bucket & (XDD_DISTANCE_BUCKETS - 1)]++;
}

#endif
