// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_backend.h"

namespace ropewalk {
namespace {

class AbsentCudaBackend final : public ComputeBackend
{
public:
    Info info() const override { return {"cuda", "no device", "float"}; }
    Result<void> status() const override
    {
        return Error{ErrorCode::NotBuilt, "CUDA is not part of this build", {}};
    }
    bool supports(const Operation&) const override { return false; }
    Result<void> run(const Operation&, std::stop_token) override { return status(); }
};

} // namespace

std::unique_ptr<ComputeBackend> makeCudaBackend()
{
    return std::make_unique<AbsentCudaBackend>();
}

} // namespace ropewalk
