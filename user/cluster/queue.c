/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/queue.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

int queue_open(struct queue *q, size_t limit, bool fd)
{
	pthread_condattr_t monotonic;

	*q = (struct queue){ .limit = limit, .fd = -1 };
	q->end = &q->first;
	if (fd) {
		q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (q->fd < 0)
			return -errno;
	}
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&q->more, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return 0;
}

/* Neither can fail: the count is 0 or 1. */
static void tell(const struct queue *q)
{
	if (q->fd >= 0)
		eventfd_write(q->fd, 1);
}

static void told(const struct queue *q)
{
	eventfd_t count;

	if (q->fd >= 0)
		eventfd_read(q->fd, &count);
}

bool queue_put(struct queue *q, struct queue_item *item)
{
	bool room;

	pthread_mutex_lock(&q->lock);
	room = !q->stopped && (!item->size || q->size + item->size <= q->limit);
	if (room) {
		if (!q->first)
			tell(q);
		item->next = NULL;
		*q->end = item;
		q->end = &item->next;
		q->size += item->size;
		pthread_cond_signal(&q->more);
	}
	pthread_mutex_unlock(&q->lock);
	return room;
}

/* With the lock. */
static struct queue_item *take(struct queue *q)
{
	struct queue_item *item = q->first;

	if (!item)
		return NULL;
	q->first = item->next;
	q->size -= item->size;
	if (!q->first) {
		q->end = &q->first;
		told(q);
	}
	return item;
}

struct queue_item *queue_get(struct queue *q)
{
	struct queue_item *item;

	pthread_mutex_lock(&q->lock);
	item = take(q);
	pthread_mutex_unlock(&q->lock);
	return item;
}

struct queue_item *queue_wait(struct queue *q, u64 until_ns)
{
	const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };
	struct queue_item *item;
	int code = 0;

	pthread_mutex_lock(&q->lock);
	while (!q->first && !q->stopped && code != ETIMEDOUT)
		code = until_ns == UINT64_MAX ? pthread_cond_wait(&q->more, &q->lock)
					      : pthread_cond_timedwait(&q->more, &q->lock, &until);
	item = take(q);
	pthread_mutex_unlock(&q->lock);
	return item;
}

void queue_stop(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->stopped = true;
	pthread_cond_broadcast(&q->more);
	pthread_mutex_unlock(&q->lock);
}

bool queue_is_stopped(struct queue *q)
{
	bool stopped;

	pthread_mutex_lock(&q->lock);
	stopped = q->stopped;
	pthread_mutex_unlock(&q->lock);
	return stopped;
}

size_t queue_size(struct queue *q)
{
	size_t size;

	pthread_mutex_lock(&q->lock);
	size = q->size;
	pthread_mutex_unlock(&q->lock);
	return size;
}

void queue_close(struct queue *q)
{
	if (q->fd >= 0)
		close(q->fd);
	pthread_cond_destroy(&q->more);
	pthread_mutex_destroy(&q->lock);
}
