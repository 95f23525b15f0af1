/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An HTTP server for one page, in the thread of whoever calls it. */
#ifndef USER_EXPORT_SERVER_H
#define USER_EXPORT_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include <xdd/types.h>

/* Makes the page into *@text, which is free()d. Returns 0 or a negative errno. */
typedef int server_page(void *context, bool openmetrics, char **text, size_t *length);

struct server;

/* Listen on @address, IPv4 or IPv6. Returns NULL with one line in @err. */
struct server *server_open(const struct sockaddr *address, server_page *page, void *context,
			   char *err, size_t err_size);

/* Readable when there is something for server_step() to do. */
int server_fd(const struct server *server);

/* Milliseconds until there is something to do anyhow, such as to end a connection that says nothing. */
u64 server_timeout_ms(const struct server *server);

/* Hear what was asked. */
void server_step(struct server *server);

/* Whether somebody waits for the page, and the answer to all who do. */
bool server_waits(const struct server *server);
void server_answer(struct server *server);

/* NULL is ignored. */
void server_close(struct server *server);

#endif
