/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Marking: the DSCP that was asked for, everything else as it was, the checksum right. */
#include "tests/common/frame.h"
#include "xdd/mark.h"

static void test_ipv4(void **state)
{
	struct frame frame, before;
	struct xdd_ipv4 header;
	u64 seed = 17;

	(void)state;
	frame_build(&frame, "eth ip4 udp pay:8");
	for (u32 i = 0; i < 256 * 64; i++) {
		u8 *ip = frame.byte + frame.l3, dscp = i % 64;

		ip[1] = i / 64;
		random_bytes(&seed, ip + 4, 2);
		random_bytes(&seed, ip + 12, 8);
		frame_fix_sum(&frame);
		before = frame;
		memcpy(&header, ip, sizeof(header));
		xdd_mark_ipv4(&header, dscp);
		memcpy(ip, &header, sizeof(header));
		assert_int_equal(ip[1], dscp << 2 | (before.byte[before.l3 + 1] & 3));
		assert_int_equal(frame_sum(ip), 0);
		before.byte[before.l3 + 1] = ip[1];
		memcpy(before.byte + before.l3 + 10, ip + 10, 2);
		assert_memory_equal(&frame, &before, sizeof(frame));
	}
}

static void test_ipv6(void **state)
{
	struct frame frame, before;
	struct xdd_ipv6 header;
	u64 seed = 18;

	(void)state;
	frame_build(&frame, "eth ip6 udp pay:8");
	for (u32 i = 0; i < 256 * 64; i++) {
		u8 *ip = frame.byte + frame.l3, dscp = i % 64, class;

		random_bytes(&seed, ip + 2, 2);
		ip[0] = 0x60 | i / 64 >> 4;
		ip[1] = (i / 64) << 4 | (ip[1] & 15);
		before = frame;
		memcpy(&header, ip, sizeof(header));
		xdd_mark_ipv6(&header, dscp);
		memcpy(ip, &header, sizeof(header));
		class = ip[0] << 4 | ip[1] >> 4;
		assert_int_equal(class, dscp << 2 | (i / 64 & 3));
		assert_int_equal(ip[0] >> 4, 6);
		assert_int_equal(ip[1] & 15, before.byte[before.l3 + 1] & 15);
		memcpy(before.byte + before.l3, ip, 2);
		assert_memory_equal(&frame, &before, sizeof(frame));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipv4),
		cmocka_unit_test(test_ipv6),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
