// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* At the egress of a veth with several queues: the last byte of the source MAC chooses the queue. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tc")
int steer(struct __sk_buff *skb)
{
	unsigned char *data = (unsigned char *)(long)skb->data;

	/* What is recorded is the number of the queue and 1. */
	if (data + 12 <= (unsigned char *)(long)skb->data_end)
		skb->queue_mapping = data[11] + 1;
	return 0;
}
