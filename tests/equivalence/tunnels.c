/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tunnels through both builds: every frame of tunnels.h as it is, cut at every byte by a snap length
 * and by the tunnel's sender, and with every bit flipped.
 */
#include "both.h"
#include "tests/common/tunnels.h"
#include "tests/common/traffic.h"

/* Deeper than is read. */
static const char *const deep_specs[] = {
	"eth ip4 ip4 ip4 ip4 ip4 ip4 udp pay:9",
	"eth ip4 gre eth vlan vlan vlan vlan vlan vlan vlan vlan vlan vlan vlan vlan vlan vlan "
	"vlan "
	"vlan vlan vlan vlan vlan vlan vlan vlan vlan vlan vlan vlan vlan vlan vlan vlan vlan vlan "
	"vlan vlan vlan vlan vlan vlan vlan ip4 udp pay:9",
};

static u32 notes[XDD_INNER_MAX];
static u64 now = 1000000000;
static bool few; /* an emulated machine is slow: every seventh frame */

static struct xdd_verdict decide(struct both *both, const struct frame *frame)
{
	struct xdd_verdict verdict = both_decide(both, frame->byte, frame->len, now);

	now += both->store.live.window_ns / 64;
	notes[verdict.inner]++;
	return verdict;
}

static void check_copy(struct both *both, const struct frame *frame)
{
	struct xdd_verdict verdict;

	now += 4 * both->store.live.window_ns;
	assert_int_equal(decide(both, frame).bypass, XDD_BYPASS_MAX);
	verdict = decide(both, frame);
	assert_int_equal(verdict.bypass, XDD_BYPASS_MAX);
	assert_int_equal(verdict.found, XDD_SEEN);
}

static void check_cuts(struct both *both, const struct frame *frame)
{
	static struct frame cut;

	for (u32 ips = 0; ips < frame->ips; ips++) {
		u32 len = ips ? frame->ip[ips - 1].at + frame->ip[ips - 1].bytes : TRAFFIC_MIN;

		for (; len < frame->len; len++) {
			cut = *frame;
			frame_cut(&cut, ips, len);
			decide(both, &cut);
		}
	}
}

static void check_flips(struct both *both, const struct frame *frame)
{
	static struct frame flipped;

	for (u32 bit = 12 * 8; bit < frame->len * 8; bit++) {
		flipped = *frame;
		flipped.byte[bit / 8] ^= 1 << bit % 8;
		decide(both, &flipped);
		frame_fix_sum(&flipped);
		decide(both, &flipped);
	}
}

static void check_specs(struct both *both, const char *const *specs, u32 n)
{
	static struct frame frame;

	for (u32 i = 0; i < n; i += few ? 7 : 1) {
		frame_build(&frame, specs[i]);
		if (frame.link != both->store.fixed.link)
			continue;
		check_copy(both, &frame);
		check_cuts(both, &frame);
		if (!few)
			check_flips(both, &frame);
	}
}

static void check(u32 engine, u32 key, bool file)
{
	struct xdd_fixed fixed = tunnel_fixed(engine, key);
	struct xdd_live live = config_live();
	struct both both;

	fixed.vni_key = !file;
	fixed.verify_checksum = !file;
	fixed.short_capture_ok = file;
	fixed.zero_length_ok = file;
	both_open(&both, &fixed, &live);
	check_specs(&both, tunnel_specs, XDD_ARRAY_SIZE(tunnel_specs));
	check_specs(&both, no_tunnel_specs, XDD_ARRAY_SIZE(no_tunnel_specs));
	check_specs(&both, deep_specs, XDD_ARRAY_SIZE(deep_specs));
	/* So many keys leave the two tables of the exact engine at different moments. */
	if (engine != XDD_ENGINE_exact)
		both_compare(&both);
	both_close(&both);
}

static void test_tunnels(void **state)
{
	(void)state;
	both_need_root();
	check(XDD_ENGINE_tagged, XDD_KEY_packet, false);
	check(XDD_ENGINE_exact, XDD_KEY_packet, true);
	check(XDD_ENGINE_exact, XDD_KEY_biflow, false);
	for (u32 i = 0; i < XDD_INNER_MAX; i++) {
		print_message("# note %u: %u frames\n", i, notes[i]);
		assert_true(few || notes[i] > 10);
	}
}

/* --few: a small part of the frames. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tunnels),
	};

	few = argc > 1 && !strcmp(argv[1], "--few");
	both_pin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
