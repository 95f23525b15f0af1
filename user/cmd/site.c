/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup site: slices of a filter, served until a signal. */
#include "cmd.h"

#include <errno.h>

#include "user/cluster/serve.h"
#include "user/derive.h"
#include "user/message.h"
#include "user/sites/site.h"

static int check(const struct options *o, const char **wrong)
{
	if (!option_given(o, OPT_slices))
		*wrong = "which slices? give --slices, for example --slices 0-9/40";
	else if (o->engine == OPTION_AUTO)
		*wrong = "give --engine bloom, or timer and a --window, as stream --sites has it";
	else if (o->engine == XDD_ENGINE_timer && !option_given(o, OPT_window))
		*wrong = "engine timer has a --window: give that of stream --sites";
	return *wrong ? -EINVAL : 0;
}

int cmd_site(struct options *o)
{
	const char *wrong = NULL;
	char err[MESSAGE_MAX];
	struct derived d;
	int rc = check(o, &wrong);

	if (!rc) {
		rc = derive_config(o, DERIVE_FILE, 1, 1, 1, &d, err, sizeof(err));
		wrong = rc ? err : site_wrong(&d.fixed);
	}
	if (wrong) {
		complain("site: %s", wrong);
		return EXIT_USAGE;
	}
	rc = serve(o, &d, err, sizeof(err));
	if (rc)
		complain("site: %s", err);
	if (rc == -EINVAL)
		return EXIT_USAGE;
	return rc ? EXIT_FAILED : EXIT_OK;
}
