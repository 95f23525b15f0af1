/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topics.h"

#include <string.h>

#include <xdd/config.h>

#include "export/page.h"
#include "joint/plan.h"
#include "names.h"
#include "policy.h"

static void print_names(FILE *to, const char *title, const char *const *names,
			const char *const *help)
{
	fprintf(to, "%s\n", title);
	for (int i = 0; names[i]; i++)
		fprintf(to, "  %-12s %s\n", names[i], help[i]);
}

static void topic_engines(FILE *to)
{
	print_names(to, "--engine: the filter that is asked \"seen in the window?\"", engine_names,
		    engine_help);
	print_names(to, "\n--key: the bytes that make two packets the same", key_names, key_help);
	print_names(to, "\n--hash: what turns a key into cells", hash_names, hash_help);
	print_names(to,
		    "\n--slicing: how engines timer and bloom are cut; bsbf, bsbfsd, rlbsbf: the "
		    "first two",
		    slicing_names, slicing_help);
	print_names(to, "\n--placement: who shares a filter", placement_names, placement_help);
	print_names(to, "\n--tree: of --placement tree", tree_names, tree_help);
	print_names(to, "\n--clock: what tells the time", clock_names, clock_help);
	print_names(to, "\n--action: what happens to duplicates", action_names, action_help);
	fprintf(to,
		"\nA false positive is a first copy that is called duplicate, a false negative a\n"
		"duplicate that is called first. tagged errs on about 5 packets in ten\n"
		"million at its capacity, and may let a copy through when a line is full; timer "
		"has\n"
		"the rate that its size gives it; exact does not err. tagged and timer forget a\n"
		"packet within the last tick of the window, exact at its end. The others have no\n"
		"window: they are for long streams, and xdp-dedup simulate shows what they "
		"mistake\n"
		"and miss.\n");
}

/* The fields that are compared by default, or the others. */
static void print_fields(FILE *to, bool by_default)
{
	for (int i = 0; field_names[i]; i++) {
		char word[POLICY_FIELD_MAX];

		if ((XDD_DEFAULT_FIELDS >> i & 1) == by_default)
			fprintf(to, "  %-12s %s\n", policy_field(i, word), field_help[i]);
	}
}

#define PRINT_TUNNEL(name, ports, help) print_tunnel(to, #name, help, (const u16[4])ports);
static void print_tunnel(FILE *to, const char *name, const char *help, const u16 ports[4])
{
	fprintf(to, "  %-8s %-32s", name, help);
	for (int i = 0; i < 4 && ports[i]; i++)
		fprintf(to, " %u", ports[i]);
	fputc('\n', to);
}

static void topic_tunnels(FILE *to)
{
	fprintf(to, "--inner compares the innermost IP packet instead of the outermost, up to 4 "
		    "inside each\nother and 40 headers in all. Over UDP, and on which ports unless "
		    "--tunnel-port says others:\n");
	XDD_TUNNELS(PRINT_TUNNEL)
	fprintf(to,
		"Without ports: IP in IP; GRE with any flags, also of version 1 (PPTP), NVGRE, "
		"ERSPAN I, II\n"
		"and III; MPLS, with Ethernet behind the labels if neither 4 nor 6 comes first, "
		"nor, "
		"unless\na control word is there, 0 or 1; PPPoE; and\n"
		"what switches put before the packet: VN-Tag, 802.1BR, PBB, FabricPath, TRILL, "
		"Arista's time\nstamps.\n"
		"Not read: ESP, L2TP, LISP, GUE, NSH, MACsec, compressed or encrypted PPP.\n\n"
		"What is no IP inside, is cut, or has a wrong header leaves the last packet that "
		"was whole as\n"
		"what is compared, and is counted (inner_truncated, inner_malformed, "
		"inner_unsupported);\na packet deeper than is read passes as unsupported. An\n"
		"outer fragment is compared as it is. --vni key: packets of different VNIs, GRE "
		"keys or TEIDs\n"
		"(those of the innermost tunnel that has one) are different, and so is one that "
		"is in no tunnel.\n");
}

static void topic_policy(FILE *to)
{
	fprintf(to,
		"Two packets are the same if their IP packets are, except in fields that the way "
		"changes.\n\nFields that --ignore takes out of --key packet:\n");
	print_fields(to, true);
	fprintf(to, "Fields that --include adds to it:\n");
	print_fields(to, false);
	fprintf(to,
		"\nAn ignored field of the transport header is found behind extension headers, "
		"too, "
		"if it lies in\nthe first 1024 bytes behind the IP header, but not in later "
		"fragments. "
		"The lengths always tell\npackets apart, and so do addresses, protocol, ports and "
		"payload.\n\n"
		"--payload BYTES  compares only so many bytes behind the IP header\n"
		"--vlan key       packets in different VLANs are different: all tags of the "
		"Ethernet "
		"header that\n                 is nearest to the packet, identifiers only; 0 is no "
		"tag\n"
		"--vlan map:A=B   the same, and VLAN A counts as B, or as no tag where B is 0\n"
		"--scope          interface: only copies on the same interface, or in files the "
		"same "
		"pcapng\n                 interface or input\n"
		"--non-ip frame   frames without IP are compared from the EtherType on, without "
		"tags "
		"and, of\n                 ARP and 802.3 lengths, without padding; those to "
		"01:80:c2:00:00:00 up to 0f,\n                 which end at the next switch, "
		"always pass\n\n"
		"--key redundancy goes by the sequence numbers of PRP (trailer), HSR (tag), both "
		"by "
		"source\naddress, and FRER (R-tag: by destination and VLANs, also without --vlan "
		"key), "
		"over 400ms unless\n--window says else. Engine recovery, its default, remembers "
		"for each "
		"stream the last 256 numbers,\nor as many as --recovery says (IEEE 802.1CB 7.4.3). "
		"After "
		"a window in which nothing new came, or\nwith --refresh nothing at all, a stream "
		"begins "
		"with any number. A number further from the highest\npasses, counted as rogue; PRP "
		"and HSR "
		"begin anew with it. Other engines compare stream and number\nwithin the window. "
		"Networks "
		"with the same addresses: --vlan key or --scope interface tells them apart.\n"
		"Frames without a number pass, counted as untagged.\n");
}

static void topic_copies(FILE *to)
{
	fprintf(to,
		"Two packets with the same key, at most a window apart, are copies; the first one "
		"is kept.\n"
		"\n"
		"learn FILE|IFACE   looks at a sample and takes nothing away: how many equal "
		"packets "
		"there\n"
		"                   are, how far apart, in which fields they differ, and what each "
		"of\n"
		"                   several windows would drop. Equal packets up to 100 ms apart "
		"count as\n"
		"                   copies, later ones as sent again. Unsure are those without "
		"identification\n"
		"                   (IPv4 with 0, IPv6 without fragment header) and with the same "
		"TTL: a\n"
		"                   host may have sent them twice; and those in another VLAN that "
		"no router\n"
		"                   has passed on, if both have one or are over 10 ms apart: "
		"networks of\n"
		"                   their own may have the same addresses. The sample is looked "
		"at with\n"
		"                   --inner, --non-ip frame and several --ignore, too: the advice "
		"is the\n"
		"                   least that surely finds all but one in 200 copies, with the "
		"shortest\n"
		"                   window from 1 ms on that does.\n"
		"explain FILE A B   says of two frames, numbered from 1, which fields are in the "
		"key, "
		"which\n"
		"                   differ, and which options would turn the verdict. It does not "
		"know what\n"
		"                   a key is: it changes each field and asks the filter's own code "
		"again.\n"
		"pcap --pairs FILE  lists each copy with its first as CSV. A filter does not know "
		"the "
		"first:\n"
		"                   this keeps, beside it, 48 bytes or more for each packet of a "
		"window. A\n"
		"                   copy without a first is an error of the filter.\n");
}

static void topic_audit(FILE *to)
{
	fprintf(to, "\
--audit RATE compares the filter's verdicts on that share of the keys with the truth, which a\n\
shadow knows: when the window of each key began, in bounded memory beside the filter. A key is\n\
in the sample by its hash, with all of its packets. On a NIC 1/1024 is the default, else it is off.\n\
\n\
Truth: what engine exact would say with memory without end. A copy is a packet at most a window\n\
from the one that began it. tagged and timer have their window in ticks: a copy is a packet before\n\
which fewer ticks began. Those within the window but not within its ticks may pass, as status\n\
says, and may be found: they are counted as `edge`, and are in no rate. Beyond the window a\n\
packet that is called duplicate is an error, whichever engine says so. Bit engines have no\n\
window: a copy is any packet whose key came since the audit began. With --placement percpu, a copy\n\
on another CPU than the first one is missed, and counts as missed.\n\
\n\
  fp, FPR        distinct packets called duplicate: lost. FPR = FP/(FP+TN)\n\
  fn, FNR        copies called distinct: they passed. FNR = FN/(FN+TP), TP from the number of all\n\
                 packets that were called duplicate, since few keys may have most of the copies\n\
  _low, _high    where the rate of all keys lies with 95 %% confidence: intervals by keys, not by\n\
                 packets, which depend on each other; none wrong in the sample: a bound\n\
  lost           distinct packets lost so far, from the sample; lost_high: at most\n\
  edge           see above\n\
  excluded       packets of keys that the shadow had no room for: their truth is not known, and\n\
                 they are in no rate. Many: audit a smaller share. Bit engines: as more and more\n\
                 keys come, it keeps some of them for ever and leaves out the others\n\
  races          verdicts that two CPUs brought in the other order than the packets, put right\n\
\n\
Of a filter on a NIC that has a window, status, top and --metrics also say how long after the packet\n\
that began the window the copies of the sample came, in steps of a factor of two. If many come near\n\
its end, others may come behind it: try a longer --window. Times are those of --clock.\n\
\n\
It measures the filter. Whether the key is the right one, learn, explain and pcap --pairs tell.\n");
}

static void topic_repeats(FILE *to)
{
	fprintf(to,
		"Content cannot tell a copy from a packet that its sender sent twice within the "
		"window, if\n"
		"the packet carries no identification: IPv4 with DF and identification 0 (with "
		"--ignore ipid\n"
		"all of IPv4), IPv6 without a fragment header, and frames without IP. Duplicates "
		"of these\n"
		"are counted as ambiguous, by class. Only --key packet makes the difference.\n\n");
	print_names(to, "--ambiguous CLASS=drop|pass,...: what is done with them", class_words,
		    class_help);
	fprintf(to,
		"What passes stays counted as duplicate. --ambiguous pass, or drop, is all "
		"classes; those\n"
		"that set does not name stay as they are. Where the taps copy packets, pass keeps "
		"those\n"
		"copies, too.\n\n"
		"--max-suppress N: after N suppressed duplicates of a key one passes, so that a "
		"flood, or an\n"
		"ARP storm with --non-ip frame, stays visible. The exact engine counts for each "
		"key, from\n"
		"its last distinct packet on; the others let one in N + 1 pass on average, chosen "
		"by hash.\n"
		"What --ambiguous lets pass does not count.\n\n"
		"--top-suppressed: status, pcap and their JSON (top_suppressed) show the ten keys "
		"most often\n"
		"suppressed since load, of those that were more than once. Room for 512 of them "
		"on each CPU\n"
		"(29 KiB): a key that comes often drives out one that does not. The counts are "
		"estimates,\n"
		"never above the true ones.\n");
}

#define PRINT_METRIC(metric, type, labels, help) print_metric(to, #metric, #type, labels, help);

static void print_metric(FILE *to, const char *name, const char *type, const char *labels,
			 const char *help)
{
	const char *suffix = strcmp(type, "counter") ? "" : "_total";

	fprintf(to, "  xdp_dedup_%s%s{name%s%s}\n      %s: %s\n", name, suffix, *labels ? ", " : "",
		labels, type, help);
}

static void topic_metrics(FILE *to)
{
	fprintf(to, "run and agent serve http://ADDRESS:PORT/metrics with --metrics, in "
		    "Prometheus' text\n"
		    "format or OpenMetrics, as the scraper asks; with --textfile they write the "
		    "same to a\n"
		    "file every 15 seconds, and remove it at their end; a file that something else "
		    "made, or\n"
		    "another process writes, is left alone. A port that is taken is tried again. "
		    "run exports\n"
		    "its own instance, agent all. Who scrapes reads maps: nothing in the datapath "
		    "waits for\n"
		    "it. Counters go on through xdp-dedup set, --restart included. Reading takes "
		    "at most a\n"
		    "tenth of a CPU: where it takes long, of large bit filters, who asks meanwhile "
		    "gets the\n"
		    "page before.\n\n"
		    "  xdp_dedup_build_info{version, commit}\n      gauge: 1\n");
	METRICS(PRINT_METRIC)
	fprintf(to, "\nWhat is not known has no sample: a rate that was not measured, the share "
		    "of live cells before\nthe first walk over them. `interface` is empty for "
		    "packets of an interface that left its\nnetwork namespace.\n");
}

static void topic_faults(FILE *to)
{
	fprintf(to, "\
With --fault-policy each slice of engines tagged, timer and bloom has a state. Of more than 512\n\
slices (tagged: each line is one) neighbours share one. Under per-CPU placement each CPU's filter\n\
has states of its own.\n\
  ok          is asked and written\n\
  failed      neither: by xdp-dedup fault NAME --slice I --fail; under per-CPU placement as long\n\
              as its CPU is offline (run and agent watch that); of a filter that stream\n\
              --restore reads, where the checksum of its lines is wrong\n\
  recovering  it came back empty (fault --recover) and is written, but not believed until a\n\
              window has passed. That ends by itself; bloom has no window and is believed at once\n\
\n\
What is answered while k cells of a key lie in slices that are not ok\n\
  distinct    (koloniari-2011: taken as not set) what they would have to decide passes, counted\n\
              as bypassed, faulted. No packet is lost because of a fault; copies pass\n\
  duplicate   taken as set: no copy more passes, and packets are lost: of a horizontal filter\n\
              all whose slice it is\n\
  vote:X      a copy if X of its k cells are there and set, for all keys as long as any slice is\n\
              not ok. Lower X loses more packets, higher X misses more copies; plan --faults F\n\
              --cost-ratio C says which X is best. Not for tagged, whose keys have one cell\n\
plan and simulate --faults F say and measure what F failed slices cost: Eq. 5, 6 and 7 of the\n\
paper with corrections (vertical: (q + (1 - q) r)^k for duplicate, q of the slices failed, r of\n\
the cells set), and the vote's sums.\n\
\n\
set changes no state, nor does --restart. Without --fault-policy the program has no code for\n\
this, and nothing in it fails: states cost 1 ns a packet, and code of twice the size.\n");
}

static void topic_config(FILE *to)
{
	fprintf(to,
		"load and run take --config FILE. Each line of it is an option by its long name,\n"
		"without dashes:\n\n"
		"  # /etc/xdp-dedup/tap.conf\n"
		"  interface = eth1\n"
		"  interface = eth2\n"
		"  window    = 20ms\n"
		"  memory    = 64MiB\n"
		"  refresh   = no        # options without a value: yes or no\n"
		"  promisc   = no        # the same as off\n\n"
		"What stands on the command line as well goes before the file. What follows a # at "
		"the\n"
		"start of a line, or behind a space, is a comment.\n\n"
		"On SIGHUP (systemctl reload xdp-dedup@tap) run reads the file again and changes "
		"what is new\nin it as set would: window, action, forward, ambiguous, "
		"max-suppress, top-suppressed,\nwatch-action, and interfaces that came or went. Of "
		"what else "
		"has changed it says that it takes a restart, and\nif the file is wrong it goes on "
		"as before.\n");
}

static void topic_cluster(FILE *to)
{
	fputs("\
Copies on interfaces of one machine are found by one filter: xdp-dedup load eth0 eth1. Where they\n\
also arrive at other machines, each host holds replicas of the others' filters: packets that another\n\
host has seen within the window are copies here, too.\n\
\n\
A replica is a Bloom filter of what is live in its host's filter, of 2^s bits. Hosts can read each\n\
other's only if they are loaded alike: engine, key options, geometry, hash and its secret. What they\n\
say has a fingerprint of all that; of a host with another one nothing is used. Nor is what a host\n\
with a longer --window says (by more than a sixteenth): it would make copies of what is new here.\n\
\n\
  xdp-dedup load eth1 --secret-file FILE --peers 8 --window 2s   on each host, with the same FILE\n\
  xdp-dedup agent --nats nats://SERVER --group tap --host NAME   or run with the options of both\n\
\n\
An instance is HOST.INSTANCE to the others. On the server's subjects xdd.GROUP.HOST.INSTANCE.state,\n\
.live, .ask, .want.WHOM and .answer.WHOM they talk; JetStream, if the server has it, keeps of each\n\
what it has told since its last FULL, in memory, in stream xdd-GROUP, for an hour. Without a server\n\
nothing is believed, and it is tried again for ever, after 0.1 to 4 s. XDP_DEDUP_NATS stands for\n\
--nats where a password must not be in the list of processes.\n\
\n\
What hosts say (user/cluster/wire.h has it byte by byte; all numbers are little-endian):\n\
  FULL          the filter, in parts of at most 512 KiB: the first time, when something was lost,\n\
                when its size has changed, and where it is no longer than what has changed\n\
  DELTA         the bits that have changed since the last FULL or DELTA: as distances between them,\n\
                as lengths of runs, or as they are, whichever is shortest\n\
  HEARTBEAT     nothing new: which version the others should have, and how far off it is\n\
  WANT          please send a FULL: one is sent for all who want it\n\
  BYE           this host leaves: forget it\n\
  AUDIT_ASK     had you seen these keys, of the audit's sample?\n\
  AUDIT_ANSWER  yes, no or unknown, for each\n\
Each has a header of 120 bytes or more (version, type, who, when, which of how many parts) and ends\n\
with a SipHash-2-4 tag under a key of its sender: what is damaged, cut, forged, or said by one host\n\
in the name of another is not taken, and what was taken is not taken again. Another major version is\n\
counted and not read; a later minor one may say more than is understood.\n\
\n\
When a host speaks (zhu-jiang-2006): it keeps what it last sent. From the shares of bits that came\n\
since (delta1) and went since (delta0; entries that expire do) it reckons what its replicas err now:\n\
false positives, f+ = (P + delta0 - delta1)^k, P being the share of ones; and false negatives, either\n\
of any key, f- = P^k - (P - delta1)^k (bound model: theorem 3), or of the keys it has, the share of\n\
them that came since, times 1 - (P + delta0 - delta1)^k (bound member). It sends when the sum of\n\
both, each with its weight, passes the target, or will by the next look. What even a fresh replica\n\
errs is no reason to send: only a larger filter mends that.\n\
\n\
What is thought of a peer:\n\
  live          up to date and believed\n\
  joining       heard of, and its filter has not come yet\n\
  recovering    a version is missing: a FULL is asked for, after 1, 2, 4, ... times the least wait\n\
  distrusted    more of its bits are ones than is allowed: it would say yes to too much\n\
  mismatched    loaded otherwise, its window is longer than here (set --window ends that within a\n\
                heartbeat), or its filter is larger than there is room for\n\
  failed        silent for too long\n\
  left          it said BYE\n\
Only who is live is believed, and only for a time that is put off again and again: if what keeps\n\
the replicas up to date dies, they end. In doubt a packet passes.\n\
\n\
Watch sets that follow an owner's (--share-watch; help watch), in messages with keys of their own\n\
(user/cluster/watch_wire.h):\n\
  WATCH_FULL    all of the set, deflated, in parts of at most 512 KiB: at first, after a connection,\n\
                when it is wanted, and when a change is long or is not known key by key (clear, and\n\
                load of a saved set)\n\
  WATCH_DELTA   the keys that were added or deleted since, with a print (keys and CRC-32) of the set\n\
                before and after; one that does not lead from what is held, or to what it says, is\n\
                not applied, and a FULL is asked for\n\
  WATCH_BEAT    this is the set now: a third of --silence apart\n\
  WATCH_WANT    please send a FULL: this is what I hold\n\
FULLs go to subjects xdd.GROUP.HOST.INSTANCE.watch0 and .watch1 in turn, with the DELTAs behind them;\n\
JetStream keeps the last of both in stream xdd-GROUP-watch, on disk and for ever: a late host has the\n\
set after one fetch, be its owner there or not. What is older than what a host holds is ignored,\n\
after a start as well: /run/xdp-dedup/NAME.share has its version.\n",
	      to);
}

static void topic_plan(FILE *to)
{
	fprintf(to, "\
xdp-dedup plan computes a filter; it changes nothing. xdp-dedup plan --help lists its options.\n\
\n\
How many keys are live, one of\n\
  --rate N --window TIME   packets a second; or bits, as 10Gbit, with --packets-size BYTES. Each\n\
                           is taken for new and for one that has a copy, which is the worst\n\
  --capacity KEYS\n\
  --from FILE              a capture, measured with engine exact: the most that are live at once\n\
What it may err\n\
  --fpr-target, --fnr-target; with --faults F slices failed --fault-fpr and --fnr-target\n\
  The FNR is of copies spread evenly over the window. Those in its last tick are missed besides:\n\
  more --ticks make them fewer; without --ticks an --fnr-target sets them, 16 to 119.\n\
What it finds\n\
  The least memory, or with --memory the rates in it; k, engine (tagged, timer, exact) and slices\n\
  unless they are given. With targets that cannot be met the exit code is 1.\n\
  S_f, the slices it takes to bear F faults: slices_fn if what failed slices held is taken as not\n\
  set (a new key is never dropped for a fault), slices_fp if it is taken as set.\n\
  --cost-ratio C chooses k and x with the least C FPR + FNR: of a key's k cells in --slicing\n\
  vertical, x that are there and set make a duplicate.\n\
  --faults: a filter has states for 512 slices; of more, neighbours fail together.\n\
  --equal K2: with the rule of equal timers, --engine timer.\n\
  --grow density|cardinality: filters of one size that hold 1.05 of what is usual, and together\n\
  a --burst, 2x by default, with all of them within --fpr-target; --max-filters, or as many as\n\
  take the least memory.\n\
\n\
Formulas (user/model/*.h)\n\
  timer, bloom  P = (1 - (1 - 1/m)^(k n))^k, with slices the mean over their uneven loads\n\
                (Koloniari and others 2011, eq. 1, 3, 4)\n\
  faults        eq. 5, 6; eq. 7 put right: the mean over a hypergeometric number of failed slices;\n\
                votes: sums of C(k,i) p^i (1-p)^(k-i); section 3.2\n\
  tagged        FPR: live cells of a line, at most 15, x 2^-24. FNR: a full line gives up its\n\
                oldest entry; a missed copy makes an entry, too\n\
  sbf           its stable point (Deng, Rafiei 2006)\n\
  rsbf, bsbf, bsbfsd, rlbsbf   the load at which new keys set and reset as many bits (Bera and\n\
                others 2012, their recurrences put right)\n\
  equal timers  all k live, and K2 of them set last in the same tick: summed over the window\n\
                (section 4)\n\
  growth        a filter is full with -m/k ln(1 - P^(1/k)) keys; of n in a window F = n/full + 2\n\
                are alive at the most, and FPR is at most 1 - (1 - P)^F (section 5)\n\
  bandwidth     a look-up sends k log2(m/S) bits to one slice, horizontal, or k log2 m to\n\
                S (1 - (1 - 1/S)^k), vertical\n\
\n\
xdp-dedup plan cluster --hosts N --rate R [--packets-size BYTES] [--window 2s]: what hosts that tell\n\
each other what they have seen (help cluster) need. Each packet is taken for new. When a host speaks\n\
is asked of the agent's own rule (--false-rate-target, --bound), what it says is encoded and\n\
measured, and loads are compared with what tests/bench/bus.sh measured: JSON has these as limits.\n\
Exit code 1: one host of a group, or its server, would have more to do than that. The last part\n\
is what a tree of sites (Koloniari and others, section 6) with --fan-out children would be like.\n");
}

static void topic_watch(FILE *to)
{
	print_names(
		to,
		"--watch-action, with load, run and set: what is done with packets whose key is in "
		"the watch set",
		watch_names, watch_help);
	fprintf(to, "\
\n\
Packets that the set keeps from the filter are bypassed, reason watch, in all counters; those of drop\n\
and select are dropped. Packets without a key (such as frames without IP) pass as ever, under select,\n\
too. The set is made at load, empty: with only nothing is de-duplicated then, with select all that has\n\
a key is dropped. What is done can be changed while it runs: xdp-dedup set NAME --watch-action skip.\n\
\n\
xdp-dedup watch NAME ...\n\
  add KEY...     del KEY...      load FILE      unload FILE\n\
  save FILE      clear           stats\n\
A KEY is, by the --key that NAME was loaded with,\n\
  src, dst       ADDRESS\n\
  srcdst         ADDRESS,ADDRESS\n\
  flow, biflow   PROTOCOL,ADDRESS,PORT,ADDRESS,PORT: tcp, udp, icmp, icmp6, sctp or a number; of ICMP\n\
                 the first port is the type (code 0) and the other the echo identifier, of what has\n\
                 no ports they are 0\n\
  any            a frame, from its Ethernet header on, in hexadecimal: the `bytes` of events --json\n\
                 (with --snaplen 2048, or the packet is cut and has no key)\n\
A FILE is a capture, of which the keys of all packets are meant, or has a KEY in each line, or, for\n\
load, is one that save wrote; - is stdin. unload deletes what load of the same file added.\n\
\n\
All keys of a command are taken, or none: one that is not in the set cannot be deleted, nor one be\n\
added where there is no room; the message names it and the exit code is 1. Within a command a key\n\
counts once, but what two commands added is to be deleted twice. Of the keys that were never\n\
added a share, fpr in stats, is taken for keys of the set, by the program and by del: delete\n\
only what was added.\n\
\n\
The set is an accurate counting Bloom filter (li-2013) for --watch-keys N keys (100k), in a memory of\n\
--counters 10 counters of 4 bits a key. Level 1, which --l1 optimal makes as large as that\n\
memory allows, 37 bits a key, is in the kernel; a key is --positions 3 of its bits. The levels above\n\
are in /run/xdp-dedup/NAME.xdw, which goes when the instance does. Each change writes that file\n\
anew: load many keys at once rather than one by one. It is believed only if root owns it and the\n\
folder, and nobody else can write there; clear makes a new one.\n\
A set that was saved fits an instance with the same secret (--secret-file, --seed), key options and size.\n\
\n\
Several hosts: agent (or run) --nats URL --group G --share-watch HOST on each, loaded alike and with one\n\
--secret-file: each set follows the one of the same name at HOST, its owner, or that of HOST.INSTANCE if\n\
that is given. At the owner watch add, del, load, unload and clear work as ever; within about a quarter\n\
of a second the others have it, whole or not at all. There the same commands are refused, as long as the\n\
agent runs; without it a set stays as it is, can be changed, and is its owner's again when the agent\n\
is back. stats, status and metrics say which change a set has, and for how long it may have been\n\
behind. A set of another size, secret or key is told, and stays as it is.\n");
}

static void topic_growth(FILE *to)
{
	print_names(to, "--grow, for --engine timer: one more filter is opened", growth_names,
		    growth_help);
	fprintf(to, "\n"
		    "A filter is full when it errs at the rate of --fpr-target P (0.001). With k "
		    "hashes and "
		    "m cells\n"
		    "that is a share P^(1/k) of live cells, or n = -m/k ln(1 - P^(1/k)) keys since "
		    "it was "
		    "opened\n"
		    "(koloniari-2011 section 5). A key is a copy if one of the live filters has "
		    "all its "
		    "cells; a\n"
		    "new one goes into the newest, and a filter whose timers have all run out is "
		    "retired. "
		    "With F\n"
		    "filters alive, at most 1 - (1 - P)^F of the new keys are lost; no more copies "
		    "pass "
		    "than\n"
		    "without.\n"
		    "\n"
		    "density      the usual choice: a window's keys at the rate that --capacity is "
		    "meant for "
		    "stay\n"
		    "             in one filter, for what runs out makes room\n"
		    "cardinality  needs no walk over the filter to see that it is full, but counts "
		    "what "
		    "has run\n"
		    "             out, too: one or two filters at the usual rate, and more after a "
		    "burst\n"
		    "\n"
		    "--capacity is what one filter holds: give it the usual rate times the window. "
		    "--memory "
		    "is\n"
		    "that of all --max-filters (4), which is reserved at load: what grows is what "
		    "is asked "
		    "and\n"
		    "written. A filter that is not live costs memory, but no look-up. Each live "
		    "one costs a "
		    "look-up\n"
		    "up to k accesses more, next to those of the first.\n"
		    "\n"
		    "--slicing none is the default with --grow. Up to 512 slices, horizontal or "
		    "hv, grow "
		    "each by\n"
		    "itself; those that a key's cells are spread over grow together.\n"
		    "\n"
		    "On a NIC the ager opens and retires, run or agent, after its walks: four in a "
		    "window or "
		    "ten a\n"
		    "second, as far as 64 MiB a second take it. What comes between two walks can "
		    "fill a "
		    "filter\n"
		    "further than its target. Without an ager the chain stays as it is and answers "
		    "right. "
		    "When all\n"
		    "filters are full, errors exceed the target: status warns.\n");
}

static void topic_papers(FILE *to)
{
	fprintf(to,
		"Koloniari, Ntarmos, Pitoura, Souravlias: One is Enough: Distributed Filtering "
		"for\n"
		"Duplicate Elimination (2011).\n"
		"  --engine timer   Bloom filters whose cells are timers; a first copy starts the\n"
		"                   window and a duplicate does not extend it (section 4)\n"
		"  --slicing        horizontal, vertical and diced slices, and K1xK2 (section 3)\n"
		"  --capacity       with --engine timer: m = -k n / ln(1 - P^(1/k)) cells\n"
		"Bera, Dutta, Narang, Bhattacherjee: biased sampling Bloom filters (2012).\n"
		"  --engine sbf, rsbf, bsbf, bsbfsd, rlbsbf; --variant, --p-star, --sbf-p\n"
		"  --fpr-target     rsbf: K is the mean of 1 and of eq. 6.1, ln(P) / ln(1 - 1/e)\n"
		"  simulate         its streams; rsbf by default as its tables were made; see help "
		"streams\n"
		"Deng, Rafiei: Approximately Detecting Duplicates for Streaming Data using Stable\n"
		"Bloom Filters (2006).\n"
		"  --engine sbf     each event counts --sbf-p cells down and sets its own to "
		"--sbf-max\n"
		"  --fpr-target     sbf: P = 1 / ((1 / (1 - FPR^(1/K))^(1/MAX) - 1) (1/K - 1/m))\n"
		"Zhu, Jiang: Improving Bloom Filter Performance on Distributed Systems: "
		"replicas\n"
		"(2006).\n"
		"  --push false-rate, --false-rate-target, --bound, --weights: hosts tell each "
		"other what\n"
		"                   they have seen when the error of the copies asks for it "
		"(theorems "
		"3 and 4)\n"
		"  simulate replicas  its tables 1 and 2, figures 4 to 6; see help streams, help "
		"cluster\n"
		"Li and others: the accurate counting Bloom filter, ACBF (2013).\n"
		"  watch, --watch-action    a set that keys can be deleted from; see help watch\n"
		"  stream --join, --filter  the filter before a join; see help join\n"
		"  simulate acbf    its tables and figures 4 to 7; --counters, --positions, --l1\n"
		"Cai and others: joint detection by several monitors (2014).\n"
		"  joint, simulate joint    what all of them saw: bfs, cfs, cfsp; see help "
		"detection\n"
		"--engine tagged is ours: a horizontal slice of one cache line, with tags.\n");
}

static void topic_records(FILE *to)
{
	fprintf(to, "\
xdp-dedup stream reads lines, or with --null records that end with a byte of 0, of any length\n\
below 4 GiB. Those of which there was none before are written as they are, in their order,\n\
whole records with each write and none held back while the input is idle. What is compared is\n\
the record, or its --field N; fields are separated by --delimiter, a tab by default. Records\n\
without that field or without a time (--time-field) are written, too, and counted.\n\
\n\
How long a record is remembered\n\
  exact, and the bit engines: for ever. exact grows; with --memory SIZE, or when half of the\n\
      free memory is used, it forgets what it saw first, and counts it as forgotten\n\
  --window-records N: among the last N records, this one included; so editcap -D N is\n\
      pcap --key frame --refresh --window-records N. exact: those and no others. tagged and\n\
      timer: up to a tick, a sixteenth of N, fewer. Memory does not grow\n\
  --window TIME --time-field N: by the time that field N states, in seconds or --time-unit,\n\
      inclusive. Steps back are taken as in captures: exact compares the distance in either\n\
      direction, tagged and timer take the record for as late as the latest of its cells\n\
  A first record starts the window; --refresh: each duplicate starts it again.\n\
\n\
The end\n\
  SIGINT and SIGTERM end it as the end of the input does: what was read is finished, counted\n\
  and saved, and the exit code is 0. It is 0 also when the reader of the output goes away.\n\
\n\
--save FILE, --restore FILE\n\
  The filter with its options, hash secret, random numbers and count of records, so that two\n\
  runs decide as one would. An option that is given along with --restore must agree. A file\n\
  that is damaged, cut, or of another version is refused; with --fault-policy, slices that are\n\
  damaged start empty (see help faults). --save replaces FILE when all is\n\
  written; it does not if the output could not be.\n");
}

static void topic_join(FILE *to)
{
	fprintf(to, "\
xdp-dedup stream --join FILE,... writes those records of its inputs whose key may be the key of a\n\
record of the FILEs: all that have a partner there, in their order, and of the others a share of\n\
f. Their key is --field N, that of the FILEs' records --join-field N (default: the same). Records\n\
without that field have no partner. FILEs that cannot be read to their end are no set: exit code 1.\n\
\n\
In parts\n\
  --join FILE,... --save-filter F   makes the set, saves it, and reads no records. FILE may be -,\n\
                                    so that key sets that were made elsewhere come by a pipe\n\
  --filter F                        does as --join did, wherever F is. How keys are hashed and\n\
                                    where they lie is in F; F that is damaged is refused\n\
\n\
The set is an accurate counting Bloom filter (li-2013). m = --counters x keys counters of 4 bits\n\
are its memory, k = --positions bits of level 1 are a key, and --l1 is how large level 1 is: m,\n\
2m, 3m bits, or optimal, 4m - kn, which leaves n keys' deletions just room. f = (1 -\n\
e^(-kn/l1))^k: with 10 counters and 3 positions .0174, .0027, .00086, .00047.\n\
\n\
xdp-dedup simulate acbf builds one of --domain made keys, asks it about --records others, deletes a\n\
fifth and adds as many, --runs times: f measured beside the formula, nanoseconds of a question\n\
and of an update beside those of a plain counting filter, and the words that an update reads and\n\
writes beside the paper's Eq. 2.\n");
}

static void topic_detection(FILE *to)
{
	print_names(
		to,
		"xdp-dedup joint FILE FILE... prints the keys that all FILEs have, each a monitor, "
		"as if\nonly messages went between them and a coordinator (cai-2014). --algorithm:",
		joint_names, joint_help);
	fprintf(to, "\n\
Keys      A FILE that is a capture has the keys of its frames, as pcap finds them: --key, --ignore,\n\
          --inner and so on; else it has a key a line, or --field N of it. Lines and frames that\n\
          have none are left out, and counted. Printed are the lines of the first FILE; of a capture\n\
          the number of the frame in which a key came first, and what it is of. A capture is read\n\
          twice, so it is a file; lists may come by pipes.\n\
--at-least T  keys that T of the FILEs have, each once, of the first FILE that has it: of captures\n\
          FILE:NUMBER, and what it is of. raw and best only: in the others a bit that T filters have\n\
          may come from other filters for each bit of a key.\n\
Errors    A common key is never lost. A key that is not common is taken for one with probability\n\
          --epsilon at most, whichever of the others have it. raw and smallest-first err as 64 bits\n\
          of hash do. Each monitor may be wrong about other keys.\n\
Rounds    cfsp and best halve what is left in each of --rounds but the last, which does the rest:\n\
          later filters are of fewer keys. 2 is what the paper simulates; more save little.\n\
Bytes     Those of the messages as they are encoded, on the coordinator's link. The coordinator has\n\
          filters only; with raw and smallest-first, hashes of 64 bits. What it sends to all counts\n\
          for each. The keys of smallest-first count once over FILEs and in simulate joint, as if\n\
          all could hear them at once; live hosts get them one by one, and there they count for\n\
          each. To cfs, cfsp and best it sends only which bits of a monitor's own filter are left,\n\
          coded by their gaps.\n\
best      is what the paper does not have: filters of one hash, each as long as its errors ask\n\
          for, coded by their gaps in both directions (Golomb's code and a range coder). What was\n\
          not wrong in one round is left to the next.\n\
\n\
Live hosts: xdp-dedup joint --monitors a.tap,b.tap,c.tap --nats URL --secret-file FILE\n\
Each is HOST.INSTANCE: loaded with --collect KEYS and that --secret-file, and served by an agent or\n\
run of the same --nats and --group. They collect keys for --period TIME (10s) from when the last\n\
of them says that it does, whatever becomes of the packets; then the messages go. --count N: so many\n\
periods; an empty line ends the keys of each. Between two, while messages go, nothing is collected.\n\
--then print       (default) the keys on stdout, as watch NAME load takes them where --key is src,\n\
                   dst, srcdst, flow or biflow, without VLANs (--vlan key), tunnels (--vni key) or\n\
                   Ethernet addresses (--include macs), which only a packet shows; of others the\n\
                   digest, a tab, and what it is of\n\
--then watch:NAME  each monitor puts them into the watch set of its host's instance NAME, unless\n\
                   one of them cannot, when asked: then none does. Not with --at-least. If one\n\
                   that could fails after all, it is said of each whether it has them: exit code\n\
                   1. Either way the keys are printed instead\n\
A monitor that does not answer, not for --silence (and 4 s, while keys are collected), is named, and\n\
nothing is found: exit code 1. It is of one joint at a time, and free 15 s after one that was killed.\n\
One with more keys than --collect has room for says so (no room, overflow): then common keys may be\n\
missing, and `complete` is false in --json. Hosts agree on keys by digests of 64 bits; the\n\
coordinator sees filters, with raw and smallest-first digests, and the keys that it prints.\n\
\n\
xdp-dedup simulate joint makes the lists: --monitors of --sizes keys, --intersection of the smallest\n\
one common, all others in one list each; --runs times. It prints bits of the messages beside those\n\
of the paper's formulas, and what was lost and what was taken for common.\n");
}

static void topic_sites(FILE *to)
{
	fputs("\
The slices of one filter, engines timer and bloom, can be on several machines (koloniari-2011): sites.\n\
\n\
  xdp-dedup site --nats nats://SERVER --group G --secret-file FILE --slices 0-9/40 FILTER   on each\n\
  xdp-dedup stream --sites --nats nats://SERVER --group G --secret-file FILE --slices 40 FILTER\n\
\n\
FILTER is the same everywhere: --engine, --slicing, --hashes, --memory of all slices together, and\n\
--window. A site says who it is: which slices, of which filter. One whose slices another one has, or\n\
that has another filter, says so and ends. FILE, which only its owner may read, has the secret that\n\
messages are signed with, and that records are hashed with: the producers, stream --sites, send\n\
places of cells, never a record or its hash. Who has another secret is refused, and counted.\n\
\n\
A producer begins when all slices have a site, or after --silence. A site that does not answer for\n\
--site-timeout, or ends, has failed: --fault-policy (default: distinct) says what its cells answer,\n\
see xdp-dedup help faults. One that comes back is recovering: it is believed a window later; of bloom,\n\
which has none, at once, and copies of what it had pass once more. Questions are sent four times in\n\
--site-timeout; one that comes again gets the answer that it had, and does nothing twice. While there\n\
is no server, nobody has failed, for ten seconds.\n\
\n\
Several producers may ask at once: one of them passes each record. A site gives a key whose cells are\n\
not all set to one producer, until that has set them, or two seconds are over, since it may have died;\n\
others ask again. --window needs --time-field, and the clocks of the producers must agree to within\n\
what a window can do without: a record that is late lives for the rest of its window, where stream\n\
without --sites takes it for as late as the latest of its cells.\n\
\n\
SIGUSR1 makes a site say what it did: visits of each slice, messages and bytes, what it refused.\n\
\n\
xdp-dedup simulate sites runs a made stream through a filter whose slices are on --hosts (default: one\n\
each, 256 at most): the messages are those above. Beside it one filter is asked the same: verdicts\n\
that differ are counted, and none does.\n\
\n\
--protocol\n\
  parallel   all slices of a key at once; the cells of a distinct one are set when that is known\n\
  pipeline   one slice after the other, until the verdict is known; then as above\n\
  one-pass   the same, but a slice that makes a key distinct is set at once and, of bloom, only\n\
             those behind it later: no slice is visited twice\n\
--primitive test-and-set, of parallel and bloom: what is asked is set, so nothing follows; for one\n\
producer only.\n\
\n\
--batch N keys are asked about at once; those that share a cell, or a line of timers, in their\n\
order. A visit is a question to a slice about a key, or what is set there: 1 for a question with\n\
horizontal slices, S(1 - (1 - 1/S)^k) with vertical ones. A message has all visits of a site.\n\
\n\
simulate --faults F: so many sites do not answer.\n",
	      to);
}

static void topic_trees(FILE *to)
{
	fprintf(to,
		"xdp-dedup site --tree KIND --name NAME [--parent SITE] is a node of a tree of filters on several\n\
machines (koloniari-2011, section 6), over --nats, until a signal; without --parent it is the root.\n\
xdp-dedup stream --leaf SITE asks one. All have the same --group, --secret-file and options of the\n\
filter, --tree and --top-down included; --memory is that of each node. A parent or child that does\n\
not answer within --site-timeout has failed until it is heard again: meanwhile a node takes what it\n\
does not have itself for distinct, or with --fault-policy duplicate for a duplicate, and says to its\n\
children in time that it waits, so that they do not take it for dead; and a match\n\
that cannot be looked for below stands. SIGUSR1 makes a node say what it did so far. A parent that\n\
is not there, or waits for its own, or is below the node itself, is told of after 3 s.\n\
The root's filter can be sliced over sites of the same group (see help sites), which are started first:\n\
give the root --sites, and all nodes and producers its --slicing and --slices.\n\
\n\
xdp-dedup simulate tree spreads a made stream, or a --trace with producers, over the leaves of\n\
such a tree, engines timer and bloom. All nodes have filters of one size, --memory in all. A record\n\
is looked for in its producer's leaf, and further up only where it is not found; the root decides.\n\
Messages are encoded as they would be sent, and hold places of cells, never a record or its hash.\n\
Beside it one filter of a node's size is asked the same: without --top-down no verdict differs.\n\
\n\
--tree dense   what is found further up is set in all filters below, for as long as it lives there:\n\
               the next one is found nearby\n\
--tree sparse  only what is distinct is set, on the path where it came by\n\
--fan-out F    children of each node; --depth N: levels, the root (level 0) included\n\
--top-down D   a match above level D is one only if some node below it at level D has the key, too,\n\
               apart from those that were asked before; else it is looked for further up, and is\n\
               distinct where nobody has it. That errs less, and costs questions to all children.\n\
--hosts N      the root's filter is sliced over so many sites (see help sites), by --slicing and\n\
               --slices; dense trees of timers, and timers with --top-down, need a whole one\n\
--batch N      keys that a leaf asks about at once, all at the time of the last one\n\
--locality P   chance that a record comes from the home of its identifier, not from any leaf: those\n\
               are active by Zipf's law\n\
\n\
The table has for each level what it found (hits), how often its filters were visited to test or to\n\
set, matches that were refuted, and messages to and from the level above. The root of a dense tree\n\
is visited once for each record that no level below has; that of a sparse one once more for each\n\
distinct one.\n\
\n\
Several at once: a key waits where the same one is on its way, so that copies in one batch cost one\n\
question, and of two leaves that show a new key at the same moment one passes it.\n");
}

static void topic_streams(FILE *to)
{
	fprintf(to,
		"xdp-dedup simulate runs a stream of events through an engine and counts what it "
		"gets\n"
		"wrong. Without --trace the events are numbers, independent of each other, uniform "
		"or\n"
		"zipf:ALPHA. Other simulations: simulate replicas, of hosts that hold copies of "
		"each "
		"other's\n"
		"filters (see help cluster); simulate acbf, of a counting set (see help join); "
		"simulate joint,\n"
		"of monitors that look for common keys (see help detection); simulate sites and "
		"simulate\n"
		"tree, of filters on several machines (see help sites, help trees).\n"
		"\n"
		"Rates\n"
		"  fpr, fnr    FP/(FP+TN) of the distinct events, FN/(FN+TP) of the copies\n"
		"  fpr_joint, fnr_joint    the same of all records (bera-2012 eq. 3.3, 3.4)\n"
		"  load        share of the cells in use\n"
		"  load_model  what the model expects of as many new keys (sbf and rsbf: of a "
		"uniform\n"
		"              stream)\n"
		"  load_model_copies       bsbf, bsbfsd, rlbsbf: with the copies too that were "
		"forgotten\n"
		"              and inserted again, as many as there were\n"
		"  fpr_model, fnr_model  what is to be expected by how full the filter then is: of "
		"a "
		"new key,\n"
		"              and of a copy that comes at any time in its window\n"
		"  slices      of a sliced filter: messages_per_lookup, one to each slice that has "
		"cells of\n"
		"              the key; pipelined_per_lookup, if they go one after the other and "
		"stop "
		"at the\n"
		"              first cell that is not set; max_share, the largest part of them "
		"that goes to one "
		"slice; "
		"Jain's\n"
		"              fairness, 1 if all get the same\n"
		"\n"
		"Windows\n"
		"  Engines with a window take --window-records N, the last N records, or --window "
		"TIME\n"
		"  with --rate N or the times of a trace. tagged and timer count ticks: an event "
		"is "
		"a\n"
		"  copy if fewer ticks have begun since it was last distinct than a window has, so "
		"the\n"
		"  window ends up to a tick early. Their fpr and fnr are against that definition.\n"
		"  given_fpr and given_fnr are against the window as it was given: copies in its "
		"last\n"
		"  tick that pass are false negatives, and as each begins a window of its own, "
		"events\n"
		"  in it are false positives. More --ticks make both smaller.\n"
		"  With --truth delivered a record is a copy if the filter let one pass in the "
		"window\n"
		"  (koloniari-2011), not if one came: an error then does not shift later windows, "
		"and\n"
		"  an event that was taken for a copy is not also missed when it comes again.\n"
		"\n"
		"Traces\n"
		"  An event a line, any bytes; or columns, if the first line names them (event, "
		"and "
		"time\n"
		"  or producer) or --trace-columns does: producer,event,time. Other names are "
		"skipped.\n"
		"  CSV: a column with commas or quotes is quoted. Times are seconds with up to 9\n"
		"  decimals or have a unit, and do not step back. Only the event decides what is a "
		"copy.\n"
		"  gzip is recognised. A trace is read into memory: 12 bytes an event.\n");
}

struct topic {
	const char *name, *summary;
	void (*print)(FILE *to);
};

#define TOPIC_ROW(name, summary) { #name, summary, topic_##name },
static const struct topic topics[] = { TOPICS(TOPIC_ROW){ .name = NULL } };

bool topic_print(FILE *to, const char *name)
{
	for (const struct topic *t = topics; t->name; t++) {
		if (strcmp(t->name, name))
			continue;
		t->print(to);
		return true;
	}
	return false;
}

void topics_list(FILE *to)
{
	for (const struct topic *t = topics; t->name; t++)
		fprintf(to, "  xdp-dedup help %-10s %s\n", t->name, t->summary);
}
