// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the kernel answers is read within its bounds, whatever its lengths say. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/test.h"
#include "user/nic/facts.h"
#include "user/nic/netlink.h"

/* Append an attribute to the @n bytes at @to. Returns the new size. */
static int append(char *to, int n, u16 type, const void *data, u16 size)
{
	struct nlattr head = { NLA_HDRLEN + size, type };

	memcpy(to + n, &head, sizeof(head));
	memcpy(to + n + NLA_HDRLEN, data, size);
	return n + NLA_ALIGN(head.nla_len);
}

static void finds_attributes(void **state)
{
	char answer[64] = { 0 }, text[4];
	const struct nlattr *found[8];
	u32 number = 7;
	u64 wide = 1ull << 40;
	int n = append(answer, 0, 3, &number, sizeof(number));

	(void)state;
	n = append(answer, n, 5 | NLA_F_NESTED, "abcdef", 6);
	n = append(answer, n, 100, "x", 1);
	n = append(answer, n, 7, &wide, sizeof(wide));
	netlink_attributes(answer, n, found, 8);
	assert_null(found[0]);
	assert_int_equal(netlink_u32(found[3]), 7);
	assert_int_equal(netlink_u64(found[7]), wide);
	netlink_text(found[5], text, sizeof(text));
	assert_string_equal(text, "abc");
	netlink_text(found[1], text, sizeof(text));
	assert_string_equal(text, "");
	assert_int_equal(netlink_u32(found[1]), 0);
	assert_int_equal(netlink_u64(found[3]), 0); /* too short for one */
}

/* Any bytes of any size: nothing is read beyond them (in the sanitizers' build, that is seen). */
static void survives_garbage(void **state)
{
	u64 random = 11;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		u32 size = random_below(&random, 40);
		u8 *bytes = malloc(size ?: 1);
		const struct nlattr *found[8];

		random_bytes(&random, bytes, size);
		for (u32 i = 0; i + 1 < size; i += 8) {
			bytes[i] = random_below(&random, size + 4); /* lengths that may be right */
			bytes[i + 1] = 0;
		}
		netlink_attributes(bytes, size, found, 8);
		for (int i = 0; i < 8; i++) {
			if (!found[i])
				continue;
			assert_true((const u8 *)found[i] + found[i]->nla_len <= bytes + size);
			assert_true(netlink_size(found[i]) >= 0);
		}
		free(bytes);
	}
}

static void loopback_facts(void **state)
{
	char longest[64];
	struct link_facts facts;

	(void)state;
	assert_int_equal(link_facts("lo", 0, &facts), 0);
	assert_string_equal(facts.name, "lo");
	assert_true(facts.flags & IFF_LOOPBACK);
	assert_true(facts.mtu >= 1500);
	assert_int_equal(link_facts(NULL, facts.ifindex, &facts), 0);
	assert_string_equal(facts.name, "lo");
	assert_int_equal(link_facts("no-such-nic", 0, &facts), -ENODEV);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	assert_int_equal(link_facts(longest, 0, &facts), -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_attributes),
		cmocka_unit_test(survives_garbage),
		cmocka_unit_test(loopback_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
