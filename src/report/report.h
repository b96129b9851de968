/* SPDX-License-Identifier: Apache-2.0 */
/* report.h: constants of the reports of a document's pages. Part of model.h. The helper makes reports, pages.c reads
 * them. */
#ifndef SR_REPORT_REPORT_H
#define SR_REPORT_REPORT_H

/* The version of reports. Raise it when the meaning of a report changes or preparing changes. Stored reports of an
 * older version are then made again. */
#define SR_PAGES_VERSION 5
#define SR_PAGES_MAX 20000 /* the pages of a document, at most */

#endif
