#include "kernels.hpp"

namespace simplipy {

const Kernels& active_kernels() {
#if defined(SIMPLIPY_HAVE_AVX2) && defined(SIMPLIPY_HAVE_AVX512)
    static const Kernels& chosen = []() -> const Kernels& {
        __builtin_cpu_init();
        const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                                __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
        if (has_avx2 && has_avx512) return avx512::kernels;
        return has_avx2 ? avx2::kernels : baseline::kernels;
    }();
    return chosen;
#else
    return baseline::kernels;
#endif
}

}  // namespace simplipy
