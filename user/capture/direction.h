/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which way a captured frame went. */
#ifndef USER_CAPTURE_DIRECTION_H
#define USER_CAPTURE_DIRECTION_H

#include "capture.h"

enum capture_direction { DIRECTION_ANY, DIRECTION_IN, DIRECTION_OUT };

/* The direction of the frame @item by the flags of its pcapng block, else by the packet type of a
 * cooked (SLL) link header; DIRECTION_ANY where neither says one.
 */
enum capture_direction capture_direction(const struct capture_item *item);

/* The same by the link header alone: @len bytes at @data of link type @link. */
enum capture_direction link_direction(u32 link, const u8 *data, u32 len);

#endif
