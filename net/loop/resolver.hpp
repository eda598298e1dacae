// The names that one loop knows: its own copies from the process's cache (net/loop/dns_cache.hpp), so that a call to a name that
// is known neither waits nor takes a lock. The loop's thread.
#pragma once

#include "net/loop/deadlines.hpp"
#include "net/loop/dns_cache.hpp"
#include "net/loop/types.hpp"

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace net {

class resolver final : public timed {
public:
    // With an error, or the name has addresses.
    using receiver = std::function<void(error_code ec)>;

    // A question; forgetting it is how to withdraw it.
    struct question {
        receiver answered;
        core::steady_time due;
    };
    using ticket = std::shared_ptr<question>;

    struct name {
        std::string host;
        shared_addresses addresses;  // null: none are known
        unsigned changes = 0;        // of the addresses
        core::steady_time used;      // by a call
        core::steady_time late_at;   // of one without addresses: when the lookup under way is over its time
        std::shared_ptr<family_history> families;
        std::vector<std::weak_ptr<question>> asked;
    };
    using name_ptr = std::shared_ptr<name>;

    resolver(asio::io_context& io, std::shared_ptr<dns_cache> book);
    ~resolver() override;  // lookups under way end by themselves, and tell nobody
    resolver(const resolver&) = delete;
    resolver& operator=(const resolver&) = delete;

    // Never null. The name is followed as long as somebody else has this too, and while `used` is not older than
    // name_settings::stale, or `refresh` if that is longer. If it has no addresses, a lookup is under way now.
    name_ptr find(const std::string& host, core::steady_time now);

    // For a name without addresses: `answered` is called on the loop, never inside this call, at the latest after
    // `patience`, or once the lookup under way has taken name_settings::timeout, whoever asked first; then with asio::error::timed_out.
    [[nodiscard]] ticket
    ask(const name_ptr& of, receiver answered, core::steady_time now, core::duration patience = core::duration::max());

    void on_due() override;
    void on_sweep(core::steady_time now) override;

private:
    class mailbox;

    void deliver(const std::string& host, error_code ec, const shared_addresses& addresses);
    void forget_unused(core::steady_time now);

    std::shared_ptr<mailbox> mailbox_;
    std::shared_ptr<dns_cache> book_;
    std::unordered_map<std::string, name_ptr> names_;
    core::steady_time next_look_{};
};

}  // namespace net
