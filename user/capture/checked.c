/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/capture/checked.h"

#include <errno.h>
#include <unistd.h>
#include <zlib.h>

#define PIECE_BYTES (1u << 20)

int checked_write(struct sink *sink, u32 *crc, const void *data, u64 bytes)
{
	const u8 *at = data;
	int rc = 0;

	while (bytes && !rc) {
		u64 piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;

		*crc = crc32_z(*crc, at, piece);
		rc = sink_write(sink, at, piece);
		at += piece;
		bytes -= piece;
	}
	return rc;
}

int checked_read(int fd, u32 *crc, void *data, u64 bytes)
{
	u8 *at = data;

	while (bytes) {
		ssize_t got = read(fd, at, bytes < PIECE_BYTES ? bytes : PIECE_BYTES);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EBADMSG;
		*crc = crc32_z(*crc, at, got);
		at += got;
		bytes -= got;
	}
	return 0;
}
