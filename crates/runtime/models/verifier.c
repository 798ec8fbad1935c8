/* The functions of SV-COMP in traced programs. */
#define PARALLAX_TRACED
#include "../declared/verifier.c"
