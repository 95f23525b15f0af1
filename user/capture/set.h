/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Several captures as one, merged by time.
 *
 * The frames of one input stay in its order, even where their time steps back; of frames of
 * the same time the earlier input's comes first. Other items follow the frame that they
 * follow in their file at once.
 */
#ifndef USER_CAPTURE_SET_H
#define USER_CAPTURE_SET_H

#include "capture.h"

struct capture_set;

/* Open @n captures (1 or more; "-" at most once). Returns 0 and *@set; or a negative errno and
 * a message in @err.
 */
int capture_set_open(struct capture_set **set, char **paths, u32 n, char *err, size_t err_size);
void capture_set_close(struct capture_set *set);

/* The next item, valid until the next call. Returns 1; 0 at the end of all; a negative errno
 * when one input failed: capture_set_error() says why, and the next call goes on with the rest.
 */
int capture_set_next(struct capture_set *set, const struct capture_item **item);
const char *capture_set_error(const struct capture_set *set);

u32 capture_set_size(const struct capture_set *set);

/* The format that holds everything in @set: that of a single input; pcap, if all are that with
 * one link type and one resolution; otherwise pcapng.
 */
enum capture_format capture_set_format(const struct capture_set *set);

/* Format of input @input. */
enum capture_format capture_set_input_format(const struct capture_set *set, u32 input);

/* Link type of the first interface; Ethernet where none was described. */
u32 capture_set_link(const struct capture_set *set);

/* Over all interfaces read so far: the largest snap length (0 if one has no limit), and whether
 * any counts in less than a microsecond. Every interface that was described before the first
 * frame of its input is known when the first frame of the set is returned.
 */
u32 capture_set_snaplen(const struct capture_set *set);
bool capture_set_finer_than_us(const struct capture_set *set);

/* Is @st one of the inputs? (Compares device and inode of regular files.) */
struct stat;
bool capture_set_has_file(const struct capture_set *set, const struct stat *st);

/* Bytes read, and the sum of the sizes of all inputs: 0 unless all are files. */
void capture_set_progress(const struct capture_set *set, u64 *done, u64 *total);

/* Have @idle called before a read that must wait for another process. */
void capture_set_on_idle(struct capture_set *set, void (*idle)(void *context), void *context);

#endif
