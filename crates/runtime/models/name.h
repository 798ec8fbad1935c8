/* Names of files in the arguments of models. */
#ifndef PARALLAX_NAME_H
#define PARALLAX_NAME_H

#include "effect.h"
#include <fcntl.h>

/* Decides what a name means, as the kernel will; whether track of the input is lost there. Named as a
 * model because that is what makes its module one. */
int __plx_m_decide_name(int directory, const char *name);

/* To be looked at as effect.h's TEXT; a labelled pointer is fixed, too. */
#define NAME_AT(directory, name) (NUMBER(name) | __plx_m_decide_name(directory, name))
#define NAME(name) NAME_AT(AT_FDCWD, name)

#endif
