// SPDX-License-Identifier: GPL-3.0-or-later
#include "tensor_file.h"

#include "json_input.h"

#include <nlohmann/json.hpp>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <istream>
#include <optional>
#include <set>

namespace ropewalk {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kNumpyMagic("\x93NUMPY", 6);
constexpr std::string_view kZipMagic("PK\x03\x04", 4);
constexpr std::size_t kMostTensors = 20'000;
constexpr std::uint64_t kLongestNumpyHead = 64 * 1024;
constexpr std::uint64_t kLongestSafetensorsHead = std::uint64_t{16} << 20;
constexpr std::uint64_t kLargestDirectory = std::uint64_t{16} << 20;
constexpr std::uint64_t kLargestEntry = std::uint64_t{1}
                                        << 30; ///< of a zip file; it is read from its beginning
constexpr std::size_t kLongestMetadata = std::size_t{1} << 20;
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 25; ///< of one matrix: 256 MiB as doubles
constexpr std::int64_t kLongestDimension = std::int64_t{1} << 40;
constexpr std::size_t kMostDimensions = 8;
constexpr std::int64_t kMostTokens = 131'072;
constexpr std::int64_t kWidestHead = 4096;
constexpr std::size_t kChunk = 64 * 1024;
constexpr std::size_t kLongestName = 1000;
constexpr std::size_t kMostNamed = 8; ///< tensors named in a sentence

/// A refusal on its way to the public functions; it never leaves this file.
struct Refusal
{
    Message message;
    std::string context = {}; ///< the file; empty: the one that the public function is about
};

[[noreturn]] void refuse(std::string text, std::vector<std::pair<std::string, std::string>> values = {})
{
    throw Refusal{{std::move(text), std::move(values)}};
}

/// The types of numbers that are read.
struct NumberType
{
    std::string_view name;
    std::string_view numpy;       ///< the descr of a .npy file, without its byte order
    std::string_view safetensors; ///< the dtype of a .safetensors file
    std::uint64_t size;           ///< bytes
};
// NumPy has no bfloat16; the ml_dtypes package lets it save one as two raw bytes.
constexpr std::array kNumberTypes{
    NumberType{"float16", "f2", "F16", 2}, NumberType{"bfloat16", "V2", "BF16", 2},
    NumberType{"float32", "f4", "F32", 4}, NumberType{"float64", "f8", "F64", 8}};

const NumberType* findType(std::string_view name)
{
    const auto found = std::find_if(kNumberTypes.begin(), kNumberTypes.end(),
                                    [&](const NumberType& type) { return type.name == name; });
    return found == kNumberTypes.end() ? nullptr : &*found;
}

double fromHalf(std::uint16_t bits)
{
    const int exponent = (bits >> 10) & 31;
    const int fraction = bits & 1023;
    double value = 0.0;
    if (exponent == 31)
        value = fraction == 0 ? HUGE_VAL : std::nan("");
    else if (exponent == 0)
        value = std::ldexp(fraction, -24);
    else
        value = std::ldexp(fraction + 1024, exponent - 25);
    return (bits & 0x8000) != 0 ? -value : value;
}

template<class Bits>
Bits littleEndian(const char* bytes)
{
    Bits bits = 0;
    for (std::size_t i = 0; i < sizeof(Bits); ++i)
        bits |= static_cast<Bits>(static_cast<Bits>(static_cast<unsigned char>(bytes[i])) << (8 * i));
    return bits;
}

double numberAt(const char* bytes, const NumberType& type)
{
    if (type.name == "float16")
        return fromHalf(littleEndian<std::uint16_t>(bytes));
    if (type.name == "bfloat16")
        return std::bit_cast<float>(std::uint32_t{littleEndian<std::uint16_t>(bytes)} << 16);
    if (type.name == "float32")
        return std::bit_cast<float>(littleEndian<std::uint32_t>(bytes));
    return std::bit_cast<double>(littleEndian<std::uint64_t>(bytes));
}

/// Bytes of a tensor of this shape, or a refusal where they do not fit into 63 bits.
std::uint64_t byteCount(const std::string& name, const std::vector<std::int64_t>& shape, std::uint64_t each)
{
    std::uint64_t bytes = each;
    for (const std::int64_t length : shape) {
        if (length < 0 || length > kLongestDimension ||
            (length > 0 && bytes > (std::uint64_t{1} << 62) / static_cast<std::uint64_t>(length)))
            refuse("the shape of {tensor} is impossibly large", {{"tensor", name}});
        bytes *= static_cast<std::uint64_t>(length);
    }
    return bytes;
}

/// The bytes of one tensor from its first on, inflated where they are deflated. Never holds more than a
/// chunk.
class Bytes
{
public:
    Bytes(std::istream& stream, std::uint64_t offset, std::uint64_t storedSize, std::uint64_t size,
          bool isDeflated, const std::string& name)
        : m_stream(stream)
        , m_left(storedSize)
        , m_size(size)
        , m_isDeflated(isDeflated)
        , m_name(name)
    {
        stream.clear();
        stream.seekg(static_cast<std::streamoff>(offset));
        if (!stream)
            refuseTruncated();
        if (isDeflated) {
            m_input.resize(kChunk);
            if (inflateInit2(&m_inflater, -MAX_WBITS) != Z_OK)
                refuse("{tensor} could not be inflated for want of memory", {{"tensor", name}});
        }
    }
    ~Bytes()
    {
        if (m_isDeflated)
            inflateEnd(&m_inflater);
    }
    Bytes(const Bytes&) = delete;
    Bytes& operator=(const Bytes&) = delete;

    void read(char* target, std::uint64_t count)
    {
        if (count > m_size - m_position)
            refuse("{tensor} ends before its numbers do; expected the rest of it", {{"tensor", m_name}});
        for (std::uint64_t done = 0; done < count;) {
            const std::uint64_t piece = std::min<std::uint64_t>(count - done, kChunk);
            if (m_isDeflated)
                inflateSome(target + done, piece);
            else
                readStored(target + done, piece);
            m_checksum = static_cast<std::uint32_t>(
                crc32(m_checksum, reinterpret_cast<const Bytef*>(target + done), static_cast<uInt>(piece)));
            done += piece;
        }
        m_position += count;
    }

    void skip(std::uint64_t count)
    {
        std::vector<char> waste(static_cast<std::size_t>(std::min<std::uint64_t>(count, kChunk)));
        while (count > 0) {
            const std::uint64_t piece = std::min<std::uint64_t>(count, kChunk);
            read(waste.data(), piece);
            count -= piece;
        }
    }

    /// Reads what is left and compares: for zip entries, of which the checksum is known.
    void finish(std::uint32_t checksum)
    {
        skip(m_size - m_position);
        if (m_isDeflated) {
            char beyond = 0;
            std::uint64_t produced = 0;
            inflateUpTo(&beyond, 1, produced);
            if (produced != 0 || !m_isEnd)
                refuse("{tensor} inflates to more than the zip file says", {{"tensor", m_name}});
        }
        if (m_checksum != checksum)
            refuse("{tensor} is damaged: its checksum does not agree", {{"tensor", m_name}});
    }

private:
    [[noreturn]] void refuseTruncated() const
    {
        refuse("the file breaks off within {tensor}; expected the rest of it", {{"tensor", m_name}});
    }

    void readStored(char* target, std::uint64_t count)
    {
        if (count > m_left || !m_stream.read(target, static_cast<std::streamsize>(count)))
            refuseTruncated();
        m_left -= count;
    }

    void inflateSome(char* target, std::uint64_t count)
    {
        std::uint64_t produced = 0;
        inflateUpTo(target, count, produced);
        if (produced != count)
            refuse("{tensor} inflates to less than the zip file says", {{"tensor", m_name}});
    }

    void inflateUpTo(char* target, std::uint64_t count, std::uint64_t& produced)
    {
        m_inflater.next_out = reinterpret_cast<Bytef*>(target);
        m_inflater.avail_out = static_cast<uInt>(count);
        while (m_inflater.avail_out > 0 && !m_isEnd) {
            if (m_inflater.avail_in == 0 && m_left > 0) {
                const std::uint64_t piece = std::min<std::uint64_t>(m_left, kChunk);
                readStored(m_input.data(), piece);
                m_inflater.next_in = reinterpret_cast<Bytef*>(m_input.data());
                m_inflater.avail_in = static_cast<uInt>(piece);
            }
            const int state = inflate(&m_inflater, Z_NO_FLUSH);
            m_isEnd = state == Z_STREAM_END;
            if (state != Z_OK && state != Z_STREAM_END)
                refuse("{tensor} is damaged: it cannot be inflated", {{"tensor", m_name}});
        }
        produced = count - m_inflater.avail_out;
    }

    std::istream& m_stream;
    std::uint64_t m_left; ///< stored bytes not yet read
    std::uint64_t m_size; ///< once inflated
    std::uint64_t m_position = 0;
    bool m_isDeflated, m_isEnd = false;
    std::uint32_t m_checksum = 0;
    std::string m_name;
    z_stream m_inflater{};
    std::vector<char> m_input;
};

/// The head of a .npy file: a Python dictionary of descr, fortran_order and shape.
class NumpyHead
{
public:
    NumpyHead(std::string_view text, std::string name)
        : m_text(text)
        , m_name(std::move(name))
    {
    }

    void read()
    {
        expect('{');
        while (!tryTake('}')) {
            const std::string key = quoted();
            expect(':');
            if (key == "descr" && !m_hasType)
                readType();
            else if (key == "fortran_order" && !m_order)
                m_order = readTruth();
            else if (key == "shape" && !m_hasShape)
                readShape();
            else
                refuseHead();
            if (!tryTake(',')) {
                expect('}');
                break;
            }
        }
        skipBlanks();
        if (!m_text.empty() || !m_hasType || !m_order || !m_hasShape)
            refuseHead();
    }

    std::string type() const { return m_type; } ///< the file's word
    bool isFortranOrder() const { return *m_order; }
    const std::vector<std::int64_t>& shape() const { return m_shape; }

private:
    [[noreturn]] void refuseHead() const
    {
        refuse("the head of {tensor} is not that of a .npy file; expected descr, fortran_order and shape",
               {{"tensor", m_name}});
    }
    void skipBlanks() { m_text.remove_prefix(std::min(m_text.find_first_not_of(" \t\r\n"), m_text.size())); }
    bool tryTake(char wanted)
    {
        skipBlanks();
        if (m_text.empty() || m_text.front() != wanted)
            return false;
        m_text.remove_prefix(1);
        return true;
    }
    void expect(char wanted)
    {
        if (!tryTake(wanted))
            refuseHead();
    }
    std::string quoted()
    {
        skipBlanks();
        const char quote = m_text.empty() ? ' ' : m_text.front();
        const std::size_t end = m_text.find(quote, 1);
        if ((quote != '\'' && quote != '"') || end == std::string_view::npos || end > 100)
            refuseHead();
        std::string text(m_text.substr(1, end - 1));
        m_text.remove_prefix(end + 1);
        return text;
    }
    void readType()
    {
        skipBlanks();
        if (m_text.starts_with('['))
            refuse("{tensor} holds records of several fields; expected plain numbers", {{"tensor", m_name}});
        m_type = quoted();
        m_hasType = true;
    }
    bool readTruth()
    {
        skipBlanks();
        for (const bool value : {false, true}) {
            const std::string_view word = value ? "True" : "False";
            if (m_text.starts_with(word)) {
                m_text.remove_prefix(word.size());
                return value;
            }
        }
        refuseHead();
    }
    void readShape()
    {
        expect('(');
        while (!tryTake(')')) {
            skipBlanks();
            std::int64_t length = 0;
            const auto [end, code] = std::from_chars(m_text.data(), m_text.data() + m_text.size(), length);
            if (code != std::errc() || length < 0 || m_shape.size() == kMostDimensions)
                refuseHead();
            m_text.remove_prefix(static_cast<std::size_t>(end - m_text.data()));
            m_shape.push_back(length);
            if (!tryTake(',')) {
                expect(')');
                break;
            }
        }
        m_hasShape = true;
    }

    std::string_view m_text;
    std::string m_name;
    std::string m_type;
    std::optional<bool> m_order;
    std::vector<std::int64_t> m_shape;
    bool m_hasType = false, m_hasShape = false;
};

Error bad(const Refusal& refusal, const std::string& context)
{
    return badTensors(refusal.context.empty() ? context : refusal.context, refusal.message);
}

/// Runs what may refuse, run out of memory, or meet a library's exception, and gives its result or the error.
template<class T, class Work>
Result<T> guarded(const std::string& context, Work work)
{
    try {
        return work();
    } catch (const Refusal& refusal) {
        return bad(refusal, context);
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::BadInput, "there is not enough memory for these tensors", context};
    } catch (const std::exception& exception) {
        return Error{ErrorCode::BadInput,
                     {"the tensors cannot be read: {reason}", {{"reason", exception.what()}}},
                     context};
    }
}

} // namespace

/// Fills a TensorFile from its stream.
class TensorFileReader
{
public:
    explicit TensorFileReader(TensorFile& file)
        : m_file(file)
        , m_stream(*file.m_stream)
    {
    }

    void read()
    {
        m_stream.seekg(0, std::ios::end);
        const std::streamoff end = m_stream.tellg();
        if (!m_stream || end < 0)
            refuse("the file cannot be searched; expected a regular file");
        m_size = static_cast<std::uint64_t>(end);
        std::string first(static_cast<std::size_t>(std::min<std::uint64_t>(m_size, 16)), '\0');
        readAt(0, first.data(), first.size(), "its head");
        if (first.starts_with(kNumpyMagic))
            readNumpy();
        else if (first.starts_with(kZipMagic) || first.starts_with(std::string_view("PK\x05\x06", 4)))
            readZip();
        else if (looksLikeTensors(first))
            readSafetensors();
        else
            refuse(
                "the file is neither .npy, .npz nor .safetensors; expected queries and keys in one of them");
    }

private:
    void readAt(std::uint64_t offset, char* target, std::uint64_t count, std::string_view what)
    {
        m_stream.clear();
        m_stream.seekg(static_cast<std::streamoff>(offset));
        if (offset > m_size || count > m_size - offset ||
            !m_stream.read(target, static_cast<std::streamsize>(count)))
            refuse("the file breaks off within {what} (it has {size} bytes); expected the rest of it",
                   {{"what", std::string(what)}, {"size", std::to_string(m_size)}});
    }

    void add(TensorInfo info, TensorFile::Place place)
    {
        if (m_file.m_tensors.size() == kMostTensors)
            refuse("the file has more than {most} tensors", {{"most", std::to_string(kMostTensors)}});
        if (!m_names.insert(info.name).second)
            refuse("the file has two tensors named {tensor}; expected one", {{"tensor", info.name}});
        m_file.m_tensors.push_back(std::move(info));
        m_file.m_places.push_back(std::move(place));
    }

    void readNumpy()
    {
        TensorFile::Place place;
        place.storedSize = place.size = m_size;
        addNumpy(m_file.m_name, std::move(place));
    }

    bool beginsAsNumpy(const TensorFile::Place& place, const std::string& name) const
    {
        if (place.size < kNumpyMagic.size())
            return false;
        std::string magic(kNumpyMagic.size(), '\0');
        Bytes(m_stream, place.offset, place.storedSize, place.size, place.isDeflated, name)
            .read(magic.data(), magic.size());
        return magic == kNumpyMagic;
    }

    /// The head of a .npy file at `place`, which is the whole file or an entry of a zip file.
    void addNumpy(const std::string& name, TensorFile::Place place)
    {
        Bytes bytes(m_stream, place.offset, place.storedSize, place.size, place.isDeflated, name);
        std::array<char, 8> magic{};
        bytes.read(magic.data(), magic.size());
        if (std::string_view(magic.data(), kNumpyMagic.size()) != kNumpyMagic)
            refuse("{tensor} is not a .npy file; expected numbers as NumPy saves them", {{"tensor", name}});
        const int version = static_cast<unsigned char>(magic[6]);
        if (version < 1 || version > 3)
            refuse("{tensor} is of .npy version {version}; expected version 1, 2 or 3",
                   {{"tensor", name}, {"version", std::to_string(version)}});
        std::array<char, 4> length{};
        const std::uint64_t lengthSize = version == 1 ? 2 : 4;
        bytes.read(length.data(), lengthSize);
        const std::uint64_t headSize = littleEndian<std::uint32_t>(length.data());
        if (headSize > kLongestNumpyHead)
            refuse("the head of {tensor} has {size} bytes; expected at most {most}",
                   {{"tensor", name},
                    {"size", std::to_string(headSize)},
                    {"most", std::to_string(kLongestNumpyHead)}});
        std::string text(static_cast<std::size_t>(headSize), '\0');
        bytes.read(text.data(), text.size());
        NumpyHead head(text, name);
        head.read();

        TensorInfo info{name, {}, head.shape()};
        place.headSize = magic.size() + lengthSize + headSize;
        const std::string word = head.type();
        const char order = word.empty() ? ' ' : word.front();
        const std::string_view plain = std::string_view(word).substr(word.empty() ? 0 : 1);
        // "|": no order, as NumPy writes it of raw bytes.
        const auto type =
            std::find_if(kNumberTypes.begin(), kNumberTypes.end(), [&](const NumberType& candidate) {
                return candidate.numpy == plain &&
                       (order == '<' || order == '>' || (order == '|' && candidate.name == "bfloat16"));
            });
        info.type = type == kNumberTypes.end() ? word : std::string(type->name);
        if (type != kNumberTypes.end()) {
            if (order == '>')
                place.problem = "{tensor} is big-endian ({type}); expected a little-endian one";
            else if (head.isFortranOrder() && info.shape.size() > 1)
                place.problem =
                    "{tensor} is in Fortran order; expected C order, as numpy.ascontiguousarray gives it";
            const std::uint64_t expected = byteCount(name, info.shape, type->size);
            if (place.size - place.headSize != expected)
                refuse("{tensor} has {found} B of numbers; its shape {shape} of {type} needs {expected} B",
                       {{"tensor", name},
                        {"found", std::to_string(place.size - place.headSize)},
                        {"shape", shapeText(info.shape)},
                        {"type", info.type},
                        {"expected", std::to_string(expected)}});
        }
        add(std::move(info), std::move(place));
    }

    void readSafetensors()
    {
        std::array<char, 8> length{};
        readAt(0, length.data(), length.size(), "its head");
        const auto headSize = littleEndian<std::uint64_t>(length.data());
        if (headSize > kLongestSafetensorsHead)
            refuse("the head has {size} bytes; expected at most {most} in a .safetensors file",
                   {{"size", std::to_string(headSize)}, {"most", std::to_string(kLongestSafetensorsHead)}});
        if (headSize > m_size - length.size())
            refuse("the file breaks off within {what} (it has {size} bytes); expected the rest of it",
                   {{"what", "its head"}, {"size", std::to_string(m_size)}});
        std::string text(static_cast<std::size_t>(headSize), '\0');
        readAt(length.size(), text.data(), text.size(), "its head");
        const auto repeated = checkJson(text, kLongestSafetensorsHead);
        if (!repeated)
            throw Refusal{repeated.error().message};
        if (!repeated->empty())
            refuse("the head has two tensors named {tensor}; expected one",
                   {{"tensor", repeated->front().substr(0, 60)}});
        const Json head = Json::parse(text);
        if (!head.is_object())
            refuse("the head of the .safetensors file is {kind}; expected an object",
                   {{"kind", jsonKindText(text)}});
        const std::uint64_t start = length.size() + headSize;
        for (const auto& [name, entry] : head.items()) {
            if (name == "__metadata__")
                readMetadata(entry);
            else
                addSafetensor(name, entry, start);
        }
        refuseOverlap();
    }

    void readMetadata(const Json& entry)
    {
        std::size_t size = 0;
        if (entry.is_object())
            for (const auto& [key, value] : entry.items())
                if (value.is_string() &&
                    (size += value.get_ref<const std::string&>().size()) <= kLongestMetadata)
                    m_file.m_metadata.emplace(key, value.get<std::string>());
    }

    void addSafetensor(const std::string& name, const Json& entry, std::uint64_t start)
    {
        const auto refuseEntry = [&]() {
            refuse("the head says of {tensor} something else than its dtype, shape and data_offsets",
                   {{"tensor", name}});
        };
        const auto isCounts = [](const Json& list, std::size_t least, std::size_t most) {
            return list.is_array() && list.size() >= least && list.size() <= most &&
                   std::all_of(list.begin(), list.end(), [](const Json& value) {
                       return value.is_number_integer() && value >= 0 && value <= (std::int64_t{1} << 62);
                   });
        };
        if (name.size() > kLongestName || !entry.is_object() || !entry.contains("dtype") ||
            !entry["dtype"].is_string() || !entry.contains("shape") ||
            !isCounts(entry["shape"], 0, kMostDimensions) || !entry.contains("data_offsets") ||
            !isCounts(entry["data_offsets"], 2, 2))
            refuseEntry();
        TensorInfo info{name, entry["dtype"].get<std::string>().substr(0, 60),
                        entry["shape"].get<std::vector<std::int64_t>>()};
        const auto begin = entry["data_offsets"][0].get<std::uint64_t>();
        const auto end = entry["data_offsets"][1].get<std::uint64_t>();
        if (begin > end || end > m_size - start)
            refuse("{tensor} lies at bytes {begin} to {end}; the file has {size} after its head",
                   {{"tensor", name},
                    {"begin", std::to_string(begin)},
                    {"end", std::to_string(end)},
                    {"size", std::to_string(m_size - start)}});
        TensorFile::Place place;
        place.offset = start + begin;
        place.storedSize = place.size = end - begin;
        const auto type =
            std::find_if(kNumberTypes.begin(), kNumberTypes.end(),
                         [&](const NumberType& candidate) { return candidate.safetensors == info.type; });
        if (type != kNumberTypes.end()) {
            info.type = type->name;
            const std::uint64_t expected = byteCount(name, info.shape, type->size);
            if (expected != place.size)
                refuse("{tensor} has {found} B of numbers; its shape {shape} of {type} needs {expected} B",
                       {{"tensor", name},
                        {"found", std::to_string(place.size)},
                        {"shape", shapeText(info.shape)},
                        {"type", info.type},
                        {"expected", std::to_string(expected)}});
        }
        add(std::move(info), std::move(place));
    }

    /// Two tensors that share bytes: one of them lies.
    void refuseOverlap() const
    {
        std::vector<std::size_t> order(m_file.m_places.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = i;
        const auto& places = m_file.m_places;
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return std::pair(places[a].offset, places[a].storedSize) <
                   std::pair(places[b].offset, places[b].storedSize);
        });
        for (std::size_t i = 1; i < order.size(); ++i) {
            const TensorFile::Place& before = places[order[i - 1]];
            if (places[order[i]].offset < before.offset + before.storedSize)
                refuse("{first} and {second} lie over one another in the file; expected each on its own",
                       {{"first", m_file.m_tensors[order[i - 1]].name},
                        {"second", m_file.m_tensors[order[i]].name}});
        }
    }

    /// The end of a zip file's directory stands at the file's end, before a comment of at most 64 KiB.
    void readZip()
    {
        constexpr std::uint64_t kEndSize = 22;
        const std::uint64_t tailSize = std::min<std::uint64_t>(m_size, kEndSize + 65535);
        std::string tail(static_cast<std::size_t>(tailSize), '\0');
        readAt(m_size - tailSize, tail.data(), tail.size(), "its directory");
        std::size_t at = std::string::npos;
        for (std::size_t i = tail.size() >= kEndSize ? tail.size() - kEndSize + 1 : 0; i-- > 0;)
            if (tail.compare(i, 4, "PK\x05\x06", 4) == 0 &&
                i + kEndSize + littleEndian<std::uint16_t>(tail.data() + i + 20) == tail.size()) {
                at = i;
                break;
            }
        if (at == std::string::npos)
            refuse("the zip file breaks off before its directory; expected the rest of it");
        const char* end = tail.data() + at;
        const std::uint64_t count = littleEndian<std::uint16_t>(end + 10);
        const std::uint64_t size = littleEndian<std::uint32_t>(end + 12);
        const std::uint64_t offset = littleEndian<std::uint32_t>(end + 16);
        if (count == 0xFFFF || size == 0xFFFFFFFF || offset == 0xFFFFFFFF)
            refuse("the zip file is one of 4 GiB and more; expected .npy or .safetensors for so much");
        if (littleEndian<std::uint16_t>(end + 4) != 0 || littleEndian<std::uint16_t>(end + 6) != 0 ||
            littleEndian<std::uint16_t>(end + 8) != count || offset > m_size || size > m_size - offset ||
            offset + size > m_size - tailSize + at || size > kLargestDirectory)
            refuse("the directory of the zip file does not fit the file");
        std::string directory(static_cast<std::size_t>(size), '\0');
        readAt(offset, directory.data(), directory.size(), "its directory");
        readDirectory(directory, count, offset);
        refuseOverlap();
    }

    void readDirectory(std::string_view rest, std::uint64_t count, std::uint64_t directoryOffset)
    {
        constexpr std::size_t kHeadSize = 46;
        constexpr std::size_t kLocalSize = 30;
        for (std::uint64_t i = 0; i < count; ++i) {
            if (rest.size() < kHeadSize || !rest.starts_with(std::string_view("PK\x01\x02", 4)))
                refuse("the directory of the zip file breaks off at entry {entry}",
                       {{"entry", std::to_string(i + 1)}});
            const char* head = rest.data();
            const auto u16 = [&](std::size_t at) { return littleEndian<std::uint16_t>(head + at); };
            const auto u32 = [&](std::size_t at) { return littleEndian<std::uint32_t>(head + at); };
            const std::size_t nameSize = u16(28);
            const std::size_t entrySize = kHeadSize + nameSize + u16(30) + u16(32);
            if (rest.size() < entrySize || nameSize == 0 || nameSize > kLongestName)
                refuse("the directory of the zip file breaks off at entry {entry}",
                       {{"entry", std::to_string(i + 1)}});
            const std::string fileName(rest.substr(kHeadSize, nameSize));
            TensorFile::Place place;
            place.isZipped = true;
            place.isDeflated = u16(10) == 8;
            place.checksum = u32(16);
            place.storedSize = u32(20);
            place.size = u32(24);
            const std::uint64_t local = u32(42);
            if ((u16(8) & 1) != 0)
                refuse("{tensor} is encrypted; expected a zip file as numpy.savez writes it",
                       {{"tensor", fileName}});
            if (u16(10) != 0 && u16(10) != 8)
                refuse("{tensor} is compressed by method {method}; expected stored (0) or deflated (8)",
                       {{"tensor", fileName}, {"method", std::to_string(u16(10))}});
            if (place.size > kLargestEntry)
                refuse("{tensor} has {size} bytes once inflated; expected at most {most} within a zip file",
                       {{"tensor", fileName},
                        {"size", std::to_string(place.size)},
                        {"most", std::to_string(kLargestEntry)}});
            std::array<char, kLocalSize> localHead{};
            readAt(local, localHead.data(), localHead.size(), fileName);
            const std::size_t localNameSize = littleEndian<std::uint16_t>(localHead.data() + 26);
            std::string localName(std::min<std::size_t>(localNameSize, kLongestName), '\0');
            readAt(local + kLocalSize, localName.data(), localName.size(), fileName);
            place.offset =
                local + kLocalSize + localNameSize + littleEndian<std::uint16_t>(localHead.data() + 28);
            if (!std::string_view(localHead.data(), 4).starts_with(kZipMagic) || localName != fileName ||
                place.offset > directoryOffset || place.storedSize > directoryOffset - place.offset ||
                (!place.isDeflated && place.storedSize != place.size))
                refuse("the zip file's directory and {tensor} itself do not agree", {{"tensor", fileName}});
            const std::string name =
                fileName.ends_with(".npy") ? fileName.substr(0, fileName.size() - 4) : fileName;
            if (name != fileName || beginsAsNumpy(place, fileName))
                addNumpy(name, std::move(place));
            else if (fileName.back() != '/')
                m_file.m_leftOut.push_back(fileName);
            rest.remove_prefix(entrySize);
        }
    }

    TensorFile& m_file;
    std::istream& m_stream;
    std::uint64_t m_size = 0;
    std::set<std::string> m_names;
};

std::string shapeText(const std::vector<std::int64_t>& shape)
{
    std::string text;
    for (const std::int64_t length : shape)
        text += (text.empty() ? "" : ", ") + std::to_string(length);
    return "[" + text + "]";
}

std::string tensorNames(const TensorFile& file)
{
    std::string names;
    for (std::size_t i = 0; i < file.tensors().size() && i < kMostNamed; ++i)
        names += (i == 0 ? "" : ", ") + file.tensors()[i].name;
    return file.tensors().size() > kMostNamed ? names + ", …" : names;
}

Error badTensors(const std::string& file, Message message)
{
    const bool isNamed = std::any_of(message.values.begin(), message.values.end(),
                                     [&](const auto& named) { return named.second == file; });
    return {ErrorCode::BadInput, std::move(message), isNamed ? std::string() : file};
}

bool looksLikeTensors(std::string_view firstBytes)
{
    if (firstBytes.starts_with(kNumpyMagic) || firstBytes.starts_with(kZipMagic))
        return true;
    // .safetensors: the length of the head, then its opening brace.
    return firstBytes.size() > 8 && firstBytes[8] == '{' &&
           littleEndian<std::uint64_t>(firstBytes.data()) < (std::uint64_t{1} << 40);
}

Result<TensorFile> TensorFile::open(std::shared_ptr<std::istream> stream, std::string name)
{
    return guarded<TensorFile>(name, [&]() {
        TensorFile file;
        file.m_stream = std::move(stream);
        file.m_name = name;
        TensorFileReader(file).read();
        return file;
    });
}

/// Reads runs of numbers of tensors.
class NumberReader
{
public:
    NumberReader(const TensorFile& file, std::size_t index)
        : m_info(file.m_tensors.at(index))
        , m_place(file.m_places.at(index))
        , m_stream(*file.m_stream)
    {
        const NumberType* type = findType(m_info.type);
        if (!type)
            refuse("{tensor} is of type {type}; expected float16, bfloat16, float32 or float64",
                   {{"tensor", m_info.name}, {"type", m_info.type}});
        if (!m_place.problem.empty())
            refuse(m_place.problem, {{"tensor", m_info.name}, {"type", m_info.type}});
        m_type = *type;
    }

    /// `count` numbers after the first `skipped`. The tensor's bytes were counted when it was opened: they
    /// lie within.
    std::vector<double> read(std::uint64_t skipped, std::size_t count) const
    {
        const std::uint64_t before = m_place.headSize + skipped * m_type.size;
        const std::uint64_t jump = m_place.isZipped ? 0 : before; // a zip entry is read from its beginning
        Bytes bytes(m_stream, m_place.offset + jump, m_place.storedSize - jump, m_place.size - jump,
                    m_place.isDeflated, m_info.name);
        bytes.skip(before - jump);
        std::vector<double> values(count);
        std::vector<char> chunk(kChunk);
        for (std::size_t done = 0; done < count;) {
            const std::size_t piece = std::min(count - done, kChunk / m_type.size);
            bytes.read(chunk.data(), piece * m_type.size);
            for (std::size_t i = 0; i < piece; ++i)
                values[done + i] = numberAt(chunk.data() + i * m_type.size, m_type);
            done += piece;
        }
        if (m_place.isZipped)
            bytes.finish(m_place.checksum);
        return values;
    }

private:
    const TensorInfo& m_info;
    const TensorFile::Place& m_place;
    std::istream& m_stream;
    NumberType m_type{};
};

Result<TensorRows> TensorFile::matrix(std::size_t index, const std::vector<std::int64_t>& leading) const
{
    return guarded<TensorRows>(m_name, [&]() {
        const TensorInfo& info = m_tensors.at(index);
        const NumberReader reader(*this, index);
        if (info.shape.size() != leading.size() + 2)
            refuse("{tensor} has the shape {shape}; expected {dimensions} dimensions",
                   {{"tensor", info.name},
                    {"shape", shapeText(info.shape)},
                    {"dimensions", std::to_string(leading.size() + 2)}});
        TensorRows rows;
        rows.rows = info.shape[leading.size()];
        rows.columns = info.shape[leading.size() + 1];
        if (rows.columns > 0 && rows.rows > kMostNumbers / rows.columns)
            refuse("{tensor} has {rows} × {columns} numbers; expected at most {most}",
                   {{"tensor", info.name},
                    {"rows", std::to_string(rows.rows)},
                    {"columns", std::to_string(rows.columns)},
                    {"most", std::to_string(kMostNumbers)}});
        std::int64_t matrix = 0;
        for (std::size_t i = 0; i < leading.size(); ++i) {
            if (leading[i] < 0 || leading[i] >= info.shape[i])
                refuse("index {index} of {tensor}, whose shape is {shape}, does not exist",
                       {{"index", std::to_string(leading[i])},
                        {"tensor", info.name},
                        {"shape", shapeText(info.shape)}});
            matrix = matrix * info.shape[i] + leading[i];
        }
        const auto count = static_cast<std::size_t>(rows.rows * rows.columns);
        rows.values = reader.read(static_cast<std::uint64_t>(matrix) * count, count);
        return rows;
    });
}

Result<std::vector<double>> TensorFile::numbers(std::size_t index) const
{
    return guarded<std::vector<double>>(m_name, [&]() {
        const TensorInfo& info = m_tensors.at(index);
        const NumberReader reader(*this, index);
        // Products of lengths fit into 63 bits: byteCount saw to it.
        std::int64_t count = 1;
        for (const std::int64_t length : info.shape)
            count *= length;
        if (count > kMostNumbers)
            refuse("{tensor} has {count} numbers; expected at most {most}",
                   {{"tensor", info.name},
                    {"count", std::to_string(count)},
                    {"most", std::to_string(kMostNumbers)}});
        return reader.read(0, static_cast<std::size_t>(count));
    });
}

namespace {

/// The tensor named `wanted`, or where no name is given the one with the first of the usual names; a file
/// with one tensor needs no name.
std::size_t findTensor(const TensorFile& file, const std::string& wanted, const char* keyWord,
                       const std::vector<std::string>& usual)
{
    const std::vector<std::string> names = wanted.empty() ? usual : std::vector<std::string>{wanted};
    for (const std::string& name : names)
        for (std::size_t i = 0; i < file.tensors().size(); ++i)
            if (file.tensors()[i].name == name)
                return i;
    if (file.tensors().empty())
        refuse("the file has no tensors");
    if (!wanted.empty())
        refuse("the file has no tensor named {wanted}; it has {names}",
               {{"wanted", wanted}, {"names", tensorNames(file)}});
    refuse("the file has no tensor named {usual}; it has {names}; expected {key}=NAME to say which",
           {{"usual", usual[0] + " or " + usual[1]}, {"names", tensorNames(file)}, {"key", keyWord}});
}

/// One head of a tensor, as [tokens × head_dim].
struct HeadPlace
{
    std::size_t index = 0;
    std::int64_t batches = 1, heads = 1, tokens = 0, headDim = 0;
    std::vector<std::int64_t> leading(std::int64_t batch, std::int64_t head) const
    {
        return dimensions == 2   ? std::vector<std::int64_t>{}
               : dimensions == 3 ? std::vector<std::int64_t>{head}
                                 : std::vector<std::int64_t>{batch, head};
    }
    std::size_t dimensions = 2;
};

HeadPlace placeOf(const TensorFile& file, std::size_t index)
{
    const TensorInfo& info = file.tensors()[index];
    HeadPlace place;
    place.index = index;
    place.dimensions = info.shape.size();
    if (place.dimensions < 2 || place.dimensions > 4)
        refuse("{tensor} has the shape {shape}; expected [tokens, head_dim], [heads, tokens, head_dim] or "
               "[batch, heads, "
               "tokens, head_dim]",
               {{"tensor", info.name}, {"shape", shapeText(info.shape)}});
    place.headDim = info.shape[place.dimensions - 1];
    place.tokens = info.shape[place.dimensions - 2];
    place.heads = place.dimensions > 2 ? info.shape[place.dimensions - 3] : 1;
    place.batches = place.dimensions > 3 ? info.shape[0] : 1;
    if (place.heads < 1 || place.batches < 1)
        refuse("{tensor} has the shape {shape}, without a head; expected at least one",
               {{"tensor", info.name}, {"shape", shapeText(info.shape)}});
    if (place.headDim < 2 || place.headDim > kWidestHead || place.headDim % 2 != 0)
        refuse(
            "{tensor} has the shape {shape}, a head_dim of {width}; expected an even number from 2 to {most}",
            {{"tensor", info.name},
             {"shape", shapeText(info.shape)},
             {"width", std::to_string(place.headDim)},
             {"most", std::to_string(kWidestHead)}});
    if (place.tokens < 1 || place.tokens > kMostTokens)
        refuse("{tensor} has the shape {shape}, {tokens} tokens; expected 1 to {most}",
               {{"tensor", info.name},
                {"shape", shapeText(info.shape)},
                {"tokens", std::to_string(place.tokens)},
                {"most", std::to_string(kMostTokens)}});
    return place;
}

void checkIndex(const char* key, std::int64_t index, std::int64_t count, const std::string& tensor)
{
    if (index < 0 || index >= count)
        refuse(count == 1 ? "{key} is {index}; {tensor} has one, expected 0"
                          : "{key} is {index}; {tensor} has {count}, expected 0 to {last}",
               {{"key", key},
                {"index", std::to_string(index)},
                {"tensor", tensor},
                {"count", std::to_string(count)},
                {"last", std::to_string(count - 1)}});
}

std::string valueOf(const TensorFile& file, const char* key)
{
    const auto found = file.metadata().find(key);
    if (found == file.metadata().end())
        return {};
    // It becomes part of captions: what no font has is left out.
    std::string text = printable(found->second.substr(0, 200));
    const std::string_view place = "\uFFFD";
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at))
        text.erase(at, place.size());
    return text;
}

/// What `work` refuses is said of this file.
template<class Work>
auto ofFile(const TensorFile& file, Work work)
{
    try {
        return work();
    } catch (Refusal& refusal) {
        refusal.context = file.name();
        throw;
    }
}

/// What the file says about itself; nothing of it is needed, so what does not fit is left out.
void readDescription(const TensorFile& file, std::int64_t head, HeadTensors& tensors)
{
    const std::string model = valueOf(file, "model");
    const std::string layer = valueOf(file, "layer");
    const std::string ownHead = valueOf(file, "head");
    tensors.name = model.empty() ? file.name() : model;
    if (!layer.empty())
        tensors.name += ", layer " + layer;
    tensors.name += ", head " + (ownHead.empty() ? std::to_string(head) : ownHead);
    tensors.role = valueOf(file, "title");
    tensors.weights = valueOf(file, "weights");
    tensors.licence = valueOf(file, "licence");
    if (const std::string layout = valueOf(file, "layout"); layout == "interleaved" || layout == "half")
        tensors.layout = layout == "half" ? Layout::Half : Layout::Interleaved;
    if (const std::string base = valueOf(file, "rope_theta"); !base.empty()) {
        double value = 0.0;
        const auto [end, code] = std::from_chars(base.data(), base.data() + base.size(), value);
        if (code == std::errc() && end == base.data() + base.size() && value > 1.0 && value < 1e15)
            tensors.base = value;
    }
    const auto texts = file.metadata().find("tokens");
    if (texts == file.metadata().end())
        return;
    const Json list = Json::parse(texts->second, nullptr, false);
    if (list.is_array() && list.size() == static_cast<std::size_t>(tensors.tokens) &&
        std::all_of(list.begin(), list.end(), [](const Json& text) { return text.is_string(); }))
        for (const Json& text : list)
            tensors.tokenTexts.push_back(text.get<std::string>().substr(0, 200));
}

} // namespace

Result<HeadTensors> readHeadTensors(const TensorFile& queries, const TensorFile& keys,
                                    const TensorChoice& choice)
{
    return guarded<HeadTensors>(queries.name(), [&]() {
        const bool isOneFile = &queries == &keys;
        const auto only = [&](const TensorFile& file, const std::string& wanted) {
            return !isOneFile && wanted.empty() && file.tensors().size() == 1;
        };
        if (isOneFile && queries.tensors().size() == 1 && choice.queryTensor.empty() &&
            choice.keyTensor.empty())
            refuse("{tensor} is one tensor; expected two, queries and keys, or a file for each (q and k)",
                   {{"tensor", queries.tensors().front().name}});
        const HeadPlace query = placeOf(
            queries, only(queries, choice.queryTensor)
                         ? 0
                         : findTensor(queries, choice.queryTensor, "q_tensor", {"q", "query", "queries"}));
        const HeadPlace key = ofFile(keys, [&]() {
            return placeOf(keys, only(keys, choice.keyTensor)
                                     ? 0
                                     : findTensor(keys, choice.keyTensor, "k_tensor", {"k", "key", "keys"}));
        });
        const std::string& queryName = queries.tensors()[query.index].name;
        const std::string& keyName = keys.tensors()[key.index].name;
        if (query.tokens != key.tokens || query.headDim != key.headDim || query.batches != key.batches)
            refuse("{query} has the shape {first} and {key} {second}; expected the same batch, tokens and "
                   "head_dim",
                   {{"query", queryName},
                    {"first", shapeText(queries.tensors()[query.index].shape)},
                    {"key", keyName},
                    {"second", shapeText(keys.tensors()[key.index].shape)}});
        checkIndex("batch", choice.batch, query.batches, queryName);
        checkIndex("head", choice.head, query.heads, queryName);
        if (query.heads % key.heads != 0)
            refuse(
                "{query} has the shape {first} and {key} {second}; expected as many heads, or a whole number "
                "of query heads for each key head",
                {{"query", queryName},
                 {"first", shapeText(queries.tensors()[query.index].shape)},
                 {"key", keyName},
                 {"second", shapeText(keys.tensors()[key.index].shape)}});
        HeadTensors tensors;
        tensors.headDim = static_cast<int>(query.headDim);
        tensors.tokens = query.tokens;
        tensors.heads = query.heads;
        tensors.batches = query.batches;
        const auto take = [](const TensorFile& file, Result<TensorRows> rows) {
            if (!rows)
                throw Refusal{rows.error().message, file.name()};
            return std::move(rows->values);
        };
        tensors.query = take(queries, queries.matrix(query.index, query.leading(choice.batch, choice.head)));
        tensors.key = take(
            keys, keys.matrix(key.index, key.leading(choice.batch, choice.head / (query.heads / key.heads))));
        for (const std::vector<double>* values : {&tensors.query, &tensors.key})
            for (const double value : *values)
                if (std::isfinite(value))
                    tensors.greatest = std::max(tensors.greatest, std::fabs(value));
                else
                    ++tensors.notFinite;
        const std::string& queryType = queries.tensors()[query.index].type;
        const std::string& keyType = keys.tensors()[key.index].type;
        tensors.precision = queryType == keyType ? queryType : queryType + ", " + keyType;
        readDescription(queries, choice.head, tensors);
        tensors.leftOut = queries.leftOut();
        if (!isOneFile)
            tensors.leftOut.insert(tensors.leftOut.end(), keys.leftOut().begin(), keys.leftOut().end());
        return tensors;
    });
}

} // namespace ropewalk
