/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames that differ in one number: the IPv4 source address of an otherwise empty UDP packet. */
#ifndef TESTS_NUMBERED_H
#define TESTS_NUMBERED_H

#include <string.h>

#include "xdd/types.h"

#define NUMBERED_BYTES 60

static inline void numbered_make(u8 frame[NUMBERED_BYTES], u32 number)
{
	static const u8 first[NUMBERED_BYTES] = {
		[12] = 8, [14] = 0x45, [17] = NUMBERED_BYTES - 14, [22] = 64, [23] = 17
	};
	u32 sum = 0;

	memcpy(frame, first, NUMBERED_BYTES);
	memcpy(frame + 26, &number, sizeof(number));
	for (int i = 14; i < 34; i += 2)
		sum += frame[i] << 8 | frame[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	frame[24] = sum >> 8;
	frame[25] = sum;
}

#endif
