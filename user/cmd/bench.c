// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * `xdp-dedup bench`: nanoseconds per packet of each engine and of a plain LRU hash of whole keys,
 * by BPF_PROG_RUN on one CPU. All rows run in turn, several times over, and the least of each
 * is printed: what the program costs when nothing else disturbs it.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <jansson.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "message.h"
#include "names.h"
#include "secret.h"
#include "xdd/counters.h"
#include "xdd/store.h"

/* after the types of its maps */
#include "bench.skel.h"
#include "loader/mapped.h"
#include "loader/program.h"
#include "xdd/collect.h"
#include "xdd/replica.h"

#define ROUNDS 7
#define PACKETS 1000000

/* Filters and hashes are sized for the live keys: the NIC's default of 32 MiB for 2M, the LRU
 * hash with room for twice as many, which is over 200 bytes a key.
 */
#define FILTER_BYTES(keys) ((keys)*16)
#define PEER_ENTRIES(keys) ((keys)*2)
#define REPLICA_BITS(keys) ((keys)*16)

/* The least whose key packet header and rest of a stripe are there; see packet_make(). */
#define SHORT_PACKET 64

enum bench_program {
	BENCH_BASE,
	BENCH_PEER,
	BENCH_DEDUP,
	/* bench.bpf.c's enum bench_source, in its order */
	BENCH_HELPER,
	BENCH_STATE,
	BENCH_COUNT
};

/* A watch set of 100,000 keys in which all packets are, or none. */
enum bench_watch { WATCH_off, WATCH_all, WATCH_none };

/* As --watch-action makes it: 4m - kn bits of level 1, m 10 counters a key, k 3. */
#define WATCH_BITS 3700000u
#define WATCH_HASHES 3

/* --collect: no period goes on, or one does in which all keys find room. */
enum bench_collect { COLLECT_off, COLLECT_idle, COLLECT_on };

/* New keys of a row in which every second packet is new: of the rounds, of the packets that fill the filter, and of those
 * between them that are younger than the first.
 */
#define COLLECT_KEYS(keys) (ROUNDS * (PACKETS / 2) + 2 * (keys) + (keys))

struct bench_row {
	const char *name;
	enum bench_program program;
	enum xdd_engine engine;
	enum xdd_placement placement;
	enum xdd_slicing slicing;
	enum xdd_key_kind key;
	enum xdd_hash_kind hash;
	u32 packet_bytes;
	u32 keys;
	bool half_new;
	bool top;   /* the keys most often suppressed are kept */
	u32 audit;  /* of one key in so many; 0: off */
	u8 peers;   /* whose replicas are asked; 0: none */
	u8 watch;   /* enum bench_watch */
	u8 collect; /* enum bench_collect */
};

#define FULL_ROW(name, program, engine, placement, slicing, key, hash, bytes, keys, half_new, top, \
		 ...)                                                                              \
	{                                                                                          \
		name, BENCH_##program, XDD_ENGINE_##engine, XDD_PLACEMENT_##placement,             \
			XDD_SLICING_##slicing, XDD_KEY_##key, XDD_HASH_##hash, bytes, keys,        \
			half_new, top, __VA_ARGS__                                                 \
	}
#define EXTRA_ROW(...) FULL_ROW(__VA_ARGS__, COLLECT_off)
#define ROW(...) EXTRA_ROW(__VA_ARGS__, false, 0, 0, WATCH_off)

/* The first two rows of every load. */
#define PEER_ROWS(keys, half_new)                                                                 \
	ROW("baseline: writes the packet's key", BASE, exact, shared, none, packet, keyed,        \
	    SHORT_PACKET, keys, half_new),                                                        \
		ROW("LRU hash of whole keys (20-byte 5-tuple and id)", PEER, exact, shared, none, \
		    packet, keyed, SHORT_PACKET, keys, half_new)

/* An engine with each placement. */
#define ENGINE_ROWS(name, engine, slicing, keys, half_new)                                      \
	ROW(name, DEDUP, engine, shared, slicing, packet, keyed, SHORT_PACKET, keys, half_new), \
		ROW(name, DEDUP, engine, percpu, slicing, packet, keyed, SHORT_PACKET, keys,    \
		    half_new)

/* What has to cost no more than timer, beside it. */
#define TIMER_ROWS(keys, half_new)                                                          \
	ENGINE_ROWS("timer, k=4 in one line", timer, horizontal, keys, half_new),           \
		ENGINE_ROWS("timer, k=4 unsliced", timer, none, keys, half_new),            \
		ENGINE_ROWS("bsbf, k=2 in one line", bsbf, horizontal, keys, half_new),     \
		ENGINE_ROWS("bsbf, k=2 apart", bsbf, none, keys, half_new),                 \
		ENGINE_ROWS("rlbsbf, k=2 in one line", rlbsbf, horizontal, keys, half_new), \
		ENGINE_ROWS("rlbsbf, k=2 apart", rlbsbf, none, keys, half_new)

/* The rows of one load: live keys, and whether every second packet is new. */
#define LOAD_ROWS(keys, half_new)                                                              \
	PEER_ROWS(keys, half_new), ENGINE_ROWS("tagged", tagged, horizontal, keys, half_new),  \
		EXTRA_ROW("tagged, --top-suppressed on", DEDUP, tagged, shared, horizontal,    \
			  packet, keyed, SHORT_PACKET, keys, half_new, true, 0, 0, WATCH_off), \
		TIMER_ROWS(keys, half_new),                                                    \
		ROW("exact: LRU hash of digests", DEDUP, exact, shared, none, packet, keyed,   \
		    SHORT_PACKET, keys, half_new),                                             \
		ROW("exact: LRU hash of flows", DEDUP, exact, shared, none, flow, keyed,       \
		    SHORT_PACKET, keys, half_new)

/* Copies on the CPU of the first one, in a tree: beside those of the same load. */
#define TREE_ROWS(keys, half_new)                                                                 \
	ROW("tagged", DEDUP, tagged, tree, horizontal, packet, keyed, SHORT_PACKET, keys,         \
	    half_new),                                                                            \
		ROW("timer, k=4 in one line", DEDUP, timer, tree, horizontal, packet, keyed,      \
		    SHORT_PACKET, keys, half_new),                                                \
		ROW("timer, k=4 unsliced", DEDUP, timer, tree, none, packet, keyed, SHORT_PACKET, \
		    keys, half_new)

/* What the audit costs, beside "tagged" of the same load. */
#define AUDIT_ROWS(keys, half_new)                                                                \
	EXTRA_ROW("tagged, audit of 1/1024", DEDUP, tagged, shared, horizontal, packet, keyed,    \
		  SHORT_PACKET, keys, half_new, false, 1024, 0, WATCH_off),                       \
		EXTRA_ROW("tagged, audit of 1/256", DEDUP, tagged, shared, horizontal, packet,    \
			  keyed, SHORT_PACKET, keys, half_new, false, 256, 0, WATCH_off),         \
		EXTRA_ROW("tagged, audit of all keys", DEDUP, tagged, shared, horizontal, packet, \
			  keyed, SHORT_PACKET, keys, half_new, false, 1, 0, WATCH_off)

/* What replicas of other hosts cost, beside "tagged" of the same load. */
#define REPLICA_ROWS(keys, half_new)                                                               \
	EXTRA_ROW("tagged, replicas of 8 peers", DEDUP, tagged, shared, horizontal, packet, keyed, \
		  SHORT_PACKET, keys, half_new, false, 0, 8, WATCH_off),                           \
		EXTRA_ROW("tagged, replicas of 64 peers", DEDUP, tagged, shared, horizontal,       \
			  packet, keyed, SHORT_PACKET, keys, half_new, false, 0, 64, WATCH_off)

/* What a watch set costs a packet that the filter is asked about, beside "tagged" of the same load. */
#define WATCH_ROWS(keys, half_new)                                                                 \
	EXTRA_ROW("tagged, all packets watched", DEDUP, tagged, shared, horizontal, packet, keyed, \
		  SHORT_PACKET, keys, half_new, false, 0, 0, WATCH_all),                           \
		EXTRA_ROW("tagged, none watched", DEDUP, tagged, shared, horizontal, packet,       \
			  keyed, SHORT_PACKET, keys, half_new, false, 0, 0, WATCH_none)

/* What noting keys for joint detection costs, beside "tagged" of the same load. */
#define COLLECT_ROW(name, keys, half_new, collect)                                           \
	FULL_ROW(name, DEDUP, tagged, shared, horizontal, packet, keyed, SHORT_PACKET, keys, \
		 half_new, false, 0, 0, WATCH_off, collect)
#define COLLECT_ROWS(keys)                                                      \
	COLLECT_ROW("tagged, --collect, no period", keys, false, COLLECT_idle), \
		COLLECT_ROW("tagged, --collect, keys noted", keys, false, COLLECT_on)
#define COLLECT_NEW_ROWS(keys)                          \
	COLLECT_ROW("tagged", keys, true, COLLECT_off), \
		COLLECT_ROW("tagged, --collect, every second new", keys, true, COLLECT_on)

/* Random numbers, BENCH_DRAWS of bench.bpf.c, beside LOAD_ROWS(keys, false). */
#define RANDOM_ROW(name, program, keys)                                                            \
	ROW("8 random numbers: " name, program, rlbsbf, percpu, none, packet, keyed, SHORT_PACKET, \
	    keys, false)
#define RANDOM_ROWS(keys)                                          \
	RANDOM_ROW("helper and time", HELPER, keys),               \
		RANDOM_ROW("state in a per-CPU map", STATE, keys), \
		RANDOM_ROW("secret and the packets' count", COUNT, keys)

/* The hash on packets of other lengths, in a filter that is hot. */
#define HASH_ROWS(hash)                                                                            \
	ROW("tagged, " #hash, DEDUP, tagged, shared, horizontal, packet, hash, 64, 1024, false),   \
		ROW("tagged, " #hash, DEDUP, tagged, shared, horizontal, packet, hash, 512, 1024,  \
		    false),                                                                        \
		ROW("tagged, " #hash, DEDUP, tagged, shared, horizontal, packet, hash, 1514, 1024, \
		    false)

static const struct bench_row rows[] = {
	LOAD_ROWS(16 * 1024, false),  TREE_ROWS(16 * 1024, false),
	AUDIT_ROWS(16 * 1024, false), REPLICA_ROWS(16 * 1024, false),
	WATCH_ROWS(16 * 1024, false), COLLECT_ROWS(16 * 1024),
	RANDOM_ROWS(16 * 1024),	      PEER_ROWS(16 * 1024, true),
	TIMER_ROWS(16 * 1024, true),  COLLECT_NEW_ROWS(16 * 1024),
	PEER_ROWS(2000000, false),    TIMER_ROWS(2000000, false),
	LOAD_ROWS(2000000, true),     TREE_ROWS(2000000, true),
	AUDIT_ROWS(2000000, true),    WATCH_ROWS(2000000, true),
	REPLICA_ROWS(2000000, true),  HASH_ROWS(keyed),
	HASH_ROWS(siphash),	      HASH_ROWS(xxh64),
};

struct bench_run {
	struct bench *skel;
	int fd;
	double ns; /* least so far */
	u64 memory_bytes;
};

/* A UDP packet in Ethernet whose IPv4 header sum bench.bpf.c keeps: addresses 0 and ~0. */
static void packet_make(u8 *packet, u32 bytes)
{
	u8 *ip = packet + 14;
	u32 total = bytes - 14, sum;

	memset(packet, 0, bytes);
	packet[12] = 8;
	ip[0] = 0x45;
	ip[2] = total >> 8;
	ip[3] = total;
	ip[8] = 64;
	ip[9] = 17;
	ip[22] = ip[23] = 53;
	/* identification + source + destination sum to twice 0xffff, which is 0 */
	sum = 0x4500 + total + (64 << 8) + 17;
	sum = ~((sum & 0xffff) + (sum >> 16));
	ip[10] = sum >> 8;
	ip[11] = sum;
}

static void config_make(const struct bench_row *row, struct xdd_fixed *fixed, struct xdd_live *live)
{
	u64 window_ns = 100ULL * row->keys * (1 + row->half_new);
	int cpus = libbpf_num_possible_cpus();

	*fixed = (struct xdd_fixed){
		.engine = row->engine,
		.key = row->key,
		.hash = row->hash,
		.slicing = row->slicing,
		.placement = row->placement,
		.clock = XDD_CLOCK_coarse,
		.hashes = xdd_engine_has_bits(row->engine) ? 2 : 4,
		.reset_bits = 4,
		.sbf_max = 1,
		.sbf_bits = 1,
		.slices = 1,
		.blocks = FILTER_BYTES(row->keys) / XDD_LINE_BYTES,
		.lines_per_block = 1,
		.stripes = 4096,
		.link = XDD_LINK_ETHERNET,
		.verify_checksum = 1,
		/* hits only: the window never ends; else it holds the live keys */
		.tick_ns = row->half_new ? window_ns / 16 : 1ULL << 40,
	};
	if (row->audit) {
		fixed->audit_threshold = ~0u / row->audit;
		fixed->audit_buckets = 1u << 17;
	}
	if (row->watch) {
		fixed->watch_bits = WATCH_BITS;
		fixed->watch_hashes = WATCH_HASHES;
	}
	if (row->collect)
		fixed->collect_keys = COLLECT_KEYS(row->keys);
	if (row->placement == XDD_PLACEMENT_percpu) {
		fixed->blocks = FILTER_BYTES(row->keys) / cpus / XDD_CPU_BLOCK_BYTES + 1;
		fixed->lines_per_block = XDD_CPU_BLOCK_LINES;
	}
	if (row->placement == XDD_PLACEMENT_tree) {
		fixed->blocks = FILTER_BYTES(row->keys) / XDD_CPU_BLOCK_BYTES + 1;
		fixed->lines_per_block = XDD_CPU_BLOCK_LINES;
		fixed->tree = XDD_TREE_dense;
		fixed->levels = 2;
		fixed->tree_leaves = cpus;
		fixed->tree_fan_out = 1;
	}
	if (row->slicing == XDD_SLICING_horizontal)
		fixed->slices = xdd_lines(fixed);
	if (row->peers) {
		fixed->peers = row->peers;
		fixed->replica_hashes = XDD_MAX_HASHES;
		for (fixed->replica_shift = XDD_REPLICA_SHIFT_MIN;
		     1u << fixed->replica_shift < REPLICA_BITS(row->keys);)
			fixed->replica_shift++;
	}
	*live = (struct xdd_live){
		.abi = XDD_ABI,
		.window_ticks = 16,
		.window_ns = row->half_new ? window_ns : ~0ULL >> 1,
		.action = XDD_ACTION_drop,
		.top = row->top,
		.watch_action = row->watch == WATCH_none ? XDD_WATCH_skip : XDD_WATCH_only,
		.ifaces[0].ifindex = 1, /* BPF_PROG_RUN's */
	};
}

static void unused_autoload(struct bench *skel, const struct bench_row *row)
{
	bpf_program__set_autoload(skel->progs.bench_base, row->program == BENCH_BASE);
	bpf_program__set_autoload(skel->progs.bench_peer, row->program == BENCH_PEER);
	bpf_program__set_autoload(skel->progs.bench_dedup, row->program == BENCH_DEDUP);
	bpf_program__set_autoload(skel->progs.bench_random, row->program >= BENCH_HELPER);
}

static int program_fd(const struct bench *skel, enum bench_program program)
{
	switch (program) {
	case BENCH_BASE:
		return bpf_program__fd(skel->progs.bench_base);
	case BENCH_PEER:
		return bpf_program__fd(skel->progs.bench_peer);
	case BENCH_DEDUP:
		return bpf_program__fd(skel->progs.bench_dedup);
	default:
		return bpf_program__fd(skel->progs.bench_random);
	}
}

/* Level 1 of a set that has all keys. */
static int fill_watch(int fd)
{
	u64 ones = ~0ull;
	int err = 0;

	for (u32 i = 0; !err && i < (WATCH_BITS + 63) / 64; i++)
		err = bpf_map_update_elem(fd, &i, &ones, BPF_ANY) ? -errno : 0;
	return err;
}

/* A quarter of ones in each replica, by chance, as of so many keys that others have. */
static int fill_replicas(const struct bench_run *run, const struct xdd_fixed *fixed)
{
	struct xdd_peer_gate gate = { .believed = ~0ULL >> (64 - fixed->peers), .until_ns = ~0ULL };
	u64 n = xdd_replica_words(fixed), bytes = n * sizeof(u64);
	u32 zero = 0;
	u64 *words = mapped_open(bpf_map__fd(run->skel->maps.replicas), bytes, true);

	if (!words)
		return -errno;
	for (size_t i = 0; i < n; i++)
		words[i] = xdd_mix64(2 * i + 1) & xdd_mix64(2 * i + 2);
	mapped_close(words, bytes);
	return bpf_map_update_elem(bpf_map__fd(run->skel->maps.peer_gate), &zero, &gate, BPF_ANY)
		       ? -errno
		       : 0;
}

static int begin_period(int fd)
{
	struct xdd_collecting collecting = { .period = 1 };
	u32 zero = 0;

	return bpf_map_update_elem(fd, &zero, &collecting, BPF_ANY) ? -errno : 0;
}

static int run_open(struct bench_run *run, const struct bench_row *row)
{
	struct xdd_secret secret;
	struct xdd_fixed fixed;
	struct xdd_live live;
	int err;

	config_make(row, &fixed, &live);
	secret_from_seed(&secret, 1);
	run->ns = 1e9;
	run->skel = bench__open();
	if (!run->skel)
		return -errno;
	unused_autoload(run->skel, row);
	run->skel->rodata->bench_keys = row->keys;
	run->skel->rodata->bench_new = row->half_new;
	if (row->program >= BENCH_HELPER)
		run->skel->rodata->bench_source = row->program - BENCH_HELPER;
	err = program_prepare(run->skel->obj, &fixed, &secret, PEER_ENTRIES(row->keys));
	if (!err)
		err = bpf_map__set_max_entries(run->skel->maps.peer,
					       row->program == BENCH_PEER ? PEER_ENTRIES(row->keys)
									  : 1);
	if (!err)
		err = bench__load(run->skel);
	if (!err)
		err = program_set_live(bpf_map__fd(run->skel->maps.config), &live);
	if (!err && row->watch == WATCH_all)
		err = fill_watch(bpf_map__fd(run->skel->maps.watch));
	if (!err && fixed.peers)
		err = fill_replicas(run, &fixed);
	if (!err && row->collect == COLLECT_on)
		err = begin_period(bpf_map__fd(run->skel->maps.collecting));
	run->fd = err ? -1 : program_fd(run->skel, row->program);
	run->memory_bytes = row->program == BENCH_DEDUP && row->engine != XDD_ENGINE_exact
				    ? FILTER_BYTES(row->keys)
				    : 0;
	run->memory_bytes += ((u64)row->peers << fixed.replica_shift) / 8;
	if (row->placement == XDD_PLACEMENT_tree) /* each node has room for all keys */
		run->memory_bytes *= libbpf_num_possible_cpus() + 1;
	return err;
}

/* Run @packets packets; returns ns per packet, or a negative errno. */
static double run_packets(struct bench_run *run, const struct bench_row *row, u32 packets)
{
	static u8 packet[2048], out[2048];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = row->packet_bytes,
		    .data_out = out, .data_size_out = sizeof(out), .repeat = packets);

	packet_make(packet, row->packet_bytes);
	if (bpf_prog_test_run_opts(run->fd, &opts))
		return -errno;
	return opts.duration;
}

/* Fill the filter as it is filled in steady state: twice the live keys. */
static int run_warm(struct bench_run *run, const struct bench_row *row)
{
	u32 packets = row->keys * (row->half_new ? 4 : 2);

	return run_packets(run, row, packets) < 0 ? -EIO : 0;
}

/* A key that finds no room takes another time. */
static int check_room(const struct bench_run *run, const struct bench_row *row)
{
	struct xdd_collecting collecting;
	u32 zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(run->skel->maps.collecting), &zero, &collecting))
		return -errno;
	if (!collecting.overflow)
		return 0;
	complain("bench: %s: %llu keys found no room", row->name, collecting.overflow);
	return -EPROTO;
}

/* The share of duplicates that the program counted must be the row's, or the times say nothing. */
static int run_check(const struct bench_run *run, const struct bench_row *row)
{
	int cpus = libbpf_num_possible_cpus();
	struct xdd_counters per_cpu[cpus];
	u64 received = 0, duplicate = 0;
	u32 zero = 0;

	if (row->program != BENCH_DEDUP || row->key != XDD_KEY_packet)
		return 0;
	if (bpf_map_lookup_elem(bpf_map__fd(run->skel->maps.counters), &zero, per_cpu))
		return -errno;
	for (int i = 0; i < cpus; i++) {
		received += per_cpu[i].received.packets;
		duplicate += per_cpu[i].duplicate.packets;
	}
	if (row->half_new ? duplicate * 100 < received * 45
			  : (received - duplicate) * 2 > received) {
		complain("bench: %s: %llu of %llu packets were duplicates: not the load it claims",
			 row->name, duplicate, received);
		return -EPROTO;
	}
	return row->collect ? check_room(run, row) : 0;
}

static const char *engine_name(const struct bench_row *row)
{
	return row->program == BENCH_DEDUP ? engine_names[row->engine] : "none";
}

/* Net times that rows of one load are compared with. */
struct bench_peers {
	double base, lru;
	/* engine timer of the same placement, as it is by default and unsliced; 0: there is none */
	double timer, unsliced;
};

/* Whether row @i belongs to the load of row @j. */
static bool same_load(size_t i, size_t j)
{
	return rows[i].keys == rows[j].keys && rows[i].half_new == rows[j].half_new;
}

static void peers_of(const struct bench_run *runs, size_t of, struct bench_peers *peers)
{
	peers->timer = peers->unsliced = 0;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(rows); i++) {
		const struct bench_row *row = &rows[i];

		if (row->program != BENCH_DEDUP || row->engine != XDD_ENGINE_timer ||
		    row->placement != rows[of].placement || !same_load(i, of))
			continue;
		*(row->slicing == XDD_SLICING_none ? &peers->unsliced : &peers->timer) =
			runs[i].ns - peers->base;
	}
}

/* JSON's null where there is nothing to compare with. */
static json_t *ratio_json(double ns, double peer)
{
	return peer ? json_real(ns / peer) : json_null();
}

static json_t *row_json(const struct bench_row *row, const struct bench_run *run,
			const struct bench_peers *peers)
{
	double net = run->ns - peers->base;

	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:f, s:f, s:f, s:o, s:o, s:o, s:f, s:I}",
			 "name", row->name, "engine", engine_name(row), "placement",
			 placement_names[row->placement], "keys", (int)row->keys, "packet_bytes",
			 (int)row->packet_bytes, "hit_ratio", row->half_new ? 0.5 : 1.0, "ns",
			 run->ns, "ns_over_baseline", net, "ratio_to_lru",
			 ratio_json(net, peers->lru), "ratio_to_timer",
			 ratio_json(net, peers->timer), "ratio_to_unsliced_timer",
			 ratio_json(net, peers->unsliced), "mpps", 1e3 / run->ns, "memory_bytes",
			 (json_int_t)run->memory_bytes);
}

static void row_print(const struct bench_row *row, const struct bench_run *run,
		      const struct bench_peers *peers)
{
	double net = run->ns - peers->base;

	printf("%-48s %-7s %8u %5u %4.0f%% %7.1f %7.1f %6.2f ", row->name,
	       placement_names[row->placement], row->keys, row->packet_bytes,
	       row->half_new ? 50.0 : 100.0, run->ns, net, net / peers->lru);
	if (peers->timer)
		printf("%8.2f %8.2f %6.1f\n", net / peers->timer, net / peers->unsliced,
		       1e3 / run->ns);
	else
		printf("%8s %8s %6.1f\n", "-", "-", 1e3 / run->ns);
}

/* Baseline and LRU hash of a row are the first two of its load. */
static void report(const struct bench_run *runs, bool json)
{
	json_t *array = json_array();
	struct bench_peers peers = { 0 };

	if (!json)
		printf("%-48s %-7s %8s %5s %5s %7s %7s %6s %8s %8s %6s\n", "name", "place", "keys",
		       "bytes", "hits", "ns", "net ns", "to LRU", "to timer", "unsliced", "Mpps");
	for (size_t i = 0; i < XDD_ARRAY_SIZE(rows); i++) {
		if (rows[i].program == BENCH_BASE) {
			peers.base = runs[i].ns;
			peers.lru = runs[i + 1].ns - runs[i].ns;
		}
		peers_of(runs, i, &peers);
		if (json)
			json_array_append_new(array, row_json(&rows[i], &runs[i], &peers));
		else
			row_print(&rows[i], &runs[i], &peers);
	}
	if (json) {
		json_dumpf(array, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_decref(array);
}

static int measure(struct bench_run *runs)
{
	int err = 0;

	for (size_t i = 0; !err && i < XDD_ARRAY_SIZE(rows); i++) {
		err = run_open(&runs[i], &rows[i]);
		if (err == -EPERM)
			complain("bench: cannot load BPF programs: run it as root (CAP_BPF, "
				 "CAP_NET_ADMIN)");
		else if (err)
			complain("bench: cannot load %s: %s", rows[i].name, strerror(-err));
		if (!err)
			err = run_warm(&runs[i], &rows[i]);
	}
	for (int round = 0; !err && round < ROUNDS; round++) {
		for (size_t i = 0; !err && i < XDD_ARRAY_SIZE(rows); i++) {
			double ns = run_packets(&runs[i], &rows[i], PACKETS);

			if (ns < 0)
				err = (int)ns;
			else if (ns < runs[i].ns)
				runs[i].ns = ns;
		}
	}
	for (size_t i = 0; !err && i < XDD_ARRAY_SIZE(rows); i++)
		err = run_check(&runs[i], &rows[i]);
	return err;
}

int cmd_bench(struct options *o)
{
	struct bench_run runs[XDD_ARRAY_SIZE(rows)] = {};
	cpu_set_t one;
	int err;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	libbpf_set_print(NULL);
	err = measure(runs);
	if (!err)
		report(runs, o->json);
	for (size_t i = 0; i < XDD_ARRAY_SIZE(rows); i++)
		bench__destroy(runs[i].skel);
	return err ? EXIT_FAILED : EXIT_OK;
}
