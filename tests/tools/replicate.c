// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * replicate FROM TO PEER SECONDS: what an agent does once, without a network: make the replica of peer PEER of
 * instance TO from what instance FROM has seen, and believe it for so many SECONDS. Prints
 *   keys N unpublished N ones N alike 0|1 ms T
 * of FROM against what TO held of it: whether their fingerprints agree, and how long reading it took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/clock.h"
#include "user/cluster/columns.h"
#include "user/cluster/occupancy.h"
#include "user/message.h"

struct job {
	struct instance from, to;
	struct columns columns;
	u32 peer;
	double seconds;
	char err[MESSAGE_MAX];
};

static int describe(struct job *job, const struct occupancy *seen, u32 shift)
{
	struct xdd_peer about = {
		.state = XDD_PEER_live,
		.shift = shift,
		.hashes = seen->hashes,
		.keys = seen->keys,
		.density = (double)seen->ones / (1ULL << shift) * XDD_RATE_ONE,
		.updated_ns = now_ns(),
	};

	snprintf(about.name, sizeof(about.name), "test.%s", job->from.name);
	return columns_describe(&job->columns, job->peer, &about);
}

static int replicate(struct job *job)
{
	u32 shift = job->from.fixed.replica_shift;
	u64 *bits = calloc((1ULL << shift) / 64, sizeof(*bits)), here = 0, there = 1, start;
	struct occupancy seen = {};
	int code;

	if (!bits || occupancy_fingerprint(&job->from, &here) ||
	    occupancy_fingerprint(&job->to, &there))
		return -1;
	start = now_ns();
	code = occupancy_read(&job->from, shift, NULL, bits, &seen);
	if (!code && job->seconds > 0) {
		columns_set(&job->columns, job->peer, bits, shift);
		code = describe(job, &seen, shift);
		columns_believe(&job->columns, 1ULL << job->peer,
				now_ns() + (u64)(job->seconds * 1e9));
	}
	printf("keys %llu unpublished %llu ones %llu alike %d ms %.1f\n", seen.keys,
	       seen.unpublished, seen.ones, here == there, (now_ns() - start) / 1e6);
	free(bits);
	return code;
}

int main(int argc, char **argv)
{
	struct job job = {};
	int code;

	if (argc != 5) {
		fprintf(stderr, "usage: replicate FROM TO PEER SECONDS\n");
		return 2;
	}
	job.peer = atoi(argv[3]);
	job.seconds = atof(argv[4]);
	code = instance_open(&job.from, argv[1], job.err, sizeof(job.err));
	code = code ?: instance_open(&job.to, argv[2], job.err, sizeof(job.err));
	code = code ?: columns_open(&job.columns, &job.to, job.err, sizeof(job.err));
	code = code ?: replicate(&job);
	if (code)
		fprintf(stderr, "replicate: %s\n", *job.err ? job.err : strerror(-code));
	return !!code;
}
