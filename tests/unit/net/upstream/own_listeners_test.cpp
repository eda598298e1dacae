// What leads back to this process.
#include "net/upstream/own_listeners.hpp"

#include "net/loop/loop.hpp"
#include "net/server/listener.hpp"

#include <doctest/doctest.h>
#include <ifaddrs.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("net/own_listeners");

namespace {

bool leads_here(std::string_view address, unsigned port)
{
    const auto parsed = core::parse_ip(address);
    REQUIRE(parsed.has_value());
    return net::is_own_listener(*parsed, std::to_string(port));
}

net::tcp::endpoint endpoint_of(std::string_view address, std::uint16_t port)
{
    return {net::asio::ip::make_address(std::string{address}), port};
}

// For as long as it exists.
class listening {
public:
    explicit listening(const net::tcp::endpoint& at)
        : at_{at}
    {
        net::add_own_listener(at_);
    }
    ~listening() { net::remove_own_listener(at_); }
    listening(const listening&) = delete;
    listening& operator=(const listening&) = delete;

private:
    net::tcp::endpoint at_;
};

class no_lines final : public core::log_sink {
public:
    void write(std::string_view) override {}
};

constexpr std::uint16_t port = 4'001;

}  // namespace

TEST_CASE("A listener at one address is reached at it, however the address is written, and by no address at all")
{
    CHECK_FALSE(leads_here("127.0.0.1", port));
    {
        const listening at{endpoint_of("127.0.0.1", port)};
        for (const std::string_view address : {"127.0.0.1", "::ffff:127.0.0.1", "::ffff:7f00:1", "0.0.0.0", "::"}) {
            CAPTURE(address);
            CHECK(leads_here(address, port));
            CHECK_FALSE(leads_here(address, port - 1));
            CHECK_FALSE(leads_here(address, port + 1));
        }
        for (const std::string_view address : {"127.0.0.2", "::1", "192.0.2.1", "8.8.8.8"}) {
            CAPTURE(address);
            CHECK_FALSE(leads_here(address, port));
        }
    }
    CHECK_FALSE(leads_here("127.0.0.1", port));
}

TEST_CASE("A listener at every address is reached at each address of this machine, and at no other")
{
    for (const std::string_view everywhere : {"0.0.0.0", "::"}) {
        CAPTURE(everywhere);
        const listening at{endpoint_of(everywhere, port)};
        std::vector<core::ip_address> own;
        ::ifaddrs* list = nullptr;
        REQUIRE(::getifaddrs(&list) == 0);
        for (const auto* each = list; each != nullptr; each = each->ifa_next) {
            if (each->ifa_addr != nullptr &&
                (each->ifa_addr->sa_family == AF_INET || each->ifa_addr->sa_family == AF_INET6)) {
                own.push_back(net::ip_of(*each->ifa_addr));
            }
        }
        ::freeifaddrs(list);
        REQUIRE_FALSE(own.empty());
        for (const auto& each : own) {
            CHECK(net::is_own_listener(each, std::to_string(port)));
            CHECK_FALSE(net::is_own_listener(each, std::to_string(port + 1)));
        }
        for (const std::string_view address : {"127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::ffff:127.0.0.1"}) {
            CAPTURE(address);
            CHECK(leads_here(address, port));
        }
        for (const std::string_view address : {"192.0.2.1", "2001:db8::1", "8.8.8.8"}) {
            CAPTURE(address);
            CHECK_FALSE(leads_here(address, port));
        }
    }
}

TEST_CASE("Text that is no port leads nowhere")
{
    const listening at{endpoint_of("127.0.0.1", port)};
    const auto loopback = core::parse_ip("127.0.0.1");
    for (const std::string_view text : {"", "x", "99999999999999999999999", "69537"}) {
        CAPTURE(text);
        CHECK_FALSE(net::is_own_listener(*loopback, text));
    }
}

TEST_CASE("Only an address that an operator has named may be one at which this process listens")
{
    net::loop loop;
    no_lines nowhere;
    const core::logger silent{nowhere, core::log_level::error};
    net::http_service* const nobody = nullptr;
    auto one = std::make_unique<net::listener>(loop, std::vector<net::http_service*>{nobody}, silent);
    REQUIRE(one->open("127.0.0.1", 0).has_value());
    const auto local = one->local();
    const auto other =
        endpoint_of("127.0.0.1", static_cast<std::uint16_t>(local.port() == 65'535 ? 1 : local.port() + 1));
    const core::address_rule rule{std::vector<std::string>{"127.0.0.0/8"}};
    CHECK(net::may_connect(nullptr, *local.data()));
    CHECK_FALSE(net::may_connect(&rule, *local.data()));
    CHECK(net::may_connect(&rule, *other.data()));
    CHECK_FALSE(net::may_connect(&rule, *endpoint_of("10.0.0.1", 80).data()));
    // Another process may go on listening there.
    one->close();
    CHECK_FALSE(net::may_connect(&rule, *local.data()));
    one.reset();
    CHECK(net::may_connect(&rule, *local.data()));
}

TEST_SUITE_END();
