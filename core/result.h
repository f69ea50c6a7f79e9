// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "message.h"

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace ropewalk {

/// Why something could not be done. The command line maps these to its exit codes (`app/cli/exit_code.h`).
enum class ErrorCode {
    Usage,        ///< a call that cannot be understood: unknown key, unknown value
    BadInput,     ///< an input is missing, unreadable, malformed or impossible
    NotBuilt,     ///< a backend that is not part of this build
    NotAvailable, ///< a backend that is built but cannot work on this machine
    RunFailed,    ///< a backend that failed while it ran
    Cancelled,    ///< a stop was asked for
    Output,       ///< an output could not be written
    Differs,      ///< `--check` found a difference
};

/// An error: its code, one sentence, and the file or place that it belongs to (may be empty).
struct Error
{
    ErrorCode code = ErrorCode::BadInput;
    Message message;
    std::string context;
};

/// "context: sentence" in English.
inline std::string toEnglish(const Error& error)
{
    const std::string sentence = toEnglish(error.message);
    return error.context.empty() ? sentence : error.context + ": " + sentence;
}

/// A value or an Error; the shape of std::expected, which g++ 12 does not have.
template<class T>
class [[nodiscard]] Result
{
public:
    Result(T value)
        : m_content(std::in_place_index<0>, std::move(value))
    {
    }
    Result(Error error)
        : m_content(std::in_place_index<1>, std::move(error))
    {
    }

    bool hasValue() const { return m_content.index() == 0; }
    explicit operator bool() const { return hasValue(); }

    T& value() &
    {
        assert(hasValue());
        return *std::get_if<0>(&m_content);
    }
    const T& value() const&
    {
        assert(hasValue());
        return *std::get_if<0>(&m_content);
    }
    T&& value() &&
    {
        assert(hasValue());
        return std::move(*std::get_if<0>(&m_content));
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Error& error() const
    {
        assert(!hasValue());
        return *std::get_if<1>(&m_content);
    }

private:
    std::variant<T, Error> m_content;
};

/// Success or an Error.
template<>
class [[nodiscard]] Result<void>
{
public:
    Result() = default;
    Result(Error error)
        : m_error(std::move(error))
        , m_hasError(true)
    {
    }

    bool hasValue() const { return !m_hasError; }
    explicit operator bool() const { return hasValue(); }
    const Error& error() const
    {
        assert(m_hasError);
        return m_error;
    }

private:
    Error m_error;
    bool m_hasError = false;
};

} // namespace ropewalk
