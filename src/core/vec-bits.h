/* Parts of the vocabulary by way of the bits of a real, for instruction sets without instructions
 * of their own for them. A whole number d added to V_WHOLE, the first power of two beyond which
 * all reals are whole, shows d in the low bits; shifted up they are an exponent. */
#ifdef SDTW_SINGLE
#define V_WHOLE 8388608.0 /* 2^23 */
#define V_BIAS 127.0
#define V_SIGN_OFF 0x7fffffffu
#define V_MANTISSA 0x007fffffu
enum { V_EXPONENT_AT = 23 };
#else
#define V_WHOLE 4503599627370496.0 /* 2^52 */
#define V_BIAS 1023.0
#define V_SIGN_OFF 0x7fffffffffffffffULL
#define V_MANTISSA 0x000fffffffffffffULL
enum { V_EXPONENT_AT = 52 };
#endif

V_INLINE V v_abs(V a) { return (V)((v_bits)a & ((v_bits){0} + V_SIGN_OFF)); }
V_INLINE V v_scale(V m, V d) {
  V shown = v_max(d, v_set((sdtw_real)-V_BIAS)) + v_set((sdtw_real)(V_WHOLE + V_BIAS));
  return m * (V)((v_bits)shown << V_EXPONENT_AT);
}
V_INLINE void v_split(V s, V *m, V *e) {
  v_bits b = (v_bits)s;
  v_bits shown = (b >> V_EXPONENT_AT) | (v_bits)v_set((sdtw_real)V_WHOLE);
  *e = (V)shown - v_set((sdtw_real)(V_WHOLE + V_BIAS));
  *m = (V)((b & ((v_bits){0} + V_MANTISSA)) | (v_bits)v_set(1));
}
