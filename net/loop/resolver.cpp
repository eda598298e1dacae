#include "net/loop/resolver.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <netdb.h>
#include <sys/socket.h>

#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace net {
namespace {

struct found_addresses {
    error_code ec;
    std::vector<tcp::endpoint> all;
};

error_code error_of(int outcome)
{
    switch (outcome) {
        case EAI_AGAIN:
            return asio::error::host_not_found_try_again;
        case EAI_MEMORY:
            return asio::error::no_memory;
        case EAI_SYSTEM:
            return last_error();
        default:
            return asio::error::host_not_found;
    }
}

found_addresses look_up(const std::string& host, const std::string& port)
{
    ::addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICSERV;
    ::addrinfo* list = nullptr;
    const int outcome = ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &list);
    found_addresses found;
    if (outcome != 0) {
        found.ec = error_of(outcome);
        return found;
    }
    for (const auto* each = list; each != nullptr; each = each->ai_next) {
        tcp::endpoint address;
        if (each->ai_addrlen <= address.capacity()) {
            std::memcpy(address.data(), each->ai_addr, each->ai_addrlen);
            address.resize(each->ai_addrlen);
            found.all.push_back(address);
        }
    }
    ::freeaddrinfo(list);
    if (found.all.empty()) {
        found.ec = asio::error::host_not_found;
    }
    return found;
}

}  // namespace

// Where the threads leave what they found; the loop may be gone by then.
struct resolver::mailbox {
    std::mutex mutex;
    asio::io_context* io;  // null: nobody is there any more
    resolver* owner;
};

resolver::resolver(asio::io_context& io)
    : mailbox_{std::make_shared<mailbox>()}
{
    mailbox_->io = &io;
    mailbox_->owner = this;
}

resolver::~resolver()
{
    const std::lock_guard guard{mailbox_->mutex};
    mailbox_->io = nullptr;
}

resolver::ticket resolver::ask(
    const std::string& host,
    const std::string& port,
    std::function<void(error_code, const std::vector<tcp::endpoint>&)> answered
)
{
    auto mine = std::make_shared<question>();
    mine->answered = std::move(answered);
    const auto name = host + ' ' + port;
    const bool first = !asked_.contains(name);
    asked_[name].push_back(mine);
    if (!first) {
        return mine;
    }
    const auto full = [&] {
        asio::post(*mailbox_->io, [this, name] { deliver(name, asio::error::no_descriptors, {}); });
    };
    if (asked_.size() > most_lookups) {
        full();
        return mine;
    }
    try {
        std::thread{[box = mailbox_, name, host, port] {
            auto found = look_up(host, port);
            const std::lock_guard guard{box->mutex};
            if (box->io != nullptr) {
                asio::post(*box->io, [owner = box->owner, name, f = std::move(found)] {
                    owner->deliver(name, f.ec, f.all);
                });
            }
        }}.detach();
    } catch (const std::system_error&) {
        full();  // no thread to be had
    }
    return mine;
}

void resolver::deliver(const std::string& name, error_code ec, const std::vector<tcp::endpoint>& found)
{
    const auto waiting = std::exchange(asked_[name], {});
    asked_.erase(name);
    for (const auto& each : waiting) {
        if (const auto question = each.lock()) {
            question->answered(ec, found);
        }
    }
}

}  // namespace net
