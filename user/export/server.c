/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/export/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xdd/event.h>

#include "user/clock.h"
#include "user/message.h"

/* Who opens many and says nothing must not keep others out: more than one address has, for a short time. */
#define MAX_CONNECTIONS 64
#define MAX_OF_ADDRESS 24
#define SILENCE_S 3
/* ... or says little: a request is to be there in such a time from the beginning, as is the answer to it. */
#define REQUEST_NS (10 * XDD_SECOND_NS)

#define TEXT "text/plain; version=0.0.4; charset=utf-8"
#define OPENMETRICS "application/openmetrics-text"
#define OPENMETRICS_TYPE OPENMETRICS "; version=1.0.0; charset=utf-8"

/* A connection. */
struct client {
	struct client *next;
	struct MHD_Connection *connection;
	u64 until_ns; /* it has sent all of a request, or taken the answer */
	bool asked;   /* for the page */
	bool waits;   /* for it to be made */
};

struct server {
	struct MHD_Daemon *daemon;
	server_page *page;
	void *context;
	struct client *clients;
};

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int code,
			      const char *type, char *text, size_t length)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(length, text, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (!response) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, code, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_line(struct MHD_Connection *connection, unsigned int code,
				   const char *line)
{
	char *text = strdup(line);

	return text ? answer(connection, code, TEXT, text, strlen(text)) : MHD_NO;
}

/* Whether the header @accept has @type, and not with the quality 0 (RFC 9110 section 12.5.1). */
static bool accepts(const char *accept, const char *type)
{
	const char *one, *q;
	size_t length;

	for (one = accept; *one; one += length + (one[length] == ',')) {
		one += strspn(one, " \t");
		length = strcspn(one, ",");
		if (strncasecmp(one, type, strlen(type)) || !strchr("; \t,", one[strlen(type)]))
			continue;
		q = strcasestr(one, "q=");
		return !q || q >= one + length || strtod(q + 2, NULL) > 0;
	}
	return false;
}

static enum MHD_Result answer_page(struct server *server, struct MHD_Connection *connection)
{
	const char *accept =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	bool openmetrics = accept && accepts(accept, OPENMETRICS);
	size_t length;
	char *text;

	if (server->page(server->context, openmetrics, &text, &length))
		return answer_line(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
				   "the metrics cannot be read\n");
	return answer(connection, MHD_HTTP_OK, openmetrics ? OPENMETRICS_TYPE : TEXT, text, length);
}

/* The page is made outside of the library, which would take who has just connected for silent if that takes long. */
static enum MHD_Result wait_for_page(struct client *client)
{
	client->asked = client->waits = true;
	client->until_ns = UINT64_MAX;
	MHD_suspend_connection(client->connection);
	return MHD_YES;
}

static struct client *client_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

/* The next request may come. */
static void note_completed(void *context, struct MHD_Connection *connection, void **state,
			   enum MHD_RequestTerminationCode code)
{
	(void)context;
	(void)code;
	if (*state)
		client_of(connection)->until_ns = now_ns() + REQUEST_NS;
}

/* A connection begins, or ends. */
static void note_connection(void *context, struct MHD_Connection *connection, void **socket_context,
			    enum MHD_ConnectionNotificationCode code)
{
	struct client *client = *socket_context, **at;
	struct server *server = context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		client = calloc(1, sizeof(*client));
		if (!client)
			return;
		*client = (struct client){ .next = server->clients,
					   .connection = connection,
					   .until_ns = now_ns() + REQUEST_NS };
		*socket_context = server->clients = client;
		return;
	}
	for (at = &server->clients; *at && *at != client; at = &(*at)->next)
		;
	if (*at)
		*at = client->next;
	free(client);
}

/* What a request brings with it, such as the body of a POST, is read and forgotten. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *data,
			      size_t *size, void **state)
{
	struct client *client = client_of(connection);

	(void)version;
	(void)data;
	if (!client)
		return MHD_NO;
	if (!*state || *size) {
		*state = client;
		*size = 0;
		client->asked = false;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return answer_line(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or HEAD only\n");
	if (!strcmp(url, "/metrics"))
		return client->asked ? answer_page(context, connection) : wait_for_page(client);
	if (!strcmp(url, "/"))
		return answer_line(connection, MHD_HTTP_OK, "xdp-dedup: see /metrics\n");
	return answer_line(connection, MHD_HTTP_NOT_FOUND, "there is only /metrics\n");
}

/* A socket of our own, so that why it could not be had is known. Returns it or a negative errno. */
static int listen_at(const struct sockaddr *address)
{
	bool v6 = address->sa_family == AF_INET6;
	socklen_t length = v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	int on = 1, err, fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    (v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on))) ||
	    bind(fd, address, length) || listen(fd, MAX_CONNECTIONS)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

struct server *server_open(const struct sockaddr *address, server_page *page, void *context,
			   char *err, size_t err_size)
{
	struct server *server = calloc(1, sizeof(*server));
	int fd = server ? listen_at(address) : -ENOMEM;

	if (fd >= 0) {
		server->page = page;
		server->context = context;
		server->daemon = MHD_start_daemon(
			MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, server,
			MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, MAX_CONNECTIONS,
			MHD_OPTION_PER_IP_CONNECTION_LIMIT, MAX_OF_ADDRESS,
			MHD_OPTION_CONNECTION_TIMEOUT, SILENCE_S, MHD_OPTION_NOTIFY_COMPLETED,
			note_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION, note_connection, server,
			MHD_OPTION_END);
		if (server->daemon)
			return server;
		close(fd);
		fd = -ENOMEM;
	}
	free(server);
	refuse(err, err_size, fd, "%s", strerror(-fd));
	return NULL;
}

int server_fd(const struct server *server)
{
	return MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

u64 server_timeout_ms(const struct server *server)
{
	unsigned long long timeout;
	u64 now = now_ns(), late = UINT64_MAX;

	if (MHD_get_timeout(server->daemon, &timeout) != MHD_YES)
		timeout = SILENCE_S * 1000;
	for (const struct client *client = server->clients; client; client = client->next)
		late = earliest(late, client->until_ns);
	late = late > now ? (late - now) / 1000000 + 1 : 0;
	return late < timeout ? late : timeout;
}

/* The library sees that they end. */
static void end_late(struct server *server)
{
	const union MHD_ConnectionInfo *info;
	u64 now = now_ns();

	for (struct client *client = server->clients; client; client = client->next) {
		if (now < client->until_ns)
			continue;
		client->until_ns = UINT64_MAX;
		info = MHD_get_connection_info(client->connection,
					       MHD_CONNECTION_INFO_CONNECTION_FD);
		shutdown(info->connect_fd, SHUT_RDWR);
	}
}

void server_step(struct server *server)
{
	MHD_run(server->daemon);
	end_late(server);
}

bool server_waits(const struct server *server)
{
	for (const struct client *client = server->clients; client; client = client->next)
		if (client->waits)
			return true;
	return false;
}

static void resume_all(struct server *server)
{
	for (struct client *client = server->clients; client; client = client->next) {
		if (!client->waits)
			continue;
		MHD_resume_connection(client->connection);
		client->waits = false;
		client->until_ns = now_ns() + REQUEST_NS;
	}
}

void server_answer(struct server *server)
{
	resume_all(server);
	MHD_run(server->daemon);
}

void server_close(struct server *server)
{
	if (!server)
		return;
	resume_all(server);
	MHD_stop_daemon(server->daemon);
	free(server);
}
