#include "check.hpp"

int main() {
    int n_failed = 0;
    for (const check::Test& test : check::tests()) {
        const int before = check::failures();
        test.body();
        if (check::failures() != before) {
            std::fprintf(stderr, "FAILED %s\n", test.name);
            ++n_failed;
        }
    }
    std::printf("%zu passed, %d failed\n", check::tests().size() - static_cast<std::size_t>(n_failed), n_failed);
    return n_failed == 0 ? 0 : 1;
}
