/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup site: slices of a filter, or a node of a tree of filters, served until a signal. */
#include "cmd.h"

#include <errno.h>
#include <string.h>

#include "user/cluster/branch.h"
#include "user/cluster/group.h"
#include "user/cluster/serve.h"
#include "user/derive.h"
#include "user/message.h"
#include "user/sites/site.h"

static bool is_node(const struct options *o)
{
	return o->parent || option_given(o, OPT_tree);
}

static int check(const struct options *o, const char **wrong)
{
	if (o->name && strlen(o->name) >= GROUP_HOST_SIZE)
		*wrong = "--name is longer than the 30 characters that --parent and --leaf take";
	else if (is_node(o) && o->slice_end)
		*wrong = "a site has slices of a filter, or is a node of a tree, whose slices are "
			 "just counted: give --slices 0-9/40, or --tree, --parent and --slices 40";
	else if (o->sites && (o->parent || !is_node(o)))
		*wrong =
			"--sites is for the root of a tree, whose filter is on sites: give --tree, "
			"and no --parent";
	else if (!is_node(o) && (o->top_down || option_given(o, OPT_site_timeout)))
		*wrong = "--top-down and --site-timeout are for trees: add --tree dense, and "
			 "--parent SITE but for the root";
	else if (!o->sites && option_given(o, OPT_silence))
		*wrong =
			"--silence is how long the root of a tree looks for its sites: add --sites";
	else if (!is_node(o) && !o->slice_end)
		*wrong = "which slices? give --slices, for example --slices 0-9/40; or --tree for "
			 "a node of a tree";
	else if (o->engine == OPTION_AUTO)
		*wrong = "give --engine bloom, or timer and a --window, as the producers have it";
	else if (o->engine == XDD_ENGINE_timer && !option_given(o, OPT_window))
		*wrong = "engine timer has a --window: give that of the producers";
	return *wrong ? -EINVAL : 0;
}

/* Completes @d. Returns what is wrong, to @err if need be, or NULL. */
static const char *derive(struct options *o, struct derived *d, char *err, size_t err_size)
{
	if (derive_config(o, DERIVE_FILE, 1, 1, 1, d, err, err_size))
		return err;
	if (!is_node(o))
		return site_wrong(&d->fixed);
	return branch_derive(o, d, err, err_size) ? err : NULL;
}

int cmd_site(struct options *o)
{
	const char *wrong = NULL;
	char err[MESSAGE_MAX];
	struct derived d;
	const struct branch_plan plan = { o, &d, "site", o->parent, false };
	int rc = check(o, &wrong);

	if (!rc)
		wrong = derive(o, &d, err, sizeof(err));
	if (wrong) {
		complain("site: %s", wrong);
		return EXIT_USAGE;
	}
	rc = is_node(o) ? branch_serve(&plan, err, sizeof(err)) : serve(o, &d, err, sizeof(err));
	if (rc)
		complain("site: %s", err);
	if (rc == -EINVAL)
		return EXIT_USAGE;
	return rc ? EXIT_FAILED : EXIT_OK;
}
