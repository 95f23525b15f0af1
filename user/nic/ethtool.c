/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Facts by ethtool's ioctl, which asks in the network namespace of its socket. */
#include "user/nic/facts.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* The kernel's names of enum ethtool_offload, and ethtool's. */
static const char *const feature_names[OFFLOAD_MAX] = {
	[OFFLOAD_GRO] = "rx-gro",
	[OFFLOAD_LRO] = "rx-lro",
	[OFFLOAD_GRO_HW] = "rx-gro-hw",
	[OFFLOAD_RXVLAN] = "rx-vlan-hw-parse",
};
const char *const offload_names[OFFLOAD_MAX] = {
	[OFFLOAD_GRO] = "gro",
	[OFFLOAD_LRO] = "lro",
	[OFFLOAD_GRO_HW] = "rx-gro-hw",
	[OFFLOAD_RXVLAN] = "rxvlan",
};

static int ask(const char *ifname, void *command)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;
	struct ifreq request = { .ifr_data = command };

	if (fd < 0)
		return -errno;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", ifname);
	if (ioctl(fd, SIOCETHTOOL, &request))
		err = -errno;
	close(fd);
	return err;
}

int ethtool_driver(const char *ifname, char driver[FACTS_NAME_MAX])
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	int err = ask(ifname, &info);

	snprintf(driver, FACTS_NAME_MAX, "%s", err ? "" : info.driver);
	return err;
}

int ethtool_rx_queues(const char *ifname, unsigned int *queues)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
	int err = ask(ifname, &channels);

	*queues = err ? 0 : channels.combined_count + channels.rx_count;
	return err;
}

/* The strings of @set, to free(); their number in *@n. NULL with errno set. */
static struct ethtool_gstrings *strings(const char *ifname, u32 set, u32 *n)
{
	struct {
		struct ethtool_sset_info info;
		u32 length;
	} sizes = { .info = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << set } };
	struct ethtool_gstrings *names;
	int err = ask(ifname, &sizes);

	*n = err || !sizes.info.sset_mask ? 0 : sizes.length;
	if (!*n) {
		errno = err ? -err : EOPNOTSUPP;
		return NULL;
	}
	names = calloc(1, sizeof(*names) + (size_t)*n * ETH_GSTRING_LEN);
	if (!names)
		return NULL;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = set;
	names->len = *n;
	err = ask(ifname, names);
	if (!err)
		return names;
	free(names);
	errno = -err;
	return NULL;
}

static const char *string_at(const struct ethtool_gstrings *names, u32 i)
{
	return (const char *)names->data + (size_t)i * ETH_GSTRING_LEN;
}

static void read_offloads(const struct ethtool_gstrings *names, u32 n,
			  const struct ethtool_gfeatures *features, u32 *on, u32 *changeable)
{
	for (u32 i = 0; i < n; i++) {
		const struct ethtool_get_features_block *block = &features->features[i / 32];

		for (u32 offload = 0; offload < OFFLOAD_MAX; offload++) {
			if (strncmp(string_at(names, i), feature_names[offload], ETH_GSTRING_LEN))
				continue;
			*on |= (block->active >> i % 32 & 1) << offload;
			*changeable |= (block->available >> i % 32 & 1) << offload;
		}
	}
}

int ethtool_offloads(const char *ifname, u32 *on, u32 *changeable)
{
	struct ethtool_gfeatures *features;
	struct ethtool_gstrings *names;
	u32 n, blocks;
	int err;

	*on = 0;
	*changeable = 0;
	names = strings(ifname, ETH_SS_FEATURES, &n);
	if (!names)
		return -errno;
	blocks = (n + 31) / 32;
	features = calloc(1, sizeof(*features) + blocks * sizeof(features->features[0]));
	err = features ? 0 : -ENOMEM;
	if (!err) {
		features->cmd = ETHTOOL_GFEATURES;
		features->size = blocks;
		err = ask(ifname, features);
	}
	if (!err)
		read_offloads(names, n, features, on, changeable);
	free(features);
	free(names);
	return err;
}

int ethtool_sum(const char *ifname, const char *part, u64 *sum)
{
	struct ethtool_gstrings *names;
	struct ethtool_stats *stats;
	u32 n;
	int err;

	*sum = 0;
	names = strings(ifname, ETH_SS_STATS, &n);
	if (!names)
		return -errno;
	stats = calloc(1, sizeof(*stats) + n * sizeof(u64));
	err = stats ? 0 : -ENOMEM;
	if (!err) {
		stats->cmd = ETHTOOL_GSTATS;
		stats->n_stats = n;
		err = ask(ifname, stats);
	}
	for (u32 i = 0; !err && i < n; i++)
		if (memmem(string_at(names, i), strnlen(string_at(names, i), ETH_GSTRING_LEN), part,
			   strlen(part)))
			*sum += stats->data[i];
	free(stats);
	free(names);
	return err;
}
