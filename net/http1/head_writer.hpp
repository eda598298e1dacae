// Writes message heads into a reused string. What goes in has been validated (parsed fields) or is our own.
#pragma once

#include "net/http1/head.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace net::http1 {

// The reason phrase (RFC 9110 section 15); empty for a status without a registered name.
std::string_view reason(unsigned status) noexcept;

class head_writer {
public:
    // Appends to `out`, which must outlive the writer.
    explicit head_writer(std::string& out)
        : out_{out}
    {
    }

    // `words` instead of the reason that the status has (RFC 9112 section 4: for people); empty: that one.
    void status_line(unsigned status, std::string_view words = {});
    void request_line(method verb, std::string_view target);

    void field(std::string_view name, std::string_view value)
    {
        out_.append(name).append(": ").append(value).append("\r\n");
    }

    void field(std::string_view name, std::uint64_t value)
    {
        std::array<char, 20> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        field(name, std::string_view{digits.data(), static_cast<std::size_t>(end - digits.data())});
    }

    void end() { out_.append("\r\n"); }

private:
    std::string& out_;
};

}  // namespace net::http1
