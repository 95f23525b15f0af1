/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A bounded queue from threads of a library to a loop, or the other way. */
#ifndef USER_CLUSTER_QUEUE_H
#define USER_CLUSTER_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <xdd/types.h>

/* The head of whatever lies in it. */
struct queue_item {
	struct queue_item *next;
	size_t size; /* what it counts for; 0: it always has room */
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct queue_item *first, **end;
	size_t size, limit;
	bool stopped;
	int fd; /* an eventfd that is readable while there is something, or -1 */
};

/* @limit of the items' sizes; @fd: with a file descriptor. Returns 0 or a negative errno. */
int queue_open(struct queue *q, size_t limit, bool fd);

/* Put @item, which then belongs to the queue. Returns false if there is no room, or it was stopped. */
bool queue_put(struct queue *q, struct queue_item *item);

/* The first item, which then belongs to the caller, or NULL. */
struct queue_item *queue_get(struct queue *q);

/* Wait until there is an item, @until_ns (CLOCK_MONOTONIC) or queue_stop(). Returns the first item or NULL. */
struct queue_item *queue_wait(struct queue *q, u64 until_ns);

/* Whoever waits, or will, returns. What is in it can still be taken; nothing more is put. */
void queue_stop(struct queue *q);

bool queue_is_stopped(struct queue *q);

size_t queue_size(struct queue *q);

/* What is in it is the caller's to take before. */
void queue_close(struct queue *q);

#endif
