// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace ropewalk::test {

// The bytes of small files of tensors.

template<class Number>
std::string littleEndian(Number value)
{
    std::string bytes;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
        bytes += static_cast<char>((static_cast<std::uint64_t>(value) >> (8 * i)) & 255);
    return bytes;
}

inline std::string npy(const std::string& head, const std::string& numbers, int version = 1)
{
    const std::string length = version == 1 ? littleEndian(static_cast<std::uint16_t>(head.size()))
                                            : littleEndian(static_cast<std::uint32_t>(head.size()));
    return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' + length + head + numbers;
}

inline std::string floats(const std::vector<float>& values)
{
    std::string bytes;
    for (const float value : values)
        bytes += littleEndian(std::bit_cast<std::uint32_t>(value));
    return bytes;
}

inline std::string doubles(const std::vector<double>& values)
{
    std::string bytes;
    for (const double value : values)
        bytes += littleEndian(std::bit_cast<std::uint64_t>(value));
    return bytes;
}

inline std::string safetensors(const std::string& head, const std::string& numbers)
{
    return littleEndian(static_cast<std::uint64_t>(head.size())) + head + numbers;
}

/// A .npy file of float32 numbers; `shape` as Python writes it, "(2, 3)".
inline std::string npyOf(const std::string& shape, const std::vector<float>& values)
{
    return npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }", floats(values));
}

/// The same of float64.
inline std::string npyOfDoubles(const std::string& shape, const std::vector<double>& values)
{
    return npy("{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }", doubles(values));
}

} // namespace ropewalk::test
