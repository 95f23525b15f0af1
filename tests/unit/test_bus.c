/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The connection to NATS, against a real server on the loopback: what comes, in which order, what JetStream
 * keeps, and that a server which is absent, killed or full of others never holds us up.
 */
#include <errno.h>
#include <ftw.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/common/test.h"
#include "user/clock.h"
#include "user/cluster/bus.h"
#include "user/cluster/queue.h"

#define SECOND_NS 1000000000ull
#define PATIENCE_NS (15 * SECOND_NS)
#define STATE "xdd.test.a.eth0.state"

static char folder[] = "/tmp/xdd-bus-XXXXXX";

struct server {
	pid_t pid;
	unsigned int port;
	bool stores;
	const char *user, *password, *config;
};

/* A port that nobody listens on now. */
static unsigned int free_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_false(bind(fd, (struct sockaddr *)&at, length));
	assert_false(getsockname(fd, (struct sockaddr *)&at, &length));
	close(fd);
	return ntohs(at.sin_port);
}

static void server_start(struct server *server)
{
	const char *argv[16] = { "nats-server", "-a", "127.0.0.1", "-p", NULL, "-l", "/dev/null" };
	char port[8];
	int n = 7;

	if (!server->port)
		server->port = free_port();
	snprintf(port, sizeof(port), "%u", server->port);
	argv[4] = port;
	if (server->stores) {
		argv[n++] = "-js";
		argv[n++] = "-sd";
		argv[n++] = folder;
	}
	if (server->user) {
		argv[n++] = "--user";
		argv[n++] = server->user;
		argv[n++] = "--pass";
		argv[n++] = server->password;
	}
	if (server->config) {
		argv[n++] = "-c";
		argv[n++] = server->config;
	}
	server->pid = fork();
	if (!server->pid) {
		execvp("nats-server", (char **)argv);
		execv("/usr/sbin/nats-server", (char **)argv);
		_exit(127);
	}
	assert_true(server->pid > 0);
}

static void server_kill(struct server *server)
{
	kill(server->pid, SIGKILL);
	assert_int_equal(waitpid(server->pid, NULL, 0), server->pid);
}

static struct bus *bus_to(const struct server *server, const char *login)
{
	char url[160], err[256] = "";
	struct bus_where where = { .url = url,
				   .client = "test",
				   .most = 64 << 10,
				   .listen = { "xdd.test.>" },
				   .store = { "xdd-test", "xdd-test-lasting" },
				   .kept = { { "xdd.test.*.*.state" },
					     { "xdd.test.*.*.watch0", "xdd.test.*.*.watch1" } } };
	struct bus *bus;

	snprintf(url, sizeof(url), "nats://%s127.0.0.1:%u", login, server->port);
	assert_int_equal(bus_open(&where, &bus, err, sizeof(err)), 0);
	return bus;
}

/* The next event that is no trouble. */
static bool next(struct bus *bus, struct bus_event *event)
{
	u64 until = now_ns() + PATIENCE_NS;

	while (now_ns() < until) {
		struct pollfd wait = { bus_fd(bus), POLLIN, 0 };

		if (bus_next(bus, event)) {
			if (event->kind != BUS_TROUBLE)
				return true;
			continue;
		}
		poll(&wait, 1, 100);
	}
	return false;
}

static void expect(struct bus *bus, enum bus_kind kind, struct bus_event *event)
{
	assert_true(next(bus, event));
	assert_int_equal(event->kind, kind);
}

static void expect_text(struct bus *bus, enum bus_kind kind, const char *text)
{
	struct bus_event event;

	expect(bus, kind, &event);
	assert_int_equal(event.length, strlen(text));
	assert_memory_equal(event.bytes, text, event.length);
	assert_string_equal(event.subject, STATE);
}

static void expect_fetched(struct bus *bus, u64 n)
{
	struct bus_event event;

	expect(bus, BUS_FETCHED, &event);
	assert_string_equal(event.subject, STATE);
	assert_int_equal(event.length, n);
}

static int publish(struct bus *bus, enum bus_keep keep, const char *text)
{
	return bus_publish(bus, STATE, keep, (const u8 *)text, strlen(text));
}

/* Own messages come back, in order, and JetStream has those since the last INSTEAD. */
static void test_kept(void **state)
{
	struct server server = { .stores = true };
	struct bus_event event;
	struct bus *bus, *late;

	(void)state;
	server_start(&server);
	bus = bus_to(&server, "");
	expect(bus, BUS_UP, &event);
	assert_true(bus_counts(bus).keeps[BUS_recent]);
	assert_true(bus_counts(bus).keeps[BUS_lasting]);
	assert_int_equal(bus_fetch(bus, BUS_recent, STATE), 0);
	expect_fetched(bus, 0);
	assert_int_equal(publish(bus, BUS_KEEP, "one"), 0);
	assert_int_equal(publish(bus, BUS_INSTEAD, "two"), 0);
	assert_int_equal(publish(bus, BUS_KEEP, "three"), 0);
	expect_text(bus, BUS_MESSAGE, "one");
	expect_text(bus, BUS_MESSAGE, "two");
	expect_text(bus, BUS_MESSAGE, "three");
	late = bus_to(&server, "");
	expect(late, BUS_UP, &event);
	assert_int_equal(bus_fetch(late, BUS_recent, STATE), 0);
	expect_text(late, BUS_STORED, "two");
	expect_text(late, BUS_STORED, "three");
	expect_fetched(late, 2);
	bus_close(late);
	bus_close(bus);
	server_kill(&server);
}

/* A message as large as the protocol's largest, and many of them. */
static void test_large(void **state)
{
	enum { N = 40, SIZE = 512 << 10 };
	struct server server = {};
	struct bus_event event;
	struct bus *bus;
	u8 *bytes = calloc(1, SIZE);

	(void)state;
	server_start(&server);
	bus = bus_to(&server, "");
	expect(bus, BUS_UP, &event);
	assert_false(bus_counts(bus).keeps[BUS_recent]);
	assert_int_equal(bus_fetch(bus, BUS_recent, STATE), -EOPNOTSUPP);
	for (int i = 0; i < N; i++) {
		bytes[0] = i;
		assert_int_equal(bus_publish(bus, STATE, BUS_KEEP, bytes, SIZE), 0);
	}
	for (int i = 0; i < N; i++) {
		expect(bus, BUS_MESSAGE, &event);
		assert_int_equal(event.length, SIZE);
		assert_int_equal(event.bytes[0], i);
	}
	assert_int_equal(bus_counts(bus).received_bytes, (u64)N * SIZE);
	assert_int_equal(bus_counts(bus).sent, N);
	bus_close(bus);
	server_kill(&server);
	free(bytes);
}

/* There is no server, then there is, it is killed, and comes back. */
static void test_comes_and_goes(void **state)
{
	struct server server = { .port = free_port() };
	struct bus_event event;
	struct bus *bus;

	(void)state;
	bus = bus_to(&server, "");
	assert_int_equal(publish(bus, BUS_KEEP, "early"), -ENOTCONN);
	server_start(&server);
	expect(bus, BUS_UP, &event);
	for (int i = 0; i < 3; i++) {
		server_kill(&server);
		expect(bus, BUS_DOWN, &event);
		assert_int_equal(publish(bus, BUS_KEEP, "lost"), -ENOTCONN);
		server_start(&server);
		expect(bus, BUS_UP, &event);
		assert_int_equal(publish(bus, BUS_KEEP, "again"), 0);
		expect_text(bus, BUS_MESSAGE, "again");
	}
	assert_int_equal(bus_counts(bus).connects, 4);
	assert_int_equal(bus_counts(bus).unsent, 4);
	server_kill(&server);
	bus_close(bus);
}

/* A server that takes connections and bytes, and never answers, holds nobody up. */
static void test_mute_server(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct server server = { .port = free_port() };
	struct bus *bus;
	u64 before;
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	(void)state;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	at.sin_port = htons(server.port);
	assert_false(bind(fd, (struct sockaddr *)&at, sizeof(at)));
	assert_false(listen(fd, 8));
	before = now_ns();
	bus = bus_to(&server, "");
	assert_int_equal(publish(bus, BUS_KEEP, "x"), -ENOTCONN);
	assert_true(now_ns() - before < SECOND_NS / 2);
	bus_close(bus);
	assert_true(now_ns() - before < 6 * SECOND_NS);
	close(fd);
}

/* A stopped server takes nothing more: what does not fit is dropped and counted, and nothing waits. */
static void test_full(void **state)
{
	enum { N = 200, SIZE = 512 << 10 };
	struct server server = {};
	struct bus_event event;
	struct bus *bus;
	u8 *bytes = calloc(1, SIZE);
	u64 before, refused = 0;

	(void)state;
	server_start(&server);
	bus = bus_to(&server, "");
	expect(bus, BUS_UP, &event);
	kill(server.pid, SIGSTOP);
	before = now_ns();
	for (int i = 0; i < N; i++)
		refused += bus_publish(bus, STATE, BUS_KEEP, bytes, SIZE) == -ENOBUFS;
	assert_true(now_ns() - before < SECOND_NS);
	assert_in_range(refused, 1, N - 1);
	assert_true(bus_pending(bus) > 16 << 20);
	assert_true(bus_counts(bus).unsent >= refused);
	expect(bus, BUS_DOWN, &event);
	kill(server.pid, SIGCONT);
	expect(bus, BUS_UP, &event);
	assert_int_equal(publish(bus, BUS_KEEP, "after"), 0);
	do
		assert_true(next(bus, &event));
	while (event.length != strlen("after"));
	bus_close(bus);
	server_kill(&server);
	free(bytes);
}

/* A server that does not take what is sent is told of each time that it is there; others are not. */
static void test_small(void **state)
{
	char path[] = "/tmp/test_bus.XXXXXX";
	struct server server = { .config = path };
	struct bus_event event;
	struct bus *bus;
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(dprintf(fd, "max_payload: 2048\n"), 18);
	close(fd);
	server_start(&server);
	bus = bus_to(&server, "");
	expect(bus, BUS_UP, &event);
	expect(bus, BUS_SMALL, &event);
	assert_int_equal(event.length, 2048);
	bus_close(bus);
	server_kill(&server);
	unlink(path);
}

/* A wrong password is told once, and tried again: the server's may be mended. */
static void test_login(void **state)
{
	struct server server = { .user = "xdd", .password = "secret" };
	struct bus_event event;
	struct bus *bus, *wrong;
	u64 until = now_ns() + 3 * SECOND_NS / 2;
	unsigned int told = 0;

	(void)state;
	server_start(&server);
	bus = bus_to(&server, "xdd:secret@");
	expect(bus, BUS_UP, &event);
	assert_null(strstr(bus_servers(bus), "secret"));
	wrong = bus_to(&server, "xdd:hurz@");
	while (now_ns() < until) {
		if (!bus_next(wrong, &event)) {
			usleep(10000);
			continue;
		}
		assert_int_equal(event.kind, BUS_TROUBLE);
		assert_null(strstr(event.subject, "hurz"));
		assert_non_null(strcasestr(event.subject, "authori"));
		told++;
	}
	assert_int_equal(told, 1);
	bus_close(wrong);
	bus_close(bus);
	server_kill(&server);
}

static void test_urls(void **state)
{
	(void)state;
	assert_null(bus_url_wrong("nats://a"));
	assert_null(bus_url_wrong("nats://u:p@a:4222,tls://b"));
	assert_non_null(bus_url_wrong(""));
	assert_non_null(bus_url_wrong("a:4222"));
	assert_non_null(bus_url_wrong("nats://"));
	assert_non_null(bus_url_wrong("nats://u:p@"));
	assert_non_null(bus_url_wrong("nats://:4222"));
	assert_non_null(bus_url_wrong("nats://a,http://b"));
	assert_null(
		bus_url_wrong("nats://a:1,nats://b:65535,nats://[::1],tls://[2001:db8::1]:4222"));
	assert_non_null(bus_url_wrong("nats://a:0"));
	assert_non_null(bus_url_wrong("nats://a:"));
	assert_non_null(bus_url_wrong("nats://a:65536"));
	assert_non_null(bus_url_wrong("nats://a:99999999999999999999"));
	assert_non_null(bus_url_wrong("nats://a:42x"));
	assert_non_null(bus_url_wrong("nats://[::1"));
	assert_non_null(bus_url_wrong("nats://[::1]:70000"));
	assert_non_null(bus_url_wrong("nats://a:4222/"));
	assert_non_null(bus_url_wrong("nats://a/x"));
}

static void test_number_of_urls(void **state)
{
	char text[17 * 11] = "nats://s:10";

	(void)state;
	for (int i = 1; i < 16; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ",nats://s:1");
	assert_null(bus_url_wrong(text));
	strcat(text, ",nats://s");
	assert_non_null(bus_url_wrong(text));
}

struct number {
	struct queue_item item;
	u64 value;
};

static void test_queue(void **state)
{
	struct number number[3] = {};
	struct queue q;
	struct pollfd wait;

	(void)state;
	assert_int_equal(queue_open(&q, 10, true), 0);
	wait = (struct pollfd){ q.fd, POLLIN, 0 };
	assert_int_equal(poll(&wait, 1, 0), 0);
	assert_null(queue_wait(&q, now_ns() + 1000000));
	number[0].item.size = 6;
	number[1].item.size = 5;
	assert_true(queue_put(&q, &number[0].item));
	assert_false(queue_put(&q, &number[1].item));
	assert_true(queue_put(&q, &number[2].item)); /* of no size */
	assert_int_equal(poll(&wait, 1, 0), 1);
	assert_ptr_equal(queue_get(&q), &number[0].item);
	assert_int_equal(poll(&wait, 1, 0), 1);
	assert_ptr_equal(queue_wait(&q, UINT64_MAX), &number[2].item);
	assert_int_equal(poll(&wait, 1, 0), 0);
	queue_stop(&q);
	assert_null(queue_wait(&q, UINT64_MAX));
	assert_false(queue_put(&q, &number[0].item));
	queue_close(&q);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at)
{
	(void)about;
	(void)kind;
	(void)at;
	return remove(path);
}

static int remove_folder(void)
{
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue),	       cmocka_unit_test(test_urls),
		cmocka_unit_test(test_number_of_urls), cmocka_unit_test(test_kept),
		cmocka_unit_test(test_large),	       cmocka_unit_test(test_comes_and_goes),
		cmocka_unit_test(test_mute_server),    cmocka_unit_test(test_full),
		cmocka_unit_test(test_small),	       cmocka_unit_test(test_login),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	return failed || remove_folder() ? 1 : 0;
}
