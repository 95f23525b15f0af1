// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * send IFACE FILE [RATE]: send the frames of a capture as they are, as fast as they go or RATE a
 * second, in batches. Prints the number of frames that the kernel took.
 */
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BATCH 32
#define FRAME_MAX 65536

struct sender {
	int sock;
	struct mmsghdr messages[BATCH];
	struct iovec parts[BATCH];
	unsigned char frames[BATCH][FRAME_MAX];
	unsigned int n;
	unsigned long sent;
	double rate; /* frames a second; 0: no limit */
	struct timespec next;
};

static int open_socket(const char *interface)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET };
	int sock = socket(AF_PACKET, SOCK_RAW, 0);

	at.sll_ifindex = if_nametoindex(interface);
	if (sock < 0 || !at.sll_ifindex || bind(sock, (struct sockaddr *)&at, sizeof(at))) {
		perror(interface);
		return -1;
	}
	return sock;
}

static void pace(struct sender *s, unsigned int n)
{
	long long ns = s->rate ? (long long)(n * 1e9 / s->rate) : 0;

	s->next.tv_nsec += ns % 1000000000;
	s->next.tv_sec += ns / 1000000000 + s->next.tv_nsec / 1000000000;
	s->next.tv_nsec %= 1000000000;
	if (ns)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &s->next, NULL);
}

static int flush(struct sender *s)
{
	for (unsigned int done = 0; done < s->n;) {
		int n = sendmmsg(s->sock, s->messages + done, s->n - done, 0);

		if (n < 0) {
			perror("sendmmsg");
			return -1;
		}
		done += n;
	}
	s->sent += s->n;
	pace(s, s->n);
	s->n = 0;
	return 0;
}

static int add(struct sender *s, const unsigned char *frame, unsigned int len)
{
	if (len > FRAME_MAX)
		return -1;
	memcpy(s->frames[s->n], frame, len);
	s->parts[s->n] = (struct iovec){ s->frames[s->n], len };
	s->messages[s->n].msg_hdr = (struct msghdr){ .msg_iov = &s->parts[s->n], .msg_iovlen = 1 };
	return ++s->n == BATCH ? flush(s) : 0;
}

static int send_all(struct sender *s, pcap_t *capture)
{
	const unsigned char *frame;
	struct pcap_pkthdr *header;
	int more, err = 0;

	clock_gettime(CLOCK_MONOTONIC, &s->next);
	while (!err && (more = pcap_next_ex(capture, &header, &frame)) == 1)
		err = add(s, frame, header->caplen);
	return err || more != PCAP_ERROR_BREAK || flush(s) ? 1 : 0;
}

int main(int argc, char **argv)
{
	char err[PCAP_ERRBUF_SIZE];
	struct sender *s;
	pcap_t *capture;
	int code;

	if (argc < 3) {
		fprintf(stderr, "usage: send IFACE FILE [RATE]\n");
		return 2;
	}
	capture = pcap_open_offline(argv[2], err);
	if (!capture) {
		fprintf(stderr, "send: %s\n", err);
		return 1;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return 1;
	s->rate = argc > 3 ? atof(argv[3]) : 0;
	s->sock = open_socket(argv[1]);
	code = s->sock < 0 ? 1 : send_all(s, capture);
	printf("%lu\n", s->sent);
	pcap_close(capture);
	free(s);
	return code;
}
