#include "net/grpc/status.hpp"

#include "core/ascii.hpp"
#include "core/base64.hpp"

#include <algorithm>
#include <cstddef>

namespace net::grpc {
namespace {

constexpr std::string_view type_of_info = "type.googleapis.com/google.rpc.ErrorInfo";

// Protocol buffers: the wire type of texts and messages.
constexpr unsigned delimited = 2;

void append_varint(std::string& out, std::uint64_t value)
{
    for (; value > 127; value >>= 7U) {
        out += static_cast<char>((value & 127U) | 128U);
    }
    out += static_cast<char>(value);
}

void append_text(std::string& out, unsigned field, std::string_view text)
{
    append_varint(out, (field << 3U) | delimited);
    append_varint(out, text.size());
    out += text;
}

// The fields of a message, one after the other.
struct field_reader {
    std::string_view rest;
    unsigned number = 0;
    std::uint64_t value = 0;
    std::string_view text{};
    bool broken = false;

    bool next()
    {
        text = {};
        std::uint64_t tag = 0;
        if (rest.empty() || !varint(tag)) {
            return false;
        }
        number = static_cast<unsigned>(tag >> 3U);
        switch (tag & 7U) {
            case 0:
                return varint(value);
            case 1:
                return skip(8);
            case delimited:
                return varint(value) && take();
            case 5:
                return skip(4);
            default:
                broken = true;
                return false;
        }
    }

private:
    bool varint(std::uint64_t& out)
    {
        out = 0;
        for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(rest.front());
            rest.remove_prefix(1);
            out |= static_cast<std::uint64_t>(byte & 127U) << shift;
            if (byte < 128) {
                return true;
            }
        }
        broken = true;
        return false;
    }

    bool take()
    {
        if (value > rest.size()) {
            broken = true;
            return false;
        }
        text = rest.substr(0, value);
        rest.remove_prefix(value);
        return true;
    }

    bool skip(std::size_t size)
    {
        value = size;
        return take();
    }
};

std::string bytes_of(const status& of)
{
    std::string info;
    append_text(info, 1, of.info.reason);
    append_text(info, 2, of.info.domain);
    for (const auto& [key, value] : of.info.metadata) {
        std::string entry;
        append_text(entry, 1, key);
        append_text(entry, 2, value);
        append_text(info, 3, entry);
    }
    std::string any;
    append_text(any, 1, type_of_info);
    append_text(any, 2, info);
    std::string out;
    append_varint(out, 1U << 3U);
    append_varint(out, static_cast<std::uint64_t>(of.code));
    append_text(out, 2, of.message);
    append_text(out, 3, any);
    return out;
}

void read_info(std::string_view bytes, error_info& info)
{
    for (field_reader at{bytes}; at.next();) {
        if (at.number == 1) {
            info.reason = at.text;
        } else if (at.number == 2) {
            info.domain = at.text;
        } else if (at.number == 3) {
            std::pair<std::string, std::string> entry;
            for (field_reader in{at.text}; in.next();) {
                (in.number == 1 ? entry.first : entry.second) = in.text;
            }
            info.metadata.push_back(std::move(entry));
        }
    }
}

// The first ErrorInfo among the details.
error_info info_in(std::string_view bytes)
{
    error_info info;
    for (field_reader at{bytes}; at.next();) {
        if (at.number != 3) {
            continue;
        }
        std::string_view type;
        std::string_view value;
        for (field_reader any{at.text}; any.next();) {
            (any.number == 1 ? type : value) = any.text;
        }
        if (type.ends_with("/google.rpc.ErrorInfo")) {
            read_info(value, info);
            break;
        }
    }
    return info;
}

}  // namespace

void append_message(std::string& out, std::string_view text)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (const char c : text) {
        if (c >= ' ' && c <= '~' && c != '%') {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += digits[byte >> 4U];
        out += digits[byte & 15U];
    }
}

std::string decoded_message(std::string_view value)
{
    std::string out;
    while (!value.empty()) {
        const bool escaped = value.size() > 2 && value.front() == '%' && core::hex_value(value[1]) >= 0 &&
                             core::hex_value(value[2]) >= 0;
        out += escaped ? static_cast<char>(core::hex_value(value[1]) * 16 + core::hex_value(value[2])) : value.front();
        value.remove_prefix(escaped ? 3 : 1);
    }
    return out;
}

void append_status(std::string& lines, const status& of)
{
    lines.append("grpc-status: ").append(std::to_string(static_cast<unsigned>(of.code))).append("\r\n");
    if (!of.message.empty()) {
        append_message(lines += "grpc-message: ", of.message);
        lines += "\r\n";
    }
    if (!of.info.reason.empty()) {
        auto details = core::base64(bytes_of(of));
        details.resize(details.find_last_not_of('=') + 1);  // as `-bin` fields are written
        lines.append("grpc-status-details-bin: ").append(details).append("\r\n");
    }
}

std::optional<status> read_status(std::string_view code, std::string_view message, std::string_view details)
{
    constexpr std::size_t most_digits = 9;
    if (code.empty() || code.size() > most_digits ||
        !std::ranges::all_of(code, [](char c) { return core::is_digit(c); })) {
        return std::nullopt;
    }
    unsigned number = 0;
    for (const char digit : code) {
        number = number * 10 + static_cast<unsigned>(digit - '0');
    }
    status out;
    constexpr auto last = static_cast<unsigned>(core::grpc_code::unauthenticated);
    out.code = number <= last ? static_cast<core::grpc_code>(number) : core::grpc_code::unknown;
    out.message = decoded_message(message);
    if (const auto bytes = details.empty() ? std::nullopt : core::from_base64(details)) {
        out.info = info_in(*bytes);
    }
    return out;
}

media media_of(std::string_view content_type) noexcept
{
    constexpr std::string_view plain = "application/grpc";
    if (content_type == plain) {
        return media::grpc;
    }
    const auto type = content_type.substr(0, content_type.find_first_of("; \t"));
    if (core::equal_ignoring_case(type, plain) || core::equal_ignoring_case(type, "application/grpc+proto")) {
        return media::grpc;
    }
    const auto begins = [&](std::string_view with) {
        return core::equal_ignoring_case(type.substr(0, with.size()), with);
    };
    return begins("application/grpc") || begins("application/connect+") || begins("application/proto") ? media::variant
                                                                                                       : media::other;
}

}  // namespace net::grpc
