// All widths of integers, floating point, and the arithmetic intrinsics.
typedef _BitInt(24) i24;
typedef unsigned _BitInt(33) u33;
typedef _BitInt(200) huge;
unsigned __int128 wide(unsigned __int128 a, long b) { return (a << 3) / (b | 1) + (a >> 64); }
int main(int argc, char **argv) {
  unsigned char c = argv[0][0];
  i24 a = argc;
  u33 b = c;
  huge h = argc;
  h = h * h + 1;
  int overflow = 0, result;
  overflow += __builtin_add_overflow(argc, (int)c, &result);
  overflow += __builtin_mul_overflow((long)argc, 77L, &(long){0});
  unsigned rotated = __builtin_rotateleft32(argc, c & 31);
  double d = c / 3.0;
  long double l = d * 1.25L;
  float f = (float)l;
  _Bool truth = f > 1;
  return a + (int)b + (int)h + overflow + result + rotated + __builtin_popcount(c) +
         __builtin_clz(c | 1) + __builtin_ctz(c | 2) + __builtin_bswap32(argc) +
         (int)__builtin_fabs(d) + (int)__builtin_sqrt(d) + (int)__builtin_floor(d) + truth +
         (int)wide(argc, c) + (int)(unsigned char)d + (argc ? (int)l : -c);
}
