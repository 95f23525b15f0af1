/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/peer_words.h"

#include <stdio.h>

#include "user/clock.h"
#include "user/units.h"
#include "xdd/event.h"

#define LATELY_NS (30 * XDD_SECOND_NS)

bool peer_twins_lately(u64 heard_ns)
{
	return heard_ns && now_ns() - heard_ns < LATELY_NS;
}

const char *peer_windows_text(u64 theirs_ns, u64 own_ns, char text[PEER_WINDOWS_MAX])
{
	char theirs[UNITS_TEXT_MAX], own[UNITS_TEXT_MAX];

	snprintf(text, PEER_WINDOWS_MAX, "its window is %s, here %s: set both alike",
		 units_time_text(theirs_ns, theirs), units_time_text(own_ns, own));
	return text;
}
