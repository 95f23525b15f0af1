// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-dedup explain: why two frames of a capture are the same packet, or not. */
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../explain/explain.h"
#include "../message.h"

#define READ_BUFFER (1u << 20)

static int parse_number(const char *text, u64 *number)
{
	if (!units_number(text, number) && *number)
		return 0;
	complain("explain: %s: not the number of a frame, which count from 1", text);
	return -EINVAL;
}

/* Keep @item, whose bytes and interface the reader will overwrite. */
static int keep(struct explained_frame *frame, const struct capture_item *item)
{
	u8 *data = malloc(item->len ?: 1);

	if (!data)
		return -ENOMEM;
	frame->item = *item;
	memcpy(data, item->data, item->len);
	frame->item.data = data;
	frame->iface = *item->iface;
	frame->iface.global = frame->iface.number;
	frame->item.iface = &frame->iface;
	return 0;
}

/* Find the frames numbered @a and @b. Complains where one is beyond the end. */
static int find(struct explanation *e, struct capture_reader *reader, u64 a, u64 b)
{
	u64 frames = 0, last = a > b ? a : b;
	struct capture_item item;
	int rc;

	while ((rc = capture_next(reader, &item)) > 0) {
		if (item.kind != CAPTURE_FRAME)
			continue;
		frames = item.number;
		rc = frames == a ? keep(&e->a, &item) : 0;
		if (!rc && frames == b)
			rc = keep(&e->b, &item);
		if (rc || frames == last)
			break;
	}
	if (rc == -ENOMEM)
		complain("explain: out of memory");
	else if (rc < 0)
		complain("%s", capture_error(reader));
	else if (frames < last)
		complain("%s: there is no frame %llu: it has %llu", e->path,
			 (unsigned long long)last, (unsigned long long)frames);
	return rc < 0 ? rc : frames < last ? -ENOENT : 0;
}

static int print(const struct explanation *e, bool json)
{
	json_t *all;
	int rc;

	if (!json) {
		explain_print(e, stdout);
		return 0;
	}
	all = explain_json(e);
	rc = json_dumpf(all, stdout, JSON_INDENT(2)) ? -EIO : 0;
	putchar('\n');
	json_decref(all);
	return rc;
}

static void complain_bypassed(const struct explanation *e, const struct explained_frame *frame)
{
	if (frame->bypass != XDD_BYPASS_MAX)
		complain("%s: frame %llu has no key and always passes: %s (%s)", e->path,
			 (unsigned long long)frame->item.number, explain_bypass_name(frame->bypass),
			 explain_bypass_help(frame->bypass));
}

static int explain_file(struct explanation *e, const struct options *o, u64 a, u64 b)
{
	struct capture_reader *reader;
	char err[MESSAGE_MAX];
	int rc = capture_open(&reader, e->path, READ_BUFFER, err, sizeof(err));

	if (rc) {
		complain("%s", err);
		return rc;
	}
	rc = find(e, reader, a, b);
	if (!rc && explain(e)) {
		complain("explain: out of memory");
		rc = -ENOMEM;
	}
	if (!rc)
		rc = print(e, o->json);
	if (!rc) {
		complain_bypassed(e, &e->a);
		complain_bypassed(e, &e->b);
		rc = e->have_keys ? 0 : -ENODATA;
	}
	free((void *)e->a.item.data);
	free((void *)e->b.item.data);
	capture_close(reader);
	return rc;
}

int cmd_explain(struct options *o)
{
	struct derived derived;
	struct explanation *e;
	char err[MESSAGE_MAX];
	u64 a, b;
	int rc;

	if (parse_number(o->args[1], &a) || parse_number(o->args[2], &b))
		return EXIT_USAGE;
	if (derive_config(o, DERIVE_FILE, 1, 1, 1, &derived, err, sizeof(err))) {
		complain("explain: %s", err);
		return EXIT_USAGE;
	}
	e = calloc(1, sizeof(*e));
	if (!e) {
		complain("explain: out of memory");
		return EXIT_FAILED;
	}
	e->path = o->args[0];
	e->derived = &derived;
	rc = explain_file(e, o, a, b);
	free(e);
	return rc ? EXIT_FAILED : EXIT_OK;
}
