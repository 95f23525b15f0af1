// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/watch/keys.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "user/accessors.h"
#include "user/capture/packet.h"
#include "user/explain/explain.h"
#include "user/loader/program.h"
#include "user/message.h"
#include "user/names.h"
#include "user/units.h"

#define READ_BUFFER (1u << 20)
#define TEXT_MAX 160		  /* of a key that is no frame */
#define LINE_MAX_BYTES (1u << 20) /* a frame in hexadecimal, and a comment */
#define FRAME_DIGITS_MIN 28	  /* an Ethernet header */

int watch_keys_open(struct watch_keys *keys, const struct instance *in)
{
	*keys = (struct watch_keys){ .fixed = in->fixed };
	return program_get_secret(in->maps.rodata, &keys->secret);
}

void watch_keys_close(struct watch_keys *keys)
{
	free(keys->key);
	*keys = (struct watch_keys){};
}

static int put(struct watch_keys *keys, u64 key, u64 origin)
{
	if (keys->n == keys->room) {
		size_t room = keys->room ? 2 * keys->room : 64;
		void *more = reallocarray(keys->key, room, sizeof(*keys->key));

		if (!more)
			return -ENOMEM;
		keys->key = more;
		keys->room = room;
	}
	keys->key[keys->n++] = (struct watch_key){ key, origin };
	return 0;
}

/* The key of @packet, as the instance would find it, under @fixed. Returns XDD_BYPASS_MAX or the reason why
 * there is none.
 */
static u32 key_of(const struct watch_keys *keys, const struct xdd_fixed *fixed,
		  const struct xdd_packet *packet, u64 *key)
{
	struct xdd_identity identity = {};
	u32 bypass = xdd_identify(fixed, &keys->secret, packet, &identity);

	*key = xdd_watch_key(&identity.digest).lo;
	return bypass;
}

/* An IP packet without Ethernet, of which a key of addresses and ports is made. */
struct made {
	bool six;
	u8 bytes[48];
};

static void make(struct made *made, bool six)
{
	*made = (struct made){ .six = six };
	if (six) {
		made->bytes[0] = 0x60;
		made->bytes[5] = 8; /* payload length */
	} else {
		made->bytes[0] = 0x45;
		made->bytes[3] = 28; /* total length */
	}
}

static u8 *address_of(struct made *made, bool destination)
{
	return made->bytes + (made->six ? 8 + 16 * destination : 12 + 4 * destination);
}

/* @text, or as what it is sent: an IPv4 address that is written as one of IPv6 (RFC 4291, 2.5.5.2), in @four. */
static const char *unmapped(const char *text, char four[INET_ADDRSTRLEN])
{
	struct in6_addr six;

	if (!text || inet_pton(AF_INET6, text, &six) != 1 || !IN6_IS_ADDR_V4MAPPED(&six))
		return text;
	return inet_ntop(AF_INET, &six.s6_addr[12], four, INET_ADDRSTRLEN);
}

/* Returns 0, or -1 where @text is no address, or of another version. */
static int put_address(struct made *made, bool destination, const char *text)
{
	return inet_pton(made->six ? AF_INET6 : AF_INET, text, address_of(made, destination)) == 1
		       ? 0
		       : -1;
}

static int put_addresses(struct made *made, const char *src, const char *dst)
{
	char from[INET_ADDRSTRLEN], to[INET_ADDRSTRLEN];

	src = unmapped(src, from);
	dst = unmapped(dst, to);
	make(made, strchr(src ?: dst, ':'));
	made->bytes[made->six ? 6 : 9] = IPPROTO_UDP;
	return (src && put_address(made, false, src)) || (dst && put_address(made, true, dst)) ? -1
											       : 0;
}

static int put_protocol(struct made *made, const char *text)
{
	static const struct {
		const char *name;
		u8 number;
	} known[] = { { "tcp", IPPROTO_TCP },	    { "udp", IPPROTO_UDP },
		      { "icmp", IPPROTO_ICMP },	    { "icmp6", IPPROTO_ICMPV6 },
		      { "icmpv6", IPPROTO_ICMPV6 }, { "sctp", IPPROTO_SCTP } };
	u64 number = 256;

	for (size_t i = 0; i < XDD_ARRAY_SIZE(known); i++)
		if (!strcasecmp(text, known[i].name))
			number = known[i].number;
	if (number == 256 && (units_number(text, &number) || number > 255))
		return -1;
	made->bytes[made->six ? 6 : 9] = number;
	return 0;
}

static bool is_icmp(const struct made *made)
{
	u8 proto = made->bytes[made->six ? 6 : 9];

	return proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6;
}

/* Ports lie one behind the other; an ICMP type is one byte, and an echo's identifier lies behind the
 * checksum.
 */
static int put_port(struct made *made, bool destination, const char *text)
{
	bool icmp = is_icmp(made), type = icmp && !destination;
	u8 *at = made->bytes + (made->six ? 40 : 20) + (destination ? icmp ? 4 : 2 : 0);
	u64 port;

	if (units_number(text, &port) || port > (type ? 255 : 65535))
		return -1;
	if (type) {
		at[0] = port;
		return 0;
	}
	at[0] = port >> 8;
	at[1] = port;
	return 0;
}

static int parse_flow(struct made *made, char *const part[5])
{
	return put_addresses(made, part[1], part[3]) || put_protocol(made, part[0]) ||
			       put_port(made, false, part[2]) || put_port(made, true, part[4])
		       ? -1
		       : 0;
}

/* How keys of a kind are written; NULL: as frames only. */
static const char *form_of(u32 kind)
{
	static const char *const forms[XDD_KEY_MAX] = {
		[XDD_KEY_flow] = "PROTOCOL,ADDRESS,PORT,ADDRESS,PORT such as "
				 "tcp,192.0.2.1,34567,192.0.2.2,443",
		[XDD_KEY_biflow] = "PROTOCOL,ADDRESS,PORT,ADDRESS,PORT such as "
				   "tcp,192.0.2.1,34567,192.0.2.2,443",
		[XDD_KEY_src] = "an ADDRESS such as 192.0.2.1",
		[XDD_KEY_dst] = "an ADDRESS such as 192.0.2.1",
		[XDD_KEY_srcdst] = "ADDRESS,ADDRESS such as 192.0.2.1,192.0.2.2",
	};

	return forms[kind];
}

static int parse_addresses(u32 kind, char *text, struct made *made)
{
	char *part[6] = {};
	int n = 0;

	while (text && n < 6)
		part[n++] = strsep(&text, ",");
	switch (kind) {
	case XDD_KEY_src:
		return n == 1 ? put_addresses(made, part[0], NULL) : -1;
	case XDD_KEY_dst:
		return n == 1 ? put_addresses(made, NULL, part[0]) : -1;
	case XDD_KEY_srcdst:
		return n == 2 ? put_addresses(made, part[0], part[1]) : -1;
	}
	return n == 5 ? parse_flow(made, part) : -1;
}

static int refuse_form(const struct watch_keys *keys, const char *text, char *err, size_t err_size)
{
	u32 kind = keys->fixed.key;

	if (form_of(kind) && xdd_has_site(&keys->fixed))
		return refuse(err, err_size, -EINVAL,
			      "%.60s: the keys of this instance have VLANs, tunnels or Ethernet "
			      "addresses, which only a packet shows: load a capture, or give a "
			      "frame's bytes in hexadecimal",
			      text);
	if (form_of(kind))
		return refuse(err, err_size, -EINVAL, "%.60s: no key of --key %s: write %s", text,
			      key_names[kind], form_of(kind));
	return refuse(err, err_size, -EINVAL,
		      "%.60s: of --key %s only a packet shows the key: load a capture, or give a "
		      "frame's bytes in hexadecimal (events --json shows them)",
		      text, key_names[kind]);
}

static int parse_named(struct watch_keys *keys, const char *text, u64 *key)
{
	struct xdd_fixed fixed = keys->fixed;
	char copy[TEXT_MAX];
	struct made made;
	struct xdd_packet packet = { .data = made.bytes, .link = XDD_LINK_RAW };

	if (!form_of(fixed.key) || xdd_has_site(&fixed) || strlen(text) >= sizeof(copy) ||
	    parse_addresses(fixed.key, strcpy(copy, text), &made))
		return -EINVAL;
	packet.len = packet.wire_len = made.six ? 48 : 28;
	packet.end = made.bytes + packet.len;
	fixed.verify_checksum = 0; /* it has none */
	return key_of(keys, &fixed, &packet, key) == XDD_BYPASS_MAX ? 0 : -EINVAL;
}

static int digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

static int parse_frame(struct watch_keys *keys, const char *text, u64 *key, char *err,
		       size_t err_size)
{
	static u32 iface;
	struct xdd_packet packet = { .source = &iface, .link = keys->fixed.link };
	u8 *bytes = malloc(strlen(text) / 2);
	u32 bypass;

	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; text[2 * i]; i++)
		bytes[i] = digit(text[2 * i]) << 4 | digit(text[2 * i + 1]);
	packet.len = packet.wire_len = strlen(text) / 2;
	packet.data = bytes;
	packet.end = bytes + packet.len;
	bypass = key_of(keys, &keys->fixed, &packet, key);
	free(bytes);
	if (bypass == XDD_BYPASS_MAX)
		return 0;
	return refuse(err, err_size, -EINVAL, "%.60s: this frame has no key: %s (%s)", text,
		      explain_bypass_name(bypass), explain_bypass_help(bypass));
}

static bool is_frame(const char *text)
{
	size_t n = strlen(text);

	return n >= FRAME_DIGITS_MIN && n % 2 == 0 && strspn(text, "0123456789abcdefABCDEF") == n;
}

int watch_keys_parse(struct watch_keys *keys, const char *text, u64 origin, char *err,
		     size_t err_size)
{
	u64 key;
	int rc;

	if (is_frame(text))
		rc = parse_frame(keys, text, &key, err, err_size);
	else
		rc = parse_named(keys, text, &key) ? refuse_form(keys, text, err, err_size) : 0;
	return rc ?: put(keys, key, origin);
}

static int take_frame(struct watch_keys *keys, const struct capture_item *item)
{
	struct xdd_packet packet = capture_packet(item);
	u64 key;

	if (key_of(keys, &keys->fixed, &packet, &key) == XDD_BYPASS_MAX)
		return put(keys, key, item->number);
	keys->skipped++;
	return 0;
}

int watch_keys_capture(struct watch_keys *keys, const char *path, char *err, size_t err_size)
{
	struct capture_reader *reader;
	struct capture_item item;
	int rc = capture_open(&reader, path, READ_BUFFER, err, err_size), got = 0;

	if (rc)
		return rc;
	while (!rc && (got = capture_next(reader, &item)) > 0)
		if (item.kind == CAPTURE_FRAME)
			rc = take_frame(keys, &item);
	if (rc)
		refuse(err, err_size, rc, "%s: no memory for its keys", path);
	else if (got < 0)
		rc = refuse(err, err_size, got, "%s", capture_error(reader));
	capture_close(reader);
	return rc;
}

/* Cut a comment and the white space around what is left. */
static char *trim(char *line)
{
	char *end;

	line[strcspn(line, "#\r\n")] = 0;
	line += strspn(line, " \t");
	for (end = line + strlen(line); end > line && isspace((unsigned char)end[-1]);)
		*--end = 0;
	return line;
}

/* The next line of @from to @line, which has room for LINE_MAX_BYTES + 1, without its end. Returns 0; 1: there is
 * none; or -EFBIG: it is longer; -EBADMSG: it holds a 0.
 */
static int next_line(FILE *from, char *line)
{
	size_t n = 0;
	int c;

	while ((c = getc_unlocked(from)) != EOF && c != '\n') {
		if (!c)
			return -EBADMSG;
		if (n == LINE_MAX_BYTES)
			return -EFBIG;
		line[n++] = c;
	}
	line[n] = 0;
	return c == EOF && !n;
}

int watch_keys_lines(struct watch_keys *keys, const char *path, char *err, size_t err_size)
{
	FILE *from = fopen(path, "re");
	char *line, *text, why[MESSAGE_MAX];
	unsigned long long number = 0;
	int rc = 0;

	if (!from)
		return refuse(err, err_size, -errno, "%s: %m", path);
	line = malloc(LINE_MAX_BYTES + 1);
	rc = line ? 0 : -ENOMEM;
	while (!rc && !(rc = next_line(from, line))) {
		text = trim(line);
		number++;
		if (*text)
			rc = watch_keys_parse(keys, text, number, why, sizeof(why));
	}
	if (rc == -EINVAL)
		refuse(err, err_size, rc, "%s:%llu: %.400s", path, number, why);
	else if (rc == -EBADMSG || rc == -EFBIG)
		refuse(err, err_size, rc, "%s:%llu: %s: not a list of keys", path, number + 1,
		       rc == -EFBIG ? "a line too long" : "a byte 0");
	else if (rc < 0 || ferror(from))
		rc = refuse(err, err_size, rc < 0 ? rc : -EIO, "%s: cannot be read", path);
	else
		rc = 0;
	free(line);
	fclose(from);
	return rc;
}

static int by_key(const void *a, const void *b)
{
	const struct watch_key *one = a, *other = b;

	if (one->key != other->key)
		return one->key < other->key ? -1 : 1;
	return one->origin < other->origin ? -1 : one->origin > other->origin;
}

static int by_origin(const void *a, const void *b)
{
	const struct watch_key *one = a, *other = b;

	return one->origin < other->origin ? -1 : one->origin > other->origin;
}

void watch_keys_unique(struct watch_keys *keys)
{
	size_t n = 0;

	if (!keys->n)
		return;
	qsort(keys->key, keys->n, sizeof(*keys->key), by_key);
	for (size_t i = 1; i < keys->n; i++)
		if (keys->key[i].key != keys->key[n].key)
			keys->key[++n] = keys->key[i];
	keys->n = n + 1;
	qsort(keys->key, keys->n, sizeof(*keys->key), by_origin);
}
