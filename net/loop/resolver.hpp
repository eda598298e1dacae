// Names to addresses for one loop, without waiting on it and without one name waiting for another: each name that is
// looked up has a thread of its own for as long as that takes, shared by all who ask meanwhile. (Asio gives an io_context
// one thread for all names: one that hangs would stop the others.) The loop's thread.
#pragma once

#include "net/loop/types.hpp"

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace net {

class resolver {
public:
    // At most this many names at a time; more fail with asio::error::no_descriptors.
    static constexpr std::size_t most_lookups = 64;

    // A question; forgetting it is how to withdraw it.
    struct question {
        std::function<void(error_code, const std::vector<tcp::endpoint>&)> answered;
    };
    using ticket = std::shared_ptr<question>;

    explicit resolver(asio::io_context& io);
    ~resolver();  // lookups under way end by themselves, and tell nobody
    resolver(const resolver&) = delete;
    resolver& operator=(const resolver&) = delete;

    // `answered` is called on the loop, never inside this call, with at least one address or an error.
    [[nodiscard]] ticket ask(
        const std::string& host,
        const std::string& port,
        std::function<void(error_code, const std::vector<tcp::endpoint>&)> answered
    );

private:
    struct mailbox;

    void deliver(const std::string& name, error_code ec, const std::vector<tcp::endpoint>& found);

    std::shared_ptr<mailbox> mailbox_;
    std::unordered_map<std::string, std::vector<std::weak_ptr<question>>> asked_;
};

}  // namespace net
