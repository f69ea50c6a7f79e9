// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cpu_backend.h"

#include <QtTest>
#include <memory>
#include <optional>

namespace ropewalk::test {

/// The level that the running tests are about.
inline CpuLevel testedLevel = CpuLevel::Generic;

inline std::unique_ptr<ComputeBackend> makeTestedBackend(int threads = 0)
{
    return makeCpuBackend({testedLevel, threads});
}

/// Runs a test once for each level that this machine has.
template<class Test>
int runForAllCpuLevels(int argc, char** argv)
{
    int failed = 0;
    for (const CpuLevel level : availableCpuLevels()) {
        testedLevel = level;
        std::printf("---- kernels for %s\n", cpuLevelName(level).data());
        std::fflush(stdout);
        Test test;
        failed += QTest::qExec(&test, argc, argv);
    }
    return failed;
}

} // namespace ropewalk::test

/// In place of QTEST_APPLESS_MAIN.
#define ROPEWALK_TEST_ALL_CPU_LEVELS(Test)                                                                   \
    int main(int argc, char** argv)                                                                          \
    {                                                                                                        \
        return ropewalk::test::runForAllCpuLevels<Test>(argc, argv);                                         \
    }
