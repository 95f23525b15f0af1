/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/joint/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "user/leb128.h"

#define CRC_BYTES 4
#define FIRST_ROOM 256

void bytes_free(struct bytes *b)
{
	free(b->at);
	*b = (struct bytes){ 0 };
}

static bool make_room(struct bytes *b)
{
	size_t room = b->room ? 2 * b->room : FIRST_ROOM;
	u8 *at = realloc(b->at, room);

	if (at) {
		b->at = at;
		b->room = room;
	}
	b->failed |= !at;
	return at;
}

int bytes_copy(struct bytes *b, const struct bytes *from)
{
	b->n = 0;
	while (b->room < from->n)
		if (!make_room(b))
			return -ENOMEM;
	if (from->n)
		memcpy(b->at, from->at, from->n);
	b->n = from->n;
	return 0;
}

void bytes_put(struct bytes *b, u8 byte)
{
	if (b->n < b->room || make_room(b))
		b->at[b->n++] = byte;
}

void bytes_start(struct bytes *b, u8 type, u8 round)
{
	b->n = 0;
	b->failed = false;
	bytes_put(b, type);
	bytes_put(b, round);
}

void bytes_put_number(struct bytes *b, u64 number)
{
	u8 coded[LEB128_MAX];
	size_t n = leb128_put(coded, number);

	for (size_t i = 0; i < n; i++)
		bytes_put(b, coded[i]);
}

void bytes_put_word(struct bytes *b, u64 word)
{
	for (u32 i = 0; i < 8; i++)
		bytes_put(b, word >> 8 * i);
}

int bytes_end(struct bytes *b)
{
	u32 crc = crc32_z(0, b->at, b->n);

	for (u32 i = 0; i < CRC_BYTES; i++)
		bytes_put(b, crc >> 8 * i);
	return b->failed ? -ENOMEM : 0;
}

int bytes_open(struct bytes_in *in, const struct bytes *message, u8 type, u8 round)
{
	const u8 *at = message->at;
	u32 crc = 0;

	if (message->n < 2 + CRC_BYTES)
		return -EBADMSG;
	in->at = at + 2;
	in->n = message->n - 2 - CRC_BYTES;
	for (u32 i = 0; i < CRC_BYTES; i++)
		crc |= (u32)at[message->n - CRC_BYTES + i] << 8 * i;
	if (crc != crc32_z(0, at, message->n - CRC_BYTES) || at[0] != type || at[1] != round)
		return -EBADMSG;
	return 0;
}

int bytes_get(struct bytes_in *in, u8 *byte)
{
	if (!in->n)
		return -EBADMSG;
	*byte = *in->at++;
	in->n--;
	return 0;
}

int bytes_get_number(struct bytes_in *in, u64 *number)
{
	size_t n = leb128_get(in->at, in->at + in->n, number);

	in->at += n;
	in->n -= n;
	return n ? 0 : -EBADMSG;
}

int bytes_get_word(struct bytes_in *in, u64 *word)
{
	if (in->n < 8)
		return -EBADMSG;
	*word = 0;
	for (u32 i = 0; i < 8; i++)
		*word |= (u64)in->at[i] << 8 * i;
	in->at += 8;
	in->n -= 8;
	return 0;
}
