//: statistics
static void unit_$n(void) {
    double mean = 0, square = 0;
    float low = 1e9f, high = -1e9f;
    for (int i = 1; i <= 12; i++) {
        double value = (in(i) - 128) * 0.37 + $s;
        double delta = value - mean;
        mean += delta / i;
        square += delta * (value - mean);
        if (value < low) low = (float)value;
        if ((float)value > high) high = (float)value;
    }
    mix_double(mean);
    mix_double(sqrt(fabs(square) / 12));
    mix_float(low);
    mix_float(high);
    if (mean > 0 && square < 1e4) mix($k);
    printf("%.6g %.3f %a\n", mean, square, (double)high);
}

//: polynomial
static void unit_$n(void) {
    double x = (in($i) - 100) / 64.0, y = 0;
    static const double factors[] = {$s.5, -$s.25, 0.0625, -$s.0, 1.75};
    for (size_t i = 0; i < COUNT(factors); i++) y = y * x + factors[i];
    mix_double(tame(y));
    float z = (float)x;
    for (int i = 0; i < 5 && z * z < 1e6f; i++) z = z * z - 1.25f;
    mix_float(tamef(z));
    ldouble w = (ldouble)x * 3 - y / 7;
    w = tamel($e{ldouble: w ldouble, x double, z float});
    mix_ldouble(w);
    mix(to_i64(w * 1000));
    mix((u64)(w < 0) | (u64)(w == 0) << 1 | (u64)(y != y) << 2);
}

//: parse_decimal
static double parse_$n(const char *at) {
    double value = 0, scale = 1;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+') at++;
    for (unsigned n = 0; isdigit((u8)*at) && n < 12; n++) value = value * 10 + (*at++ - '0');
    if (*at == '.')
        for (at++; isdigit((u8)*at) && scale < 1e9; at++) {
            scale *= 10;
            value += (*at - '0') / scale;
        }
    if ((*at | 32) == 'e') value *= isdigit((u8)at[1]) ? 10.0 * (at[1] - '0') : 0.1;
    return negative ? -value : value;
}

static void unit_$n(void) {
    for (unsigned i = 0; i < 3; i++) {
        double value = parse_$n(arg(i));
        mix_double(value);
        mix(to_i32(value));
        mix(to_u8(value));
        char *end;
        double other = strtod(arg(i), &end);
        mix((u64)(end - arg(i)));
        mix(to_i32(other));
    }
    mix_float((float)atof("$s.$b"));
}

//: rounding
static void unit_$n(void) {
    for (int i = 0; i < 8; i++) {
        double value = (in(i) - 120) * 0.375;
        float narrow = (float)value / 3.0f;
        mix_double(floor(value));
        mix_double(ceil(value));
        mix_double(trunc(value * 1.5));
        mix_double(rint(value));
        mix_float(roundf(narrow));
        mix((u64)(i64)value);
        mix((u32)(i32)narrow);
        mix_float((float)(in(i) * 16777217u));
        mix_double((double)((u64)in(i) << 56 | 0x3ff));
        mix_float((float)(i64)((u64)in(i) << 40));
        mix_double(fmin(value, narrow));
        mix_double(fmax(value, narrow));
        mix(signbit(value + 0.5) != 0);
        mix(value < narrow ? 1 : value > narrow ? 2 : 3);
    }
}

//: float_bits
static void unit_$n(void) {
    for (int i = 0; i < 6; i++) {
        union { float f; u32 u; struct { u32 fraction : 23, exponent : 8, sign : 1; } parts; } view;
        view.f = (in(i) - 77) * 1.25f;
        mix(view.u);
        mix(view.parts.exponent);
        view.parts.sign ^= 1;
        view.parts.exponent = (in(i + 1) & 31) + 110;
        mix_float(view.f);
        double half = view.f * 0.5;
        u64 bits;
        memcpy(&bits, &half, sizeof bits);
        mix(bits >> 52);
        bits ^= (u64)(in(i + 2) & 15) << 20;
        memcpy(&half, &bits, sizeof half);
        mix_double(half);
        if (half > view.f) mix($k);
    }
}

//: long_double
static void unit_$n(void) {
    ldouble total = $s.5l;
    for (int i = 0; i < 8; i++) {
        total = tamel($e{ldouble: total ldouble, in(i) u8, (double)in(i + 3) double});
        if (total > in($i)) total -= 1.75l;
        if (total != total) mix(1);
        mix((u64)to_i64(total));
    }
    mix_ldouble(total);
    mix_double((double)total);
    mix_float((float)total);
}
