// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include <xdd/config.h>

#include "../message.h"

#define OPTIMIZED_MAX 1024 /* bytes of an expression */

/* Files number raw IP otherwise than the library does. */
static int library_link(u32 link)
{
	return link == XDD_LINK_RAW ? DLT_RAW : (int)link;
}

/* Whether it asks what only a socket knows of a packet, such as its direction: of bytes alone it never matches. */
static bool needs_socket(const struct bpf_program *code)
{
	for (u32 i = 0; i < code->bf_len; i++)
		if (BPF_CLASS(code->bf_insns[i].code) == BPF_LD &&
		    BPF_MODE(code->bf_insns[i].code) == BPF_ABS &&
		    code->bf_insns[i].k >= (u32)SKF_AD_OFF)
			return true;
	return false;
}

/* Compile f->expression for @link into @code; @optimize: that takes seconds for a few hundred addresses, and finds
 * what can never match.
 */
static int compile(struct capture_filter *f, u32 link, struct bpf_program *code, bool optimize)
{
	pcap_t *library = pcap_open_dead(library_link(link), CAPTURE_MAX_FRAME);
	const char *name = pcap_datalink_val_to_name(library_link(link));
	int rc = 0;

	if (!library)
		return refuse(f->error, sizeof(f->error), -ENOMEM, "out of memory");
	if (pcap_compile(library, code, f->expression, optimize, PCAP_NETMASK_UNKNOWN))
		rc = refuse(f->error, sizeof(f->error), -EINVAL,
			    "--filter '%s' on link type %s: %s (man pcap-filter has the syntax)",
			    f->expression, name ?: "unknown", pcap_geterr(library));
	pcap_close(library);
	if (rc || !needs_socket(code))
		return rc;
	pcap_freecode(code);
	return refuse(f->error, sizeof(f->error), -EINVAL,
		      "--filter '%s' on link type %s: asks what is not in the packet",
		      f->expression, name ?: "unknown");
	return rc;
}

/* The program for @link, compiled at its first frame; NULL with a line in f->error. */
static struct bpf_program *program_of(struct capture_filter *f, u32 link)
{
	struct filter_program *more;
	u32 i;

	for (i = 0; i < f->n; i++)
		if (f->programs[i].link == link)
			return f->programs[i].code;
	more = realloc(f->programs, (f->n + 1) * sizeof(*more));
	if (more) {
		f->programs = more;
		more[f->n].link = link;
		more[f->n].code = malloc(sizeof(*more->code));
	}
	if (!more || !more[f->n].code) {
		refuse(f->error, sizeof(f->error), -ENOMEM, "out of memory");
		return NULL;
	}
	if (compile(f, link, more[f->n].code, strlen(f->expression) <= OPTIMIZED_MAX)) {
		free(more[f->n].code);
		return NULL;
	}
	return more[f->n++].code;
}

int filter_open(struct capture_filter *f, const char *expression, enum capture_direction direction)
{
	/* Ethernet last: its message is the one that is shown. */
	static const u32 links[] = { XDD_LINK_SLL, XDD_LINK_SLL2, XDD_LINK_RAW, XDD_LINK_NULL,
				     XDD_LINK_ETHERNET };
	struct bpf_program code;
	int rc = 0;

	memset(f, 0, sizeof(*f));
	f->expression = expression;
	f->direction = direction;
	for (size_t i = 0; expression && i < XDD_ARRAY_SIZE(links); i++) {
		rc = compile(f, links[i], &code, false);
		if (rc)
			continue;
		pcap_freecode(&code);
		return 0;
	}
	return rc;
}

int filter_ready(struct capture_filter *f, u32 link)
{
	return !f->expression || program_of(f, link) ? 0 : -EINVAL;
}

int filter_takes(struct capture_filter *f, u32 link, const u8 *data, u32 len, u32 wire_len,
		 enum capture_direction direction)
{
	struct pcap_pkthdr header = { .caplen = len, .len = wire_len };
	struct bpf_program *code;

	if (f->direction != DIRECTION_ANY && direction != f->direction) {
		f->undirected += direction == DIRECTION_ANY;
		return 0;
	}
	if (!f->expression)
		return 1;
	code = program_of(f, link);
	return code ? pcap_offline_filter(code, &header, data) != 0 : -EINVAL;
}

void filter_close(struct capture_filter *f)
{
	for (u32 i = 0; i < f->n; i++) {
		pcap_freecode(f->programs[i].code);
		free(f->programs[i].code);
	}
	free(f->programs);
	f->programs = NULL;
	f->n = 0;
}
