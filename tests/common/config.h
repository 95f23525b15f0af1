/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Configurations for tests: a filter of 256 lines that remembers for 16 ticks of 1 ms. */
#ifndef TESTS_CONFIG_H
#define TESTS_CONFIG_H

#include "tests/common/test.h"
#include "xdd/config.h"

#define CONFIG_LINES 256
#define CONFIG_TICK_NS 1000000
#define CONFIG_WINDOW_TICKS 16

static inline struct xdd_fixed config_fixed(u32 engine, u32 key)
{
	struct xdd_fixed fixed = {
		.engine = engine,
		.key = key,
		.hash = XDD_HASH_keyed,
		.slicing = XDD_SLICING_horizontal,
		.placement = XDD_PLACEMENT_shared,
		.hashes = 4,
		.slices = CONFIG_LINES,
		.blocks = CONFIG_LINES,
		.lines_per_block = 1,
		.stripes = 64,
		.offset_len = 20,
		.offset_pos = 30,
		.link = XDD_LINK_ETHERNET,
		.verify_checksum = 1,
		.tick_ns = CONFIG_TICK_NS,
		.seed = 20240229,
		.reset_bits = 4,
		.sbf_max = 1,
		.sbf_bits = 1,
		.history = XDD_MAX_HISTORY,
	};

	return fixed;
}

/* Whether a filter of @engine can be asked about @key. */
static inline bool config_takes(u32 engine, u32 key)
{
	return engine != XDD_ENGINE_recovery || key == XDD_KEY_redundancy;
}

static inline struct xdd_live config_live(void)
{
	struct xdd_live live = {
		.abi = XDD_ABI,
		.window_ticks = CONFIG_WINDOW_TICKS,
		.window_ns = CONFIG_WINDOW_TICKS * CONFIG_TICK_NS,
	};

	return live;
}

#endif
