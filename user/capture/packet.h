/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A captured frame as the core sees it. */
#ifndef USER_CAPTURE_PACKET_H
#define USER_CAPTURE_PACKET_H

#include <xdd/packet.h>

#include "capture.h"

/* @item is a frame. A wire length below the captured one, which damaged files have, is raised. */
static inline struct xdd_packet capture_packet(const struct capture_item *item)
{
	return (struct xdd_packet){
		.data = item->data,
		.end = item->data + item->len,
		.len = item->len,
		.wire_len = item->wire_len > item->len ? item->wire_len : item->len,
		.link = item->iface->link,
		.source = (void *)&item->iface->global,
	};
}

#endif
