/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A node of a tree as a service, and what it did. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "user/clock.h"
#include "user/cluster/branch_work.h"
#include "user/message.h"
#include "user/names.h"
#include "user/provenance.h"
#include "user/service.h"
#include "user/signals.h"

/* X(JSON's name, value, words) of counts */
#define BRANCH_COUNTS(X)                                                         \
	X(accesses, c->level.accesses, "visits to test or to set")               \
	X(hits, c->level.hits, "duplicates found here")                          \
	X(refuted, c->level.refuted, "matches found nowhere below")              \
	X(distinct, c->distinct, "passed here")                                  \
	X(alone, c->alone, "decided without the parent")                         \
	X(unconfirmed, c->unconfirmed, "matches that a child could not confirm") \
	X(held, c->held, "waits for the same key, on its way")                   \
	X(questions, c->questions, "questions")                                  \
	X(answers, c->answers, "answers")                                        \
	X(bytes_in, c->bytes_in, "bytes in")                                     \
	X(bytes_out, c->bytes_out, "bytes out")                                  \
	X(again, b->repeats, "questions sent again")                             \
	X(repeated, c->repeated, "questions that came again")                    \
	X(refused, b->refused + c->refused + calls_counts(b->calls).refused, "messages refused")

#define TROUBLE_WORD(name, word) word,

static const char *parent_state(const struct branch *b)
{
	static const char *const words[] = { BRANCH_TROUBLES(TROUBLE_WORD) };

	if (!b->plan.parent)
		return "none";
	if (b->trouble)
		return words[b->trouble];
	return b->peers[NODE_PARENT].failed ? "failed" : b->node ? "ok" : "not found";
}

static u32 children_of(const struct branch *b)
{
	u32 children = 0;

	for (u32 i = 0; i < NODE_CHILDREN; i++)
		children += b->peers[i].id && !b->peers[i].failed;
	return children;
}

#define SET_COUNT(name, value, words) json_object_set_new(all, #name, json_integer(value));

json_t *branch_json(const struct branch *b)
{
	static const struct node_counts none;
	const struct node_counts *c = b->node ? node_counts(b->node) : &none;
	json_t *all = json_pack("{s:s, s:s, s:i, s:s, s:s, s:i}", "site", b->here.name, "kind",
				tree_names[b->plan.d->fixed.tree], "level", (int)b->here.first,
				"parent", b->plan.parent ?: "", "parent_state", parent_state(b),
				"children", (int)children_of(b));

	BRANCH_COUNTS(SET_COUNT)
	if (b->sites)
		json_object_set_new(all, "sites", remote_json(b->sites));
	return all;
}

#define PRINT_COUNT(name, value, words) \
	if (value)                      \
		fprintf(to, "%14" PRIu64 "  %s\n", (uint64_t)(value), words);

void branch_print(const struct branch *b, FILE *to)
{
	static const struct node_counts none;
	const struct node_counts *c = b->node ? node_counts(b->node) : &none;
	char text[CALL_TEXT];

	branch_name(b, text);
	if (b->plan.bare)
		fprintf(to, "leaf %s: %s\n", b->plan.parent, parent_state(b));
	else
		fprintf(to, "%s: %u children, parent: %s\n", text, children_of(b), parent_state(b));
	BRANCH_COUNTS(PRINT_COUNT)
	if (b->sites)
		remote_print(b->sites, to);
}

static void report(const struct branch *b)
{
	json_t *all;

	if (b->plan.o->json) {
		all = branch_json(b);
		provenance_json(all, b->plan.o);
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(all);
	} else if (!b->plan.o->quiet) {
		branch_print(b, stdout);
	}
	fflush(stdout);
}

static int loop(struct branch *b, int signals, int wanted, char *err, size_t err_size)
{
	const int fds[SIGNALS_FDS] = { branch_fd(b), wanted, -1 };
	u64 due, beat;
	int rc;

	do {
		rc = branch_turn(b, &due, err, err_size);
		if (signals_asked(wanted))
			report(b);
		service_alive();
		beat = now_ns() + XDD_SECOND_NS;
	} while (!rc && signals_wait(signals, fds, earliest(due, beat)) != SIGNALS_END);
	return rc;
}

int branch_serve(const struct branch_plan *plan, char *err, size_t err_size)
{
	int signals = signals_hold(), wanted = signals_hold_asking(), rc;
	struct branch *b;

	if (signals < 0 || wanted < 0)
		return refuse(err, err_size, signals < 0 ? signals : wanted,
			      "cannot wait for signals");
	rc = branch_open(plan, &b, err, err_size);
	if (rc)
		return rc == -EINTR ? 0 : rc; /* what a signal ends has not failed */
	rc = loop(b, signals, wanted, err, err_size);
	service_stopping();
	if (!rc)
		report(b);
	branch_close(b);
	return rc;
}
