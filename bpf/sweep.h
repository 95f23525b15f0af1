/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ager's program: user space runs it (BPF_PROG_RUN) over a part of the filter at a time.
 * It may be preempted anywhere, so each line's clock is read after its words: a cell that
 * another CPU inserted meanwhile then differs from what was read, and is left alone.
 */
#ifndef BPF_SWEEP_H
#define BPF_SWEEP_H

#include "dedup.h"
#include "ager.h"

/* Line @line of a site: see xdd_sites(). */
XDD_INLINE struct xdd_line *ager_line(u32 site, u32 line)
{
	u32 block = line / xdd_fixed.lines_per_block, shared = xdd_shared_filters(&xdd_fixed);
	struct xdd_block *cpu_block;
	u32 at = site * xdd_lines(&xdd_fixed) + line;

	if (xdd_fixed.placement == XDD_PLACEMENT_shared)
		return bpf_map_lookup_elem(&lines, &line);
	if (xdd_fixed.placement == XDD_PLACEMENT_tree && site < shared)
		return bpf_map_lookup_elem(&lines, &at);
	cpu_block = bpf_map_lookup_percpu_elem(&cpu_blocks, &block, site - shared);
	if (!cpu_block)
		return NULL;
	return block_line(cpu_block, line % xdd_fixed.lines_per_block, xdd_filters(&xdd_fixed));
}

/* Add a line's live cells to entry @at of map slices; the @last line of a slice publishes the sum. */
XDD_INLINE void count_at(u32 at, u32 live, bool first, bool last)
{
	struct xdd_slice *slice = bpf_map_lookup_elem(&slices, &at);

	if (!slice)
		return;
	slice->counting = (first ? 0 : slice->counting) + live;
	if (last)
		slice->live = slice->counting;
}

XDD_INLINE void count_slice(u32 site, u32 line, u32 live)
{
	u32 per_slice = xdd_slice_lines(&xdd_fixed), count = xdd_slices_count(&xdd_fixed);
	u32 at = line / per_slice, in_slice = line % per_slice;

	if (at < count)
		count_at(site * count + at, live, !in_slice, in_slice == per_slice - 1);
}

XDD_INLINE void count_part(u32 site, u32 line, u32 live)
{
	u32 parts = xdd_parts(&xdd_fixed), at = xdd_part_of(&xdd_fixed, line);

	if (at < parts)
		count_at(site * parts + at, live, line == xdd_part_first(&xdd_fixed, at),
			 line + 1 == xdd_part_first(&xdd_fixed, at + 1));
}

/* This type of program has no coarse clock. It lags behind the exact one by a step at most, which is
 * shorter than a tick: what is swept a tick late was never live for the packets.
 */
XDD_INLINE u64 sweep_clock_ns(void)
{
	u64 lag_ns = xdd_fixed.clock == XDD_CLOCK_coarse ? xdd_fixed.tick_ns : 0;

	return bpf_ktime_get_ns() - lag_ns;
}

XDD_INLINE void empty_line(struct xdd_line *line)
{
	for (u32 word = 0; word < XDD_LINE_WORDS; word++)
		*(volatile u64 *)&line->word[word] = 0;
}

XDD_INLINE bool empties(const struct xdd_age_run *run)
{
	return xdd_fixed.fault_policy && run->empty;
}

/* Sweep @line. Returns its live cells, which are counted into @fill; or -1. */
XDD_INLINE s32 sweep_one(const struct xdd_age_run *run, struct xdd_line *line,
			 struct xdd_fill *fill)
{
	bool cells = xdd_fixed.engine == XDD_ENGINE_tagged;
	struct xdd_line read;
	u64 now_ns;
	u32 live;

	xdd_line_read(line, &read);
	now_ns = run->now_ns ? run->now_ns : sweep_clock_ns();
	live = xdd_line_sweep_read(line, &read, cells, xdd_when(now_ns / xdd_fixed.tick_ns, 1));
	if (live > XDD_LINE_TIMERS)
		return -1;
	fill->lines++;
	fill->live += live;
	fill->histogram[live]++;
	return live;
}

/* The live filters' lines at place @at of a chain, counted for each filter; the last place publishes
 * the sums.
 */
XDD_INLINE long sweep_chain(const struct xdd_age_run *run, struct xdd_line *first,
			    struct xdd_fill *fill, u32 at)
{
	u32 per_chain = xdd_chain_lines(&xdd_fixed), count = xdd_chains(&xdd_fixed);
	u32 number = at / per_chain, place = at % per_chain;
	struct xdd_chain *chain;
	u32 asked;

	if (number >= count)
		return 0;
	number += run->site * count;
	chain = bpf_map_lookup_elem(&chains, &number);
	if (!chain)
		return 1;
	asked = xdd_chain_asked(xdd_chain_read(chain));
	for (u32 filter = 0; filter < XDD_MAX_FILTERS; filter++) {
		s32 live = 0;

		if (filter >= xdd_fixed.filters)
			break;
		if (asked >> filter & 1)
			live = sweep_one(run, first + filter, fill);
		if (live < 0)
			return 1;
		chain->counting[filter] = (place ? chain->counting[filter] : 0) + live;
		if (place == per_chain - 1)
			chain->live[filter] = chain->counting[filter];
	}
	return 0;
}

static long sweep_line(u32 i, struct xdd_age_run *run)
{
	u32 at = run->first + i, zero = 0;
	struct xdd_fill *fill;
	struct xdd_line *line;
	s32 live;

	line = ager_line(run->site, at);
	if (line && empties(run)) {
		empty_line(line);
		return 0;
	}
	fill = bpf_map_lookup_elem(&tally, &zero);
	if (!line || !fill)
		return 1;
	if (xdd_grows(&xdd_fixed))
		return sweep_chain(run, line, fill, at);
	live = sweep_one(run, line, fill);
	if (live < 0)
		return 1;
	if (xdd_slices_counted(&xdd_fixed))
		count_slice(run->site, at, live);
	if (xdd_parts_counted(&xdd_fixed))
		count_part(run->site, at, live);
	return 0;
}

/* Returns the number of lines that it came to. */
SEC("syscall")
int xdp_ager(struct xdd_age_run *ctx)
{
	struct xdd_age_run run = *ctx;

	if (!xdd_engine_has_timers(xdd_fixed.engine) && !empties(&run))
		return 0;
	return bpf_loop(run.n, sweep_line, &run, 0);
}

#endif
