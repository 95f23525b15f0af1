/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is put on a NIC passes this kernel's verifier in every configuration, far below its
 * limit of a million instructions.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/common/config.h"
#include "tests/common/structures.h"
#include "user/cluster/occupancy.h"
#include "user/loader/program.h"
#include "user/secret.h"
#include "xdd/watch.h"

#include "ask.skel.h"
#include "dedup.skel.h"

#define MAX_INSTRUCTIONS 450000
#define MAX_ASK_INSTRUCTIONS 30000
#define MAX_FRAME 128

struct table {
	u32 loads;
	u32 most;
	struct xdd_secret secret;
};

static char kernel_log[1 << 24]; /* all that the verifier says, or the end is missing */
static bool few;		 /* an emulated machine is slow: one hash, two keys */

static u32 verified_instructions(int program)
{
	struct bpf_prog_info info = {};
	u32 size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(program, &info, &size), 0);
	return info.verified_insns;
}

/* The last lines of what the verifier said. */
static const char *log_end(void)
{
	size_t len = strlen(kernel_log);

	return kernel_log + (len > 1500 ? len - 1500 : 0);
}

/* Kernel 6.1 rounds each frame up to 32 bytes and gives all on a way 512: the program's own must not grow. */
static void check_frame(const struct xdd_fixed *fixed)
{
	const char *at = strstr(kernel_log, "stack depth ");

	assert_non_null(at);
	if (atoi(at + strlen("stack depth ")) > MAX_FRAME)
		fail_msg("engine %u key %u peers %u: the program takes %.80s bytes of stack, of "
			 "which %u are its own at most",
			 fixed->engine, fixed->key, fixed->peers, at, MAX_FRAME);
}

static u32 load(const struct xdd_fixed *fixed, const struct xdd_secret *secret)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .kernel_log_buf = kernel_log,
		    .kernel_log_size = sizeof(kernel_log), .kernel_log_level = 4);
	struct dedup *skel = dedup__open_opts(&opts);
	u32 instructions;

	assert_non_null(skel);
	*kernel_log = 0;
	assert_int_equal(program_prepare(skel->obj, fixed, secret, 1000), 0);
	if (dedup__load(skel))
		fail_msg("engine %u key %u hash %u slicing %u/%u placement %u refused: %s",
			 fixed->engine, fixed->key, fixed->hash, fixed->slicing, fixed->slices,
			 fixed->placement, log_end());
	instructions = verified_instructions(bpf_program__fd(skel->progs.xdp_dedup));
	check_frame(fixed);
	dedup__destroy(skel);
	return instructions;
}

/* Trees have none. */
static void add_policy(struct xdd_fixed *fixed)
{
	if (fixed->placement == XDD_PLACEMENT_tree)
		return;
	if (fixed->engine == XDD_ENGINE_tagged) {
		fixed->fault_policy = XDD_FAULTS_distinct;
	} else if (xdd_engine_is_sliced(fixed->engine)) {
		fixed->fault_policy = XDD_FAULTS_vote;
		fixed->vote = 1;
	}
}

/* Replicas of the fewest and of the most peers, where the filter can be published. */
static void add_peers(struct xdd_fixed *fixed, u32 peers)
{
	struct xdd_fixed alone = *fixed;

	alone.scope_iface = 0; /* of no use with peers, and no trouble to the verifier */
	if (!occupancy_can(&alone))
		return;
	fixed->peers = peers;
	fixed->replica_shift = 12;
	fixed->replica_hashes = XDD_MAX_HASHES;
	fixed->replica_step = xdd_replica_step(fixed);
}

/* Tunnels, the audit, a watch set, keys collected, slices that may fail, and all that site policy can switch on: @plain instructions are verified without. */
static void load_everything(const struct xdd_fixed *fixed, struct table *table, u32 plain)
{
	struct xdd_fixed all = *fixed;
	u32 n;

	if (fixed->key == XDD_KEY_frame || fixed->key == XDD_KEY_offset || !plain ||
	    (few && fixed->key && fixed->engine != XDD_ENGINE_recovery))
		return;
	all.hash = XDD_HASH_keyed;
	all.inner = all.vni_key = all.vlan_key = all.scope_iface = all.non_ip_frame = 1;
	all.tunnel_port[0] = 4789;
	all.vlan_maps = XDD_MAX_VLAN_MAPS;
	all.payload_bytes = 4000;
	all.audit_threshold = 1u << 24;
	all.audit_buckets = 1024;
	all.audit_race_ns = 1000;
	all.changed_fields = (1u << XDD_FIELD_MAX) - 1;
	all.watch_bits = 100000;
	all.watch_hashes = XDD_WATCH_MAX_HASHES;
	all.collect_keys = 1000;
	add_policy(&all);
	add_peers(&all, 64);
	n = load(&all, &table->secret);
	print_message("# ... with everything: %u instructions, %u more\n", n, n - plain);
	assert_true(n > plain);
	if (n > table->most)
		table->most = n;
	table->loads++;
}

/* As many as there can be; of trees so many as kernel 6.1 can follow through all of their levels with
 * everything switched on (README, Limits).
 */
static u32 few_hashes(const struct xdd_fixed *fixed)
{
	return fixed->placement == XDD_PLACEMENT_tree ? XDD_MAX_HASHES - 2 : XDD_MAX_HASHES;
}

/* Nothing but a few peers. */
static void load_peers(const struct xdd_fixed *fixed, struct table *table)
{
	struct xdd_fixed with = *fixed;
	u32 n;

	with.hash = XDD_HASH_keyed;
	add_peers(&with, 8);
	if (!with.peers || with.key != XDD_KEY_packet)
		return;
	n = load(&with, &table->secret);
	if (n > table->most)
		table->most = n;
	table->loads++;
}

static void visit(struct xdd_fixed *fixed, void *context)
{
	struct table *table = context;

	for (fixed->key = 0; fixed->key < XDD_KEY_MAX; fixed->key++) {
		u32 n[XDD_HASH_MAX] = {};

		fixed->refresh = fixed->key & 1 && fixed->placement != XDD_PLACEMENT_tree;
		fixed->hashes = few ? few_hashes(fixed) : fixed->key % XDD_MAX_HASHES + 1;
		for (fixed->hash = 0; fixed->hash < XDD_HASH_MAX; fixed->hash++) {
			if (!structure_visits(fixed, few))
				continue;
			n[fixed->hash] = load(fixed, &table->secret);
			if (n[fixed->hash] > table->most)
				table->most = n[fixed->hash];
			table->loads++;
		}
		print_message("# engine %u slicing %u/%-4u placement %u key %u: keyed %u, "
			      "siphash %u, xxh64 %u instructions\n",
			      fixed->engine, fixed->slicing, fixed->slices, fixed->placement,
			      fixed->key, n[XDD_HASH_keyed], n[XDD_HASH_siphash],
			      n[XDD_HASH_xxh64]);
		load_peers(fixed, table);
		load_everything(fixed, table, n[XDD_HASH_keyed]);
	}
}

/* Load every structure as @visit does; the largest has @least to @most verified instructions. */
static void load_all(void (*visit)(struct xdd_fixed *fixed, void *context), u32 least, u32 most)
{
	struct table table = {};

	if (geteuid()) {
		print_message("# SKIP loading BPF programs needs root\n");
		skip();
	}
	secret_from_seed(&table.secret, 1);
	structures_each(visit, &table);
	print_message("# %u loads, at most %u verified instructions\n", table.loads, table.most);
	assert_in_range(table.most, least, most);
}

static void test_loads(void **state)
{
	(void)state;
	load_all(visit, 1000, MAX_INSTRUCTIONS);
}

/* Chains of two filters and of the most that there can be, with k = 4 and 8. */
static void visit_growth(struct xdd_fixed *fixed, void *context)
{
	struct table *table = context;
	u32 n[4] = {};

	if (!structure_grows(fixed))
		return;
	for (u32 i = few ? 3 : 0; i < 4; i++) {
		fixed->hashes = i & 1 ? XDD_MAX_HASHES : 4;
		fixed->refresh = i & 1;
		structure_grow(fixed, 1 + (i & 1), i & 2 ? XDD_MAX_FILTERS : 2);
		n[i] = load(fixed, &table->secret);
		if (n[i] > table->most)
			table->most = n[i];
		table->loads++;
	}
	print_message("# slicing %u placement %u: 2 filters, k = 4 and 8: %u and %u instructions, "
		      "8: %u and %u\n",
		      fixed->slicing, fixed->placement, n[0], n[1], n[2], n[3]);
}

static void test_growth(void **state)
{
	(void)state;
	/* Lines side by side have no type, which libbpf says each time. */
	libbpf_set_print(NULL);
	load_all(visit_growth, 1000, MAX_INSTRUCTIONS);
}

static void load_ask(const struct xdd_fixed *fixed, struct table *table)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .kernel_log_buf = kernel_log,
		    .kernel_log_size = sizeof(kernel_log));
	struct ask *skel = ask__open_opts(&opts);
	u32 instructions;

	assert_non_null(skel);
	*kernel_log = 0;
	assert_int_equal(program_prepare(skel->obj, fixed, &table->secret, 1000), 0);
	if (ask__load(skel))
		fail_msg("engine %u placement %u variant %u k %u MAX %u refused: %s", fixed->engine,
			 fixed->placement, fixed->variant, fixed->hashes, fixed->sbf_max,
			 log_end());
	instructions = verified_instructions(bpf_program__fd(skel->progs.ask_alone));
	if (instructions > table->most)
		table->most = instructions;
	table->loads++;
	ask__destroy(skel);
}

/* Both variants of rsbf, and cells of each size, with a MAX that one operation sets, and not. */
static void visit_shapes(struct xdd_fixed *fixed, struct table *table)
{
	load_ask(fixed, table);
	if (fixed->engine == XDD_ENGINE_rsbf) {
		fixed->variant = XDD_VARIANT_algorithm1;
		load_ask(fixed, table);
		fixed->variant = XDD_VARIANT_published;
	}
	if (fixed->engine != XDD_ENGINE_sbf ||
	    (few && fixed->hashes > 1 && fixed->hashes < XDD_MAX_HASHES))
		return;
	for (fixed->sbf_bits = 2; fixed->sbf_bits <= 8; fixed->sbf_bits *= 2) {
		fixed->reset_bits = 64 / fixed->sbf_bits;
		fixed->sbf_max = (1u << fixed->sbf_bits) - 1;
		load_ask(fixed, table);
		fixed->sbf_max--;
		load_ask(fixed, table);
	}
	fixed->sbf_bits = fixed->sbf_max = 1;
}

static void visit_bits(struct xdd_fixed *fixed, void *context)
{
	struct table *table = context, mine = { .secret = table->secret };

	if (!xdd_engine_has_bits(fixed->engine))
		return;
	for (fixed->hashes = 1; fixed->hashes <= XDD_MAX_HASHES; fixed->hashes++)
		visit_shapes(fixed, &mine);
	print_message("# engine %u placement %u alone: at most %u instructions\n", fixed->engine,
		      fixed->placement, mine.most);
	table->loads += mine.loads;
	if (mine.most > table->most)
		table->most = mine.most;
}

/* The bit engines with every number of hashes. */
static void test_bits(void **state)
{
	(void)state;
	load_all(visit_bits, 500, MAX_ASK_INSTRUCTIONS);
}

/* --few: a small part of the table. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_growth),
	};

	few = argc > 1 && !strcmp(argv[1], "--few");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
