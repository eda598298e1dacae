#include "tests/support/name_server.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace test_support {
namespace {

constexpr std::size_t head = 12;  // RFC 1035 section 4.1.1
constexpr char type_address = 1;
constexpr char type_other_name = 5;

std::string number(std::uint32_t value, std::size_t bytes)
{
    std::string out;
    for (auto left = bytes; left-- > 0;) {
        out += static_cast<char>(value >> (8 * left) & 0xff);
    }
    return out;
}

// A record of the name that was asked for.
std::string record(char type, std::uint32_t seconds, const std::string& data)
{
    return std::string{"\xc0\x0c", 2} + number(static_cast<std::uint32_t>(type), 2) + number(1, 2) +
           number(seconds, 4) + number(static_cast<std::uint32_t>(data.size()), 2) + data;
}

}  // namespace

name_server::name_server()
    : socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)}
{
    ::sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    where.sin_port = htons(53);
    if (::bind(socket_.number(), reinterpret_cast<::sockaddr*>(&where), sizeof where) != 0) {
        throw std::system_error{errno, std::generic_category(), "port 53"};
    }
    thread_ = std::thread{[this] { serve(); }};
}

name_server::~name_server()
{
    over_ = true;
    thread_.join();
}

void name_server::serve()
{
    while (!over_) {
        ::pollfd watched{socket_.number(), POLLIN, 0};
        if (::poll(&watched, 1, 20) <= 0) {
            continue;
        }
        std::array<char, 512> block{};
        ::sockaddr_in from{};
        ::socklen_t size = sizeof from;
        const auto count =
            ::recvfrom(socket_.number(), block.data(), block.size(), 0, reinterpret_cast<::sockaddr*>(&from), &size);
        if (count < static_cast<ssize_t>(head) + 5) {
            continue;
        }
        ++questions_;
        if (reply_ != name_reply::silence) {
            const auto text = answer({block.data(), static_cast<std::size_t>(count)});
            ::sendto(socket_.number(), text.data(), text.size(), 0, reinterpret_cast<::sockaddr*>(&from), size);
        }
    }
}

std::string name_server::answer(std::string_view question) const
{
    const name_reply how = reply_;
    const auto end_of_name = question.find('\0', head);
    const auto asked = question.substr(head, end_of_name + 5 - head);
    const bool for_ipv4 = question.substr(end_of_name + 1, 2) == std::string_view{"\0\1", 2};
    std::string records;
    if (how == name_reply::loop) {
        records = record(type_other_name, seconds_, std::string{"\xc0\x0c", 2});
    } else if (for_ipv4 && (how == name_reply::address || how == name_reply::other || how == name_reply::wrong_id)) {
        records = record(type_address, seconds_, {127, 0, 0, static_cast<char>(how == name_reply::other ? 2 : 1)});
    }
    std::string id{question.substr(0, 2)};
    if (how == name_reply::wrong_id) {
        id[0] = static_cast<char>(id[0] ^ 0x55);
    }
    const char flags = static_cast<char>(how == name_reply::truncated ? 0x83 : 0x81);
    const char code = static_cast<char>(
        0x80 | (how == name_reply::no_such_name ? 3
                : how == name_reply::failure    ? 2
                                                : 0)
    );
    return id + flags + code + number(1, 2) + number(records.empty() ? 0 : 1, 2) + number(0, 4) + std::string{asked} +
           records;
}

}  // namespace test_support
