/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each bit of a frame flipped in turn, and each byte inverted, behind the frame itself: exactly
 * the fields that the default key ignores may still match, in both builds.
 */
#include "both.h"

static const char *const specs[] = {
	"eth ip4 tcp pay:12",
	"eth ip4 udp pay:12 pad:6",
	"eth ip4:3 udp pay:9",
	"eth ip4 icmp:8 pay:9",
	"eth ip4 sctp pay:9",
	"eth ip4first udp pay:16",
	"eth ip4later proto:17 pay:16",
	"eth vlan ip4 tcp pay:7",
	"eth qinq vlan ip6 udp pay:7",
	"eth mpls mpls ip4 udp pay:7",
	"eth vlan mpls ip6 tcp pay:7",
	"eth ip6 tcp pay:12",
	"eth ip6 udp pay:12 pad:6",
	"eth ip6 icmp6:128 pay:9",
	"eth ip6 hop dst udp pay:9",
	"eth ip6 frag:1 udp pay:16",
	"eth ip6 frag:2 proto:17 pay:16",
};

/* Bits of each byte that the key ignores. */
struct ignored {
	u8 bits[FRAME_MAX];
};

static void ignore(struct ignored *ignored, u32 off, const char *bits, u32 n)
{
	memcpy(ignored->bits + off, bits, n);
}

/* Addresses, tags and labels. 0x8100 and 0x9100, which differ in one bit, both start a tag. */
static void ignore_link(struct ignored *ignored, const struct frame *frame)
{
	u32 off = 12;

	memset(ignored->bits, 0xff, off);
	for (;;) {
		u16 type = frame->byte[off] << 8 | frame->byte[off + 1];

		if (type == 0x8100 || type == 0x88a8) {
			ignore(ignored, off, type == 0x8100 ? "\x10\0\xff\xff" : "\0\0\xff\xff", 4);
			off += 4;
			continue;
		}
		off += 2;
		for (; type == 0x8847 && off < frame->l3; off += 4)
			ignore(ignored, off, "\xff\xff\xfe\xff", 4); /* all but bottom of stack */
		assert_int_equal(off, frame->l3);
		return;
	}
}

static void ignore_ip(struct ignored *ignored, const struct frame *frame)
{
	u8 *bits = ignored->bits + frame->l3;

	if (frame->version == 4) {
		bits[1] = 0xff;	 /* TOS */
		bits[8] = 0xff;	 /* TTL */
		bits[10] = 0xff; /* checksum */
		bits[11] = 0xff;
	} else {
		bits[0] = 0x0f; /* traffic class, flow label */
		bits[1] = bits[2] = bits[3] = 0xff;
		bits[7] = 0xff; /* hop limit */
	}
	memset(ignored->bits + frame->end, 0xff, frame->len - frame->end);
}

/* One mutant at a time of its own, just behind the original. */
static void check_mutant(struct both *both, const struct frame *frame, u32 at, u8 flip, bool may)
{
	static u64 now = 1000000000;
	struct xdd_verdict verdict;
	struct frame mutant = *frame;
	bool in_sum = frame->version == 4 && (at == frame->l3 + 10 || at == frame->l3 + 11);
	bool verify = both->store.fixed.verify_checksum;
	bool seen;

	now += 4 * both->store.live.window_ns;
	verdict = both_decide(both, frame->byte, frame->len, now);
	assert_int_equal(verdict.bypass, XDD_BYPASS_MAX);
	assert_int_equal(verdict.found, 0);
	mutant.byte[at] ^= flip;
	if (verify && !in_sum && at >= frame->l3 && at < frame->l4)
		frame_fix_sum(&mutant);
	verdict = both_decide(both, mutant.byte, mutant.len, now);
	seen = verdict.bypass == XDD_BYPASS_MAX && verdict.found & XDD_SEEN;
	if (verify && in_sum) {
		assert_int_equal(verdict.bypass, XDD_BYPASS_bad_checksum);
		return;
	}
	if (seen != may)
		fail_msg("byte %u (IP header at %u) xor %02x: %s match", at, frame->l3, flip,
			 may ? "must" : "must not");
}

static void check_frame(struct both *both, const char *spec)
{
	struct ignored ignored = {};
	struct frame frame;

	frame_build(&frame, spec);
	ignore_link(&ignored, &frame);
	ignore_ip(&ignored, &frame);
	for (u32 at = 0; at < frame.len; at++) {
		for (u32 bit = 0; bit < 8; bit++)
			check_mutant(both, &frame, at, 1 << bit, ignored.bits[at] >> bit & 1);
		check_mutant(both, &frame, at, 0xff, ignored.bits[at] == 0xff);
	}
}

static void check_engine(u32 engine)
{
	for (u32 verify = 0; verify <= 1; verify++) {
		struct xdd_fixed fixed = config_fixed(engine, XDD_KEY_packet);
		struct xdd_live live = config_live();
		struct both both;

		fixed.verify_checksum = verify;
		both_open(&both, &fixed, &live);
		for (u32 i = 0; i < XDD_ARRAY_SIZE(specs); i++) {
			print_message("# engine %u, checksum %s: %s\n", engine,
				      verify ? "verified" : "ignored", specs[i]);
			check_frame(&both, specs[i]);
		}
		both_compare(&both);
		both_close(&both);
	}
}

static void test_mutations(void **state)
{
	(void)state;
	both_need_root();
	/* Each mutant needs a window that the one before has left: bit engines have none. */
	for (u32 engine = 0; engine < XDD_ENGINE_MAX; engine++) {
		if (!xdd_engine_has_bits(engine) && config_takes(engine, XDD_KEY_packet))
			check_engine(engine);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutations),
	};

	both_pin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
