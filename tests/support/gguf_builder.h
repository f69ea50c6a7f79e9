// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace ropewalk::test {

/// Writes small GGUF files for the tests, byte by byte as the format's description has it, independent of the
/// reader.
class GgufBuilder
{
public:
    explicit GgufBuilder(std::uint32_t version = 3)
        : m_version(version)
    {
    }

    GgufBuilder& text(const std::string& key, const std::string& value)
    {
        begin(key, 8);
        put(m_keys, value);
        return *this;
    }
    GgufBuilder& uint32(const std::string& key, std::uint32_t value)
    {
        begin(key, 4);
        number(m_keys, value, 4);
        return *this;
    }
    GgufBuilder& uint64(const std::string& key, std::uint64_t value)
    {
        begin(key, 10);
        number(m_keys, value, 8);
        return *this;
    }
    GgufBuilder& int8(const std::string& key, std::int8_t value)
    {
        begin(key, 1);
        number(m_keys, static_cast<std::uint8_t>(value), 1);
        return *this;
    }
    GgufBuilder& float32(const std::string& key, float value)
    {
        begin(key, 6);
        number(m_keys, std::bit_cast<std::uint32_t>(value), 4);
        return *this;
    }
    GgufBuilder& float64(const std::string& key, double value)
    {
        begin(key, 12);
        number(m_keys, std::bit_cast<std::uint64_t>(value), 8);
        return *this;
    }
    GgufBuilder& boolean(const std::string& key, bool value)
    {
        begin(key, 7);
        number(m_keys, value ? 1 : 0, 1);
        return *this;
    }
    GgufBuilder& texts(const std::string& key, const std::vector<std::string>& values)
    {
        begin(key, 9);
        number(m_keys, 8, 4);
        number(m_keys, values.size(), 8);
        for (const std::string& value : values)
            put(m_keys, value);
        return *this;
    }
    GgufBuilder& int32s(const std::string& key, const std::vector<std::int32_t>& values)
    {
        begin(key, 9);
        number(m_keys, 5, 4);
        number(m_keys, values.size(), 8);
        for (const std::int32_t value : values)
            number(m_keys, static_cast<std::uint32_t>(value), 4);
        return *this;
    }
    /// A value given as its bytes.
    GgufBuilder& raw(const std::string& key, std::uint32_t type, const std::string& bytes)
    {
        begin(key, type);
        m_keys += bytes;
        return *this;
    }

    /// A tensor with its numbers.
    GgufBuilder& tensor(const std::string& name, const std::vector<float>& values)
    {
        describe(name, values.size(), 0, align(m_data.size()));
        m_data.resize(align(m_data.size()), '\0');
        for (const float value : values)
            number(m_data, std::bit_cast<std::uint32_t>(value), 4);
        return *this;
    }
    /// A tensor that is only described.
    GgufBuilder& describe(const std::string& name, std::uint64_t count, std::uint32_t type,
                          std::uint64_t offset)
    {
        ++m_tensorCount;
        put(m_tensors, name);
        number(m_tensors, 1, 4);
        number(m_tensors, count, 8);
        number(m_tensors, type, 4);
        number(m_tensors, offset, 8);
        return *this;
    }

    std::string bytes() const
    {
        std::string file = "GGUF";
        number(file, m_version, 4);
        number(file, m_tensorCount, 8);
        number(file, m_keyCount, 8);
        file += m_keys + m_tensors;
        if (m_tensorCount == 0)
            return file;
        file.resize(align(file.size()), '\0');
        return file + m_data;
    }

    static void number(std::string& out, std::uint64_t value, int size)
    {
        for (int i = 0; i < size; ++i)
            out += static_cast<char>(value >> (8 * i));
    }
    static void put(std::string& out, const std::string& text)
    {
        number(out, text.size(), 8);
        out += text;
    }

private:
    static std::size_t align(std::size_t at) { return (at + 31) / 32 * 32; }
    void begin(const std::string& key, std::uint32_t type)
    {
        ++m_keyCount;
        put(m_keys, key);
        number(m_keys, type, 4);
    }

    std::uint32_t m_version;
    std::uint64_t m_keyCount = 0, m_tensorCount = 0;
    std::string m_keys, m_tensors, m_data;
};

} // namespace ropewalk::test
