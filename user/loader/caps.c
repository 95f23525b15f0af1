/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user/message.h"

static bool has(const struct __user_cap_data_struct data[2], int capability)
{
	return data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

int caps_check(char *err, size_t err_size)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {};
	bool bpf, net;

	if (syscall(SYS_capget, &header, data))
		return refuse(err, err_size, -errno, "cannot read my capabilities: %m");
	/* The verifier lets programs with loops and locks through for CAP_PERFMON, too. */
	bpf = has(data, CAP_SYS_ADMIN) || (has(data, CAP_BPF) && has(data, CAP_PERFMON));
	net = has(data, CAP_NET_ADMIN);
	if (bpf && net)
		return 0;
	return refuse(err, err_size, -EPERM,
		      "this process lacks %s%s%s: run it as root, or give it the capability",
		      bpf ? "" : "CAP_BPF and CAP_PERFMON", bpf || net ? "" : ", ",
		      net ? "" : "CAP_NET_ADMIN");
}
