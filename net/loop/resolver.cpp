#include "net/loop/resolver.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace net {
namespace {

constexpr core::duration look_interval{10'000};  // for names that nobody uses

}  // namespace

// Where the book leaves what it found; the loop may be gone by then.
class resolver::mailbox final : public dns_listener {
public:
    mailbox(asio::io_context& io, resolver& owner) noexcept
        : io_{&io},
          owner_{owner}
    {
    }

    void tell(const std::string& host, error_code ec, const shared_addresses& addresses) override
    {
        const std::lock_guard guard{mutex_};
        if (io_ != nullptr) {
            asio::post(*io_, [&owner = owner_, host, ec, addresses] { owner.deliver(host, ec, addresses); });
        }
    }

    void close()
    {
        const std::lock_guard guard{mutex_};
        io_ = nullptr;
    }

private:
    std::mutex mutex_;
    asio::io_context* io_;  // null: nobody is there any more
    resolver& owner_;
};

resolver::resolver(asio::io_context& io, std::shared_ptr<dns_cache> book)
    : mailbox_{std::make_shared<mailbox>(io, *this)},
      book_{std::move(book)}
{
}

resolver::~resolver()
{
    mailbox_->close();
    book_->leave(*mailbox_);
}

resolver::name_ptr resolver::find(const std::string& host, core::steady_time now)
{
    auto& known = names_[host];
    if (known == nullptr) {
        known = std::make_shared<name>();
        known->host = host;
    }
    known->used = now;
    if (known->addresses == nullptr) {
        auto [addresses, families, late_at] = book_->follow(host, mailbox_, now);
        known->late_at = late_at;
        known->addresses = std::move(addresses);
        known->families = std::move(families);
    }
    return known;
}

resolver::ticket resolver::ask(const name_ptr& of, receiver answered, core::steady_time now, core::duration patience)
{
    auto mine = std::make_shared<question>();
    mine->answered = std::move(answered);
    mine->due = std::min(now + std::min(book_->settings().timeout, patience), std::max(now, of->late_at));
    of->asked.push_back(mine);
    set_due(std::min(due(), mine->due));
    return mine;
}

void resolver::deliver(const std::string& host, error_code ec, const shared_addresses& addresses)
{
    const auto found = names_.find(host);
    if (found == names_.end()) {
        return;
    }
    const auto known = found->second;
    known->addresses = addresses;
    ++known->changes;
    for (const auto& each : std::exchange(known->asked, {})) {
        if (const auto question = each.lock()) {
            question->answered(ec);
        }
    }
}

void resolver::on_due()
{
    const auto now = std::chrono::steady_clock::now();
    auto next = never;
    std::vector<std::weak_ptr<question>> late;
    for (const auto& [host, known] : names_) {
        std::erase_if(known->asked, [&](const std::weak_ptr<question>& each) {
            const auto question = each.lock();
            const bool over = question != nullptr && question->due <= now;
            if (over) {
                late.push_back(each);
            } else if (question != nullptr) {
                next = std::min(next, question->due);
            }
            return over || question == nullptr;
        });
    }
    set_due(next);
    for (const auto& each : late) {
        if (const auto question = each.lock()) {
            question->answered(asio::error::timed_out);
        }
    }
}

void resolver::on_sweep(core::steady_time now)
{
    book_->tick(now);
    if (now >= next_look_) {
        next_look_ = now + look_interval;
        forget_unused(now);
    }
}

void resolver::forget_unused(core::steady_time now)
{
    const auto& times = book_->settings();
    const auto keep = std::max(times.stale, times.refresh);
    std::erase_if(names_, [&](const auto& each) {
        const auto& known = each.second;
        if (known.use_count() > 1 || !known->asked.empty() || now - known->used <= keep) {
            return false;
        }
        book_->unfollow(each.first, *mailbox_);
        return true;
    });
}

}  // namespace net
