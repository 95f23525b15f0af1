// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <string.h>

#include "user/message.h"

#define SNAP 65535
#define BUFFER (32 << 20)
#define BATCH_MS 10 /* the kernel hands frames over at least so often */

/* The library's settings before a capture starts: each fails on none but a started one. */
static void configure(struct pcap *capture)
{
	pcap_set_snaplen(capture, SNAP);
	pcap_set_promisc(capture, 1);
	pcap_set_timeout(capture, BATCH_MS);
	pcap_set_buffer_size(capture, BUFFER);
	pcap_set_tstamp_precision(capture, PCAP_TSTAMP_PRECISION_NANO);
}

static int activate(struct pcap *capture, const char *name, char *err, size_t err_size)
{
	int rc = pcap_activate(capture);

	if (rc == PCAP_ERROR_PERM_DENIED)
		return refuse(err, err_size, -EPERM,
			      "%s: may not be watched: needs root, or CAP_NET_RAW", name);
	if (rc == PCAP_ERROR_IFACE_NOT_UP)
		return refuse(err, err_size, -ENETDOWN, "%s: is down: ip link set %s up", name,
			      name);
	if (rc < 0)
		return refuse(err, err_size, -EIO, "%s: cannot be watched: %s", name,
			      *pcap_geterr(capture) ? pcap_geterr(capture) : pcap_statustostr(rc));
	return 0;
}

int live_open(struct live *live, const char *name, char *err, size_t err_size)
{
	char why[PCAP_ERRBUF_SIZE];
	int rc;

	live->capture = pcap_create(name, why);
	if (!live->capture)
		return refuse(err, err_size, -ENOMEM, "%s: %s", name, why);
	configure(live->capture);
	rc = activate(live->capture, name, err, err_size);
	if (!rc && (pcap_setdirection(live->capture, PCAP_D_IN) ||
		    pcap_setnonblock(live->capture, 1, why)))
		rc = refuse(err, err_size, -EIO, "%s: cannot be watched: %s", name,
			    pcap_geterr(live->capture));
	if (rc) {
		live_close(live);
		return rc;
	}
	live->link = pcap_datalink(live->capture);
	return 0;
}

static int wait_for(struct live *live, int wait_ms)
{
	struct pollfd fd = { .fd = pcap_get_selectable_fd(live->capture), .events = POLLIN };

	return poll(&fd, 1, wait_ms) < 0 && errno != EINTR ? -errno : 0;
}

int live_next(struct live *live, int wait_ms, struct xdd_packet *packet, u64 *time_ns, char *err,
	      size_t err_size)
{
	struct pcap_pkthdr *header;
	const u8 *data;
	int rc = pcap_next_ex(live->capture, &header, &data);

	if (!rc) {
		rc = wait_for(live, wait_ms);
		if (rc)
			return refuse(err, err_size, rc, "cannot wait for frames: %s",
				      strerror(-rc));
		rc = pcap_next_ex(live->capture, &header, &data);
	}
	if (rc < 0)
		return refuse(err, err_size, -EIO, "%s", pcap_geterr(live->capture));
	if (!rc)
		return 0;
	*packet = (struct xdd_packet){
		.data = data,
		.end = data + header->caplen,
		.len = header->caplen,
		.wire_len = header->len,
		.link = live->link,
	};
	*time_ns = header->ts.tv_sec * 1000000000ull + header->ts.tv_usec;
	return 1;
}

u64 live_missed(const struct live *live)
{
	struct pcap_stat stat;

	return pcap_stats(live->capture, &stat) ? 0 : stat.ps_drop;
}

void live_close(struct live *live)
{
	if (live->capture)
		pcap_close(live->capture);
	live->capture = NULL;
}
