/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd.h"

#include <jansson.h>
#include <string.h>

#include "user/loader/netns.h"
#include "user/message.h"
#include "user/nic/check.h"
#include "user/utf8.h"

static const char *const severity_names[] = {
	[CHECK_OK] = "ok",
	[CHECK_NOTE] = "note",
	[CHECK_PROBLEM] = "problem",
};

static void print_report(const struct check_report *report, bool quiet)
{
	char name[sizeof(report->ifname)];

	memcpy(name, report->ifname, sizeof(name));
	if (!quiet)
		printf("%s\n", utf8_mask(name));
	for (int i = 0; i < report->n; i++) {
		const struct check_finding *f = &report->finding[i];

		if (quiet && f->severity != CHECK_PROBLEM)
			continue;
		printf("  %-8s %-10s %s\n", severity_names[f->severity], f->about, f->text);
		if (*f->cure)
			printf("  %-19s -> %s\n", "", f->cure);
	}
}

static json_t *report_json(const struct check_report *report)
{
	json_t *findings = json_array();

	for (int i = 0; i < report->n; i++) {
		const struct check_finding *f = &report->finding[i];

		json_array_append_new(findings, json_pack("{s:s, s:s, s:s, s:s*}", "severity",
							  severity_names[f->severity], "about",
							  f->about, "text", f->text, "cure",
							  *f->cure ? f->cure : NULL));
	}
	return json_pack("{s:o, s:b, s:i, s:o}", "interface", utf8_json(report->ifname), "loadable",
			 !check_problem(report), "rx_queues", (int)report->rx_queues, "findings",
			 findings);
}

int cmd_check(struct options *o)
{
	json_t *all = o->json ? json_array() : NULL;
	char err[MESSAGE_MAX];
	int code = EXIT_OK, home;

	if (netns_enter(o->netns, &home, err, sizeof(err))) {
		complain("check: %s", err);
		json_decref(all);
		return EXIT_FAILED;
	}
	for (int i = 0; i < o->n_args; i++) {
		struct check_report report;

		if (check_interface(o->args[i], o, &report))
			code = EXIT_FAILED;
		if (o->json)
			json_array_append_new(all, report_json(&report));
		else
			print_report(&report, o->quiet);
	}
	netns_leave(home);
	if (o->json) {
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(all);
	}
	return code;
}
