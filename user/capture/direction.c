// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "direction.h"

#include <xdd/config.h>

#include "bytes.h"

/* pcapng: the option of enhanced and obsolete packet blocks that holds flags. */
#define OPTION_FLAGS 2
#define FLAGS_DIRECTION 3

#define SLL_OUTGOING 4 /* Linux: PACKET_OUTGOING */

/* The flags among the options in the @len bytes at @at; 0 without any. */
static u32 block_flags(const u8 *at, size_t len, bool big_endian)
{
	while (len >= 8) {
		u16 code = get16(at, big_endian);
		size_t size = 4 + (get16(at + 2, big_endian) + 3u) / 4 * 4;

		if (code == OPTION_FLAGS && size == 8)
			return get32(at + 4, big_endian);
		if (!code || size > len)
			return 0;
		at += size;
		len -= size;
	}
	return 0;
}

static enum capture_direction block_direction(const struct capture_item *item)
{
	const u8 *options = item->data + (item->len + 3) / 4 * 4;
	const u8 *end = item->raw + item->raw_len - 4;
	u32 flags = options < end ? block_flags(options, end - options, item->big_endian) : 0;

	flags &= FLAGS_DIRECTION;
	return flags == 1 ? DIRECTION_IN : flags == 2 ? DIRECTION_OUT : DIRECTION_ANY;
}

enum capture_direction link_direction(u32 link, const u8 *data, u32 len)
{
	u32 type;

	if (link == XDD_LINK_SLL && len >= 16)
		type = get16(data, true);
	else if (link == XDD_LINK_SLL2 && len >= 20)
		type = data[10];
	else
		return DIRECTION_ANY;
	return type < SLL_OUTGOING    ? DIRECTION_IN
	       : type == SLL_OUTGOING ? DIRECTION_OUT
				      : DIRECTION_ANY;
}

enum capture_direction capture_direction(const struct capture_item *item)
{
	enum capture_direction direction = DIRECTION_ANY;

	if (item->block == BLOCK_ENHANCED || item->block == BLOCK_PACKET)
		direction = block_direction(item);
	return direction != DIRECTION_ANY
		       ? direction
		       : link_direction(item->iface->link, item->data, item->len);
}
