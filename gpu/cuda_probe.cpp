// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_probe.h"

#include "cuda_check.h"

namespace ropewalk {
namespace {

/// The least compute capability that kernels are built for.
constexpr int kLeastMajor = 7, kLeastMinor = 5;

std::string versionText(int version)
{
    return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

CudaProbe unusable(Message reason)
{
    return {Error{ErrorCode::NotAvailable, std::move(reason), {}}, "no device"};
}

} // namespace

CudaProbe probeCuda(const CudaCalls& calls)
{
    int driver = 0, runtime = 0, count = 0;
    if (calls.driverVersion(&driver) != 0 || driver == 0)
        return unusable("this machine has no NVIDIA driver");
    const int code = calls.deviceCount(&count);
    if (code == kCudaDriverTooOld && calls.runtimeVersion(&runtime) == 0)
        return unusable({"the NVIDIA driver is too old: it is for CUDA {driver}, and {needed} is needed",
                         {{"driver", versionText(driver)}, {"needed", versionText(runtime)}}});
    if (code == kCudaNoDevice || (code == 0 && count == 0))
        return unusable("this machine has no NVIDIA GPU");
    CudaDevice device;
    int failed = code;
    if (failed == 0)
        failed = calls.describeDevice(&device);
    if (failed != 0) {
        const char* const text = calls.errorText(failed);
        return unusable({"the NVIDIA driver does not answer ({reason})",
                         {{"reason", text ? text : std::to_string(failed)}}});
    }
    if (device.major < kLeastMajor || (device.major == kLeastMajor && device.minor < kLeastMinor))
        return unusable({"{device} is too old: it has compute capability {has}, and 7.5 is needed",
                         {{"device", device.name},
                          {"has", std::to_string(device.major) + '.' + std::to_string(device.minor)}}});
    return {{},
            std::string(device.name) + ", " + std::to_string(device.memoryBytes >> 30) +
                " GiB, driver for CUDA " + versionText(driver)};
}

} // namespace ropewalk
