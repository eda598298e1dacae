// libcurl's multi interface driven by an io_context: many transfers at once, connections kept and reused, names looked up as those of
// agents are, before libcurl starts. Seen by what asks
// on the gateway's own behalf (fetch.cpp). Everything on the one thread that runs the io_context, which
// must outlive the driver.
#pragma once

#include "net/client/curl_transfer.hpp"
#include "net/loop/resolver.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include <curl/curl.h>

#include <chrono>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace net {

class curl_driver {
public:
    // `names`: looks hosts up, and outlives the driver; null: libcurl does. Throws std::runtime_error if libcurl does not initialise.
    curl_driver(boost::asio::io_context& io, resolver* names);
    ~curl_driver();  // no transfer is told anything
    curl_driver(const curl_driver&) = delete;
    curl_driver& operator=(const curl_driver&) = delete;

    // Starts it. It is held until it is over or removed. Nothing has happened if it fails.
    CURLMcode add(std::shared_ptr<curl_transfer> transfer);

    // Ends it; it is told nothing more. One that was not added, or is over, stays as it is.
    void remove(const curl_transfer& transfer);

    // Ends all.
    std::unordered_map<CURL*, std::shared_ptr<curl_transfer>> remove_all();

private:
    using timer = boost::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        boost::asio::wait_traits<std::chrono::steady_clock>,
        boost::asio::io_context::executor_type>;
    struct watch;
    struct multi_deleter {
        void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
    };

    static int on_socket(CURL*, curl_socket_t socket, int directions, void* self, void*) noexcept;
    static int on_timer(CURLM*, long milliseconds, void* self) noexcept;
    void watch_socket(curl_socket_t socket, int directions);
    void arm(const std::shared_ptr<watch>& watched, int direction);
    void arm_timer(long milliseconds);
    void act(curl_socket_t socket, int happened);
    CURLMcode begin(CURL* easy);
    void on_resolved(CURL* easy, const resolver::name_ptr& name, const error_code& failed);

    // A transfer whose host is being looked up: libcurl does not have it yet.
    struct lookup {
        resolver::ticket ticket;
        core::steady_time begun;
    };

    boost::asio::io_context& io_;
    resolver* names_;  // null: libcurl looks names up
    std::unique_ptr<CURLM, multi_deleter> multi_;
    // Shared only so that handlers can hold them weakly: what is gone is not acted upon.
    std::shared_ptr<timer> timer_;
    std::unordered_map<curl_socket_t, std::shared_ptr<watch>> watches_;
    std::unordered_map<CURL*, std::shared_ptr<curl_transfer>> transfers_;
    std::unordered_map<CURL*, lookup> lookups_;  // of some of these
};

}  // namespace net
