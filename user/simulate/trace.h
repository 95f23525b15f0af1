/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Real streams: a file of one event a line, read into memory as numbers. Equal events get equal
 * numbers, from 0 on, in the order of their first occurrence.
 *
 * Without columns the whole line is the event, any bytes but the newline. Columns are separated by
 * commas and may be quoted as in RFC 4180, within the line. Their names come from the caller, or
 * from a first line that has `event` and one of `time` and `producer` among its fields. Only
 * `event` decides what is equal, so an event that two producers saw is a copy. Times are seconds
 * with up to 9 decimals, or have a unit (12ms), and do not step back.
 */
#ifndef USER_SIMULATE_TRACE_H
#define USER_SIMULATE_TRACE_H

#include <stddef.h>

#include <xdd/types.h>

struct trace {
	u32 *ids;
	u64 *times_ns;	/* NULL: not asked for */
	u32 *producers; /* a hash of each record's; NULL: not asked for */
	u64 records, domain, room;
};

/*
 * Read at most @most events of @path, plain or gzip, "-" for standard input. @columns: names of
 * the columns, or NULL. @times, @producers: keep them.
 *
 * Events are told apart by the 128 bits of SipHash-2-4: n different ones get a number in common
 * with a probability of about n^2 / 2^129. Memory: 4 bytes an event, 12 with times, and while
 * reading up to 96 for each different one.
 *
 * Returns 0; or with one line in @err that names the file, and the line if it is to blame:
 * -EBADMSG for data that is no trace, -EINVAL for @columns without `event`, or a negative errno.
 * trace_close() frees in either case.
 */
int trace_read(struct trace *trace, const char *path, const char *columns, bool times,
	       bool producers, u64 most, char *err, size_t err_size);
void trace_close(struct trace *trace);

#endif
