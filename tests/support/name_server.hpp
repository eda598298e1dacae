// A DNS server on port 53 of 127.0.0.1, for a thread with a network of its own (own_network.hpp), that answers as it is told. In its own
// thread. Over TCP it answers nothing: connections are refused.
#pragma once

#include "core/descriptor.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

namespace test_support {

enum class name_reply : std::uint8_t {
    address,  // 127.0.0.1
    other,    // 127.0.0.2
    no_such_name,
    failure,  // SERVFAIL
    silence,
    wrong_id,
    truncated,
    loop,   // the name is another name of itself
    empty,  // the name exists, and has no address
};

class name_server {
public:
    name_server();  // std::system_error: the port cannot be had
    ~name_server();
    name_server(const name_server&) = delete;
    name_server& operator=(const name_server&) = delete;

    void reply(name_reply how) { reply_ = how; }
    void live(std::uint32_t seconds) { seconds_ = seconds; }  // TTL of addresses
    int questions() const noexcept { return questions_; }

private:
    void serve();
    std::string answer(std::string_view question) const;

    core::descriptor socket_;
    std::atomic<name_reply> reply_ = name_reply::address;
    std::atomic<std::uint32_t> seconds_ = 60;
    std::atomic<int> questions_ = 0;
    std::atomic<bool> over_ = false;
    std::thread thread_;
};

}  // namespace test_support
