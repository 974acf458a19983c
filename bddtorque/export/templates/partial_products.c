/* left times right, modulo 2^64, in pieces of @piece_bits@ bits: as many of each as its word can have. */
static uint64_t partial_products_@block@(int64_t left, uint32_t lefts, int64_t right, uint32_t rights)
{
    const uint64_t a = (left < 0) ? (~(uint64_t)left + UINT64_C(1)) : (uint64_t)left;
    const uint64_t b = (right < 0) ? (~(uint64_t)right + UINT64_C(1)) : (uint64_t)right;
    uint64_t exact = UINT64_C(0);
    uint32_t i;
    uint32_t j;

    for (i = 0u; i < lefts; i++) {
        for (j = 0u; j < rights; j++) {
            const uint32_t left_place = @piece_bits@u * i;
            const uint32_t right_place = @piece_bits@u * j;
            const uint32_t place = left_place + right_place;
            const uint64_t high = (a >> left_place) & @mask@;
            const uint64_t low = (b >> right_place) & @mask@;
            const uint64_t product = (uint64_t)block_@block@((@index@)high, (@index@)low);

            exact += product << place;
        }
    }
    return ((left < 0) != (right < 0)) ? (~exact + UINT64_C(1)) : exact;
}
