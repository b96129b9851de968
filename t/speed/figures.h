/* SPDX-License-Identifier: Apache-2.0 */
/* figures.h: what a program of t/speed tells `make bench`: a line of JSON for a row of its table (Bench::Speed). */
#ifndef SR_SPEED_FIGURES_H
#define SR_SPEED_FIGURES_H

#include <stdio.h>
#include <stdlib.h>

static inline int figures_compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorts them. */
static inline double figures_median(double *numbers, int count)
{
    qsort(numbers, (size_t)count, sizeof *numbers, figures_compare);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

/* So many turns of two things in milliseconds, and what is looked at of each turn (sorted afterwards, all three).
 * `at_most` 0: without a target. Texts have nothing that JSON would escape. */
static inline void figures_row(const char *what, const char *beside, double *a, double *b, double *looked_at, int count,
                               double at_most, const char *unit)
{
    const double median = figures_median(looked_at, count);
    printf("# row {\"what\":\"%s\",\"beside\":\"%s\",\"a\":%.4f,\"b\":%.4f,\"ratio\":[%.4f,%.4f,%.4f],\"at_most\":%g,"
           "\"unit\":\"%s\"}\n",
           what, beside, figures_median(a, count), figures_median(b, count), median, looked_at[0], looked_at[count - 1],
           at_most, unit);
}

#endif
