/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_SYNC_H
#define BISECTOR_SYNC_H

/* Recipes and suites of the settings, as rows. */

#include "bisector/bisector.h"

/* Upserts them and reads the suites back into bisector->suites. */
bool sync_settings(struct bisector *bisector, struct err *err) _must_check;

#endif
