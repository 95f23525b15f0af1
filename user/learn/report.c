// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report.h"

#include <inttypes.h>
#include <string.h>

#include "user/explain/explain.h"
#include "user/policy.h"
#include "user/units.h"

#define BAR 40

static double percent(u64 part, u64 all)
{
	return all ? 100.0 * part / all : 0;
}

static u64 steps_beyond_copies(const struct learn *l)
{
	u64 n = 0;

	for (u32 i = 0; i < LEARN_STEPS; i++)
		n += l->steps[i].all;
	return n - l->windows[LEARN_COPIES].dropped.all;
}

static void print_frames(const struct learn *l, const struct learn_source *source, FILE *to)
{
	double seconds = source->is_file ? (s64)(l->last_ns - l->first_ns) / 1e9 : source->seconds;

	fprintf(to, "%s: %" PRIu64 " frames in %.3g s, %" PRIu64 " compared\n", source->name,
		(uint64_t)l->frames, seconds, (uint64_t)l->compared);
	for (u32 i = 0; i < XDD_BYPASS_MAX; i++)
		if (l->bypassed[i])
			fprintf(to, "not compared  %" PRIu64 " %s: %s\n", (uint64_t)l->bypassed[i],
				explain_bypass_name(i), explain_bypass_help(i));
	if (source->missed)
		fprintf(to,
			"missed        %" PRIu64
			" frames came faster than they could be looked at: "
			"there may be more copies\n",
			(uint64_t)source->missed);
}

static void print_copies(const struct learn *l, FILE *to)
{
	const struct learn_count *copies = &l->windows[LEARN_COPIES].dropped;
	u64 repeats = steps_beyond_copies(l);

	fprintf(to, "copies        %" PRIu64 " (%.3g %% of what was compared) within 100 ms\n",
		(uint64_t)copies->all, percent(copies->all, l->compared));
	if (copies->unsure)
		fprintf(to,
			"              %" PRIu64
			" of them unsure: without identification (IPv4 with 0, IPv6), "
			"or in another VLAN:\n              nothing tells a copy from a packet "
			"sent twice\n",
			(uint64_t)copies->unsure);
	if (copies->all)
		fprintf(to,
			"              %" PRIu64 " are the same frame, byte by byte; %" PRIu64
			" came by another interface\n",
			(uint64_t)l->identical, (uint64_t)l->other_interface);
	if (repeats)
		fprintf(to,
			"repeats       %" PRIu64 " equal packets further apart: sent again, not "
			"copied, as hellos are\n",
			(uint64_t)repeats);
}

static void print_times(const struct learn *l, FILE *to)
{
	if (!l->windows[LEARN_COPIES].dropped.all)
		return;
	fprintf(to, "packets       %" PRIu64 " came once", (uint64_t)l->times[1]);
	for (u32 i = 2; i <= LEARN_TIMES; i++)
		if (l->times[i])
			fprintf(to, ", %" PRIu64 " %u times%s", (uint64_t)l->times[i], i,
				i == LEARN_TIMES ? " or more" : "");
	if (l->most_times > LEARN_TIMES)
		fprintf(to, ", one %" PRIu64 " times", (uint64_t)l->most_times);
	fputc('\n', to);
}

static u64 largest_step(const struct learn *l)
{
	u64 most = 0;

	for (u32 i = 0; i < LEARN_STEPS; i++)
		most = l->steps[i].all > most ? l->steps[i].all : most;
	return most;
}

/* A line for each step of time, a bar for how many pairs. */
static void print_steps(const struct learn *l, FILE *to)
{
	static const char bar[BAR + 1] = "########################################";
	u64 most = largest_step(l);
	char text[UNITS_TEXT_MAX];

	if (most)
		fprintf(to, "apart\n");
	for (u32 i = 0; i < LEARN_STEPS; i++) {
		u64 n = l->steps[i].all;
		u32 last = i == LEARN_STEPS - 1;

		if (n)
			fprintf(to, "  %-6s %-8s %10" PRIu64 "  %.*s\n", last ? "beyond" : "up to",
				units_time_text(learn_step_ns[i - last], text), (uint64_t)n,
				(int)(1 + n * (BAR - 1) / most), bar);
	}
}

static void print_differences(const struct learn *l, FILE *to)
{
	char name[FIELD_NAME_MAX];

	for (u32 i = 0; i < l->n_differences; i++) {
		const struct learn_difference *d = &l->differences[i];
		struct field field = { .kind = d->kind, .nth = d->nth };

		fprintf(to, "%-13s %s in %" PRIu64 " copies\n", i ? "" : "differs",
			field_name(&field, name), (uint64_t)d->copies);
	}
}

static void print_window(const struct learn *l, u32 w, FILE *to)
{
	const struct learn_count *dropped = &l->windows[w].dropped;
	char text[UNITS_TEXT_MAX];

	fprintf(to, "  %-11s %10" PRIu64 " frames, %.3g %%",
		units_time_text(learn_window_ns[w], text), (uint64_t)dropped->all,
		percent(dropped->all, l->compared));
	if (dropped->unsure)
		fprintf(to, ", %" PRIu64 " of them unsure", (uint64_t)dropped->unsure);
	if (l->windows[w].forgotten)
		fprintf(to, " (or more: memory did not reach that far; give --memory more)");
	fputc('\n', to);
}

/* The shortest window for each number of frames that one drops. */
static void print_windows(const struct learn *l, FILE *to)
{
	u64 before = 0;

	for (u32 w = 0; w < LEARN_WINDOWS; w++) {
		if (l->windows[w].dropped.all == before)
			continue;
		if (!before)
			fprintf(to, "window        would drop\n");
		before = l->windows[w].dropped.all;
		print_window(l, w, to);
	}
}

static void print_command(const struct learn_source *source, const char *options, FILE *to)
{
	if (source->is_file)
		fprintf(to, "              xdp-dedup pcap %s -w OUT %s\n", source->name, options);
	else
		fprintf(to,
			"              xdp-dedup load %s%s%s %s --action count\n"
			"              xdp-dedup status %s, and when that is plausible\n"
			"              xdp-dedup set %s --action drop\n",
			source->name, source->netns ? " --netns " : "", source->netns ?: "",
			options, source->name, source->name);
}

static void print_vlans(const struct learn *l, FILE *to)
{
	char text[LEARN_VLAN_MAX];
	u64 routed = 0;

	if (!learn_vlan(l, text))
		return;
	for (u32 i = 0; i < l->n_vlans; i++)
		routed += l->vlans[i].routed;
	fprintf(to,
		"              %" PRIu64
		" copies are in another VLAN than their first; a router has passed %" PRIu64
		" of them on. Where VLANs are networks of their own, with the same addresses, they "
		"are no copies: --vlan key keeps them",
		(uint64_t)l->other_vlan, (uint64_t)routed);
	if (strcmp(text, "key"))
		fprintf(to, ", --vlan %s all but those that were routed", text);
	fputc('\n', to);
}

/* What content cannot decide, and the user may know. */
static void print_policy(const struct learn *l, const struct learn_advice *advice, FILE *to)
{
	if (advice->would_drop.unsure && advice->verdict == LEARN_COPIES_SURE)
		fprintf(to,
			"              %" PRIu64 " of these are unsure: hosts may have sent them "
			"twice, or others with the same addresses\n",
			(uint64_t)advice->would_drop.unsure);
	print_vlans(l, to);
	if (l->most_times > LEARN_TIMES)
		fprintf(to,
			"              one packet came %" PRIu64
			" times: more than taps there are? "
			"A flood or a loop would be dropped, too\n",
			(uint64_t)l->most_times);
}

/* What other options find more, each than those before it. */
static void print_lenses(const struct lenses *lenses, FILE *to)
{
	const struct lens *asked = &lenses->all[0];
	u64 sure = lens_sure(asked), compared = asked->learn.compared;
	char policy[POLICY_TEXT_MAX];

	for (u32 i = 1; i < lenses->n; i++) {
		const struct lens *lens = &lenses->all[i];
		const char *options = policy_text(&lens->fixed, policy);

		if (lens_sure(lens) > sure)
			fprintf(to, "more          %" PRIu64 " more copies, for sure, by %s\n",
				(uint64_t)(lens_sure(lens) - lens_sure(asked)), options);
		else if (lens->learn.compared > compared && !lens->fixed.non_ip_frame)
			fprintf(to, "more          %" PRIu64 " more frames are compared by %s\n",
				(uint64_t)(lens->learn.compared - asked->learn.compared), options);
		sure = lens_sure(lens) > sure ? lens_sure(lens) : sure;
		if (lens->learn.compared > compared)
			compared = lens->learn.compared;
	}
}

/* The options of @lens and its window. Returns @text. */
#define ADVICE_MAX (POLICY_TEXT_MAX + UNITS_TEXT_MAX + 16)
static const char *advice_text(const struct lens *lens, const struct learn_advice *advice,
			       char text[ADVICE_MAX])
{
	char policy[POLICY_TEXT_MAX], window[UNITS_TEXT_MAX];

	units_time_word(learn_window_ns[advice->window], window);
	policy_text(&lens->fixed, policy);
	snprintf(text, ADVICE_MAX, "--window %s%s%s", window, *policy ? " " : "", policy);
	return text;
}

static void print_advice(const struct lens *lens, const struct learn_source *source, FILE *to)
{
	const struct learn *l = &lens->learn;
	struct learn_advice advice = learn_advise(l);
	char options[ADVICE_MAX];

	advice_text(lens, &advice, options);
	switch (advice.verdict) {
	case LEARN_NOTHING:
		fprintf(to, "advice        none: no frame could be compared\n");
		return;
	case LEARN_NO_COPIES:
		fprintf(to, "advice        none: there are no copies in this sample\n");
		return;
	case LEARN_UNSURE:
		fprintf(to,
			"advice        none that is sure: nothing tells the equal packets from "
			"some that were sent twice. If this feed is known to double packets:\n");
		break;
	case LEARN_COPIES_SURE:
		fprintf(to, "advice        %s: drops %" PRIu64 " of %" PRIu64 " frames (%.3g %%)\n",
			options, (uint64_t)advice.would_drop.all, (uint64_t)l->frames,
			percent(advice.would_drop.all, l->frames));
		break;
	}
	print_policy(l, &advice, to);
	print_command(source, options, to);
}

void learn_print(const struct lenses *lenses, const struct learn_source *source, FILE *to)
{
	const struct learn *l = &lenses->all[0].learn;

	print_frames(l, source, to);
	print_copies(l, to);
	print_times(l, to);
	print_steps(l, to);
	print_differences(l, to);
	print_windows(l, to);
	print_lenses(lenses, to);
	print_advice(lenses_best(lenses), source, to);
}

static json_t *json_steps(const struct learn *l)
{
	json_t *steps = json_array();

	for (u32 i = 0; i < LEARN_STEPS; i++) {
		bool last = i == LEARN_STEPS - 1;

		json_array_append_new(
			steps,
			json_pack("{s:I, s:o, s:I, s:I}", "above_ns", i ? learn_step_ns[i - 1] : 0,
				  "up_to_ns", last ? json_null() : json_integer(learn_step_ns[i]),
				  "pairs", l->steps[i].all, "unsure", l->steps[i].unsure));
	}
	return steps;
}

static json_t *json_windows(const struct learn *l)
{
	json_t *windows = json_array();

	for (u32 i = 0; i < LEARN_WINDOWS; i++)
		json_array_append_new(windows, json_pack("{s:I, s:I, s:I, s:I, s:b}", "window_ns",
							 learn_window_ns[i], "would_drop",
							 l->windows[i].dropped.all, "unsure",
							 l->windows[i].dropped.unsure,
							 "farthest_ns", l->windows[i].farthest_ns,
							 "complete", !l->windows[i].forgotten));
	return windows;
}

static json_t *json_differences(const struct learn *l)
{
	json_t *fields = json_object();
	char name[FIELD_NAME_MAX];

	for (u32 i = 0; i < l->n_differences; i++) {
		const struct learn_difference *d = &l->differences[i];
		struct field field = { .kind = d->kind, .nth = d->nth };

		json_object_set_new(fields, field_name(&field, name), json_integer(d->copies));
	}
	return fields;
}

static json_t *json_times(const struct learn *l)
{
	json_t *times = json_array();

	for (u32 i = 1; i <= LEARN_TIMES; i++)
		json_array_append_new(times, json_integer(l->times[i]));
	return times;
}

/* The words of @text, which it takes apart. */
static json_t *json_words(char *text)
{
	json_t *words = json_array();

	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		json_array_append_new(words, json_string(word));
	return words;
}

static json_t *json_advice(const struct lens *lens)
{
	static const char *const verdicts[] = { "nothing", "no copies", "unsure", "copies" };
	struct learn_advice advice = learn_advise(&lens->learn);
	char options[ADVICE_MAX] = "", vlan[LEARN_VLAN_MAX];
	u64 ns = 0;

	if (advice.verdict >= LEARN_UNSURE) {
		ns = learn_window_ns[advice.window];
		advice_text(lens, &advice, options);
	}
	return json_pack("{s:s, s:o, s:o, s:I, s:I, s:s?}", "verdict", verdicts[advice.verdict],
			 "options", json_words(options), "window_ns",
			 ns ? json_integer(ns) : json_null(), "would_drop", advice.would_drop.all,
			 "unsure", advice.would_drop.unsure, "vlan",
			 learn_vlan(&lens->learn, vlan));
}

/* What was tried beside what was asked for. */
static json_t *json_lenses(const struct lenses *lenses)
{
	json_t *all = json_array();

	for (u32 i = 1; i < lenses->n; i++) {
		const struct lens *lens = &lenses->all[i];
		const struct learn_count *copies = &lens->learn.windows[LEARN_COPIES].dropped;
		char policy[POLICY_TEXT_MAX];

		policy_text(&lens->fixed, policy);
		json_array_append_new(all, json_pack("{s:o, s:I, s:I, s:I}", "options",
						     json_words(policy), "compared",
						     lens->learn.compared, "copies", copies->all,
						     "unsure", copies->unsure));
	}
	return all;
}

static json_t *json_vlans(const struct learn *l)
{
	json_t *all = json_array();

	for (u32 i = 0; i < l->n_vlans; i++)
		json_array_append_new(all,
				      json_pack("{s:i, s:i, s:I, s:I}", "first", l->vlans[i].first,
						"copy", l->vlans[i].copy, "copies",
						l->vlans[i].copies, "routed", l->vlans[i].routed));
	return all;
}

static json_t *json_bypassed(const struct learn *l)
{
	json_t *bypassed = json_object();

	for (u32 i = 0; i < XDD_BYPASS_MAX; i++)
		json_object_set_new(bypassed, explain_bypass_name(i), json_integer(l->bypassed[i]));
	return bypassed;
}

static json_t *json_sample(const struct learn *l, const struct learn_source *source)
{
	double seconds = source->is_file ? (s64)(l->last_ns - l->first_ns) / 1e9 : source->seconds;

	return json_pack("{s:s, s:I, s:I, s:f, s:I, s:o, s:I, s:b}", "source", source->name,
			 "packets", l->frames, "bytes", l->bytes, "seconds", seconds, "compared",
			 l->compared, "bypassed", json_bypassed(l), "missed", source->missed,
			 "complete", source->complete);
}

json_t *learn_json(const struct lenses *lenses, const struct learn_source *source)
{
	const struct learn *l = &lenses->all[0].learn;
	const struct learn_count *copies = &l->windows[LEARN_COPIES].dropped;
	json_t *all = json_sample(l, source), *more;

	more = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "copies", copies->all, "unsure", copies->unsure, "repeats",
			 steps_beyond_copies(l), "identical", l->identical, "other_interface",
			 l->other_interface, "other_vlan", l->other_vlan, "most_times",
			 l->most_times, "times", json_times(l), "apart", json_steps(l), "differs",
			 json_differences(l), "vlans", json_vlans(l), "windows", json_windows(l),
			 "tried", json_lenses(lenses), "advice", json_advice(lenses_best(lenses)));
	json_object_update(all, more);
	json_decref(more);
	return all;
}
