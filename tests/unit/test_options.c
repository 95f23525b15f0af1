/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line: every option's good and bad values, and what contradicts what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "message.h"
#include "options.h"

#define MAX_WORDS 16

/* Parse the words of @line, split at spaces ("''" is an empty word), for the commands @on. */
static int parse(const char *line, unsigned int on, struct options *o, char *err)
{
	static char copy[1024];
	char *argv[MAX_WORDS + 1], *rest, *word;
	int argc = 0;

	assert_true(strlen(line) < sizeof(copy));
	strcpy(copy, line);
	argv[argc++] = "command";
	for (word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		assert_true(argc < MAX_WORDS);
		argv[argc++] = strcmp(word, "''") ? word : "";
	}
	argv[argc] = NULL;
	options_init(o, "command");
	return options_parse(o, argc, argv, on, err, MESSAGE_MAX);
}

static struct options good(const char *line, unsigned int on)
{
	char err[MESSAGE_MAX];
	struct options o;

	if (parse(line, on, &o, err))
		fail_msg("%s: %s", line, err);
	return o;
}

/* @line is refused by a message of one line that contains each of the NULL-ended words. */
static void bad(const char *line, unsigned int on, ...)
{
	char err[MESSAGE_MAX] = "";
	struct options o;
	const char *word;
	va_list words;

	assert_int_equal(parse(line, on, &o, err), -EINVAL);
	assert_null(strchr(err, '\n'));
	va_start(words, on);
	while ((word = va_arg(words, const char *)))
		if (!strstr(err, word))
			fail_msg("%s: no \"%s\" in: %s", line, word, err);
	va_end(words);
}

static void test_defaults(void **state)
{
	struct options o = good("", ON_RUN);

	(void)state;
	for (u32 i = 0; i < OPT_MAX; i++)
		assert_false(o.given[i]);
	assert_int_equal(o.n_args, 0);
	assert_int_equal(o.engine, OPTION_AUTO);
	assert_int_equal(o.clock, OPTION_AUTO);
	assert_int_equal(o.placement, OPTION_AUTO);
	assert_int_equal(o.key, XDD_KEY_packet);
	assert_int_equal(o.hash, XDD_HASH_keyed);
	assert_int_equal(o.action, XDD_ACTION_drop);
	assert_int_equal(o.mode, MODE_NATIVE);
	assert_int_equal(o.frags, OPTION_AUTO);
	assert_int_equal(o.format, OPTION_AUTO);
	assert_true(o.promisc);
	assert_false(o.non_ip || o.refresh || o.force || o.keep || o.json || o.quiet);
	assert_null(o.name);
	assert_null(o.write);
}

static void test_filter(void **state)
{
	struct options o = good("--engine timer --memory 64MiB --window 1.5s --ticks 119 "
				"--hashes 8 --slicing vertical --slices 4",
				ON_LOAD);

	(void)state;
	assert_int_equal(o.engine, XDD_ENGINE_timer);
	assert_int_equal(o.memory, 64 << 20);
	assert_int_equal(o.window, 1500000000);
	assert_int_equal(o.ticks, 119);
	assert_int_equal(o.hashes, 8);
	assert_int_equal(o.slicing, XDD_SLICING_vertical);
	assert_int_equal(o.slices, 4);
	assert_true(option_given(&o, OPT_window));
	assert_false(option_given(&o, OPT_capacity));
	o = good("--engine bloom --slicing hv --slices 8 --subslices 4", ON_STREAM);
	assert_int_equal(o.slicing, XDD_SLICING_hv);
	assert_int_equal(o.subslices, 4);
	assert_int_equal(o.grow, XDD_GROWTH_off);
	o = good("--engine timer --grow cardinality --max-filters 8 --fpr-target 0.05", ON_LOAD);
	assert_int_equal(o.grow, XDD_GROWTH_cardinality);
	assert_int_equal(o.max_filters, 8);
	assert_true(good("--burst 2.5x", ON_SIMULATE).burst == 2.5);
	o = good("--engine rlbsbf --slicing horizontal", ON_SIMULATE);
	assert_int_equal(o.slicing, XDD_SLICING_horizontal);
	o = good("--engine bloom --slicing 2x3 --hashes 6", ON_SIMULATE);
	assert_int_equal(o.slicing, XDD_SLICING_K1xK2);
	assert_int_equal(o.slice_hashes, 2);
	assert_int_equal(o.slice_cells, 3);
	o = good("--capacity=1M --fpr-target 1/1024 --refresh --clock coarse --placement percpu "
		 "--hash siphash --seed 0x10 --non-ip frame",
		 ON_RUN);
	assert_int_equal(o.capacity, 1000000);
	assert_true(o.fpr_target == 1.0 / 1024);
	assert_true(o.refresh && o.non_ip);
	assert_int_equal(o.clock, XDD_CLOCK_coarse);
	assert_int_equal(o.placement, XDD_PLACEMENT_percpu);
	assert_int_equal(o.hash, XDD_HASH_siphash);
	assert_int_equal(o.seed, 16);
	assert_false(o.seed_random);
	o = good("--seed 7 --seed random --clock auto --placement auto", ON_RUN);
	assert_true(o.seed_random);
	assert_int_equal(o.clock, OPTION_AUTO);
	assert_int_equal(o.placement, OPTION_AUTO);
}

static void test_inner(void **state)
{
	struct options o =
		good("--inner --vni key --tunnel-port vxlan=1,geneve=65535,vxlan=2", ON_LOAD);

	(void)state;
	assert_true(o.inner);
	assert_int_equal(o.vni, POLICY_KEY);
	assert_int_equal(o.tunnel_port.used, 3);
	assert_int_equal(o.tunnel_port.port[1], 65535);
	assert_int_equal(o.tunnel_port.tunnel[1], XDD_TUNNEL_geneve);
	assert_int_equal(o.tunnel_port.tunnel[2], XDD_TUNNEL_vxlan);
	assert_int_equal(good("--vni ignore", ON_PCAP).vni, POLICY_IGNORE);
	bad("--vni key", ON_PCAP, "--vni key", "--inner", NULL);
	bad("--inner --vni maybe", ON_PCAP, "maybe", "ignore", NULL);
	bad("--tunnel-port vxlan=1", ON_PCAP, "--tunnel-port", "--inner", NULL);
	bad("--inner --tunnel-port vxlan", ON_PCAP, "TUNNEL=PORT", NULL);
	bad("--inner --tunnel-port vxlan=0", ON_PCAP, "vxlan=0", NULL);
	bad("--inner --tunnel-port vxlan=65536", ON_PCAP, "65536", NULL);
	bad("--inner --tunnel-port vxlan=1,", ON_PCAP, "vxlan=1,", NULL);
	bad("--inner --tunnel-port gre=1", ON_PCAP, "gre=1", "geneve", NULL);
	bad("--inner --tunnel-port mpls=1,mpls=2,mpls=3,mpls=4,mpls=5,mpls=6,mpls=7,mpls=8,mpls=9",
	    ON_PCAP, "at most 8", NULL);
	bad("--inner --key frame", ON_PCAP, "--key frame", "--inner", NULL);
}

static void test_policy(void **state)
{
	struct options o =
		good("--ignore ipid,tcp-opts --include ttl --payload 64 --scope interface "
		     "--vlan map:300=50,7=0",
		     ON_RUN);

	(void)state;
	assert_int_equal(o.ignore, 1u << XDD_FIELD_ipid | 1u << XDD_FIELD_tcp_opts);
	assert_int_equal(o.include, 1u << XDD_FIELD_ttl);
	assert_int_equal(o.payload, 64);
	assert_int_equal(o.scope, SCOPE_INTERFACE);
	assert_true(o.vlan.key);
	assert_int_equal(o.vlan.maps, 2);
	assert_int_equal(o.vlan.from[0], 300);
	assert_int_equal(o.vlan.to[0], 50);
	assert_int_equal(o.vlan.to[1], 0);
	o = good("--payload 5 --payload all --vlan key --scope all", ON_PCAP);
	assert_int_equal(o.payload, 0);
	assert_true(o.vlan.key && !o.vlan.maps);
	assert_false(good("--vlan key --vlan ignore", ON_PCAP).vlan.key);
	assert_int_equal(good("--key flow --window 1s --include macs --vlan key", ON_PCAP).include,
			 1u << XDD_FIELD_macs);
	bad("--ignore ttl", ON_PCAP, "ttl", "not compared anyway", NULL);
	bad("--include ipid", ON_PCAP, "ipid", "compared anyway", NULL);
	bad("--ignore tcp_opts", ON_PCAP, "tcp_opts", "help policy", NULL);
	bad("--ignore ipid,", ON_PCAP, "ipid,", "help policy", NULL);
	bad("--payload 0", ON_PCAP, "--payload 0", "65535", NULL);
	bad("--payload 65536", ON_PCAP, "--payload 65536", NULL);
	bad("--vlan map:", ON_PCAP, "--vlan map:", "A=B", NULL);
	bad("--vlan map:5=6,5=7", ON_PCAP, "each A once", NULL);
	bad("--vlan map:0=1", ON_PCAP, "map:0=1", NULL);
	bad("--vlan map:1=4096", ON_PCAP, "map:1=4096", NULL);
	bad("--vlan map:1=1,2=2,3=3,4=4,5=5,6=6,7=7,8=8,9=9", ON_PCAP, "at most 8", NULL);
	bad("--scope local", ON_PCAP, "local", "interface", NULL);
	bad("--key flow --window 1s --ignore ipid", ON_PCAP, "--ignore", "packet key", NULL);
	bad("--key src --window 1s --include ttl", ON_PCAP, "--include", "packet key", NULL);
	bad("--key frame --vlan key", ON_PCAP, "--key frame", "--vlan", NULL);
	bad("--key frame --scope interface", ON_PCAP, "--key frame", "--scope", NULL);
}

static void test_key(void **state)
{
	struct options o = good("--key offset:20@14 --window 1s", ON_PCAP);

	(void)state;
	assert_int_equal(o.key, XDD_KEY_offset);
	assert_int_equal(o.offset_len, 20);
	assert_int_equal(o.offset_pos, 14);
	assert_int_equal(good("--key frame", ON_PCAP).key, XDD_KEY_frame);
	assert_int_equal(good("--key biflow --window 1s", ON_PCAP).key, XDD_KEY_biflow);
	bad("--key flow", ON_PCAP, "--key flow", "one packet per key", "--window 1s", NULL);
	bad("--key offset:20@14", ON_PCAP, "--window", NULL);
	bad("--key pakcet", ON_PCAP, "--key pakcet", "did you mean packet?", NULL);
	bad("--key offset:0@14", ON_PCAP, "--key offset:0@14", "offset:20@14", NULL);
	bad("--key offset:65536@14", ON_PCAP, "offset:65536@14", NULL);
	bad("--key offset:20@65536", ON_PCAP, "offset:20@65536", NULL);
	bad("--key offset:20", ON_PCAP, "LEN@POS", NULL);
	bad("--key offset", ON_PCAP, "LEN@POS", NULL);
	bad("--key offset:", ON_PCAP, "LEN@POS", NULL);
	bad("--key offset:-1@2", ON_PCAP, "LEN@POS", NULL);
	bad("--key offset:1@2@3", ON_PCAP, "LEN@POS", NULL);
	bad("--key offset:11111111111111111111@2", ON_PCAP, "LEN@POS", NULL);
}

static void test_action(void **state)
{
	struct options o = good("--action mark", ON_RUN);

	(void)state;
	assert_int_equal(o.action, XDD_ACTION_mark);
	assert_int_equal(o.mark_dscp, DEFAULT_MARK_DSCP);
	assert_false(o.mark_meta);
	o = good("--action mark:dscp=0", ON_RUN);
	assert_int_equal(o.mark_dscp, 0);
	o = good("--action mark:meta", ON_SET);
	assert_true(o.mark_meta);
	o = good("--action redirect:tool0 --forward tool1", ON_LOAD);
	assert_int_equal(o.action, XDD_ACTION_redirect);
	assert_string_equal(o.redirect, "tool0");
	assert_string_equal(o.forward, "tool1");
	assert_int_equal(good("--action count", ON_RUN).action, XDD_ACTION_count);
	bad("--action mark:dscp=64", ON_RUN, "mark:dscp=64", "0 to 63", NULL);
	bad("--action mark:dscp=", ON_RUN, "0 to 63", NULL);
	bad("--action mark:x", ON_RUN, "--action mark:x", "mark:dscp=N", NULL);
	bad("--action mark:", ON_RUN, "--action mark:", NULL);
	bad("--action drop:x", ON_RUN, "--action drop:x", NULL);
	bad("--action redirect", ON_RUN, "redirect:IFACE", NULL);
	bad("--action redirect:", ON_RUN, "redirect:IFACE", NULL);
	bad("--action redirect:a-name-that-is-too-long", ON_RUN, "redirect:IFACE", NULL);
	bad("--action dro", ON_RUN, "--action dro", NULL);
	bad("--forward a/b", ON_RUN, "--forward a/b", NULL);
	bad("--forward ''", ON_RUN, "--forward ''", NULL);
}

static void test_repeats(void **state)
{
	struct options o = good("", ON_RUN);

	(void)state;
	assert_int_equal(o.ambiguous.named, 0);
	assert_int_equal(o.max_suppress, 0);
	assert_true(o.top_suppressed);
	o = good("--ambiguous pass --max-suppress 1000 --top-suppressed off", ON_RUN);
	assert_int_equal(o.ambiguous.named, 0x1e);
	assert_int_equal(o.ambiguous.pass, 0x1e);
	assert_int_equal(o.max_suppress, 1000);
	assert_false(o.top_suppressed);
	o = good("--ambiguous drop --max-suppress off", ON_SET);
	assert_int_equal(o.ambiguous.named, 0x1e);
	assert_int_equal(o.ambiguous.pass, 0);
	assert_int_equal(o.max_suppress, 0);
	o = good("--ambiguous ack=pass,udp=drop", ON_PCAP);
	assert_int_equal(o.ambiguous.named, 1 << XDD_CLASS_ack_rst | 1 << XDD_CLASS_udp);
	assert_int_equal(o.ambiguous.pass, 1 << XDD_CLASS_ack_rst);
	bad("--ambiguous ack", ON_PCAP, "--ambiguous ack", "CLASS=pass", NULL);
	bad("--ambiguous ack=pass,ack=drop", ON_PCAP, "once", NULL);
	bad("--ambiguous ack=pass,", ON_PCAP, "CLASS=pass", NULL);
	bad("--ambiguous tcp=passes", ON_PCAP, "CLASS=pass", NULL);
	bad("--key frame --ambiguous pass", ON_PCAP, "--ambiguous", "--key frame", NULL);
	bad("--max-suppress 0", ON_PCAP, "--max-suppress 0", "off", NULL);
	bad("--top-suppressed yes", ON_PCAP, "on or off", NULL);
}

static void test_nic(void **state)
{
	struct options o = good("eth0 --mode skb --frags on --promisc off eth1 --name a_B-9 "
				"--netns blue --force",
				ON_LOAD);

	(void)state;
	assert_int_equal(o.n_args, 2);
	assert_string_equal(o.args[0], "eth0");
	assert_string_equal(o.args[1], "eth1");
	assert_int_equal(o.mode, MODE_GENERIC);
	assert_int_equal(o.frags, FRAGS_ON);
	assert_false(o.promisc);
	assert_string_equal(o.name, "a_B-9");
	assert_string_equal(o.netns, "blue");
	assert_true(o.force);
	assert_int_equal(good("--mode drv", ON_RUN).mode, MODE_NATIVE);
	assert_int_equal(good("--mode auto", ON_RUN).mode, MODE_AUTO);
	assert_true(good("--keep", ON_RUN).keep);
	bad("--mode fast", ON_RUN, "--mode fast", "native, generic, auto", NULL);
	bad("--frags maybe", ON_RUN, "--frags maybe", "on, off or auto", NULL);
	bad("--promisc yes", ON_RUN, "--promisc yes", "on or off", NULL);
	bad("--name a.b", ON_RUN, "--name a.b", "letters", NULL);
	bad("--name -x", ON_RUN, "not the first", NULL);
	bad("--name ''", ON_RUN, "--name ''", NULL);
	bad("--name 123456789012345678901234567890123", ON_RUN, "1 to 32", NULL);
	bad("--netns ../x", ON_RUN, "--netns ../x", NULL);
	bad("--keep", ON_LOAD, "--keep", NULL);
}

static void test_events(void **state)
{
	struct options o;

	(void)state;
	o = good("x", ON_VERDICTS);
	assert_int_equal(o.verdict, XDD_EVENT_ALL);
	assert_int_equal(o.snaplen, 256);
	o = good("--verdict duplicate,not_ip --count 3 --snaplen 14 --rate 1k", ON_VERDICTS);
	assert_int_equal(o.verdict, 1u << XDD_EVENT_duplicate | 1u << XDD_BYPASS_not_ip);
	assert_int_equal(o.count, 3);
	assert_int_equal(o.rate, 1000);
	o = good("--verdict bypassed", ON_VERDICTS);
	assert_int_equal(o.verdict, XDD_EVENT_BYPASSED);
	o = good("--sample-dropped 1k:a:b.pcapng", ON_RUN);
	assert_int_equal(o.sample_rate, 1000);
	assert_string_equal(o.sample_dropped, "a:b.pcapng");
	bad("--verdict duplicate,frob", ON_VERDICTS, "--verdict duplicate,frob", "not_ip", NULL);
	bad("--verdict ''", ON_VERDICTS, "--verdict ''", NULL);
	bad("--snaplen 13", ON_VERDICTS, "14 to 2048", NULL);
	bad("--snaplen 2049", ON_VERDICTS, "14 to 2048", NULL);
	bad("--sample-dropped 5", ON_RUN, "N:FILE", NULL);
	bad("--sample-dropped 0:f", ON_RUN, "1 to 1000000", NULL);
	bad("--sample-dropped 1000001:f", ON_RUN, "1 to 1000000", NULL);
	bad("--sample-dropped 5:-", ON_RUN, "N:FILE", NULL);
	bad("--sample-dropped 5:", ON_RUN, "N:FILE", NULL);
	bad("--sample-dropped 5:f", ON_LOAD, "run", NULL);
}

static void test_files(void **state)
{
	struct options o = good("in.pcap -w out.pcap --dups=copies.pcap --format pcapng "
				"--progress off --json --quiet --verify-checksum",
				ON_PCAP);

	(void)state;
	assert_string_equal(o.args[0], "in.pcap");
	assert_string_equal(o.write, "out.pcap");
	assert_string_equal(o.dups, "copies.pcap");
	assert_int_equal(o.format, FORMAT_PCAPNG);
	assert_int_equal(o.progress, PROGRESS_OFF);
	assert_true(o.json && o.quiet && o.verify_checksum);
	assert_string_equal(good("- -w -", ON_PCAP).write, "-");
	assert_string_equal(good("-w ./0.05", ON_PCAP).write, "./0.05");
	assert_string_equal(good("-w 2024.pcap", ON_PCAP).write, "2024.pcap");
	assert_string_equal(good("-w ./-x -- -y", ON_PCAP).args[0], "-y");
	bad("-w 0.05", ON_PCAP, "-w 0.05", "editcap", "--window 50ms", NULL);
	bad("-w 5", ON_PCAP, "editcap", NULL);
	bad("-w 1e-3", ON_PCAP, "editcap", NULL);
	bad("-w -1", ON_PCAP, "editcap", NULL);
	bad("--write 0.05", ON_PCAP, "editcap", NULL);
	bad("-w --json", ON_PCAP, "-w --json", NULL);
	bad("-w ''", ON_PCAP, "-w ''", NULL);
	bad("-w", ON_PCAP, "-w needs a value", "FILE", NULL);
	bad("--format pcap2", ON_PCAP, "--format pcap2", "did you mean pcap?", NULL);
	bad("--action drop", ON_PCAP, "--action", NULL);
}

static void test_stream(void **state)
{
	struct options o = good("", ON_STREAM);

	(void)state;
	assert_int_equal(o.delimiter, '\t');
	assert_int_equal(o.time_unit, UNIT_S);
	assert_true(!o.field && !o.time_field && !o.null && !o.unbuffered);
	assert_true(!o.save && !o.restore && !o.summary);
	o = good("a b --field 3 --delimiter , --time-field 1000000 --time-unit us --window 1s",
		 ON_STREAM);
	assert_int_equal(o.n_args, 2);
	assert_int_equal(o.field, 3);
	assert_int_equal(o.delimiter, ',');
	assert_int_equal(o.time_field, 1000000);
	assert_int_equal(o.time_unit, UNIT_US);
	o = good("-0 --unbuffered --summary s --save ./-f --restore 5", ON_STREAM);
	assert_true(o.null && o.unbuffered);
	assert_string_equal(o.summary, "s");
	assert_string_equal(o.save, "./-f");
	assert_string_equal(o.restore, "5");
	assert_int_equal(good("--delimiter \\t", ON_STREAM).delimiter, '\t');
	assert_int_equal(good("--window-records 2", ON_STREAM).window_records, 2);
	assert_int_equal(good("--window-records 1k", ON_PCAP).window_records, 1000);
	bad("--field 0", ON_STREAM, "--field 0", "from 1", NULL);
	bad("--field 1000001", ON_STREAM, "1000000", NULL);
	bad("--time-field x", ON_STREAM, "--time-field x", NULL);
	bad("--time-unit h", ON_STREAM, "s, ms, us, ns", NULL);
	bad("--delimiter ab", ON_STREAM, "one byte", NULL);
	bad("--delimiter ''", ON_STREAM, "one byte", NULL);
	bad("--save -", ON_STREAM, "--save -", NULL);
	bad("--restore ''", ON_STREAM, "--restore", NULL);
	bad("--window-records 1", ON_STREAM, "at least 2", NULL);
	bad("--window-records 5 --window 1s", ON_STREAM, "both", NULL);
	bad("--engine bsbf --window-records 5", ON_STREAM, "engines with a window", NULL);
	bad("--key src", ON_STREAM, "takes no option --key", NULL);
	bad("--window-records 5", ON_LOAD, "takes no option --window-records", NULL);
	bad("--field 1", ON_PCAP, "takes no option --field", NULL);
}

static void test_plan(void **state)
{
	struct options o = good(
		"--rate 10Gbit --packets-size 500 --faults 4 --cost-ratio 0.5 --compare", ON_PLAN);

	(void)state;
	assert_true(o.rate == 10000000000 && o.rate_bits && o.compare);
	assert_int_equal(o.packets_size, 500);
	assert_int_equal(o.faults, 4);
	assert_true(o.cost_ratio == 0.5);
	o = good("--rate 1Tbit --packets-size 500", ON_PLAN);
	assert_true(o.rate == 1000000000000 && o.rate_bits);
	o = good("--rate 1.5Mbit/s --rate 2M", ON_PLAN);
	assert_true(o.rate == 2000000 && !o.rate_bits);
	bad("--rate 1bit/h", ON_PLAN, "--rate", NULL);
	bad("--rate 0bit", ON_PLAN, "--rate", NULL);
	bad("--rate bit/s", ON_PLAN, "--rate", NULL);
	bad("--rate 1111111111111111111111111111111111111111bit", ON_PLAN, "--rate", NULL);
	bad("--cost-ratio nan", ON_PLAN, "1e-9 to 1e9", NULL);
	bad("--cost-ratio 0", ON_PLAN, "1e-9 to 1e9", NULL);
	bad("--cost-ratio 5x", ON_PLAN, "1e-9 to 1e9", NULL);
	bad("--packets-size 0", ON_PLAN, "1 to 65535", NULL);
	bad("--faults 4", ON_LOAD, "takes no option --faults", "plan", NULL);
}

static void test_bad_numbers(void **state)
{
	static const char *const numbers[] = { "--window",     "--memory", "--capacity",
					       "--fpr-target", "--ticks",  "--seed" };
	static const char *const values[] = { "12abc", "''", "-5", "99999999999999999999999x" };
	char line[64];

	(void)state;
	for (size_t i = 0; i < XDD_ARRAY_SIZE(numbers); i++)
		for (size_t j = 0; j < XDD_ARRAY_SIZE(values); j++) {
			snprintf(line, sizeof(line), "%s %s", numbers[i], values[j]);
			bad(line, ON_RUN, numbers[i], values[j], "for example", NULL);
		}
	bad("--window 20", ON_RUN, "--window 20", "--window 20ms", NULL);
	bad("--window 0", ON_RUN, "--window 0", "1ns", NULL);
	bad("--window 9000h", ON_RUN, "--window 9000h", "366 days", NULL);
	bad("--ticks 0", ON_RUN, "1 to 119", NULL);
	bad("--ticks 120", ON_RUN, "1 to 119", NULL);
	bad("--memory 63", ON_RUN, "at least 64 bytes", NULL);
	bad("--capacity 0", ON_RUN, "at least 1", NULL);
	bad("--capacity 1 --fpr-target 1", ON_RUN, "below 1", NULL);
	bad("--engine timer --hashes 9", ON_RUN, "1 to 8", NULL);
	bad("--engine timer --slices 4294967296", ON_RUN, "--slices", NULL);
	bad("--seed 18446744073709551616", ON_RUN, "--seed", "random", NULL);
}

static void test_contradictions(void **state)
{
	(void)state;
	bad("--memory 1MiB --capacity 1k", ON_RUN, "--memory", "--capacity", NULL);
	bad("--fpr-target 0.01", ON_RUN, "--capacity", NULL);
	bad("--hashes 4", ON_RUN, "--hashes", "--engine timer", NULL);
	bad("--engine tagged --slicing none", ON_RUN, "--slicing", "--engine timer", NULL);
	bad("--engine exact --slices 4", ON_RUN, "--slices", "--engine timer", NULL);
	bad("--engine timer --slicing none --slices 4", ON_RUN, "--slicing none", NULL);
	bad("--grow density", ON_RUN, "--grow density", "--engine timer", NULL);
	bad("--engine bloom --grow cardinality", ON_STREAM, "--engine timer", NULL);
	bad("--engine timer --max-filters 3", ON_RUN, "--max-filters", "--grow", NULL);
	bad("--engine timer --grow density --max-filters 1", ON_RUN, "from 2 to 8", NULL);
	bad("--engine timer --grow density --equal 2", ON_RUN, "--grow and --equal", NULL);
	bad("--engine timer --grow size", ON_RUN, "off, density, cardinality", NULL);
	bad("--burst 0x2", ON_SIMULATE, "--burst 0x2", "1x to 1000x", NULL);
	bad("--burst 1001", ON_SIMULATE, "1x to 1000x", NULL);
	bad("--burst 2y", ON_SIMULATE, "1x to 1000x", NULL);
	bad("--engine bloom --slices 4", ON_RUN, "--slicing none", NULL);
	bad("--engine sbf --slicing vertical", ON_RUN, "--slicing", "timer, bloom, bsbf", NULL);
	bad("--engine rlbsbf --slicing vertical", ON_RUN, "--slicing vertical", "horizontal", NULL);
	bad("--engine bsbf --slicing 2x2", ON_STREAM, "timer and bloom", "bsbf", NULL);
	bad("--engine bsbf --slicing horizontal --slices 4", ON_RUN, "--slices", "timer and bloom",
	    NULL);
	bad("--engine timer --subslices 4", ON_RUN, "--subslices", "hv and vh", NULL);
	bad("--engine timer --slicing hv --slices 4", ON_RUN, "--slicing hv", "--subslices", NULL);
	bad("--engine timer --slicing 3x3", ON_RUN, "--slicing 3x3", "at most 8", NULL);
	bad("--engine timer --slicing 0x4", ON_RUN, "--slicing 0x4", "from 1", NULL);
	bad("--engine timer --slicing 2x2x2", ON_RUN, "--slicing 2x2x2", NULL);
	bad("--engine timer --slicing K1xK2", ON_RUN, "for example --slicing 2x2", NULL);
	bad("--engine timer --slicing 2x2 --hashes 5", ON_RUN, "2x2", "--hashes 5", NULL);
}

static void test_unknown(void **state)
{
	(void)state;
	bad("--windw 1s", ON_RUN, "--windw", "did you mean --window?", NULL);
	bad("--fpr_target=1", ON_RUN, "did you mean --fpr-target?", NULL);
	bad("--acton drop", ON_PCAP, "--acton", NULL);
	bad("--zzzzzzzz", ON_RUN, "unknown option --zzzzzzzz", NULL);
	bad("-x", ON_RUN, "-x", NULL);
	bad("-xyz", ON_RUN, "-x", NULL);
	bad("--json=yes", ON_RUN, "--json takes no value", NULL);
	bad("--verify-checksum=1", ON_PCAP, "--verify-checksum takes no value", NULL);
	bad("--window", ON_RUN, "--window needs a value", "--window 20ms", NULL);
	bad("--all", ON_RUN, "--all", NULL);
}

static void test_help_needs_nothing(void **state)
{
	(void)state;
	assert_true(good("--key flow --help", ON_RUN).help);
	assert_true(good("-h", ON_STATUS).help);
}

static void test_names(void **state)
{
	(void)state;
	assert_true(option_name_valid("eth0"));
	assert_true(option_name_valid("12345678901234567890123456789012"));
	assert_false(option_name_valid("123456789012345678901234567890123"));
	assert_false(option_name_valid(""));
	assert_false(option_name_valid("eth0.5"));
	assert_false(option_name_valid("a/b"));
	assert_false(option_name_valid("a b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),    cmocka_unit_test(test_filter),
		cmocka_unit_test(test_inner),	    cmocka_unit_test(test_policy),
		cmocka_unit_test(test_key),	    cmocka_unit_test(test_action),
		cmocka_unit_test(test_repeats),	    cmocka_unit_test(test_nic),
		cmocka_unit_test(test_events),	    cmocka_unit_test(test_files),
		cmocka_unit_test(test_stream),	    cmocka_unit_test(test_plan),
		cmocka_unit_test(test_bad_numbers), cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_unknown),	    cmocka_unit_test(test_help_needs_nothing),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
