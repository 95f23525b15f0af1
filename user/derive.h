/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From what the user said to what the core is configured with: defaults, sizes, resolution.
 */
#ifndef USER_DERIVE_H
#define USER_DERIVE_H

#include "options.h"
#include "units.h"

/* SIMULATION: a file's, whose filter has as many cells as were asked for, whatever memory they take here. */
enum derive_target { DERIVE_NIC, DERIVE_FILE, DERIVE_SIMULATION };

/* What is used where nothing is given: window and ticks; FPR of timer and bloom, and that of sbf. */
#define DERIVE_WINDOW_NS (20ull * 1000 * 1000)
#define DERIVE_TICKS 16
#define DERIVE_FPR 0.001
#define DERIVE_BIT_FPR 0.1

/* Locks of shared placement. */
#define DERIVE_STRIPES 4096

/* Memory per key of the exact engine, at most. In the kernel's LRU hash, measured: 48 bytes beside
 * key and value, and 16 to 32 of hash buckets, whose number is a power of two; the key is a digest,
 * or a whole flow key. On the host: 24 bytes in a table that is at most half full.
 */
#define DERIVE_EXACT_DIGEST_BYTES 112
#define DERIVE_EXACT_FLOW_BYTES 160
#define DERIVE_EXACT_FILE_BYTES 48

/* The options about duplicates that can be set while an instance runs, into @live: those that were
 * given, or all of them as by default.
 */
void derive_repeats(const struct options *o, struct xdd_live *live);

/* Of a replica: bits for @keys, as the least power of two 2^shift that has @bits, within what there is; bits of a key
 * that make the fewest mistakes; and the peers that there is room for where @peers are asked for.
 */
double derive_replica_bits(double keys);
u32 derive_replica_shift(double bits);

/* 2^this bits for replicas of hosts with @keys keys each, unless --replica-bits says so: 10 bits for each key, and more
 * where as many replicas as there is room for with --peers @peers, all full, would together take more than this share of new
 * keys for theirs.
 */
#define DERIVE_REPLICA_MOST 0.05
u32 derive_replica_default(double keys, u32 peers);
u32 derive_replica_hashes(u32 shift, double keys);
u32 derive_replica_width(u32 peers);

/* What happens to packets that another host has seen, as @o says, or, where it does not, as --action
 * does with duplicates, of which @live knows.
 */
u32 derive_replica_action(const struct options *o, const struct xdd_live *live);

/* Whether instances of @fixed would take every packet of a silent peer's for a copy: the line in @err says so. */
int derive_replica_check(const struct xdd_fixed *fixed, u32 replica_action, char *err,
			 size_t err_size);

/* Bytes that the kernel keeps for --collect @keys, about. */
u64 collect_bytes(u64 keys);

struct derived {
	struct xdd_fixed fixed;
	struct xdd_live live; /* the interfaces' slots are empty, the loader fills them */

	/* The filter's bytes on all CPUs; for the exact engine the most that it may take. */
	u64 memory_bytes;
	u64 lines;	    /* 64-byte lines, of one CPU if percpu; 0: exact */
	u64 capacity_keys;  /* live keys that it is sized for; 0: bit engines but bloom */
	u32 exact_entries;  /* NIC, exact: entries of the LRU hash; else 0 */
	double fpr_model;   /* with them live; sbf: in the end; 0: exact, other bit engines */
	bool secret_random; /* draw the hash's secret, else expand it from fixed.seed */
	u64 sure_ns;	    /* copies up to this far apart are surely found ... */
	u64 window_ns;	    /* ... and beyond this never, both plus ... */
	u64 window_records; /* 0: a time; else these and live.window_ns are in records */
	u64 watch_counters; /* of the watch set; 0: there is none */
	u64 clock_step_ns;  /* ... the steps in which the clock moves; 0: exact */
	char warning[256];  /* what to tell the user, or empty */
};

/*
 * Complete @o for @target. @n_ifaces (at least 1) and @n_rx_queues_max, the most receive queues
 * that one of them has, decide --placement auto; @possible_cpus divides per-CPU memory. All three
 * are ignored for files.
 *
 * Returns 0, or with a line in @err: -EINVAL for options that contradict each other or the
 * target, -ERANGE for a size, window or number that is out of range, -ENOMEM for more memory than
 * is free now, or what getrandom() returned.
 */
int derive_config(const struct options *o, enum derive_target target, unsigned int n_ifaces,
		  unsigned int n_rx_queues_max, unsigned int possible_cpus, struct derived *out,
		  char *err, size_t err_size);

/* Ticks of @tick_ns in a window of @window_ns, for a change while running. Returns 0, or -ERANGE
 * if they are not 1 to XDD_MAX_WINDOW_TICKS; *@ticks is untouched then.
 */
int derive_window_ticks(u64 window_ns, u64 tick_ns, u32 *ticks);

/* Write @window_ns as units_time_text() does, or return "none" where the engine has no window. */
const char *derive_window_text(const struct xdd_fixed *fixed, u64 window_ns,
			       char text[UNITS_TEXT_MAX]);

/* The window of captures and streams as text, written to @text or constant: "20 ms", "100 records",
 * "for ever" (live.window_ns is STORE_FOREVER_NS), "none".
 */
const char *derive_events_text(const struct derived *d, char text[UNITS_TEXT_MAX]);

/* Free memory as the kernel estimates it, in bytes; where it does not say, all there can be. */
u64 derive_memory_available(void);

/* Step of CLOCK_MONOTONIC_COARSE in nanoseconds. */
u64 derive_coarse_step_ns(void);

#endif
