/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A request to the kernel by netlink and its one answer. The socket, and so the answer, belongs
 * to the network namespace that the thread is in (sysfs would show the one it was mounted in).
 */
#ifndef USER_NIC_NETLINK_H
#define USER_NIC_NETLINK_H

#include <linux/netlink.h>

#include <xdd/types.h>

#define NETLINK_ANSWER_MAX 32768

/* A request: a header, a fixed part, attributes. */
struct netlink_request {
	struct nlmsghdr header;
	char body[256];
};

/* Begin @request of @type with a fixed part of @size bytes, and return that, all zeroes. */
void *netlink_begin(struct netlink_request *request, u16 type, size_t size);

/* Add an attribute of @size bytes. The whole must fit into struct netlink_request. */
void netlink_add(struct netlink_request *request, u16 type, const void *data, size_t size);

/*
 * Send @request over @protocol and receive the answer into @answer, NETLINK_ANSWER_MAX bytes
 * aligned to 4. Returns 0, or the kernel's error, or one of sending and receiving, negative.
 */
int netlink_ask(int protocol, struct netlink_request *request, void *answer);

/* Put pointers to the attributes of @types 0 to @n - 1 among those at @first, @size bytes, into
 * @found; NULL where there is none.
 */
void netlink_attributes(const void *first, int size, const struct nlattr **found, int n);

static inline const void *netlink_data(const struct nlattr *attribute)
{
	return (const char *)attribute + NLA_HDRLEN;
}

static inline int netlink_size(const struct nlattr *attribute)
{
	return attribute->nla_len - NLA_HDRLEN;
}

/* The number in @attribute, or 0 where that is NULL or too short. */
u32 netlink_u32(const struct nlattr *attribute);
u64 netlink_u64(const struct nlattr *attribute);

/* Copy the text in @attribute; empty where that is NULL. */
void netlink_text(const struct nlattr *attribute, char *to, size_t size);

#endif
