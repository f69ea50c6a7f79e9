// SPDX-License-Identifier: GPL-3.0-or-later
// planted right|race|shared|dynamic|global: a kernel that is right, or with one fault planted. test_cuda_shim
// expects the sanitizer that this is built with to find each.
#include "gpu/kernels/grid.cuh"

#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int kBlock = 64;

struct Faults
{
    bool hasBarrier = true;
    int sharedOffset = 0, dynamicOffset = 0, globalOffset = 0;
};

/// Turns the numbers of each block round by way of shared memory.
__global__ void reverse(const int* in, int* out, Faults faults)
{
    __shared__ int shared[kBlock];
    ROPEWALK_DYNAMIC_SHARED(int, again);
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t index = ropewalk::kernels::threadIndex();
    shared[thread + faults.sharedOffset] = in[index];
    if (faults.hasBarrier)
        __syncthreads();
    again[thread + faults.dynamicOffset] = shared[kBlock - 1 - thread];
    out[index + faults.globalOffset] = again[thread + faults.dynamicOffset];
    __syncthreads(); // before the next block has the memory
}

} // namespace

int main(int argc, char** argv)
{
    const std::string word = argc > 1 ? argv[1] : "";
    Faults faults;
    faults.hasBarrier = word != "race";
    faults.sharedOffset = word == "shared" ? 1 : 0;
    faults.dynamicOffset = word == "dynamic" ? 1 : 0;
    faults.globalOffset = word == "global" ? 1 : 0;
    constexpr int kBlocks = 4;
    std::vector<int> in(kBlocks * kBlock), out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<int>(i);
    void* memory = nullptr;
    cudaMalloc(&memory, out.size() * sizeof(int));
    int* const device = static_cast<int*>(memory);
    ROPEWALK_LAUNCH(reverse, kBlocks, kBlock, kBlock * sizeof(int), in.data(), device, faults);
    cudaMemcpy(out.data(), device, out.size() * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(memory);
    bool isRight = true;
    for (int i = 0; i < kBlocks * kBlock; ++i)
        isRight =
            isRight && out[static_cast<std::size_t>(i)] == i / kBlock * kBlock + kBlock - 1 - i % kBlock;
    std::printf("%s: %s\n", word.c_str(), isRight ? "right" : "wrong");
    return word == "right" && !isRight ? 1 : 0;
}
