/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Defaults and sizes: what each target gets, and that a size keeps what it promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include <user/accessors.h>
#include <xdd/audit.h>
#include <xdd/line.h>
#include <xdd/slices.h>

#include "derive.h"
#include "message.h"
#include "model.h"

#define MIB (1ull << 20)
#define GIVE(o, field, value) ((o)->field = (value), (o)->given[OPT_##field] = true)

static char err[MESSAGE_MAX];

static struct options options(void)
{
	struct options o;

	options_init(&o, "test");
	return o;
}

/* One interface of four queues on a machine of four CPUs. */
static struct derived nic(const struct options *o)
{
	struct derived d;

	if (derive_config(o, DERIVE_NIC, 1, 4, 4, &d, err, sizeof(err)))
		fail_msg("%s", err);
	return d;
}

static struct derived file(const struct options *o)
{
	struct derived d;

	if (derive_config(o, DERIVE_FILE, 0, 0, 0, &d, err, sizeof(err)))
		fail_msg("%s", err);
	return d;
}

static void refused(const struct options *o, enum derive_target target, int code, const char *word)
{
	struct derived d;

	*err = 0;
	assert_int_equal(derive_config(o, target, 1, 4, 4, &d, err, sizeof(err)), code);
	if (!strstr(err, word))
		fail_msg("no \"%s\" in: %s", word, err);
	assert_null(strchr(err, '\n'));
}

/* The port that is entry @at, if it is of @tunnel; else 0. */
static u16 tunnel_port(const struct derived *d, u32 at, u8 tunnel)
{
	return d->fixed.tunnel_kind[at] == tunnel ? d->fixed.tunnel_port[at] : 0;
}

/* Ports that are given take the place of that tunnel's usual ones, and of no other's. */
static void test_tunnels(void **state)
{
	struct options o = options();
	struct derived d = nic(&o);

	(void)state;
	assert_false(d.fixed.inner || d.fixed.vni_key);
	assert_int_equal(tunnel_port(&d, 0, XDD_TUNNEL_vxlan), 4789);
	assert_int_equal(tunnel_port(&d, 1, XDD_TUNNEL_vxlan), 8472);
	assert_int_equal(tunnel_port(&d, 2, XDD_TUNNEL_vxlan), 4790);
	assert_int_equal(tunnel_port(&d, 3, XDD_TUNNEL_geneve), 6081);
	assert_int_equal(tunnel_port(&d, 4, XDD_TUNNEL_gtpu), 2152);
	assert_int_equal(tunnel_port(&d, 5, XDD_TUNNEL_mpls), 6635);
	assert_int_equal(d.fixed.tunnel_port[6], 0);
	GIVE(&o, inner, true);
	GIVE(&o, vni, POLICY_KEY);
	o.tunnel_port = (struct option_ports){ 1, { 777 }, { XDD_TUNNEL_vxlan } };
	d = file(&o);
	assert_true(d.fixed.inner && d.fixed.vni_key);
	assert_int_equal(tunnel_port(&d, 0, XDD_TUNNEL_vxlan), 777);
	assert_int_equal(tunnel_port(&d, 1, XDD_TUNNEL_geneve), 6081);
	assert_int_equal(tunnel_port(&d, 3, XDD_TUNNEL_mpls), 6635);
	assert_int_equal(d.fixed.tunnel_port[4], 0);
}

static void test_policy(void **state)
{
	struct options o = options();
	struct derived d = file(&o);

	(void)state;
	assert_false(d.fixed.changed_fields || d.fixed.payload_bytes || d.fixed.scope_iface ||
		     d.fixed.vlan_key || d.fixed.vlan_maps);
	o.ignore = 1u << XDD_FIELD_ipid;
	o.include = 1u << XDD_FIELD_ttl;
	o.payload = 99;
	o.scope = SCOPE_INTERFACE;
	o.vlan = (struct option_vlan){ true, 1, { 300 }, { 50 } };
	d = nic(&o);
	assert_int_equal(d.fixed.changed_fields, 1u << XDD_FIELD_ipid | 1u << XDD_FIELD_ttl);
	assert_false(xdd_field_in(&d.fixed, XDD_FIELD_ipid));
	assert_true(xdd_field_in(&d.fixed, XDD_FIELD_ttl));
	assert_true(xdd_field_in(&d.fixed, XDD_FIELD_l4csum));
	assert_int_equal(d.fixed.payload_bytes, 99);
	assert_true(d.fixed.scope_iface && d.fixed.vlan_key);
	assert_int_equal(d.fixed.vlan_maps, 1);
	assert_int_equal(d.fixed.vlan_from[0], 300);
	assert_int_equal(d.fixed.vlan_to[0], 50);
}

static void test_nic_defaults(void **state)
{
	struct options o = options();
	struct derived d = nic(&o);

	(void)state;
	assert_int_equal(d.fixed.engine, XDD_ENGINE_tagged);
	assert_int_equal(d.fixed.key, XDD_KEY_packet);
	assert_int_equal(d.fixed.link, XDD_LINK_ETHERNET);
	assert_int_equal(d.fixed.hash, XDD_HASH_keyed);
	assert_int_equal(d.fixed.placement, XDD_PLACEMENT_shared);
	assert_int_equal(d.fixed.slicing, XDD_SLICING_horizontal);
	assert_int_equal(d.fixed.blocks, 32 * MIB / 64);
	assert_int_equal(d.fixed.lines_per_block, 1);
	assert_int_equal(d.fixed.slices, 32 * MIB / 64);
	assert_int_equal(d.fixed.stripes, 4096);
	assert_int_equal(d.fixed.hashes, 1);
	assert_int_equal(d.fixed.tick_ns, 1250000);
	assert_true(d.fixed.verify_checksum);
	assert_false(d.fixed.zero_checksum_ok || d.fixed.zero_length_ok ||
		     d.fixed.short_capture_ok || d.fixed.non_ip_frame || d.fixed.refresh);
	assert_int_equal(d.live.abi, XDD_ABI);
	assert_int_equal(d.live.window_ticks, 16);
	assert_int_equal(d.live.window_ns, 20000000);
	assert_int_equal(d.live.action, XDD_ACTION_drop);
	assert_int_equal(d.live.mark_dscp, 63);
	assert_false(d.live.forward);
	assert_int_equal(d.memory_bytes, 32 * MIB);
	assert_int_equal(d.capacity_keys, 4 * MIB);
	assert_int_equal(d.sure_ns, 18750000);
	assert_int_equal(d.window_ns, 20000000);
	assert_int_equal(d.exact_entries, 0);
	assert_true(d.secret_random);
	assert_string_equal(d.warning, "");
	assert_true(d.fixed.seed != nic(&o).fixed.seed);
}

static void test_file_defaults(void **state)
{
	struct options o = options();
	struct derived d = file(&o);

	(void)state;
	assert_int_equal(d.fixed.engine, XDD_ENGINE_exact);
	assert_int_equal(d.fixed.placement, XDD_PLACEMENT_shared);
	assert_int_equal(d.fixed.clock, XDD_CLOCK_exact);
	assert_int_equal(d.fixed.blocks, 1);
	assert_int_equal(d.fixed.lines_per_block, 1);
	assert_int_equal(d.fixed.slices, 1);
	assert_true(d.fixed.seed == 0);
	assert_false(d.secret_random);
	assert_true(d.fixed.zero_length_ok && d.fixed.short_capture_ok);
	assert_false(d.fixed.verify_checksum || d.fixed.zero_checksum_ok);
	assert_int_equal(d.live.window_ns, 20000000);
	assert_int_equal(d.sure_ns, 20000000);
	assert_int_equal(d.window_ns, 20000000);
	assert_int_equal(d.lines, 0);
	assert_true(d.memory_bytes > MIB);
	o.verify_checksum = true;
	d = file(&o);
	assert_true(d.fixed.verify_checksum && d.fixed.zero_checksum_ok);
}

static void test_copied(void **state)
{
	struct options o = options();
	struct derived d;

	(void)state;
	GIVE(&o, seed, 42);
	GIVE(&o, key, XDD_KEY_offset);
	o.offset_len = 20;
	o.offset_pos = 14;
	o.non_ip = o.refresh = true;
	o.hash = XDD_HASH_xxh64;
	o.action = XDD_ACTION_mark;
	GIVE(&o, max_suppress, 7);
	o.ambiguous.named = o.ambiguous.pass = 1 << XDD_CLASS_udp;
	o.mark_dscp = 5;
	o.mark_meta = true;
	o.forward = "tool0";
	d = nic(&o);
	assert_int_equal(d.fixed.seed, 42);
	assert_false(d.secret_random);
	assert_int_equal(d.fixed.key, XDD_KEY_offset);
	assert_int_equal(d.fixed.offset_len, 20);
	assert_int_equal(d.fixed.offset_pos, 14);
	assert_int_equal(d.fixed.hash, XDD_HASH_xxh64);
	assert_true(d.fixed.non_ip_frame && d.fixed.refresh);
	assert_int_equal(d.live.action, XDD_ACTION_mark);
	assert_int_equal(d.live.mark_dscp, 5);
	assert_int_equal(d.live.max_suppress, 7);
	assert_int_equal(d.live.ambiguous_pass, 1 << XDD_CLASS_udp);
	assert_true(d.live.top);
	GIVE(&o, top_suppressed, false);
	o.ambiguous.named = 1 << XDD_CLASS_ack_rst;
	o.ambiguous.pass = 0;
	derive_repeats(&o, &d.live);
	assert_false(d.live.top);
	assert_int_equal(d.live.ambiguous_pass, 1 << XDD_CLASS_udp);
	assert_true(d.live.mark_meta && d.live.forward);
	o.seed_random = true;
	assert_true(file(&o).secret_random);
	assert_true(file(&o).fixed.seed != file(&o).fixed.seed);
}

static void test_window(void **state)
{
	struct options o = options();
	struct derived d;

	(void)state;
	o.engine = XDD_ENGINE_tagged;
	GIVE(&o, window, 100000);
	GIVE(&o, ticks, 119);
	d = nic(&o);
	assert_int_equal(d.fixed.tick_ns, 840);
	assert_int_equal(d.live.window_ticks, 119);
	assert_int_equal(d.window_ns, 840 * 119);
	assert_int_equal(d.sure_ns, 840 * 118);
	GIVE(&o, ticks, 1);
	d = nic(&o);
	assert_int_equal(d.fixed.tick_ns, 100000);
	assert_int_equal(d.sure_ns, 0);

	GIVE(&o, window, 3);
	GIVE(&o, ticks, 4);
	refused(&o, DERIVE_NIC, -ERANGE, "--window 3 ns");
	o.ticks = 0;
	d = nic(&o);
	assert_int_equal(d.fixed.tick_ns, 1);
	assert_int_equal(d.live.window_ticks, 3);
}

/* The last N records include the one at hand: N - 1 lie between the first and the last of them. */
static void test_window_records(void **state)
{
	struct options o = options();
	char text[UNITS_TEXT_MAX];
	struct derived d;

	(void)state;
	GIVE(&o, window_records, 1000);
	d = file(&o);
	assert_int_equal(d.window_records, 1000);
	assert_int_equal(d.live.window_ns, 999);
	assert_int_equal(d.sure_ns, 999);
	assert_string_equal(derive_events_text(&d, text), "1000 records");
	o.engine = XDD_ENGINE_timer;
	d = file(&o);
	assert_int_equal(d.fixed.tick_ns, 62);
	assert_int_equal(d.live.window_ticks, 16);
	assert_int_equal(d.sure_ns, 62 * 15);
	o.window_records = 5;
	d = file(&o);
	assert_int_equal(d.fixed.tick_ns, 1);
	assert_int_equal(d.live.window_ticks, 5);
	GIVE(&o, ticks, 6);
	refused(&o, DERIVE_FILE, -ERANGE, "--window-records 5 cannot be cut into 6 ticks");
}

static void test_window_ticks(void **state)
{
	u32 ticks = 7;

	(void)state;
	assert_int_equal(derive_window_ticks(20000000, 1250000, &ticks), 0);
	assert_int_equal(ticks, 16);
	assert_int_equal(derive_window_ticks(1250000, 1250000, &ticks), 0);
	assert_int_equal(ticks, 1);
	assert_int_equal(derive_window_ticks(119 * 1250000, 1250000, &ticks), 0);
	assert_int_equal(ticks, 119);
	assert_int_equal(derive_window_ticks(120 * 1250000, 1250000, &ticks), -ERANGE);
	assert_int_equal(derive_window_ticks(1249999, 1250000, &ticks), -ERANGE);
	assert_int_equal(ticks, 119);
}

static void test_clock(void **state)
{
	struct options o = options();
	u64 step = derive_coarse_step_ns();

	(void)state;
	assert_in_range(step, 1000000, 10000000); /* HZ from 100 to 1000 */
	GIVE(&o, ticks, 10);
	GIVE(&o, window, 10 * step);
	assert_int_equal(nic(&o).fixed.clock, XDD_CLOCK_coarse);
	assert_int_equal(nic(&o).clock_step_ns, step);
	assert_int_equal(file(&o).fixed.clock, XDD_CLOCK_exact);
	GIVE(&o, window, 10 * step - 1);
	assert_int_equal(nic(&o).fixed.clock, XDD_CLOCK_exact);
	assert_int_equal(nic(&o).clock_step_ns, 0);
	GIVE(&o, clock, XDD_CLOCK_coarse);
	assert_int_equal(nic(&o).fixed.clock, XDD_CLOCK_coarse);
	assert_non_null(strstr(nic(&o).warning, "coarse"));
	GIVE(&o, window, 20 * step);
	assert_string_equal(nic(&o).warning, "");
	GIVE(&o, clock, XDD_CLOCK_exact);
	assert_int_equal(nic(&o).fixed.clock, XDD_CLOCK_exact);
}

static enum xdd_placement placement(const struct options *o, unsigned int n_ifaces,
				    unsigned int n_queues, bool warns)
{
	struct derived d;

	assert_int_equal(derive_config(o, DERIVE_NIC, n_ifaces, n_queues, 2, &d, err, sizeof(err)),
			 0);
	assert_int_equal(!!strstr(d.warning, "another CPU"), warns);
	assert_int_equal(d.fixed.stripes, d.fixed.placement == XDD_PLACEMENT_shared ? 4096 : 1);
	return d.fixed.placement;
}

static void test_placement(void **state)
{
	struct options o = options();

	(void)state;
	assert_int_equal(placement(&o, 1, 1, false), XDD_PLACEMENT_percpu);
	assert_int_equal(placement(&o, 1, 2, false), XDD_PLACEMENT_shared);
	assert_int_equal(placement(&o, 2, 1, false), XDD_PLACEMENT_shared);
	GIVE(&o, placement, XDD_PLACEMENT_percpu);
	assert_int_equal(placement(&o, 1, 1, false), XDD_PLACEMENT_percpu);
	assert_int_equal(placement(&o, 1, 2, true), XDD_PLACEMENT_percpu);
	assert_int_equal(placement(&o, 2, 1, true), XDD_PLACEMENT_percpu);
	GIVE(&o, placement, XDD_PLACEMENT_shared);
	assert_int_equal(placement(&o, 1, 1, false), XDD_PLACEMENT_shared);
	assert_int_equal(file(&o).fixed.placement, XDD_PLACEMENT_shared);
	GIVE(&o, engine, XDD_ENGINE_exact);
	o.placement = OPTION_AUTO;
	assert_int_equal(placement(&o, 1, 1, false), XDD_PLACEMENT_shared);
	GIVE(&o, placement, XDD_PLACEMENT_percpu);
	refused(&o, DERIVE_NIC, -EINVAL, "--placement percpu");
}

static void test_percpu_memory(void **state)
{
	struct options o = options();
	struct derived d;

	(void)state;
	GIVE(&o, placement, XDD_PLACEMENT_percpu);
	d = nic(&o);
	assert_int_equal(d.fixed.blocks, 32 * MIB / 4 / 32768);
	assert_int_equal(d.fixed.lines_per_block, 511);
	assert_int_equal(d.fixed.slices, d.fixed.blocks * 511);
	assert_int_equal(d.lines, d.fixed.blocks * 511);
	assert_int_equal(d.memory_bytes, 32 * MIB);
	assert_int_equal(d.capacity_keys, d.lines * 4 * 8);
	GIVE(&o, memory, 64); /* a block per CPU is the least */
	d = nic(&o);
	assert_int_equal(d.fixed.blocks, 1);
	assert_int_equal(d.memory_bytes, 4 * 32768);
	o = options();
	GIVE(&o, placement, XDD_PLACEMENT_percpu);
	GIVE(&o, capacity, 1000000);
	d = nic(&o);
	assert_true(d.lines * 4 * 8 >= 1000000);
	assert_true(d.lines * 4 * 8 < 1000000 + 4 * 8 * 511);
}

static void test_tagged_size(void **state)
{
	struct options o = options();
	struct derived d;

	(void)state;
	GIVE(&o, capacity, 4 * MIB);
	d = nic(&o);
	assert_int_equal(d.memory_bytes, 32 * MIB);
	assert_int_equal(d.capacity_keys, 4 * MIB);
	GIVE(&o, capacity, 9);
	assert_int_equal(nic(&o).fixed.blocks, 2);
	GIVE(&o, capacity, 1);
	assert_int_equal(nic(&o).fixed.blocks, 1);
	GIVE(&o, fpr_target, 1e-7);
	refused(&o, DERIVE_NIC, -ERANGE, "--engine exact");
	GIVE(&o, fpr_target, 1e-6);
	assert_true(nic(&o).fpr_model <= 1e-6);
	o = options();
	GIVE(&o, memory, 64);
	assert_int_equal(nic(&o).fixed.blocks, 1);
	GIVE(&o, memory, 127);
	assert_int_equal(nic(&o).memory_bytes, 64);
}

/* Unsliced: the formula's size to the line. Sliced: more, so that the target is met, but not
 * a hundredth more than that.
 */
static void test_timer_size(void **state)
{
	static const double targets[] = { 0.1, 0.01, 0.001, 1e-6 };
	struct options o = options();

	(void)state;
	GIVE(&o, engine, XDD_ENGINE_timer);
	GIVE(&o, capacity, 100000);
	for (size_t i = 0; i < XDD_ARRAY_SIZE(targets); i++) {
		double p = targets[i], cells = model_bloom_cells(100000, p, 4);
		struct derived d;

		GIVE(&o, fpr_target, p);
		o.slicing = XDD_SLICING_none;
		d = nic(&o);
		assert_int_equal(d.fixed.slices, 1);
		assert_in_range(d.lines, cells / 60, cells / 60 + 1);
		o.slicing = OPTION_AUTO;
		d = nic(&o);
		assert_int_equal(d.fixed.slicing, XDD_SLICING_horizontal);
		assert_int_equal(d.fixed.slices, d.lines);
		assert_true(d.lines > cells / 60);
		assert_true(model_timer(100000, d.lines, 60, 4) <= p);
		assert_true(model_timer(100000, d.lines * .99, 60, 4) > p);
		assert_true(d.fpr_model <= p);
	}
	assert_int_equal(nic(&o).fixed.hashes, 4);
	GIVE(&o, hashes, 6);
	assert_int_equal(nic(&o).fixed.hashes, 6);
	o.given[OPT_fpr_target] = false;
	assert_true(nic(&o).fpr_model <= 0.001);
}

/* --capacity is what one filter holds, --memory that of all. */
static void test_growth(void **state)
{
	struct options o = options();
	double cells = model_bloom_cells(10000, .05, 4);
	struct derived d;

	(void)state;
	GIVE(&o, engine, XDD_ENGINE_timer);
	GIVE(&o, grow, XDD_GROWTH_density);
	GIVE(&o, capacity, 10000);
	GIVE(&o, fpr_target, .05);
	d = nic(&o);
	assert_int_equal(d.fixed.slicing, XDD_SLICING_none);
	assert_int_equal(d.fixed.filters, 4);
	assert_in_range(d.lines, cells / 60, cells / 60 + 1);
	assert_int_equal(d.memory_bytes, d.lines * 4 * 64);
	assert_int_equal(d.capacity_keys, 10000);
	assert_true(fabs(ldexp(d.fixed.grow_density, -32) - .47287) < 1e-5);
	GIVE(&o, placement, XDD_PLACEMENT_percpu);
	GIVE(&o, max_filters, 5);
	d = nic(&o);
	assert_int_equal(d.fixed.lines_per_block, 102);
	assert_int_equal(d.fixed.blocks, 3); /* 1042 lines on 4 CPUs */
	GIVE(&o, slices, 8);
	assert_int_equal(nic(&o).fixed.slicing, XDD_SLICING_horizontal);
	o.given[OPT_capacity] = false;
	o.placement = XDD_PLACEMENT_shared;
	d = nic(&o);
	assert_in_range(d.memory_bytes, 32 * MIB - 5 * 8 * 64, 32 * MIB);
	assert_int_equal(d.lines, d.memory_bytes / 64 / 5);
	GIVE(&o, slices, 513);
	refused(&o, DERIVE_NIC, -ERANGE, "at most 512");
	GIVE(&o, memory, 5 * 8 * 64);
	GIVE(&o, slices, 8);
	refused(&o, DERIVE_NIC, -EINVAL, "a slice for each line");
}

static void test_timer_capacity_is_inverse(void **state)
{
	struct options o = options(), back = options();
	struct derived d;

	(void)state;
	GIVE(&o, engine, XDD_ENGINE_timer);
	d = nic(&o);
	assert_int_equal(d.memory_bytes, 32 * MIB);
	GIVE(&back, engine, XDD_ENGINE_timer);
	GIVE(&back, capacity, d.capacity_keys);
	assert_in_range(nic(&back).memory_bytes, 31.5 * MIB, 32.5 * MIB);
}

static void test_slices(void **state)
{
	struct options o = options();
	struct derived d;

	(void)state;
	GIVE(&o, engine, XDD_ENGINE_timer);
	GIVE(&o, memory, 1000 * 64);
	GIVE(&o, slices, 7);
	d = nic(&o);
	assert_int_equal(d.fixed.slices, 7);
	assert_int_equal(d.lines, 994); /* the same in every slice */
	assert_int_equal(d.memory_bytes, 994 * 64);
	GIVE(&o, slicing, XDD_SLICING_vertical);
	assert_int_equal(nic(&o).fixed.slicing, XDD_SLICING_vertical);
	assert_int_equal(nic(&o).fixed.slices, 7);
	GIVE(&o, slices, 1001);
	refused(&o, DERIVE_NIC, -ERANGE, "--slices 1001");
	memset(o.given, 0, sizeof(o.given));
	GIVE(&o, slices, 7);
	GIVE(&o, capacity, 100000);
	d = nic(&o);
	assert_int_equal(d.lines % 7, 0);
	assert_true(d.fpr_model <= 0.001);
}

/* The innermost slices are alike; what cannot be is refused; a key takes K1 different slices. */
static void test_shapes(void **state)
{
	struct options o = options();
	struct derived d;

	(void)state;
	GIVE(&o, engine, XDD_ENGINE_timer);
	GIVE(&o, memory, 1000 * 64);
	GIVE(&o, slices, 7);
	GIVE(&o, slicing, XDD_SLICING_hv);
	GIVE(&o, subslices, 3);
	d = nic(&o);
	assert_int_equal(d.fixed.slices, 7);
	assert_int_equal(d.fixed.subslices, 3);
	assert_int_equal(d.fixed.line_cells, 0);
	assert_int_equal(d.lines, 987);
	o.subslices = 143;
	refused(&o, DERIVE_NIC, -ERANGE, "--slices 7 --subslices 143");
	o.subslices = 0;
	o.slicing = XDD_SLICING_K1xK2;
	o.slice_hashes = 4;
	o.slice_cells = 2;
	d = nic(&o);
	assert_int_equal(d.fixed.hashes, 8);
	assert_int_equal(d.fixed.slice_hashes, 4);
	o.slices = 3;
	refused(&o, DERIVE_NIC, -ERANGE, "--slicing 4x2");
}

/* Simulated, 48400 bits are 48400, whatever divides them. Others have whole lines and take no more than was asked for. */
static void test_cells(void **state)
{
	static const u32 slices[] = { 1, 40, 80, 200 };

	(void)state;
	for (u32 i = 0; i < XDD_ARRAY_SIZE(slices); i++) {
		struct options o = options();
		struct derived d;
		char err[512];

		GIVE(&o, engine, XDD_ENGINE_bloom);
		GIVE(&o, memory, 6050);
		GIVE(&o, slicing, XDD_SLICING_horizontal);
		GIVE(&o, slices, slices[i]);
		assert_int_equal(
			derive_config(&o, DERIVE_SIMULATION, 1, 1, 1, &d, err, sizeof(err)), 0);
		assert_int_equal(d.fixed.slices, slices[i]);
		assert_int_equal(xdd_cells(&d.fixed), 48400);
		if (slices[i] == 200) {
			refused(&o, DERIVE_FILE, -ERANGE, "--slices 200");
			continue;
		}
		d = file(&o);
		assert_int_equal(d.fixed.line_cells, 0);
		assert_int_equal(d.lines, 6050 / 64 / slices[i] * slices[i]);
		assert_true(d.memory_bytes <= 6050);
	}
}

static void test_exact_size(void **state)
{
	struct options o = options();
	struct derived d;

	(void)state;
	GIVE(&o, engine, XDD_ENGINE_exact);
	d = nic(&o);
	assert_int_equal(d.memory_bytes, 32 * MIB);
	assert_int_equal(d.exact_entries, 32 * MIB / 112);
	o.key = XDD_KEY_biflow;
	assert_int_equal(nic(&o).exact_entries, 32 * MIB / 160);
	o.key = XDD_KEY_offset;
	assert_int_equal(nic(&o).exact_entries, 32 * MIB / 112);
	GIVE(&o, capacity, 1000000);
	d = nic(&o);
	assert_int_equal(d.exact_entries, 1000000);
	d = file(&o);
	assert_int_equal(d.exact_entries, 0);
	assert_int_equal(d.memory_bytes, 48000000);
	o = options();
	GIVE(&o, memory, 64);
	GIVE(&o, engine, XDD_ENGINE_exact);
	assert_int_equal(nic(&o).exact_entries, 1);
}

static void test_too_much(void **state)
{
	static const int engines[] = { XDD_ENGINE_tagged, XDD_ENGINE_timer, XDD_ENGINE_exact };

	(void)state;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(engines); i++) {
		struct options o = options();

		GIVE(&o, engine, engines[i]);
		GIVE(&o, memory, 1ull << 60);
		refused(&o, DERIVE_NIC, -ENOMEM, "--memory");
		refused(&o, DERIVE_FILE, -ENOMEM, "--memory");
		GIVE(&o, memory, UINT64_MAX);
		refused(&o, DERIVE_NIC, -ENOMEM, "--memory");
		memset(o.given, 0, sizeof(o.given));
		GIVE(&o, capacity, UINT64_MAX);
		refused(&o, DERIVE_NIC, -ENOMEM, "--capacity");
		refused(&o, DERIVE_FILE, -ENOMEM, "--capacity");
	}
}

static void test_ifaces(void **state)
{
	struct options o = options();
	struct derived d;

	(void)state;
	assert_int_equal(derive_config(&o, DERIVE_NIC, 16, 1, 1, &d, err, sizeof(err)), 0);
	assert_int_equal(derive_config(&o, DERIVE_NIC, 17, 1, 1, &d, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "17"));
	assert_int_equal(derive_config(&o, DERIVE_NIC, 0, 1, 1, &d, err, sizeof(err)), -EINVAL);
}

/* Average over the fill of a filter, as a stream of distinct keys meets it. */
static double average_rate(double keys, double cells, double slices)
{
	double sum = 0;

	for (double n = 0; n < keys; n += 10)
		sum += model_timer(n, slices, cells / slices, 4);
	return sum / (keys / 10);
}

/* koloniari-2011's synthetic stream: 5706 distinct keys in 48400 cells, measured. */
static void test_model_timer(void **state)
{
	static const struct {
		double slices, rate;
	} measured[] = { { 1, .00465 }, { 40, .00481 }, { 80, .00501 }, { 200, .00549 } };

	(void)state;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(measured); i++) {
		double rate = average_rate(5706, 48400, measured[i].slices);

		if (rate < measured[i].rate * .97 || rate > measured[i].rate * 1.03)
			fail_msg("%g slices: %g instead of %g", measured[i].slices, rate,
				 measured[i].rate);
	}
	assert_true(model_timer(0, 100, 60, 4) == 0);
	assert_true(model_timer(1e9, 10, 60, 4) <= 1);
	assert_true(model_timer(1e9, 10, 60, 4) > .999);
}

static void test_model_tagged(void **state)
{
	(void)state;
	assert_true(model_tagged(0, 1000) == 0);
	/* Half full of 16 measured 5e-7: eight cells of 2^-24 each. */
	assert_true(model_tagged(8000, 1000) > 4.6e-7);
	assert_true(model_tagged(8000, 1000) < 4.8e-7);
	assert_true(model_tagged(1e6, 1000) == model_tagged_full());
	assert_true(model_tagged_full() == 15.0 / (1 << 24));
}

/* A share of the keys by default on a NIC, with room for those of them that are alive. */
static void test_audit(void **state)
{
	struct options o = options();
	struct derived d = file(&o);

	(void)state;
	assert_int_equal(d.fixed.audit_threshold, 0);
	assert_int_equal(d.fixed.audit_buckets, 0);
	d = nic(&o);
	assert_int_equal(d.fixed.audit_threshold, 1u << 22);
	assert_in_range(d.fixed.audit_buckets * XDD_AUDIT_WAYS, d.capacity_keys / 1024 * 4,
			d.capacity_keys / 1024 * 4 * 4);
	assert_true(d.fixed.audit_race_ns);
	GIVE(&o, placement, XDD_PLACEMENT_percpu);
	assert_int_equal(nic(&o).fixed.audit_race_ns, 0);
	GIVE(&o, audit, 0);
	assert_int_equal(nic(&o).fixed.audit_threshold, 0);
	o = options();
	GIVE(&o, audit, 1);
	assert_int_equal(nic(&o).fixed.audit_threshold, ~0u);
	d = file(&o);
	assert_true(d.fixed.audit_threshold == ~0u && !d.fixed.audit_race_ns);
	assert_int_equal(d.fixed.audit_buckets & (d.fixed.audit_buckets - 1), 0);
	GIVE(&o, audit, 1e-12);
	assert_int_equal(nic(&o).fixed.audit_threshold, 1);
}

/* Ten bits a key or more, so that @places full replicas together err no more than is stated; and no more than that. */
static void expect_replicas(const struct derived *d, u32 places)
{
	for (u32 less = 0; less < 2; less++) {
		u32 shift = d->fixed.replica_shift - less,
		    k = derive_replica_hashes(shift, d->capacity_keys);
		double one = pow(1 - exp(-1. * k * d->capacity_keys / ldexp(1, shift)), k);
		bool enough = ldexp(1, shift) >= 10. * d->capacity_keys &&
			      1 - pow(1 - one, places) <= 0.05;

		assert_int_equal(enough, !less);
	}
}

static void test_replica_bits(void **state)
{
	static const u32 peers[][2] = { { 1, 8 }, { 8, 8 }, { 9, 16 }, { 64, 64 } };
	struct options o = options();
	struct derived d;

	(void)state;
	GIVE(&o, capacity, 0);
	for (u32 i = 0; i < XDD_ARRAY_SIZE(peers); i++)
		for (u64 keys = 1000; keys < 3000000; keys = keys * 3 / 2) {
			o.peers = peers[i][0];
			o.capacity = keys;
			d = nic(&o);
			expect_replicas(&d, peers[i][1]);
		}
}

/* Room for peers in powers of two, and as many bits of a key as make the fewest mistakes. */
static void test_peers(void **state)
{
	struct options o = options();
	struct derived d = nic(&o);

	(void)state;
	assert_int_equal(d.fixed.peers | d.fixed.replica_shift | d.fixed.replica_hashes, 0);
	GIVE(&o, peers, 3);
	d = nic(&o);
	assert_int_equal(d.fixed.peers, 8);
	expect_replicas(&d, 8);
	assert_int_equal(d.fixed.replica_hashes, XDD_MAX_HASHES);
	assert_int_equal(d.fixed.replica_step, 0);
	assert_int_equal(d.live.replica_action, XDD_REPLICA_drop);
	o.peers = 33;
	GIVE(&o, replica_bits, 1000000);
	GIVE(&o, capacity, 250000);
	GIVE(&o, action, XDD_ACTION_count);
	d = nic(&o);
	assert_int_equal(d.fixed.peers, 64);
	assert_int_equal(d.fixed.replica_shift, 20);
	assert_int_equal(d.fixed.replica_hashes, 3);
	assert_int_equal(d.live.replica_action, XDD_REPLICA_count);
	GIVE(&o, replica_action, XDD_REPLICA_mark);
	assert_int_equal(nic(&o).live.replica_action, XDD_REPLICA_mark);
	o = options();
	GIVE(&o, peers, 8);
	GIVE(&o, engine, XDD_ENGINE_timer);
	GIVE(&o, memory, MIB);
	d = nic(&o);
	assert_true(1ull << d.fixed.replica_shift >= xdd_cells(&d.fixed));
	assert_int_equal(d.fixed.replica_hashes, d.fixed.hashes);
	assert_true(d.fixed.replica_step > 0);
}

static void test_peers_refused(void **state)
{
	struct options o = options();

	(void)state;
	GIVE(&o, peers, 8);
	GIVE(&o, fault_policy, XDD_FAULTS_duplicate);
	refused(&o, DERIVE_NIC, -EINVAL, "silent peer");
	GIVE(&o, replica_action, XDD_REPLICA_mark);
	nic(&o);
	o = options();
	GIVE(&o, peers, 64);
	GIVE(&o, replica_bits, 1ull << 40);
	refused(&o, DERIVE_NIC, -ERANGE, "4Gi");
	/* 16 GiB beside three quarters of what is free */
	o.replica_bits = 1ull << 31;
	GIVE(&o, memory, derive_memory_available() / 4 * 3);
	if (derive_memory_available() < 60ull << 30)
		refused(&o, DERIVE_NIC, -ENOMEM, "--replica-bits");
	o = options();
	GIVE(&o, peers, 1);
	GIVE(&o, engine, XDD_ENGINE_rlbsbf);
	refused(&o, DERIVE_NIC, -EINVAL, "cannot be published");
	o.engine = XDD_ENGINE_bloom;
	GIVE(&o, placement, XDD_PLACEMENT_percpu);
	refused(&o, DERIVE_NIC, -EINVAL, "--placement shared");
	o.engine = XDD_ENGINE_tagged;
	o.placement = XDD_PLACEMENT_tree;
	refused(&o, DERIVE_NIC, -EINVAL, "tree");
	o = options();
	GIVE(&o, peers, 1);
	GIVE(&o, engine, XDD_ENGINE_exact);
	GIVE(&o, key, XDD_KEY_flow);
	GIVE(&o, window, 1000000);
	refused(&o, DERIVE_NIC, -EINVAL, "flow keys");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tunnels),
		cmocka_unit_test(test_policy),
		cmocka_unit_test(test_nic_defaults),
		cmocka_unit_test(test_file_defaults),
		cmocka_unit_test(test_copied),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_window_records),
		cmocka_unit_test(test_window_ticks),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_placement),
		cmocka_unit_test(test_percpu_memory),
		cmocka_unit_test(test_tagged_size),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_timer_size),
		cmocka_unit_test(test_timer_capacity_is_inverse),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_exact_size),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_ifaces),
		cmocka_unit_test(test_audit),
		cmocka_unit_test(test_model_timer),
		cmocka_unit_test(test_model_tagged),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_replica_bits),
		cmocka_unit_test(test_peers_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
