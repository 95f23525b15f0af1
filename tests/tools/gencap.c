// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes a capture of UDP packets with known copies. The same options give the same bytes.
 *
 * Time passes in slots of 1/rate seconds, a frame in each. A frame is a new packet, or the one
 * copy of a packet of the last --within milliseconds: whether there will be a copy, and in which
 * slot, is drawn when the packet is made.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull
#define START_S 1700000000ull
#define MAX_FRAME 65535
#define VLAN_TAG 4

enum format { PCAP, PCAP_NANO, PCAPNG };

struct settings {
	uint64_t frames, rate, seed, within_ms;
	unsigned int size, copies, v6, vlan;
	bool ttl, mac;
	enum format format;
	const char *output;
};

struct tally {
	uint64_t packets, copies;
};

static uint64_t random_state;

static uint64_t mix(uint64_t v)
{
	v += 0x9e3779b97f4a7c15u;
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
	v = (v ^ v >> 27) * 0x94d049bb133111ebu;
	return v ^ v >> 31;
}

static uint64_t draw(uint64_t below)
{
	random_state = mix(random_state);
	return random_state % below;
}

static uint8_t *put16(uint8_t *at, unsigned int v)
{
	*at++ = v >> 8;
	*at++ = v;
	return at;
}

static uint8_t *put32(uint8_t *at, uint32_t v)
{
	return put16(put16(at, v >> 16), v);
}

static uint32_t sum16(const uint8_t *at, unsigned int len, uint32_t sum)
{
	for (; len > 1; at += 2, len -= 2)
		sum += at[0] << 8 | at[1];
	return len ? sum + (at[0] << 8) : sum;
}

static unsigned int fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

static uint8_t *ethernet(uint8_t *at, const struct settings *s, bool copy, bool v6)
{
	static const uint8_t macs[] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };

	memcpy(at, macs, sizeof(macs));
	if (copy && s->mac)
		at[5] = at[11] = 9;
	at += sizeof(macs);
	if (copy && s->vlan)
		at = put16(put16(at, 0x8100), s->vlan);
	return put16(at, v6 ? 0x86dd : 0x0800);
}

static uint8_t *ipv4(uint8_t *at, const struct settings *s, uint64_t packet, bool copy,
		     unsigned int len)
{
	uint8_t *head = at;

	at = put16(at, 0x4500);
	at = put16(at, len);
	at = put16(at, packet);
	at = put16(at, 0);
	*at++ = copy && s->ttl ? 63 : 64;
	*at++ = 17;
	at = put16(at, 0);
	at = put32(at, 0x0a000000 | (packet >> 8 & 0xffff));
	at = put32(at, 0x0a010000 | (packet & 0xff));
	put16(head + 10, fold(sum16(head, 20, 0)));
	return at;
}

static uint8_t *ipv6(uint8_t *at, const struct settings *s, uint64_t packet, bool copy,
		     unsigned int len)
{
	at = put32(at, 0x60000000);
	at = put16(at, len - 40);
	*at++ = 17;
	*at++ = copy && s->ttl ? 63 : 64;
	for (int side = 0; side < 2; side++) {
		at = put32(at, 0xfd000000);
		at = put32(at, side);
		at = put32(at, 0);
		at = put32(at, side ? packet & 0xff : packet >> 8);
	}
	return at;
}

/* The UDP datagram of @len bytes; @addresses bytes before it go into its checksum. */
static void udp(uint8_t *at, uint64_t packet, unsigned int len, unsigned int addresses)
{
	uint64_t word = packet;
	unsigned int check;

	put16(put16(put16(put16(at, 1024 + packet % 50000), 9), len), 0);
	for (unsigned int i = 8; i < len; i += 8) {
		word = mix(word);
		memcpy(at + i, &word, len - i < 8 ? len - i : 8);
	}
	check = fold(sum16(at - addresses, addresses + len, 17 + len));
	put16(at + 6, check ? check : 0xffff);
}

/* Returns the frame's length: --size, and the tag of a tagged copy. */
static unsigned int build(uint8_t *frame, const struct settings *s, uint64_t packet, bool copy)
{
	bool v6 = mix(packet ^ s->seed) % 100 < s->v6;
	uint8_t *ip = ethernet(frame, s, copy, v6);
	unsigned int len = s->size - 14;
	unsigned int head = v6 ? 40 : 20;

	if (v6)
		ipv6(ip, s, packet, copy, len);
	else
		ipv4(ip, s, packet, copy, len);
	udp(ip + head, packet, len - head, v6 ? 32 : 8);
	return ip - frame + len;
}

static void write_or_die(const void *data, size_t len, FILE *to)
{
	if (fwrite(data, 1, len, to) == len)
		return;
	perror("gencap: cannot write");
	exit(1);
}

static void write_head(const struct settings *s, FILE *to)
{
	static const uint32_t section[] = { 0x0a0d0d0a, 28, 0x1a2b3c4d, 1, ~0u, ~0u, 28 };
	static const uint32_t interface[] = { 1, 32, 1, 262144, 1 << 16 | 9, 9, 0, 32 };
	const uint32_t pcap[] = {
		s->format == PCAP ? 0xa1b2c3d4 : 0xa1b23c4d, 4 << 16 | 2, 0, 0, 262144, 1
	};

	if (s->format == PCAPNG) {
		write_or_die(section, sizeof(section), to);
		write_or_die(interface, sizeof(interface), to);
	} else {
		write_or_die(pcap, sizeof(pcap), to);
	}
}

static void write_frame(const struct settings *s, uint64_t ns, const uint8_t *frame, uint32_t len,
			FILE *to)
{
	static const uint8_t zeros[3];
	uint32_t padding = -len & 3, total = 32 + len + padding;
	uint32_t fraction = ns % NS_PER_S / (s->format == PCAP ? 1000 : 1);
	const uint32_t record[] = { ns / NS_PER_S, fraction, len, len };
	const uint32_t block[] = { 6, total, 0, ns >> 32, ns, len, len };

	if (s->format != PCAPNG) {
		write_or_die(record, sizeof(record), to);
		write_or_die(frame, len, to);
		return;
	}
	write_or_die(block, sizeof(block), to);
	write_or_die(frame, len, to);
	write_or_die(zeros, padding, to);
	write_or_die(&total, sizeof(total), to);
}

/* Reserve one of the @window slots from @now + 1 on for a copy of @packet, if one is free. */
static void plan_copy(uint64_t *slots, uint64_t window, uint64_t now, uint64_t packet)
{
	uint64_t start = draw(window);

	for (uint64_t i = 0; i < window; i++) {
		uint64_t *slot = &slots[(now + 1 + (start + i) % window) % (window + 1)];

		if (!*slot) {
			*slot = packet + 1;
			return;
		}
	}
}

static struct tally generate(const struct settings *s, FILE *to)
{
	uint64_t window = s->within_ms * NS_PER_MS / (NS_PER_S / s->rate);
	uint64_t *slots = calloc(window + 1, sizeof(*slots)); /* packet + 1, or 0: free */
	static uint8_t frame[MAX_FRAME + VLAN_TAG];
	struct tally t = {};

	if (!slots) {
		perror("gencap");
		exit(1);
	}
	random_state = s->seed;
	write_head(s, to);
	for (uint64_t i = 0; i < s->frames; i++) {
		uint64_t *slot = &slots[i % (window + 1)];
		bool copy = *slot;
		uint64_t packet = copy ? *slot - 1 : t.packets++;
		unsigned int len = build(frame, s, packet, copy);

		*slot = 0;
		t.copies += copy;
		write_frame(s, START_S * NS_PER_S + i * NS_PER_S / s->rate, frame, len, to);
		if (!copy && window && draw(100) < s->copies)
			plan_copy(slots, window, i, packet);
	}
	free(slots);
	return t;
}

static void usage(FILE *to)
{
	fprintf(to,
		"usage: gencap [OPTION...] -o FILE\n\n"
		"Writes a capture of UDP packets with known copies (-o -: to stdout), and says on\n"
		"stderr: frames=N distinct=N copies=N.\n\n"
		"  --frames N    frames in all (500000)\n"
		"  --size BYTES  Ethernet frame, 62 or more (300)\n"
		"  --copies PCT  of the packets are copied once (70)\n"
		"  --within MS   after the packet at most (20)\n"
		"  --rate PPS    frames a second, up to a million (100000)\n"
		"  --v6 PCT      of the packets are IPv6 (0)\n"
		"  --ttl         the copy's TTL or hop limit is one less\n"
		"  --mac         the copy's MAC addresses are others\n"
		"  --vlan ID     the copy is tagged\n"
		"  --format F    pcap, nspcap or pcapng (pcap)\n"
		"  --seed N      other copies (1)\n");
}

static uint64_t number(const char *name, const char *text, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t v = strtoull(text, &end, 10);

	if (*text >= '0' && *text <= '9' && !*end && v >= least && v <= most)
		return v;
	fprintf(stderr, "gencap: --%s %s: not a number from %llu to %llu\n", name, text,
		(unsigned long long)least, (unsigned long long)most);
	exit(2);
}

static enum format format(const char *text)
{
	static const char *const names[] = { "pcap", "nspcap", "pcapng" };

	for (int i = 0; i < 3; i++) {
		if (!strcmp(text, names[i]))
			return i;
	}
	fprintf(stderr, "gencap: --format %s: not pcap, nspcap or pcapng\n", text);
	exit(2);
}

static const struct option options[] = {
	{ "frames", 1, NULL, 'n' }, { "size", 1, NULL, 's' }, { "copies", 1, NULL, 'c' },
	{ "within", 1, NULL, 'w' }, { "rate", 1, NULL, 'r' }, { "v6", 1, NULL, '6' },
	{ "ttl", 0, NULL, 't' },    { "mac", 0, NULL, 'm' },  { "vlan", 1, NULL, 'v' },
	{ "format", 1, NULL, 'f' }, { "seed", 1, NULL, 'e' }, { "output", 1, NULL, 'o' },
	{ "help", 0, NULL, 'h' },   { NULL, 0, NULL, 0 },
};

static void set(struct settings *s, int letter, const char *name)
{
	switch (letter) {
	case 'n':
		s->frames = number(name, optarg, 0, 1000000000);
		break;
	case 's':
		s->size = number(name, optarg, 62, MAX_FRAME);
		break;
	case 'c':
		s->copies = number(name, optarg, 0, 100);
		break;
	case 'w':
		s->within_ms = number(name, optarg, 0, 10000);
		break;
	case 'r':
		s->rate = number(name, optarg, 1, 1000000);
		break;
	case '6':
		s->v6 = number(name, optarg, 0, 100);
		break;
	case 'v':
		s->vlan = number(name, optarg, 1, 4094);
		break;
	case 'e':
		s->seed = number(name, optarg, 0, UINT32_MAX);
		break;
	case 't':
		s->ttl = true;
		break;
	case 'm':
		s->mac = true;
		break;
	case 'f':
		s->format = format(optarg);
		break;
	case 'o':
		s->output = optarg;
		break;
	case 'h':
		usage(stdout);
		exit(0);
	default:
		usage(stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct settings s = {
		.frames = 500000,
		.size = 300,
		.copies = 70,
		.within_ms = 20,
		.rate = 100000,
		.seed = 1,
	};
	int letter, row = -1;
	struct tally t;
	FILE *to;

	while ((letter = getopt_long(argc, argv, "o:h", options, &row)) != -1)
		set(&s, letter, row < 0 ? "" : options[row].name);
	if (!s.output || optind < argc) {
		usage(stderr);
		return 2;
	}
	to = strcmp(s.output, "-") ? fopen(s.output, "wb") : stdout;
	if (!to) {
		fprintf(stderr, "gencap: %s: %m\n", s.output);
		return 1;
	}
	t = generate(&s, to);
	if (fclose(to)) {
		perror("gencap: cannot write");
		return 1;
	}
	fprintf(stderr, "frames=%llu distinct=%llu copies=%llu\n", (unsigned long long)s.frames,
		(unsigned long long)t.packets, (unsigned long long)t.copies);
	return 0;
}
