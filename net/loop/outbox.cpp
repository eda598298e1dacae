#include "net/loop/outbox.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace net {
namespace {

// The outbox of one loop: a service, so that it lives as long as the loop.
class outbox final : public asio::execution_context::service {
public:
    using key_type = outbox;
    inline static asio::execution_context::id id;

    explicit outbox(asio::io_context& of)
        : service{of},
          here_{of.get_executor()}
    {
    }

    void add(executor to, std::function<void()> what)
    {
        auto& box = box_for(to);
        box.waiting.push_back(std::move(what));
        if (box.waiting.size() >= most_told_together) {
            send(box);
        } else if (!std::exchange(posted_, true)) {
            asio::post(here_, [this] {
                posted_ = false;
                std::ranges::for_each(boxes_, send);
            });
        }
    }

    void send_to(executor to) { send(box_for(to)); }

private:
    struct box {
        executor to;
        std::vector<std::function<void()>> waiting;
    };

    void shutdown() override { boxes_.clear(); }

    box& box_for(executor to)
    {
        const auto found = std::ranges::find(boxes_, to, &box::to);
        return found != boxes_.end() ? *found : boxes_.emplace_back(box{to, {}});
    }

    static void send(box& from)
    {
        if (!from.waiting.empty()) {
            asio::post(from.to, [all = std::exchange(from.waiting, {})] {
                for (const auto& each : all) {
                    each();
                }
            });
        }
    }

    executor here_;
    std::vector<box> boxes_;
    bool posted_ = false;
};

}  // namespace

void tell(executor here, executor there, std::function<void()> what)
{
    asio::use_service<outbox>(here.context()).add(there, std::move(what));
}

void tell_now(executor here, executor there)
{
    asio::use_service<outbox>(here.context()).send_to(there);
}

}  // namespace net
