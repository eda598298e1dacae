// Whatever clients and servers do: the server is asked one thing at a time about a resource, every request is answered once, and in
// the end the server has the subscriptions that clients have.
#include "mcp/calls/shared_subscriptions.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>

TEST_SUITE_BEGIN("mcp/calls/shared_subscriptions");

namespace {

using mcp::shared_subscriptions;

class world {
public:
    explicit world(unsigned seed)
        : random_{seed}
    {
    }

    void step()
    {
        const auto client = 1 + pick(5);
        const auto uri = "r" + std::to_string(pick(4));
        switch (pick(12)) {
            case 0:
                return lose();
            case 1:
                return leave(client);
            case 2:
            case 3:
            case 4:
                if (auto step = all_.subscribe({client}, uri, ask(client))) {
                    take(*step, false);
                }
                return;
            case 5:
            case 6:
                return take(all_.unsubscribe({client}, uri, ask(client)), false);
            case 7:
                return restore();
            default:
                return answer();
        }
    }

    // Nobody asks for anything more, and the server answers.
    void settle()
    {
        while (!asked_.empty() || restored()) {
            answer();
        }
    }

    void leave_all()
    {
        for (std::uint64_t client = 1; client <= 5; ++client) {
            leave(client);
        }
        settle();
    }

    bool balanced() const
    {
        for (int i = 0; i < 4; ++i) {
            const auto uri = "r" + std::to_string(i);
            bool held = false;
            all_.each_subscriber(uri, [&](std::uint64_t, const std::string&) { held = true; });
            if (held != server_.contains(uri)) {
                return false;
            }
        }
        return waiting_.empty();
    }

    std::size_t size() const { return all_.size(); }
    int faults = 0;  // a question beside another one, or an answer to what was not asked

private:
    std::uint64_t pick(std::uint64_t below)
    {
        return std::uniform_int_distribution<std::uint64_t>{0, below - 1}(random_);
    }

    std::uint64_t ask(std::uint64_t client)
    {
        waiting_[++last_] = client;
        return last_;
    }

    void end(std::uint64_t request) { faults += waiting_.erase(request) == 1 ? 0 : 1; }

    void take(const shared_subscriptions::outcome& step, bool of_answer)
    {
        for (const auto each : step.done) {
            end(each);
        }
        if (step.carried) {
            faults += of_answer ? 0 : 1;
            end(*step.carried);
        }
        if (step.ask) {
            put(*step.ask);
        }
    }

    void put(const shared_subscriptions::question& what)
    {
        faults += asked_.emplace(what.uri, what.subscribes).second ? 0 : 1;
    }

    void answer()
    {
        if (asked_.empty()) {
            return;
        }
        const auto at = std::next(asked_.begin(), static_cast<std::ptrdiff_t>(pick(asked_.size())));
        const auto [uri, subscribes] = *at;
        asked_.erase(at);
        // It refuses some subscriptions; one that it does not have cannot be ended.
        const bool success = !subscribes || pick(4) != 0;
        if (subscribes && success) {
            server_.insert(uri);
        } else if (!subscribes) {
            server_.erase(uri);
        }
        take(all_.answered(uri, success), true);
    }

    void lose()
    {
        server_.clear();
        asked_.clear();
        for (const auto each : all_.lose()) {
            end(each);
        }
    }

    void leave(std::uint64_t client)
    {
        std::erase_if(waiting_, [client](const auto& each) { return each.second == client; });
        for (const auto& each : all_.leave(client)) {
            take(each, false);
        }
    }

    void restore()
    {
        if (const auto next = all_.restore()) {
            if (pick(3) == 0) {
                all_.keep_lapsed(next->uri);
            } else {
                put(*next);
            }
        }
    }

    bool restored()
    {
        const auto next = all_.restore();
        if (next) {
            put(*next);
        }
        return next.has_value();
    }

    std::mt19937_64 random_;
    shared_subscriptions all_;
    std::set<std::string> server_;                    // what it has
    std::map<std::string, bool> asked_;               // and was asked; true: to subscribe
    std::map<std::uint64_t, std::uint64_t> waiting_;  // clients by their requests
    std::uint64_t last_ = 0;
};

}  // namespace

TEST_CASE("After any events the server has the subscriptions that clients have, and every request was answered once")
{
    for (unsigned seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        world x{seed};
        for (int i = 0; i < 300; ++i) {
            x.step();
        }
        x.settle();
        CHECK(x.balanced());
        x.leave_all();
        CHECK(x.balanced());
        CHECK(x.size() == 0);
        CHECK(x.faults == 0);
    }
}

TEST_SUITE_END();
