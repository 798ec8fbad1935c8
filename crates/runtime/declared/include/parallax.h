/* Two versions of a program in one source.
 *
 * change(before, after) is the first expression in the old version and the second one in the new version. The same
 * source is the old program with -DPARALLAX_OLD, and the new one with -DPARALLAX_NEW or with neither.
 * `parallax diverge PROGRAM` makes both from a program that was built with parallax-cc, and compares them. */
#ifndef PARALLAX_H
#define PARALLAX_H

#if defined PARALLAX_OLD && defined PARALLAX_NEW
#error "a program is the old or the new version, not both"
#elif defined PARALLAX_OLD
#define change(before, after) (before)
#else
#define change(before, after) (after)
#endif

#endif
