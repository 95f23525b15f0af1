/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rogue WHAT HOST:PORT GROUP SECONDS: someone in the group, or on its bus, who means no good.
 *   ones     has the secret, of instance `tap` here, and publishes as rogue.tap a filter of all ones
 *   crowd    has it, too, and publishes as 70 members that have seen little
 *   forged   the same without the secret
 *   watch    without the secret, publishes as a.tap what would make its watch set another one
 *   fuzz     publishes damaged copies of what others publish, under their names
 *   replay   publishes what others published again, in another order, many times
 * Speaks NATS' text protocol. Prints how many messages it published.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "user/clock.h"
#include "user/cluster/delta.h"
#include "user/cluster/occupancy.h"
#include "user/cluster/watch_wire.h"
#include "user/loader/program.h"

#define SECOND_NS 1000000000ull
#define CROWD 70
#define KEPT_MAX 512
#define REPEATS 20

struct kept {
	char subject[256];
	u8 *bytes;
	size_t size;
};

static FILE *bus;
static int sock;
static unsigned long published;
static u64 random_state = 88172645463325252ull;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static u64 next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void dial(const char *where)
{
	char host[64], *colon;
	struct addrinfo *to;

	snprintf(host, sizeof(host), "%s", where);
	colon = strrchr(host, ':');
	if (!colon)
		die(where);
	*colon = 0;
	if (getaddrinfo(host, colon + 1, &(struct addrinfo){ .ai_socktype = SOCK_STREAM }, &to))
		die(where);
	sock = socket(to->ai_family, SOCK_STREAM, 0);
	if (sock < 0 || connect(sock, to->ai_addr, to->ai_addrlen))
		die(where);
	freeaddrinfo(to);
	bus = fdopen(sock, "r+");
	if (!bus)
		die(where);
}

static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vdprintf(sock, format, args) < 0)
		die("write");
	va_end(args);
}

static void publish(const char *subject, const u8 *bytes, size_t size)
{
	say("PUB %s %zu\r\n", subject, size);
	for (size_t done = 0; done < size;) {
		ssize_t n = write(sock, bytes + done, size - done);

		if (n <= 0)
			die("write");
		done += n;
	}
	say("\r\n");
	published++;
}

/* The next message to @kept; answers the server's pings. Returns false at @until. */
static bool next_message(struct kept *kept, u64 until)
{
	char line[512];

	while (now_ns() < until) {
		struct pollfd wait = { sock, POLLIN, 0 };

		if (poll(&wait, 1, 100) <= 0)
			continue;
		if (!fgets(line, sizeof(line), bus))
			die("the server");
		if (!strncmp(line, "PING", 4))
			say("PONG\r\n");
		if (sscanf(line, "MSG %255s %*s %zu", kept->subject, &kept->size) != 2)
			continue;
		kept->bytes = malloc(kept->size + 2);
		if (!kept->bytes || fread(kept->bytes, 1, kept->size + 2, bus) != kept->size + 2)
			die("message");
		return true;
	}
	return false;
}

/* What a member of the group knows. */
struct insider {
	struct instance in;
	struct wire_key key;
	u64 epoch, fingerprint;
};

static bool get_inside(struct insider *who, bool forged)
{
	struct xdd_secret secret;
	char err[256] = "";

	if (instance_open(&who->in, "tap", err, sizeof(err)) ||
	    program_get_secret(who->in.maps.rodata, &secret) ||
	    occupancy_fingerprint(&who->in, &who->fingerprint)) {
		fprintf(stderr, "tap: %s\n", err);
		return false;
	}
	who->key = wire_key_of(&(struct wire_key){ { secret.sip[0] ^ forged, secret.sip[1] } },
			       "xdp-dedup replicas");
	who->epoch = time(NULL) * SECOND_NS;
	return true;
}

/* A whole filter of 1024 bits that member @name says to have. */
static void publish_full(const struct insider *who, const char *group, const char *name, u64 seq,
			 const u64 *bits)
{
	static u8 message[WIRE_MAX];
	struct wire_self self = { .epoch = who->epoch, .fingerprint = who->fingerprint };
	struct wire_head head = { .type = WIRE_FULL,
				  .hashes = who->in.fixed.replica_hashes,
				  .shift = 10,
				  .seq = seq,
				  .parts = 1,
				  .bits = 1024,
				  .keys = 100,
				  .window_ns = SECOND_NS,
				  .heartbeat_ns = SECOND_NS };
	char subject[256];

	self.key = wire_key_of(&who->key, name);
	snprintf(subject, sizeof(subject), "xdd.%s.%s.state", group, name);
	head.payload_bytes = delta_encode(bits, 1024, message + WIRE_HEADER);
	publish(subject, message, wire_seal(&self, &head, message));
}

static int publish_ones(const char *group, bool forged, u64 until)
{
	struct insider who;
	u64 ones[1024 / 64];

	if (!get_inside(&who, forged))
		return 1;
	memset(ones, 0xff, sizeof(ones));
	for (u64 seq = 1; now_ns() < until; seq++) {
		publish_full(&who, group, "rogue.tap", seq, ones);
		usleep(100000);
	}
	instance_close(&who.in);
	return 0;
}

static int publish_crowd(const char *group, u64 until)
{
	struct insider who;
	char name[32];

	if (!get_inside(&who, false))
		return 1;
	for (u64 seq = 1; now_ns() < until; seq++) {
		for (u32 i = 0; i < CROWD; i++) {
			u64 one[1024 / 64] = { 0 };

			one[i % XDD_ARRAY_SIZE(one)] = 1ULL << i % 64;
			snprintf(name, sizeof(name), "crowd%u.tap", i);
			publish_full(&who, group, name, seq, one);
		}
		usleep(300000);
	}
	instance_close(&who.in);
	return 0;
}

static int publish_watch(const char *group, u64 until)
{
	static const enum wire_type types[] = { WIRE_WATCH_FULL, WIRE_WATCH_DELTA,
						WIRE_WATCH_BEAT };
	static u8 message[WIRE_MAX];
	struct wire_self self = { .epoch = 2 * time(NULL) * SECOND_NS };
	char subject[256];

	self.key = wire_key_of(&(struct wire_key){ { 1, 2 } }, "a.tap");
	for (u64 seq = 1; now_ns() < until; seq++) {
		enum wire_type type = types[seq % 3];
		struct wire_head head = { .type = type, .seq = seq, .parts = 1 };
		const struct watch_told told = { .deflated = 100, .bytes = 100 };

		snprintf(subject, sizeof(subject), "xdd.%s.a.tap.watch%s", group,
			 type == WIRE_WATCH_BEAT ? "" : "0");
		publish(subject, message,
			watch_seal(&self, &head, &told, type == WIRE_WATCH_BEAT ? 0 : 100,
				   message));
		usleep(50000);
	}
	return 0;
}

static void damage(struct kept *kept)
{
	u32 n = 1 + next_random() % 4;

	if (next_random() % 4 == 0)
		kept->size = next_random() % (kept->size + 1);
	else if (kept->size)
		for (u32 i = 0; i < n; i++)
			kept->bytes[next_random() % kept->size] ^= 1 << next_random() % 8;
}

static int fuzz(const char *group, u64 until)
{
	struct kept kept;

	say("SUB xdd.%s.> 1\r\n", group);
	while (next_message(&kept, until)) {
		damage(&kept);
		publish(kept.subject, kept.bytes, kept.size);
		free(kept.bytes);
	}
	return 0;
}

static int replay(const char *group, u64 until)
{
	static struct kept kept[KEPT_MAX];
	u64 half = now_ns() + (until - now_ns()) / 2;
	u32 n = 0;

	say("SUB xdd.%s.> 1\r\n", group);
	while (n < KEPT_MAX && next_message(&kept[n], half))
		n++;
	say("UNSUB 1\r\n");
	for (u32 i = 0; i < REPEATS * n; i++) {
		const struct kept *again = &kept[next_random() % n];

		publish(again->subject, again->bytes, again->size);
	}
	while (n)
		free(kept[--n].bytes);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc == 5 ? argv[1] : "";
	u64 until;
	int code;

	if (argc != 5) {
		fprintf(stderr, "usage: rogue ones|crowd|forged|watch|fuzz|replay HOST:PORT GROUP "
				"SECONDS\n");
		return 2;
	}
	until = now_ns() + strtod(argv[4], NULL) * SECOND_NS;
	dial(argv[2]);
	say("CONNECT {\"verbose\":false,\"pedantic\":false,\"echo\":false}\r\n");
	if (!strcmp(what, "fuzz"))
		code = fuzz(argv[3], until);
	else if (!strcmp(what, "replay"))
		code = replay(argv[3], until);
	else if (!strcmp(what, "crowd"))
		code = publish_crowd(argv[3], until);
	else if (!strcmp(what, "watch"))
		code = publish_watch(argv[3], until);
	else
		code = publish_ones(argv[3], !strcmp(what, "forged"), until);
	say("PING\r\n");
	usleep(200000); /* what was written is read before the connection ends */
	printf("%lu\n", published);
	return code;
}
