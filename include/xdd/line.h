/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines: 64 bytes of timers that age by themselves.
 *
 * A timer holds the last tick at which its entry is still live, modulo 255 plus 1; 0 is
 * empty (koloniari-2011 section 4: stored expiry equals decrementing). A line starts with
 * the tick of its last cleaning, when every timer that had run out was zeroed. While the
 * present is within XDD_HORIZON_TICKS of that tick, each timer's signed distance from the
 * present lies in -127..127 and is unambiguous modulo 255; a line left alone for longer
 * holds nothing live and counts as empty. So nobody has to sweep in time.
 *
 * The header is 32 bits of the tick. A line untouched for 2^32 ticks (62 days of 1.25 ms),
 * to within the horizon, would look fresh again; what it then holds are at most its old
 * timers, which the ager has long zeroed, and which cost a false positive only for a key
 * with the same tag or cells.
 */
#ifndef XDD_LINE_H
#define XDD_LINE_H

#include "config.h"

#define XDD_LINE_WORDS 8
#define XDD_LINE_TIMERS 60
#define XDD_LINE_CELLS 15

/* Engine recovery: what is known of one stream of numbered frames. All 0: free. */
struct xdd_stream {
	u64 digest[2];			   /* of the stream */
	u64 time_ns;			   /* when a frame was last accepted, the filter's clock */
	u64 history[XDD_MAX_HISTORY / 64]; /* bit n % XDD_MAX_HISTORY: number n was accepted */
	u16 last;			   /* the highest of them, as numbers go round */
	u16 pad[3];
};

struct xdd_line {
	union {
		u64 word[XDD_LINE_WORDS];
		struct xdd_stream stream;
		struct {
			u32 tick; /* of the last cleaning, low 32 bits */
			union {
				u8 timer[XDD_LINE_TIMERS]; /* engine timer */
				u32 cell[XDD_LINE_CELLS];  /* engine tagged: tag << 8 | timer */
			};
		};
	};
} __attribute__((aligned(XDD_LINE_BYTES)));

XDD_ASSERT(sizeof(struct xdd_line) == XDD_LINE_BYTES, "a line is a cache line");

/* Lines of one CPU lie in blocks: the largest value of a per-CPU map, which starts at any
 * multiple of 8, and the lines that fit behind its first 64-byte boundary.
 */
#define XDD_CPU_BLOCK_BYTES (32 * 1024)
#define XDD_CPU_BLOCK_LINES (XDD_CPU_BLOCK_BYTES / XDD_LINE_BYTES - 1)

struct xdd_block {
	u64 word[XDD_CPU_BLOCK_BYTES / 8];
};

/* The present, as a look-up sees it. */
struct xdd_when {
	u64 tick;	  /* wide, so that modulo 255 has no seam at 2^32 */
	u32 window_ticks; /* 1..XDD_MAX_WINDOW_TICKS */
	u32 mod;	  /* tick % 255 */
};

/* What a look-up found, as bits. */
enum xdd_found {
	XDD_SEEN = 1,	   /* live entry: duplicate */
	XDD_TIME_BACK = 2, /* the line was ahead of the caller's tick */
	XDD_EVICTED = 4,   /* a live entry was replaced */
	XDD_STALE = 8,	   /* state in doubt: pass, and count */
	XDD_MISSING = 16,  /* an accessor returned nothing */
	XDD_ROGUE = 32,	   /* recovery: a number outside the stream's history */
	/* Of a duplicate that is kept all the same (repeat.h): */
	XDD_PASSES = 64,       /* its class may pass */
	XDD_LET_THROUGH = 128, /* enough of its key were suppressed */
	XDD_FAULTED = 256,     /* and stale: the answer lay in a slice that has failed */
	XDD_UNWANTED = 512,    /* with XDD_BYPASS_watch: to be dropped (watch.h) */
	/* Replicas (replica.h): */
	XDD_ELSEWHERE = 1024, /* a peer has it, of the number above XDD_PEER_SHIFT ... */
	XDD_UNASKED = 2048,   /* ... so that it is a duplicate, and the own filter was not asked */
};

#define XDD_PEER_SHIFT 12 /* 6 bits in what a look-up found */

/* Unit of each lane of a word: timers in every other byte, or in the low byte of cells. */
#define XDD_LANES_TIMER 0x0001000100010001ULL
#define XDD_LANES_CELL 0x0000000100000001ULL

XDD_INLINE struct xdd_when xdd_when(u64 tick, u32 window_ticks)
{
	struct xdd_when when = { tick, window_ticks, tick % 255 };

	return when;
}

/* The timer of an entry made now. */
XDD_INLINE u32 xdd_timer_new(const struct xdd_when *when)
{
	u32 last = when->mod + when->window_ticks - 1;

	return (last >= 255 ? last - 255 : last) + 1;
}

/* Ticks until @timer runs out, modulo 255: 0..127 means live, unless the timer is 0. */
XDD_INLINE u32 xdd_timer_left(u32 timer, const struct xdd_when *when)
{
	u32 left = timer + 254 - when->mod;

	return left >= 255 ? left - 255 : left;
}

XDD_INLINE bool xdd_timer_live(u32 timer, const struct xdd_when *when)
{
	return timer && xdd_timer_left(timer, when) <= XDD_HORIZON_TICKS;
}

/* For timers in lanes of at least 16 bits (@unit: 1 in each), 1 in the lanes that are live:
 * xdd_timer_live() without branches, the value staying inside its lane.
 */
XDD_INLINE u64 xdd_lanes_live(u64 timers, u64 unit, const struct xdd_when *when)
{
	u64 left = timers + unit * (254 - when->mod);
	u64 over = ((left + unit * 257) >> 9) & unit;
	u64 some = ((timers + unit * 255) >> 8) & unit;

	left += over - (over << 8);
	return ~(left >> 7) & some;
}

/* @word of timers with those that ran out zeroed. */
XDD_INLINE u64 xdd_word_timers(u64 word, const struct xdd_when *when)
{
	u64 even = word & (XDD_LANES_TIMER * 255), odd = (word >> 8) & (XDD_LANES_TIMER * 255);

	even &= xdd_lanes_live(even, XDD_LANES_TIMER, when) * 255;
	odd &= xdd_lanes_live(odd, XDD_LANES_TIMER, when) * 255;
	return even | odd << 8;
}

/* @word of two cells with those whose timer ran out zeroed. */
XDD_INLINE u64 xdd_word_cells(u64 word, const struct xdd_when *when)
{
	u64 timers = word & (XDD_LANES_CELL * 255);

	return word & xdd_lanes_live(timers, XDD_LANES_CELL, when) * 0xffffffffULL;
}

XDD_INLINE u64 xdd_word_clean(u64 word, bool cells, const struct xdd_when *when)
{
	return cells ? xdd_word_cells(word, when) : xdd_word_timers(word, when);
}

/* Ticks since the line was cleaned; negative: it is ahead of the caller. */
XDD_INLINE s32 xdd_line_age(const struct xdd_line *line, const struct xdd_when *when)
{
	return (s32)((u32)when->tick - *(volatile const u32 *)&line->tick);
}

/* Bring @when up to a line that is slightly ahead: two CPUs read the clock and then lock.
 * Returns XDD_TIME_BACK if it did.
 */
XDD_INLINE u32 xdd_line_catch_up(s32 age, struct xdd_when *when)
{
	if (age >= 0 || age < -XDD_HORIZON_TICKS)
		return 0;
	*when = xdd_when(when->tick - age, when->window_ticks);
	return XDD_TIME_BACK;
}

XDD_INLINE bool xdd_line_is_stale(s32 age)
{
	return age > XDD_HORIZON_TICKS || age < -XDD_HORIZON_TICKS;
}

/*
 * Zero what ran out, by compare-and-swap: the ager, and under a lock by key other CPUs, may
 * write cells meanwhile. The header goes last, with its word. It is read anew behind each word:
 * of two CPUs that find the line stale, one never erases what the other has put there since, and
 * a line that moved ahead of @when was cleaned by another CPU.
 *
 * Returns false where a word changed meanwhile: the line is then as it was, only cleaner.
 */
XDD_INLINE bool xdd_line_clean_once(struct xdd_line *line, bool cells, const struct xdd_when *when)
{
	for (int i = XDD_LINE_WORDS - 1; i >= 0; i--) {
		u64 old = *(volatile u64 *)&line->word[i];
		s32 age = xdd_line_age(line, when);
		u64 new = xdd_line_is_stale(age) ? 0 : xdd_word_clean(old, cells, when);

		if (age < 0 && !xdd_line_is_stale(age))
			return true;
		if (i == 0)
			new = (new & 0xffffffff00000000ULL) | (u32)when->tick;
		if (new != old && xdd_cas64(&line->word[i], old, new) != old)
			return false;
	}
	return true;
}

/* Clean a line for @when, which is not behind it (xdd_line_catch_up()). Whoever else cleans it at
 * this moment is done by the second try. Returns false where it still changes.
 */
XDD_INLINE bool xdd_line_clean(struct xdd_line *line, bool cells, const struct xdd_when *when)
{
	for (u32 try = 0; try < 2; try++) {
		if (xdd_line_clean_once(line, cells, when))
			return true;
	}
	return false;
}

/* Whether a line must be cleaned before an entry is written: else the entry could outlive the
 * time at which a line that nobody touched counts as empty.
 */
XDD_INLINE bool xdd_line_must_clean(s32 age, const struct xdd_when *when)
{
	return xdd_line_is_stale(age) || age + (s32)when->window_ticks > XDD_HORIZON_TICKS + 1;
}

/* Make a line fit for an entry. Returns false where a stale one could not be cleaned. */
XDD_INLINE bool xdd_line_prepare(struct xdd_line *line, s32 age, bool cells,
				 const struct xdd_when *when)
{
	if (!xdd_line_must_clean(age, when))
		return true;
	return xdd_line_clean(line, cells, when);
}

/* How many timers, or cells, of @word are not 0. */
XDD_INLINE u32 xdd_word_count(u64 word, bool cells)
{
	u64 unit = cells ? XDD_LANES_CELL : XDD_LANES_TIMER;
	u64 even = (word & unit * 255) + unit * 255, odd = (word >> 8 & unit * 255) + unit * 255;
	u32 count = ((even >> 8 & unit) * unit) >> (cells ? 32 : 48) & 0xff;

	return cells ? count : count + (((odd >> 8 & unit) * unit) >> 48 & 0xff);
}

/*
 * Copy a line that others may write, each word as it is at one moment, the header with the last
 * of them. Read the clock afterwards: every timer in the copy is then from an earlier tick, and
 * where another CPU began to use the line meanwhile, the copy has its new header or has the
 * words of before, with which no compare-and-swap succeeds.
 */
XDD_INLINE void xdd_line_read(const struct xdd_line *line, struct xdd_line *read)
{
	for (int i = XDD_LINE_WORDS - 1; i >= 0; i--)
		read->word[i] = *(volatile const u64 *)&line->word[i];
}

/*
 * The ager's step on one line: zero what had run out in @read (xdd_line_read()) at @when, a
 * later time, by compare-and-swap, and leave the header alone, so that no insertion is lost.
 * Returns the number of live cells.
 */
XDD_INLINE u32 xdd_line_sweep_read(struct xdd_line *line, const struct xdd_line *read, bool cells,
				   struct xdd_when when)
{
	s32 age = xdd_line_age(read, &when);
	u64 keep = xdd_line_is_stale(age) ? 0 : ~0ULL;
	u32 live = 0;

	xdd_line_catch_up(age, &when);
	for (int i = 0; i < XDD_LINE_WORDS; i++) {
		u64 old = read->word[i];
		u64 header = i ? 0 : 0xffffffffULL;
		u64 clean = xdd_word_clean(old, cells, &when) & keep & ~header;

		if ((clean | (old & header)) != old)
			xdd_cas64(&line->word[i], old, clean | (old & header));
		live += xdd_word_count(clean, cells);
	}
	return live;
}

/* The same for a line that nobody else writes meanwhile. */
XDD_INLINE u32 xdd_line_sweep(struct xdd_line *line, bool cells, struct xdd_when when)
{
	struct xdd_line read;

	xdd_line_read(line, &read);
	return xdd_line_sweep_read(line, &read, cells, when);
}

#endif
