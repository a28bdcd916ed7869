/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_HEALTH_H
#define DB_HEALTH_H

/*
 * Canaries: boots of a class's known-good image that judge a machine by its own history. A class keeps
 * its image once it has one, since a history is that of one image.
 */

#include "base/js.h"
#include "db/conn.h"

struct patient {
	int64_t id;
	char *name;
	char *class_name;
	int64_t class_id;
	/* its boots can be through firmware or not */
	bool kexec;
	/* by itself: a canary that passes brings it back */
	bool quarantined;
	/* the known-good image of its class */
	int64_t image, build, commit;
	/* canaries so far, for the next key */
	int n;
	/* verdicts of that kind since the last other one */
	int drifted;
	/* since the last canary, or its first good boot; inf: neither */
	double since_s;
	/* brought back since then, or not yet back behind a boot whose result counts */
	bool recovered;
	/* good ones since its last canary through firmware */
	int boots;
	/* a canary is queued or runs */
	bool open;
	/* one that ended (0: none), as done, failed or cancelled */
	int64_t unjudged;
	char *unjudged_state;
	char *unjudged_error;
	/* the known-good kernel or the machine did it, not we */
	bool machine_failed;
	char *note;
};

struct patients {
	struct patient *v;
	size_t n, cap;
};

void patients_release(struct patients *patients);
/* Machines that boot images, are in service or quarantined by themselves, and whose class has a
 * known-good image; classes without one get the image that booted well most often, if any did. */
bool patients_read(struct db *db, struct patients *out, struct err *err) _must_check;

struct pulse {
	int64_t series;
	double value; /* the metric's unit */
	bool fresh;   /* of the canary that is judged; else of an earlier one that passed */
};

/* By series, the newest boot first. The caller frees *out. */
bool pulses_read(struct db *db, const struct patient *patient, struct pulse **out, size_t *n,
		 struct err *err) _must_check;

/* Stores what the unjudged canary says: verdict is passed, drifted or failed. */
bool canary_judged(struct db *db, const struct patient *patient, const char *verdict,
		   const char *text, struct err *err) _must_check;
/* Out of service until a canary passes, or back. */
bool patient_quarantine(struct db *db, int64_t machine, const char *note,
			struct err *err) _must_check;
bool patient_return(struct db *db, int64_t machine, const char *note, struct err *err) _must_check;

/* For a person: {canaries: [{at, method, verdict, text}], offsets: [{benchmark, pass, metric, n, n_firmware,
 * percent}]}: how far kexec boots of the known-good image are off those through firmware. */
bool health_show_read(struct db *db, const char *machine, json_t **out,
		      struct err *err) _must_check;

#endif
