/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "promisc.h"

#include <errno.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Flags of @ifindex in *@request, and the socket that they came by, or a negative errno. */
static int flags_get(u32 ifindex, struct ifreq *request)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (sock < 0)
		return -errno;
	request->ifr_ifindex = ifindex;
	if (!ioctl(sock, SIOCGIFNAME, request) && !ioctl(sock, SIOCGIFFLAGS, request))
		return sock;
	err = -errno;
	close(sock);
	return err;
}

int promisc_get(u32 ifindex, bool *on)
{
	struct ifreq request = {};
	int sock = flags_get(ifindex, &request);

	if (sock < 0)
		return sock;
	close(sock);
	*on = request.ifr_flags & IFF_PROMISC;
	return 0;
}

int promisc_set(u32 ifindex, bool on)
{
	struct ifreq request = {};
	int sock = flags_get(ifindex, &request), err;

	if (sock < 0)
		return sock;
	request.ifr_flags &= ~IFF_PROMISC;
	if (on)
		request.ifr_flags |= IFF_PROMISC;
	err = ioctl(sock, SIOCSIFFLAGS, &request) ? -errno : 0;
	close(sock);
	return err;
}
