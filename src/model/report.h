/* SPDX-License-Identifier: Apache-2.0 */
/* report.h: what holds for all reports of a document's pages, as part of model.h. The helper makes them, pages.c reads
 * them. */
#ifndef SR_MODEL_REPORT_H
#define SR_MODEL_REPORT_H

/* Raise it when a report's meaning changes, or what can be prepared: older stored ones are then made again. */
#define SR_PAGES_VERSION 5
#define SR_PAGES_MAX 20000 /* pages of a document */

#endif
