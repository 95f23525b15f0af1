/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bytes of a file with a CRC-32 over them, which begins with 0. */
#ifndef USER_CAPTURE_CHECKED_H
#define USER_CAPTURE_CHECKED_H

#include "user/capture/sink.h"

/* Write @bytes, any number of them, and add them to *@crc. Returns 0 or a negative errno of the sink. */
int checked_write(struct sink *sink, u32 *crc, const void *data, u64 bytes);

/* Read @bytes, all of them. Returns 0, -EBADMSG where the file ends before, or a negative errno. */
int checked_read(int fd, u32 *crc, void *data, u64 bytes);

#endif
