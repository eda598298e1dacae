#include "net/http1/head_writer.hpp"

namespace net::http1 {

// A table; over 60 lines: one for each status that we or agents commonly send.
std::string_view reason(unsigned status) noexcept
{
    switch (status) {
        case 100:
            return "Continue";
        case 200:
            return "OK";
        case 201:
            return "Created";
        case 202:
            return "Accepted";
        case 204:
            return "No Content";
        case 206:
            return "Partial Content";
        case 301:
            return "Moved Permanently";
        case 302:
            return "Found";
        case 303:
            return "See Other";
        case 304:
            return "Not Modified";
        case 307:
            return "Temporary Redirect";
        case 308:
            return "Permanent Redirect";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 408:
            return "Request Timeout";
        case 409:
            return "Conflict";
        case 413:
            return "Content Too Large";
        case 414:
            return "URI Too Long";
        case 415:
            return "Unsupported Media Type";
        case 417:
            return "Expectation Failed";
        case 421:
            return "Misdirected Request";
        case 422:
            return "Unprocessable Content";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 502:
            return "Bad Gateway";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        case 505:
            return "HTTP Version Not Supported";
        case 507:
            return "Insufficient Storage";
        case 508:
            return "Loop Detected";
        default:
            return {};
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
