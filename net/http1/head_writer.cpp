#include "net/http1/head_writer.hpp"

#include <boost/beast/http/status.hpp>

namespace net::http1 {

std::string_view reason(unsigned status) noexcept
{
    const auto known = boost::beast::http::int_to_status(status);
    switch (known) {
        case boost::beast::http::status::unknown:
            return {};
        case boost::beast::http::status::payload_too_large:  // renamed by RFC 9110 section 15.5.14
            return "Content Too Large";
        case boost::beast::http::status::unprocessable_entity:  // renamed by RFC 9110 section 15.5.21
            return "Unprocessable Content";
        default:
            return boost::beast::http::obsolete_reason(known);
    }
}

void head_writer::status_line(unsigned status, std::string_view words)
{
    if (status == 200 && words.empty()) {
        out_.append("HTTP/1.1 200 OK\r\n");
        return;
    }
    std::array<char, 4> digits{};
    std::to_chars(digits.data(), digits.data() + digits.size(), status);
    out_.append("HTTP/1.1 ")
        .append(digits.data(), 3)
        .append(" ")
        .append(words.empty() ? reason(status) : words)
        .append("\r\n");
}

void head_writer::request_line(method verb, std::string_view target)
{
    out_.append(name(verb)).append(" ").append(target).append(" HTTP/1.1\r\n");
}

}  // namespace net::http1
