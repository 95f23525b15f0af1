/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/records/saved.h"

#include <errno.h>
#include <string.h>

#include "user/message.h"

/* The options that decide about verdicts: X(field of struct options, the option that sets it,
 * whether its default depends on other options)
 */
#define SAVED(X)                                 \
	X(engine, engine, true)                  \
	X(memory, memory, true)                  \
	X(capacity, capacity, true)              \
	X(fpr_target, fpr_target, true)          \
	X(window, window, false)                 \
	X(window_records, window_records, false) \
	X(ticks, ticks, true)                    \
	X(refresh, refresh, false)               \
	X(hashes, hashes, true)                  \
	X(equal, equal, false)                   \
	X(fault_policy, fault_policy, false)     \
	X(vote, fault_policy, false)             \
	X(variant, variant, true)                \
	X(p_star, p_star, true)                  \
	X(sbf_p, sbf_p, true)                    \
	X(sbf_max, sbf_max, true)                \
	X(slicing, slicing, true)                \
	X(slices, slices, true)                  \
	X(subslices, subslices, true)            \
	X(slice_hashes, slicing, true)           \
	X(slice_cells, slicing, true)            \
	X(grow, grow, true)                      \
	X(max_filters, max_filters, true)        \
	X(hash, hash, false)                     \
	X(seed, seed, false)                     \
	X(seed_random, seed, false)              \
	X(field, field, false)                   \
	X(delimiter, delimiter, false)           \
	X(time_field, time_field, false)         \
	X(time_unit, time_unit, false)           \
	X(null, null, false)

struct row {
	const char *name;
	enum option_id id;
	bool derived;
	size_t at, size;
};

#define SAVED_SIZE(field_) sizeof(((struct options *)0)->field_)
#define SAVED_ROW(field_, id_, derived_) \
	{ #field_, OPT_##id_, derived_, offsetof(struct options, field_), SAVED_SIZE(field_) },
static const struct row rows[] = { SAVED(SAVED_ROW) };

#define ROWS XDD_ARRAY_SIZE(rows)
#define USED (offsetof(struct saved, options) + ROWS * sizeof(struct saved_option))

#define SAVED_ASSERT(field_, id_, derived_)                                          \
	XDD_ASSERT(SAVED_SIZE(field_) <= sizeof(u64), #field_ " fits into a value"); \
	XDD_ASSERT(sizeof(#field_) <= sizeof(((struct saved_option *)0)->name), #field_);
SAVED(SAVED_ASSERT)
XDD_ASSERT(XDD_ARRAY_SIZE(rows) <= SAVED_OPTIONS_MAX, "all options have room");
XDD_ASSERT(sizeof(struct saved) <= STORE_FILE_ABOUT_MAX, "and fit into the file");

static struct saved_option option_of(const struct row *row, const struct options *o)
{
	struct saved_option option = { .given = option_given(o, row->id) };

	strcpy(option.name, row->name);
	memcpy(&option.value, (const char *)o + row->at, row->size);
	return option;
}

u32 saved_fill(struct saved *saved, const struct options *o, u64 records)
{
	memset(saved, 0, sizeof(*saved));
	saved->records = records;
	for (size_t i = 0; i < ROWS; i++)
		saved->options[i] = option_of(&rows[i], o);
	return USED;
}

int saved_differs(const struct store_file *file, const char *name, char *err, size_t err_size)
{
	char label[32];

	snprintf(label, sizeof(label), "%s", name);
	for (char *c = label; *c; c++)
		if (*c == '_')
			*c = '-';
	return refuse(err, err_size, -EINVAL,
		      "--%s is another one than %s was saved with: leave it out to go on with that "
		      "filter, or start a new one without --restore",
		      label, file->path);
}

/* Take @from, unless the command line says otherwise. Returns whether it may. */
static bool take_option(const struct row *row, const struct saved_option *from, struct options *o,
			const char **stayed)
{
	struct saved_option now = option_of(row, o);

	if (!now.given || now.value == from->value) {
		memcpy((char *)o + row->at, &from->value, row->size);
		return true;
	}
	*stayed = row->name;
	return row->derived && !from->given;
}

static bool same_rows(const struct store_file *file, const struct saved *saved)
{
	bool same = file->header.about_bytes == USED;

	for (size_t i = 0; i < ROWS && same; i++)
		same = !strncmp(saved->options[i].name, rows[i].name,
				sizeof(saved->options[i].name));
	return same;
}

int saved_take(const struct store_file *file, struct options *o, u64 *records, const char **stayed,
	       char *err, size_t err_size)
{
	struct saved saved;

	memcpy(&saved, file->about, sizeof(saved));
	if (!same_rows(file, &saved))
		return refuse(err, err_size, -EPROTONOSUPPORT,
			      "%s: was saved by another command or version of xdp-dedup: start "
			      "without --restore",
			      file->path);
	*stayed = NULL;
	for (size_t i = 0; i < ROWS; i++)
		if (!take_option(&rows[i], &saved.options[i], o, stayed))
			return saved_differs(file, rows[i].id == OPT_seed ? "seed" : rows[i].name,
					     err, err_size);
	/* Only now: two fields may belong to one option. */
	for (size_t i = 0; i < ROWS; i++)
		o->given[rows[i].id] |= saved.options[i].given;
	*records = saved.records;
	return 0;
}
