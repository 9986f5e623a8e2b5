// A minimal test frame: TEST(name) { CHECK(condition); }. A failed check is printed and fails the run.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace check {

struct Test {
    const char* name;
    std::function<void()> body;
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

inline int& failures() {
    static int count = 0;
    return count;
}

struct Register {
    Register(const char* name, std::function<void()> body) { tests().push_back({name, std::move(body)}); }
};

template <class Error, class Call>
std::string message_of(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace check

#define TEST(name)                                                    \
    static void test_##name();                                        \
    static const check::Register register_##name(#name, test_##name); \
    static void test_##name()

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            std::fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            ++check::failures();                                                         \
        }                                                                                \
    } while (false)
