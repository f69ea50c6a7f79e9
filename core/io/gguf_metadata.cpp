// SPDX-License-Identifier: GPL-3.0-or-later
#include "gguf_metadata.h"

#include "../json_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <istream>
#include <optional>

namespace ropewalk {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::uint64_t kBufferSize = 64 * 1024;
constexpr std::uint64_t kLongestKey = 65535; // as the format has it
constexpr std::uint64_t kLongestKeptText = 4096;
constexpr std::uint64_t kMostKeptNumbers = 4096;
constexpr std::uint64_t kMostKeys = 65536;
constexpr std::uint64_t kMostTensors = 1'000'000;
// A list of texts has to be walked through one by one; a vocabulary has a quarter of a million.
constexpr std::uint64_t kMostListedTexts = 16'000'000;
constexpr std::uint64_t kMostFactors = 65536;
constexpr int kDeepestList = 4;
constexpr std::uint32_t kMostDimensions = 8;
constexpr std::uint64_t kDefaultAlignment = 32;
constexpr std::uint64_t kLargestAlignment = 1 << 20;

/// A refusal on its way to readGgufMetadata; it never leaves this file.
struct Refusal
{
    Message message;
};

[[noreturn]] void refuse(std::string text, std::vector<std::pair<std::string, std::string>> values = {})
{
    throw Refusal{{std::move(text), std::move(values)}};
}

/// What is read next, for the sentence that says where a file breaks off.
struct Place
{
    std::string_view what;
    std::string name;
};

/// A file read from front to back through a small window; skipping moves the place and reads nothing.
class Source
{
public:
    explicit Source(std::istream& file)
        : m_file(file)
    {
        file.seekg(0, std::ios::end);
        const std::streamoff end = file.tellg();
        if (!file || end < 0)
            refuse("the file cannot be searched; expected a regular file");
        m_size = static_cast<std::uint64_t>(end);
    }

    std::uint64_t position() const { return m_position; }
    std::uint64_t left() const { return m_size - m_position; }
    std::uint64_t size() const { return m_size; }

    void say(std::string_view what, std::string name = {}) { m_place = {what, std::move(name)}; }

    /// Refuses what does not fit into the rest of the file, before anything is made for it.
    void need(std::uint64_t count, std::uint64_t bytesEach = 1) const
    {
        if (count > left() / bytesEach)
            refuseTruncated();
    }
    [[noreturn]] void refuseTruncated() const
    {
        refuse("the file breaks off within {what}{name} (it has {size} bytes); expected the rest of it",
               {{"what", std::string(m_place.what)},
                {"name", m_place.name.empty() ? "" : " " + m_place.name},
                {"size", std::to_string(m_size)}});
    }

    void skip(std::uint64_t bytes)
    {
        need(bytes);
        m_position += bytes;
    }
    void moveTo(std::uint64_t position)
    {
        if (position > m_size)
            refuseTruncated();
        m_position = position;
    }

    void read(char* target, std::uint64_t bytes)
    {
        need(bytes);
        while (bytes > 0) {
            if (m_position < m_bufferStart || m_position >= m_bufferStart + m_buffer.size())
                fill();
            const std::uint64_t at = m_position - m_bufferStart;
            const std::uint64_t count = std::min<std::uint64_t>(bytes, m_buffer.size() - at);
            std::memcpy(target, m_buffer.data() + at, count);
            target += count;
            bytes -= count;
            m_position += count;
        }
    }

    template<class T>
    T number()
    {
        std::array<unsigned char, sizeof(T)> bytes{};
        read(reinterpret_cast<char*>(bytes.data()), bytes.size());
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bits |= std::uint64_t{bytes[i]} << (8 * i);
        if constexpr (std::is_same_v<T, double>)
            return std::bit_cast<double>(bits);
        else if constexpr (std::is_same_v<T, float>)
            return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        else
            return static_cast<T>(bits);
    }

    std::string text(std::uint64_t longest)
    {
        const auto length = number<std::uint64_t>();
        need(length);
        if (length > longest) {
            skip(length);
            return {};
        }
        std::string result(length, '\0');
        read(result.data(), length);
        return result;
    }

private:
    void fill()
    {
        m_bufferStart = m_position;
        m_buffer.resize(std::min(kBufferSize, left()));
        m_file.clear();
        m_file.seekg(static_cast<std::streamoff>(m_position));
        m_file.read(m_buffer.data(), static_cast<std::streamsize>(m_buffer.size()));
        if (m_file.gcount() != static_cast<std::streamsize>(m_buffer.size()))
            refuse("the file cannot be read at byte {byte}", {{"byte", std::to_string(m_position)}});
    }

    std::istream& m_file;
    std::uint64_t m_size = 0;
    std::uint64_t m_position = 0;
    std::uint64_t m_bufferStart = 0;
    std::vector<char> m_buffer;
    Place m_place{"its head", {}};
};

enum Type : std::uint32_t {
    kUint8,
    kInt8,
    kUint16,
    kInt16,
    kUint32,
    kInt32,
    kFloat32,
    kBool,
    kString,
    kArray,
    kUint64,
    kInt64,
    kFloat64,
    kTypeCount
};

/// Bytes of one value; 0 where they differ.
constexpr std::array<std::uint64_t, kTypeCount> kSizes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

class Reader
{
public:
    explicit Reader(std::istream& file)
        : m_source(file)
    {
    }

    GgufMetadata read()
    {
        const auto [tensors, keys] = readHead();
        for (std::uint64_t i = 0; i < keys; ++i)
            readKeyValue();
        readTensors(tensors);
        return std::move(m_metadata);
    }

private:
    struct Counts
    {
        std::uint64_t tensors, keys;
    };

    Counts readHead()
    {
        std::array<char, 4> magic{};
        m_source.read(magic.data(), magic.size());
        if (std::string_view(magic.data(), magic.size()) != kMagic)
            refuse("the file does not begin with GGUF; expected a GGUF file");
        const auto version = m_source.number<std::uint32_t>();
        if (version == 0x02000000 || version == 0x03000000)
            refuse("a big-endian GGUF file; expected a little-endian one");
        if (version != 2 && version != 3)
            refuse("GGUF version {version}; expected version 2 or 3", {{"version", std::to_string(version)}});
        const auto tensors = m_source.number<std::uint64_t>();
        const auto keys = m_source.number<std::uint64_t>();
        constexpr std::uint64_t kSmallestKeyValue = 8 + 4 + 1;
        constexpr std::uint64_t kSmallestTensor = 8 + 4 + 4 + 8;
        if (keys > kMostKeys || keys > m_source.left() / kSmallestKeyValue)
            refuse("the head counts {count} keys, more than the file can hold",
                   {{"count", std::to_string(keys)}});
        if (tensors > kMostTensors || tensors > m_source.left() / kSmallestTensor)
            refuse("the head counts {count} tensors, more than the file can hold",
                   {{"count", std::to_string(tensors)}});
        return {tensors, keys};
    }

    std::string readName(std::string_view what)
    {
        m_source.say(what);
        const auto length = m_source.number<std::uint64_t>();
        if (length == 0 || length > kLongestKey)
            refuse("{what} has {length} characters; expected 1 to {most}",
                   {{"what", std::string(what)},
                    {"length", std::to_string(length)},
                    {"most", std::to_string(kLongestKey)}});
        m_source.need(length);
        std::string name(length, '\0');
        m_source.read(name.data(), length);
        return printable(name);
    }

    /// A name for a sentence and for a look-up: what is no UTF-8 is replaced.
    static std::string printable(std::string_view text)
    {
        std::string result;
        while (!text.empty()) {
            const std::size_t length = utf8SequenceLength(text);
            if (length == 0)
                result += "\xEF\xBF\xBD";
            else
                result += text.substr(0, length);
            text.remove_prefix(length == 0 ? 1 : length);
        }
        return result;
    }

    void readKeyValue()
    {
        const std::string key = readName("the name of a key");
        m_source.say("the value of", key);
        const auto type = m_source.number<std::uint32_t>();
        GgufValue value = readValue(key, type, 0);
        if (!m_metadata.values.emplace(key, std::move(value)).second)
            refuse("the key {key} stands twice; expected it once", {{"key", key}});
    }

    [[noreturn]] static void refuseType(const std::string& key, std::uint32_t type)
    {
        refuse("the value of {key} has the type {type}; expected 0 to 12",
               {{"key", key}, {"type", std::to_string(type)}});
    }

    GgufValue readValue(const std::string& key, std::uint32_t type, int depth)
    {
        switch (type) {
        case kUint8:
            return std::int64_t{m_source.number<std::uint8_t>()};
        case kInt8:
            return std::int64_t{m_source.number<std::int8_t>()};
        case kUint16:
            return std::int64_t{m_source.number<std::uint16_t>()};
        case kInt16:
            return std::int64_t{m_source.number<std::int16_t>()};
        case kUint32:
            return std::int64_t{m_source.number<std::uint32_t>()};
        case kInt32:
            return std::int64_t{m_source.number<std::int32_t>()};
        case kFloat32:
            return static_cast<double>(m_source.number<float>());
        case kBool:
            return m_source.number<std::uint8_t>() != 0;
        case kString:
            return printable(m_source.text(kLongestKeptText));
        case kArray:
            return readList(key, depth);
        case kUint64: {
            const auto value = m_source.number<std::uint64_t>();
            if (value > static_cast<std::uint64_t>(INT64_MAX))
                return static_cast<double>(value);
            return static_cast<std::int64_t>(value);
        }
        case kInt64:
            return m_source.number<std::int64_t>();
        case kFloat64:
            return m_source.number<double>();
        default:
            refuseType(key, type);
        }
    }

    GgufList readList(const std::string& key, int depth)
    {
        if (depth >= kDeepestList)
            refuse("the value of {key} is a list nested more than {depth} levels deep",
                   {{"key", key}, {"depth", std::to_string(kDeepestList)}});
        const auto type = m_source.number<std::uint32_t>();
        if (type >= kTypeCount)
            refuseType(key, type);
        GgufList list;
        list.count = m_source.number<std::uint64_t>();
        if (kSizes[type] == 0) {
            // A text has at least its length, a list its type and its count.
            m_source.need(list.count, type == kString ? 8 : 12);
            m_listedTexts += list.count;
            if (list.count > kMostListedTexts || m_listedTexts > kMostListedTexts)
                refuse("the value of {key} lists {count} texts; expected at most {most} in a file",
                       {{"key", key},
                        {"count", std::to_string(list.count)},
                        {"most", std::to_string(kMostListedTexts)}});
            for (std::uint64_t i = 0; i < list.count; ++i)
                if (type == kString)
                    m_source.skip(m_source.number<std::uint64_t>());
                else
                    readList(key, depth + 1);
            return list;
        }
        m_source.need(list.count, kSizes[type]);
        if (list.count > kMostKeptNumbers) {
            m_source.skip(list.count * kSizes[type]);
            return list;
        }
        for (std::uint64_t i = 0; i < list.count; ++i)
            list.numbers.push_back(std::visit(
                [](const auto& value) -> double {
                    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
                        return static_cast<double>(value);
                    return 0.0;
                },
                readValue(key, type, depth)));
        return list;
    }

    struct Tensor
    {
        std::string name;
        std::uint64_t count = 0, offset = 0;
    };

    std::uint64_t alignment() const
    {
        const auto found = m_metadata.values.find("general.alignment");
        if (found == m_metadata.values.end())
            return kDefaultAlignment;
        const auto* value = std::get_if<std::int64_t>(&found->second);
        if (!value || *value < 1 || *value > static_cast<std::int64_t>(kLargestAlignment) ||
            !std::has_single_bit(static_cast<std::uint64_t>(*value)))
            refuse("general.alignment is not a power of two from 1 to {most}",
                   {{"most", std::to_string(kLargestAlignment)}});
        return static_cast<std::uint64_t>(*value);
    }

    void readTensors(std::uint64_t count)
    {
        std::vector<Tensor> wanted;
        for (std::uint64_t i = 0; i < count; ++i)
            if (std::optional<Tensor> tensor = readTensor())
                wanted.push_back(std::move(*tensor));
        if (wanted.empty())
            return;
        const std::uint64_t step = alignment();
        const std::uint64_t start = (m_source.position() + step - 1) / step * step;
        for (const Tensor& tensor : wanted)
            readFactors(tensor, start);
    }

    /// The place of one tensor, where it belongs to the rotation.
    std::optional<Tensor> readTensor()
    {
        Tensor tensor;
        tensor.name = readName("the name of a tensor");
        m_source.say("the description of the tensor", tensor.name);
        const auto dimensions = m_source.number<std::uint32_t>();
        if (dimensions > kMostDimensions)
            refuse("the tensor {name} has {count} dimensions; expected at most {most}",
                   {{"name", tensor.name},
                    {"count", std::to_string(dimensions)},
                    {"most", std::to_string(kMostDimensions)}});
        bool isTooLarge = false;
        tensor.count = 1;
        for (std::uint32_t i = 0; i < dimensions; ++i) {
            const auto size = m_source.number<std::uint64_t>();
            isTooLarge = isTooLarge || size > kMostFactors || tensor.count * size > kMostFactors;
            tensor.count = isTooLarge ? 0 : tensor.count * size;
        }
        const auto type = m_source.number<std::uint32_t>();
        tensor.offset = m_source.number<std::uint64_t>();
        if (!isRotationTensor(tensor.name))
            return std::nullopt;
        if (isTooLarge || tensor.count == 0)
            refuse("the tensor {name} has no size that a rotation could have; expected one number a pair",
                   {{"name", tensor.name}});
        if (type != 0)
            refuse("the tensor {name} has the type {type}; expected 0 (F32)",
                   {{"name", tensor.name}, {"type", std::to_string(type)}});
        if (m_metadata.factors.contains(tensor.name))
            refuse("the tensor {name} stands twice; expected it once", {{"name", tensor.name}});
        m_metadata.factors[tensor.name];
        return tensor;
    }

    void readFactors(const Tensor& tensor, std::uint64_t start)
    {
        m_source.say("the tensor", tensor.name);
        if (start > m_source.size() || tensor.offset > m_source.size() - start)
            m_source.refuseTruncated();
        m_source.moveTo(start + tensor.offset);
        m_source.need(tensor.count, sizeof(float));
        std::vector<double>& numbers = m_metadata.factors[tensor.name];
        numbers.reserve(tensor.count);
        for (std::uint64_t i = 0; i < tensor.count; ++i) {
            const double value = m_source.number<float>();
            if (!std::isfinite(value) || value <= 0.0)
                refuse("number {index} of the tensor {name} is {value}; expected a finite number above 0",
                       {{"index", std::to_string(i)}, {"name", tensor.name}, {"value", shortNumber(value)}});
            numbers.push_back(value);
        }
    }

    Source m_source;
    std::uint64_t m_listedTexts = 0;
    GgufMetadata m_metadata;
};

} // namespace

bool looksLikeGguf(std::string_view firstBytes)
{
    return firstBytes.starts_with(kMagic);
}

bool isRotationTensor(std::string_view name)
{
    return name == "rope_freqs.weight" || name == "rope_factors_long.weight" ||
           name == "rope_factors_short.weight";
}

Result<GgufMetadata> readGgufMetadata(std::istream& file)
{
    try {
        return Reader(file).read();
    } catch (const Refusal& refusal) {
        return Error{ErrorCode::BadInput, refusal.message, {}};
    } catch (const std::exception& exception) {
        return Error{
            ErrorCode::BadInput, {"the file cannot be read: {reason}", {{"reason", exception.what()}}}, {}};
    }
}

} // namespace ropewalk
