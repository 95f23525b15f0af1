/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/bus.h"

#include <errno.h>
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "user/clock.h"
#include "user/cluster/queue.h"
#include "user/message.h"
#include "user/urls.h"

#define MIB (1ull << 20)

/* What lies in a queue at most; a message counts for its bytes and what is around them. */
#define IN_LIMIT (64 * MIB)
#define OUT_LIMIT (32 * MIB)
#define AROUND 256
#define TASKS_LIMIT 256

/* Of the library, in milliseconds. A server that does not answer is left after three pings. */
#define CONNECT_MS 2000
#define PING_MS 3000
#define PINGS_OUT 2
#define WRITE_MS 10000
#define REQUEST_MS 2000
#define FLUSH_MS 500

#define PAUSE_LEAST_NS (100 * MILLISECOND_NS)
#define PAUSE_MOST_NS (4000 * MILLISECOND_NS)

/* A host that has not said anything for so long is fetched no more. */
#define KEPT_FOR_NS (3600 * 1000000000ll)
#define KEPT_MESSAGES 1024

/* Of the store that lasts: parts of a whole state, and what has changed since. */
#define LASTING_MESSAGES 8192

#define SERVERS_MAX 16
#define PORT_MAX 65535
#define WHY_MAX 200
#define REFUSALS 16 /* different ones that are told of in one connection */

/* In a row of calls, the first that fails is the last. */
#define TRY(call)                      \
	do {                           \
		if (status == NATS_OK) \
			status = call; \
	} while (0)

/* Of queue `in`. */
struct event {
	struct queue_item item;
	enum bus_kind kind;
	natsMsg *msg; /* NULL: the kind has none */
	u64 count;
	char text[];
};

/* Of queue `out`. */
struct sending {
	struct queue_item item;
	enum bus_keep keep;
	natsMsg *msg;
};

/* Of queue `tasks`: fetch @subject; "": only look what has changed. */
struct task {
	struct queue_item item;
	enum bus_store store;
	char subject[];
};

struct bus {
	struct queue in, out, tasks;
	struct event *taken; /* what bus_next() gave last */
	pthread_t keeper, publisher;
	bool keeper_runs, publisher_runs;
	natsOptions *options;
	natsSubscription *sub[BUS_LISTENS]; /* the keeper's */
	char *servers, *listen[BUS_LISTENS], *store[BUS_STORES], *kept[BUS_STORES][BUS_KEPT];
	pthread_mutex_t wire;  /* of nc, held while something is published: */
	natsConnection *nc;    /* NULL: none */
	pthread_mutex_t state; /* of what follows, held for a moment */
	struct bus_counts counts;
	bool lost; /* the library gave the connection up */
	char trouble[WHY_MAX];
	char refusal[REFUSALS][WHY_MAX]; /* that were told of; under `state` */
};

static void count(struct bus *bus, u64 *counter, u64 n)
{
	pthread_mutex_lock(&bus->state);
	*counter += n;
	pthread_mutex_unlock(&bus->state);
}

static bool is_set(struct bus *bus, const bool *flag)
{
	bool set;

	pthread_mutex_lock(&bus->state);
	set = *flag;
	pthread_mutex_unlock(&bus->state);
	return set;
}

static void set(struct bus *bus, bool *flag, bool value)
{
	pthread_mutex_lock(&bus->state);
	*flag = value;
	pthread_mutex_unlock(&bus->state);
}

/* Tell the loop; @msg is NULL or becomes the queue's. */
static void tell(struct bus *bus, enum bus_kind kind, const char *text, natsMsg *msg, u64 n)
{
	struct event *event = calloc(1, sizeof(*event) + strlen(text) + 1);

	if (event) {
		event->kind = kind;
		event->msg = msg;
		event->count = n;
		strcpy(event->text, text);
		if (msg)
			event->item.size = AROUND + natsMsg_GetDataLength(msg);
		if (queue_put(&bus->in, &event->item))
			return;
	}
	free(event);
	natsMsg_Destroy(msg);
	count(bus, &bus->counts.overrun, 1);
}

static void on_message(natsConnection *nc, natsSubscription *sub, natsMsg *msg, void *closure)
{
	struct bus *bus = closure;

	(void)nc;
	(void)sub;
	pthread_mutex_lock(&bus->state);
	bus->counts.received++;
	bus->counts.received_bytes += natsMsg_GetDataLength(msg);
	pthread_mutex_unlock(&bus->state);
	tell(bus, BUS_MESSAGE, "", msg, 0);
}

/* What a server said may have lines of its own. */
static void make_one_line(char *text)
{
	for (; *text; text++)
		if (*text == '\n' || *text == '\r')
			*text = ' ';
}

/* Whether it was not told before. */
static bool is_new_refusal(struct bus *bus, const char *why)
{
	bool is_new = false;

	pthread_mutex_lock(&bus->state);
	for (u32 i = 0; i < REFUSALS && !is_new; i++) {
		if (!strcmp(bus->refusal[i], why))
			break;
		is_new = !*bus->refusal[i];
		if (is_new)
			snprintf(bus->refusal[i], WHY_MAX, "%s", why);
	}
	pthread_mutex_unlock(&bus->state);
	return is_new;
}

/* A host without the rights it needs seems to work, and is neither heard nor hears. */
static void tell_refusal(struct bus *bus, natsConnection *nc, natsStatus status)
{
	const char *more = NULL;
	char why[WHY_MAX];

	if (natsConnection_GetLastError(nc, &more) == NATS_OK || !more || !*more)
		more = natsStatus_GetText(status);
	snprintf(why, sizeof(why), "%s", more);
	make_one_line(why);
	if (is_new_refusal(bus, why))
		tell(bus, BUS_REFUSED, why, NULL, 0);
}

static void on_error(natsConnection *nc, natsSubscription *sub, natsStatus status, void *closure)
{
	struct bus *bus = closure;

	(void)sub;
	if (status != NATS_SLOW_CONSUMER)
		tell_refusal(bus, nc, status);
	count(bus, status == NATS_SLOW_CONSUMER ? &bus->counts.overrun : &bus->counts.refused, 1);
}

static int add_task(struct bus *bus, enum bus_store store, const char *subject)
{
	struct task *task = calloc(1, sizeof(*task) + strlen(subject) + 1);

	if (!task)
		return -ENOMEM;
	strcpy(task->subject, subject);
	task->store = store;
	task->item.size = *subject != 0;
	if (queue_put(&bus->tasks, &task->item))
		return 0;
	free(task);
	return -ENOBUFS;
}

static void on_closed(natsConnection *nc, void *closure)
{
	struct bus *bus = closure;

	(void)nc;
	set(bus, &bus->lost, true);
	add_task(bus, BUS_recent, "");
}

/* Make JetStream keep what @store is to keep. Returns whether it does. */
static bool keep(struct bus *bus, enum bus_store store)
{
	jsStreamConfig config;
	jsOptions wait;
	jsErrCode code;
	jsCtx *js;
	natsStatus status;

	jsOptions_Init(&wait);
	wait.Wait = REQUEST_MS;
	if (!bus->store[store] || natsConnection_JetStream(&js, bus->nc, &wait) != NATS_OK)
		return false;
	jsStreamConfig_Init(&config);
	config.Name = bus->store[store];
	config.Subjects = (const char **)bus->kept[store];
	config.SubjectsLen = bus->kept[store][1] ? 2 : 1;
	config.Storage = store == BUS_lasting ? js_FileStorage : js_MemoryStorage;
	config.AllowRollup = true;
	config.NoAck = true;
	config.MaxAge = store == BUS_lasting ? 0 : KEPT_FOR_NS;
	config.MaxMsgsPerSubject = store == BUS_lasting ? LASTING_MESSAGES : KEPT_MESSAGES;
	status = js_AddStream(NULL, js, &config, NULL, &code);
	jsCtx_Destroy(js);
	return status == NATS_OK;
}

/* Hand on what @js has for @task, up to message @last. Returns the number of messages. */
static u64 hand_on(struct bus *bus, jsCtx *js, const struct task *task, u64 last)
{
	natsSubscription *sub = NULL;
	jsSubOptions how;
	jsErrCode code;
	natsMsg *msg;
	u64 n = 0, at = 0;

	jsSubOptions_Init(&how);
	how.Stream = bus->store[task->store];
	how.Ordered = true;
	if (js_SubscribeSync(&sub, js, task->subject, NULL, &how, &code) != NATS_OK)
		return 0;
	while (at < last && !is_set(bus, &bus->lost) &&
	       natsSubscription_NextMsg(&msg, sub, REQUEST_MS) == NATS_OK) {
		jsMsgMetaData *about = NULL;

		if (natsMsg_GetMetaData(&about, msg) != NATS_OK) {
			natsMsg_Destroy(msg);
			break;
		}
		at = about->Sequence.Stream;
		jsMsgMetaData_Destroy(about);
		tell(bus, BUS_STORED, "", msg, 0);
		n++;
	}
	natsSubscription_Destroy(sub);
	return n;
}

static void fetch(struct bus *bus, const struct task *task)
{
	natsMsg *newest;
	jsErrCode code;
	jsOptions wait;
	jsCtx *js;
	u64 n = 0, last;

	jsOptions_Init(&wait);
	wait.Wait = REQUEST_MS;
	if (natsConnection_JetStream(&js, bus->nc, &wait) == NATS_OK) {
		if (js_GetLastMsg(&newest, js, bus->store[task->store], task->subject, NULL,
				  &code) == NATS_OK) {
			last = natsMsg_GetSequence(newest);
			natsMsg_Destroy(newest);
			n = hand_on(bus, js, task, last);
		}
		jsCtx_Destroy(js);
	}
	tell(bus, BUS_FETCHED, task->subject, NULL, n);
}

/* Say why there is no connection, unless that was said. */
static void complain_once(struct bus *bus, natsStatus status)
{
	const char *more = nats_GetLastError(NULL), *text = more ? strstr(more, "): ") : NULL;
	char why[WHY_MAX];

	/* "(FILE:LINE): TEXT"; an address may have a password before its @. */
	snprintf(why, sizeof(why), "%s",
		 text && !strchr(text, '@') ? text + 3 : natsStatus_GetText(status));
	make_one_line(why);
	if (!strcmp(why, bus->trouble))
		return;
	strcpy(bus->trouble, why);
	tell(bus, BUS_TROUBLE, why, NULL, 0);
}

static void unlisten(struct bus *bus)
{
	for (int i = 0; i < BUS_LISTENS; i++) {
		natsSubscription_Destroy(bus->sub[i]);
		bus->sub[i] = NULL;
	}
}

static natsStatus listen_to(struct bus *bus, natsConnection *nc)
{
	natsStatus status = NATS_OK;

	for (int i = 0; i < BUS_LISTENS && bus->listen[i]; i++) {
		TRY(natsConnection_Subscribe(&bus->sub[i], nc, bus->listen[i], on_message, bus));
		TRY(natsSubscription_SetPendingLimits(bus->sub[i], -1, IN_LIMIT));
	}
	return status;
}

/* Returns whether there is a connection now. */
static bool connect_once(struct bus *bus)
{
	natsConnection *nc = NULL;
	natsStatus status;

	set(bus, &bus->lost, false);
	status = natsConnection_Connect(&nc, bus->options);
	TRY(listen_to(bus, nc));
	if (status != NATS_OK) {
		unlisten(bus);
		complain_once(bus, status);
		natsConnection_Destroy(nc);
		return false;
	}
	pthread_mutex_lock(&bus->wire);
	bus->nc = nc;
	pthread_mutex_unlock(&bus->wire);
	return true;
}

static void forget_refusals(struct bus *bus)
{
	pthread_mutex_lock(&bus->state);
	memset(bus->refusal, 0, sizeof(bus->refusal));
	pthread_mutex_unlock(&bus->state);
}

static void tell_up(struct bus *bus)
{
	const bool keeps[BUS_STORES] = { keep(bus, BUS_recent), keep(bus, BUS_lasting) };

	pthread_mutex_lock(&bus->state);
	bus->counts.up = true;
	memcpy(bus->counts.keeps, keeps, sizeof(keeps));
	bus->counts.connects++;
	pthread_mutex_unlock(&bus->state);
	*bus->trouble = 0;
	forget_refusals(bus);
	tell(bus, BUS_UP, "", NULL, 0);
}

/* Returns when the connection or the bus is at its end. */
static void serve(struct bus *bus)
{
	while (!is_set(bus, &bus->lost) && !queue_is_stopped(&bus->tasks)) {
		struct queue_item *item = queue_wait(&bus->tasks, UINT64_MAX);
		struct task *task = (struct task *)item;

		if (task && *task->subject)
			fetch(bus, task);
		free(task);
	}
}

static void free_tasks(struct bus *bus)
{
	struct queue_item *item;

	while ((item = queue_get(&bus->tasks)))
		free(item);
}

static void disconnect(struct bus *bus)
{
	natsConnection *nc = bus->nc;
	char why[WHY_MAX];
	const char *more = NULL;

	natsConnection_GetLastError(nc, &more);
	snprintf(why, sizeof(why), "%s", more && !strchr(more, '@') ? more : "");
	make_one_line(why);
	natsConnection_Close(nc); /* what waits for it to be written returns */
	pthread_mutex_lock(&bus->wire);
	bus->nc = NULL;
	pthread_mutex_unlock(&bus->wire);
	unlisten(bus);
	natsConnection_Destroy(nc);
	pthread_mutex_lock(&bus->state);
	bus->counts.up = false;
	memset(bus->counts.keeps, 0, sizeof(bus->counts.keeps));
	pthread_mutex_unlock(&bus->state);
	tell(bus, BUS_DOWN, *why ? why : "connection lost", NULL, 0);
}

/* Twice as long each time; a quarter of it is by chance. */
static void pause_between(struct bus *bus, u64 *pause_ns)
{
	struct queue_item *item;
	u64 until, chance = 0;

	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) < 0)
		chance = now_ns();
	until = now_ns() + *pause_ns - chance % (*pause_ns / 4 + 1);
	while (!queue_is_stopped(&bus->tasks) && now_ns() < until) {
		item = queue_wait(&bus->tasks, until);
		free(item);
	}
	*pause_ns = *pause_ns * 2 < PAUSE_MOST_NS ? *pause_ns * 2 : PAUSE_MOST_NS;
}

static void *keeper(void *closure)
{
	u64 pause_ns = PAUSE_LEAST_NS, up_ns;
	struct bus *bus = closure;

	while (!queue_is_stopped(&bus->tasks)) {
		if (connect_once(bus)) {
			tell_up(bus);
			up_ns = now_ns();
			serve(bus);
			disconnect(bus);
			/* Else a server that ends each connection would be asked all the time. */
			if (now_ns() - up_ns >= PAUSE_MOST_NS)
				pause_ns = PAUSE_LEAST_NS;
		}
		pause_between(bus, &pause_ns);
	}
	free_tasks(bus);
	nats_ReleaseThreadMemory();
	return NULL;
}

static natsStatus send_one(struct bus *bus, const struct sending *sending)
{
	natsStatus status = NATS_OK;

	if (!bus->nc)
		return NATS_CONNECTION_CLOSED;
	if (sending->keep == BUS_INSTEAD)
		status = natsMsgHeader_Set(sending->msg, JSMsgRollup, JSMsgRollupSubject);
	if (status == NATS_OK)
		status = natsConnection_PublishMsg(bus->nc, sending->msg);
	if (status == NATS_NO_SERVER_SUPPORT) { /* of headers: nor has it JetStream */
		natsMsgHeader_Delete(sending->msg, JSMsgRollup);
		status = natsConnection_PublishMsg(bus->nc, sending->msg);
	}
	return status;
}

static void *publisher(void *closure)
{
	struct bus *bus = closure;
	struct queue_item *item;

	while ((item = queue_wait(&bus->out, UINT64_MAX))) {
		struct sending *sending = (struct sending *)item;
		natsStatus status;

		pthread_mutex_lock(&bus->wire);
		status = send_one(bus, sending);
		pthread_mutex_unlock(&bus->wire);
		pthread_mutex_lock(&bus->state);
		if (status == NATS_OK) {
			bus->counts.sent++;
			bus->counts.sent_bytes += natsMsg_GetDataLength(sending->msg);
		} else {
			bus->counts.unsent++;
		}
		pthread_mutex_unlock(&bus->state);
		natsMsg_Destroy(sending->msg);
		free(sending);
	}
	nats_ReleaseThreadMemory();
	return NULL;
}

/* What is wrong with HOST[:PORT] from @host to @end: an IPv6 address is in brackets. Or NULL. */
static const char *host_wrong(const char *host, const char *end)
{
	const char *port = *host == '[' ? memchr(host, ']', end - host) : host;
	u32 number = 0;

	if (host == end || *host == ':')
		return "a host is missing";
	if (memchr(host, '/', end - host))
		return "a server has no path";
	port = port ? memchr(port, ':', end - port) : NULL;
	if (!port)
		return *host == '[' && end[-1] != ']' ? "the address has no ]" : NULL;
	for (port++; port < end && *port >= '0' && *port <= '9' && number <= PORT_MAX; port++)
		number = 10 * number + *port - '0';
	return port == end && number && number <= PORT_MAX ? NULL : "a port is 1 to 65535";
}

const char *bus_url_wrong(const char *url)
{
	const char *wrong;
	int n = 0;

	do {
		const char *host = strstr(url, "://"), *end = url + strcspn(url, ",");

		if (strncmp(url, "nats://", 7) && strncmp(url, "tls://", 6))
			return "it begins with nats:// or tls://";
		host += 3;
		for (const char *at = host; at < end; at++)
			if (*at == '@')
				host = at + 1;
		wrong = host_wrong(host, end);
		if (wrong)
			return wrong;
		if (++n > SERVERS_MAX)
			return "more than 16 servers";
		url = *end ? end + 1 : end;
	} while (*url);
	return NULL;
}

static natsStatus set_servers(natsOptions *options, const char *url, bool *tls)
{
	const char *server[SERVERS_MAX];
	char *copy = strdup(url), *rest = copy, *one;
	natsStatus status;
	int n = 0;

	while (copy && n < SERVERS_MAX && (one = strsep(&rest, ","))) {
		*tls |= !strncmp(one, "tls://", 6);
		if (*one)
			server[n++] = one;
	}
	status = copy ? natsOptions_SetServers(options, server, n) : NATS_NO_MEMORY;
	free(copy);
	return status;
}

static natsStatus set_connection(struct bus *bus, const struct bus_where *where, bool *tls)
{
	natsOptions *options = bus->options;
	natsStatus status = NATS_OK;

	TRY(set_servers(options, where->url, tls));
	TRY(natsOptions_SetAllowReconnect(options, false));
	TRY(natsOptions_SetTimeout(options, CONNECT_MS));
	TRY(natsOptions_SetPingInterval(options, PING_MS));
	TRY(natsOptions_SetMaxPingsOut(options, PINGS_OUT));
	TRY(natsOptions_SetWriteDeadline(options, WRITE_MS));
	TRY(natsOptions_SetName(options, where->client));
	TRY(natsOptions_SetSendAsap(options, where->at_once));
	TRY(natsOptions_SetErrorHandler(options, on_error, bus));
	TRY(natsOptions_SetClosedCB(options, on_closed, bus));
	return status;
}

/* A file of @where that is to be read, or NULL. */
static const char *unreadable(const struct bus_where *where)
{
	const char *const files[] = { where->ca, where->cert, where->key, where->creds };

	for (size_t i = 0; i < XDD_ARRAY_SIZE(files); i++)
		if (files[i] && access(files[i], R_OK))
			return files[i];
	return NULL;
}

/* Whether the file of --nats-creds has a user's seed, without which no server can be answered. */
static bool has_seed(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[4096];
	bool has = false;

	while (file && !has && fgets(line, sizeof(line), file))
		has = !strncmp(line, "SU", 2);
	if (file)
		fclose(file);
	explicit_bzero(line, sizeof(line));
	return has;
}

static int set_options(struct bus *bus, const struct bus_where *where, char *err, size_t err_size)
{
	const char *file = unreadable(where);
	bool tls = where->ca || where->cert;
	natsStatus status;

	if (file)
		return refuse(err, err_size, -errno, "%s: %m", file);
	if (where->creds && !has_seed(where->creds))
		return refuse(err, err_size, -EINVAL,
			      "%s: has no seed of a user: write it with nsc generate creds",
			      where->creds);
	status = natsOptions_Create(&bus->options);
	TRY(set_connection(bus, where, &tls));
	if (tls)
		TRY(natsOptions_SetSecure(bus->options, true));
	if (where->ca)
		TRY(natsOptions_LoadCATrustedCertificates(bus->options, where->ca));
	if (where->cert)
		TRY(natsOptions_LoadCertificatesChain(bus->options, where->cert, where->key));
	if (where->creds)
		TRY(natsOptions_SetUserCredentialsFromFiles(bus->options, where->creds, NULL));
	if (status == NATS_OK)
		return 0;
	return refuse(err, err_size, -EINVAL, "the files for NATS cannot be used: %s",
		      nats_GetLastError(NULL) ?: natsStatus_GetText(status));
}

static bool copy_subjects(struct bus *bus, const struct bus_where *where)
{
	for (int i = 0; i < BUS_LISTENS && where->listen[i]; i++) {
		bus->listen[i] = strdup(where->listen[i]);
		if (!bus->listen[i])
			return false;
	}
	for (int i = 0; i < BUS_STORES && where->store[i]; i++) {
		bus->store[i] = strdup(where->store[i]);
		if (!bus->store[i])
			return false;
		for (int j = 0; j < BUS_KEPT && where->kept[i][j]; j++) {
			bus->kept[i][j] = strdup(where->kept[i][j]);
			if (!bus->kept[i][j])
				return false;
		}
	}
	return true;
}

/* The threads begin last. */
static int start(struct bus *bus, const struct bus_where *where, char *err, size_t err_size)
{
	int code = queue_open(&bus->in, IN_LIMIT, true) ?: queue_open(&bus->out, OUT_LIMIT, false)
		?: queue_open(&bus->tasks, TASKS_LIMIT, false);

	bus->servers = urls_without_users(where->url);
	if (code || !bus->servers || !copy_subjects(bus, where))
		return refuse(err, err_size, code ?: -ENOMEM, "cannot prepare for NATS: %s",
			      strerror(code ? -code : ENOMEM));
	code = set_options(bus, where, err, err_size);
	if (code)
		return code;
	bus->keeper_runs = !pthread_create(&bus->keeper, NULL, keeper, bus);
	bus->publisher_runs = !pthread_create(&bus->publisher, NULL, publisher, bus);
	return bus->keeper_runs && bus->publisher_runs
		       ? 0
		       : refuse(err, err_size, -EAGAIN, "no threads for NATS");
}

int bus_open(const struct bus_where *where, struct bus **to, char *err, size_t err_size)
{
	struct bus *bus = calloc(1, sizeof(*bus));
	int code;

	*to = NULL;
	if (!bus)
		return refuse(err, err_size, -ENOMEM, "no memory for NATS");
	bus->in.fd = bus->out.fd = bus->tasks.fd = -1;
	pthread_mutex_init(&bus->wire, NULL);
	pthread_mutex_init(&bus->state, NULL);
	code = start(bus, where, err, err_size);
	if (code)
		bus_close(bus);
	else
		*to = bus;
	return code;
}

const char *bus_servers(const struct bus *bus)
{
	return bus->servers;
}

int bus_fd(const struct bus *bus)
{
	return bus->in.fd;
}

static void free_event(struct event *event)
{
	if (event)
		natsMsg_Destroy(event->msg);
	free(event);
}

bool bus_next(struct bus *bus, struct bus_event *to)
{
	struct event *event = (struct event *)queue_get(&bus->in);

	free_event(bus->taken);
	bus->taken = event;
	if (!event)
		return false;
	*to = (struct bus_event){ .kind = event->kind,
				  .subject = event->text,
				  .length = event->count };
	if (event->msg) {
		to->subject = natsMsg_GetSubject(event->msg);
		to->bytes = (const u8 *)natsMsg_GetData(event->msg);
		to->length = natsMsg_GetDataLength(event->msg);
	}
	return true;
}

static int unsent(struct bus *bus, int code)
{
	count(bus, &bus->counts.unsent, 1);
	return code;
}

int bus_publish(struct bus *bus, const char *subject, enum bus_keep keep, const u8 *bytes,
		size_t length)
{
	struct sending *sending;

	if (!is_set(bus, &bus->counts.up))
		return unsent(bus, -ENOTCONN);
	if (bus_pending(bus) + AROUND + length > OUT_LIMIT)
		return unsent(bus, -ENOBUFS);
	sending = calloc(1, sizeof(*sending));
	if (!sending ||
	    natsMsg_Create(&sending->msg, subject, NULL, (const char *)bytes, length) != NATS_OK) {
		free(sending);
		return unsent(bus, -ENOMEM);
	}
	sending->keep = keep;
	sending->item.size = AROUND + length;
	queue_put(&bus->out, &sending->item); /* nobody else puts: there is room */
	return 0;
}

size_t bus_pending(const struct bus *bus)
{
	return queue_size((struct queue *)&bus->out);
}

int bus_fetch(struct bus *bus, enum bus_store store, const char *subject)
{
	if (!is_set(bus, &bus->counts.up))
		return -ENOTCONN;
	if (!is_set(bus, &bus->counts.keeps[store]))
		return -EOPNOTSUPP;
	return add_task(bus, store, subject);
}

struct bus_counts bus_counts(const struct bus *bus)
{
	struct bus *b = (struct bus *)bus;
	struct bus_counts counts;

	pthread_mutex_lock(&b->state);
	counts = b->counts;
	pthread_mutex_unlock(&b->state);
	return counts;
}

/* Nothing more is published; what was has half a second to leave. */
static void stop_publisher(struct bus *bus)
{
	u64 until = now_ns() + FLUSH_MS * MILLISECOND_NS;

	queue_stop(&bus->out);
	while (bus_pending(bus) && bus_counts(bus).up && now_ns() < until)
		usleep(1000);
	if (pthread_mutex_trylock(&bus->wire))
		return;
	if (bus->nc)
		natsConnection_FlushTimeout(bus->nc, FLUSH_MS);
	pthread_mutex_unlock(&bus->wire);
}

static void free_queues(struct bus *bus)
{
	struct queue_item *item;

	free_event(bus->taken);
	while ((item = queue_get(&bus->in)))
		free_event((struct event *)item);
	queue_close(&bus->in);
	queue_close(&bus->out);
	queue_close(&bus->tasks);
}

void bus_close(struct bus *bus)
{
	if (!bus)
		return;
	if (bus->publisher_runs)
		stop_publisher(bus);
	queue_stop(&bus->tasks);
	if (bus->keeper_runs)
		pthread_join(bus->keeper, NULL);
	if (bus->publisher_runs)
		pthread_join(bus->publisher, NULL);
	natsOptions_Destroy(bus->options);
	free_queues(bus);
	free(bus->servers);
	for (int i = 0; i < BUS_LISTENS; i++)
		free(bus->listen[i]);
	for (int i = 0; i < BUS_STORES; i++) {
		free(bus->store[i]);
		for (int j = 0; j < BUS_KEPT; j++)
			free(bus->kept[i][j]);
	}
	pthread_mutex_destroy(&bus->state);
	pthread_mutex_destroy(&bus->wire);
	free(bus);
}
