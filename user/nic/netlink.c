/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/nic/netlink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define ANSWER_SECONDS 5

void *netlink_begin(struct netlink_request *request, u16 type, size_t size)
{
	memset(request, 0, sizeof(*request));
	request->header.nlmsg_type = type;
	request->header.nlmsg_flags = NLM_F_REQUEST;
	request->header.nlmsg_seq = 1;
	request->header.nlmsg_len = NLMSG_LENGTH(size);
	return request->body;
}

void netlink_add(struct netlink_request *request, u16 type, const void *data, size_t size)
{
	u32 at = NLMSG_ALIGN(request->header.nlmsg_len);
	struct nlattr *attribute = (struct nlattr *)((char *)request + at);

	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + size;
	memcpy((char *)attribute + NLA_HDRLEN, data, size);
	request->header.nlmsg_len = at + NLA_ALIGN(attribute->nla_len);
}

static int receive(int fd, void *answer)
{
	const struct nlmsghdr *header = answer;
	ssize_t n = recv(fd, answer, NETLINK_ANSWER_MAX, 0);

	if (n < 0)
		return -errno;
	if (n < (ssize_t)sizeof(*header) || header->nlmsg_len > (size_t)n)
		return -EBADMSG;
	if (header->nlmsg_type != NLMSG_ERROR)
		return 0;
	return n < (ssize_t)NLMSG_LENGTH(sizeof(int)) ? -EBADMSG : *(const int *)NLMSG_DATA(header);
}

int netlink_ask(int protocol, struct netlink_request *request, void *answer)
{
	const struct timeval patience = { .tv_sec = ANSWER_SECONDS };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol), err = 0;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (send(fd, request, request->header.nlmsg_len, 0) < 0)
		err = -errno;
	err = err ?: receive(fd, answer);
	close(fd);
	return err;
}

void netlink_attributes(const void *first, int size, const struct nlattr **found, int n)
{
	const char *at = first;

	memset(found, 0, n * sizeof(*found));
	while (size >= NLA_HDRLEN) {
		const struct nlattr *attribute = (const void *)at;
		int type = attribute->nla_type & NLA_TYPE_MASK;
		int step = NLA_ALIGN(attribute->nla_len);

		if (attribute->nla_len < NLA_HDRLEN || attribute->nla_len > size)
			return;
		if (type < n)
			found[type] = attribute;
		at += step;
		size -= step;
	}
}

u32 netlink_u32(const struct nlattr *attribute)
{
	u32 value = 0;

	if (attribute && netlink_size(attribute) >= (int)sizeof(value))
		memcpy(&value, netlink_data(attribute), sizeof(value));
	return value;
}

u64 netlink_u64(const struct nlattr *attribute)
{
	u64 value = 0;

	if (attribute && netlink_size(attribute) >= (int)sizeof(value))
		memcpy(&value, netlink_data(attribute), sizeof(value));
	return value;
}

void netlink_text(const struct nlattr *attribute, char *to, size_t size)
{
	if (attribute)
		snprintf(to, size, "%.*s", netlink_size(attribute),
			 (const char *)netlink_data(attribute));
	else
		*to = 0;
}
