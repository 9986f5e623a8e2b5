#include "vectors.hpp"

namespace simplipy {

const VectorKernels& active_vector_kernels() {
#if defined(SIMPLIPY_HAVE_AVX2) && defined(SIMPLIPY_HAVE_AVX512)
    if (&active_kernels() == &avx512::kernels) return avx512::vector_kernels;
    if (&active_kernels() == &avx2::kernels) return avx2::vector_kernels;
#endif
    return baseline::vector_kernels;
}

}  // namespace simplipy
