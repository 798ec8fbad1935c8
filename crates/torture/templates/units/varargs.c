//: typed_list
struct small_$n { u32 a; u16 b; };
struct big_$n { u64 a[4]; };

__attribute__((noinline)) static u64 total_$n(const char *types, ...) {
    va_list list, again;
    va_start(list, types);
    va_copy(again, list);
    u64 total = 0;
    for (; *types; types++) {
        total = total * 31;
        switch (*types) {
        case 'i': total += (u64)va_arg(list, int); break;
        case 'l': total += va_arg(list, u64); break;
        case 'd': total += to_u32(va_arg(list, double)); break;
        case 'D': total += to_u32(va_arg(list, ldouble)); break;
        case 's': total += (u8)va_arg(list, const char *)[0]; break;
        case 'q': total += (u64)va_arg(list, u128); break;
        case 't': { struct small_$n t = va_arg(list, struct small_$n); total += t.a ^ t.b; break; }
        case 'b': { struct big_$n b = va_arg(list, struct big_$n); total += b.a[0] + b.a[3]; break; }
        }
        if (total & 1) total ^= $k;
    }
    va_end(list);
    total += (u64)va_arg(again, int);
    va_end(again);
    return total;
}

static void unit_$n(void) {
    struct small_$n t = {in($i), in($i)};
    struct big_$n b = {{in($i), 2, 3, in($i)}};
    mix(total_$n("iid", in(0), in(1) - 50, in(2) * 0.5));
    mix(total_$n("ilsdD", 1, (u64)in(3) << 33, arg(0), in(4) / 8.0, in(5) * 2.0l));
    mix(total_$n("iiiiiiiiii", in(0), 2, in(2), 4, in(4), 6, in(6), 8, in(8), 10));
    mix(total_$n("iddddddddddi", 3, 1.0, in(1) + 0.5, 3.0, 4.0, in(2) * 1.0, 6.0, 7.0, 8.0, in(3) * 2.0, 10.0, in(4)));
    mix(total_$n("itbqi", in(6), t, b, (u128)in(7) << 64 | in(8), in(9)));
    mix(total_$n("iDiDi", in(0), 1.5l, in(1), in(2) * 1.25l, in(3)));
}

//: forwarding
__attribute__((noinline, format(printf, 3, 4))) static int put_$n(char *room, size_t size, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int length = vsnprintf(room, size, format, list);
    va_end(list);
    return length;
}
static i32 vlargest_$n(unsigned count, va_list list) {
    i32 best = INT32_MIN;
    while (count--) {
        i32 next = va_arg(list, i32);
        if (next > best) best = next;
    }
    return best;
}
__attribute__((noinline)) static i32 largest_$n(unsigned count, ...) {
    va_list list;
    va_start(list, count);
    i32 best = vlargest_$n(count, list);
    va_end(list);
    return best;
}

static void unit_$n(void) {
    char room[64];
    mix((u32)put_$n(room, sizeof room, "%s:%u:%x:%d", arg(0), in($i), in($i) * $k, in($i) - 5));
    mix_text(room);
    mix((u32)put_$n(room, $s, "%d,%d", in($i), in($i)));
    mix_text(room);
    mix((u32)largest_$n(3, in(0), in(1), -1));
    mix((u32)largest_$n(8, in(0), in(1) * 2, in(2), -in(3), $s, in(5), in(6) - 300, in(7)));
    mix((u32)largest_$n(0));
}
