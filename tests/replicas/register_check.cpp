#include "tests/replicas/register_check.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace replicas {
namespace {

// What a register holds: the number of a text, or one of these.
using value = int;
constexpr value nothing = 0;
constexpr value unseen = -1;  // a text that nobody has ever read: one is as good as another
constexpr value any = -2;     // of an expectation

constexpr std::size_t most_tried = 4'000'000;

enum class need : std::uint8_t { any, is, is_not, present };

struct step {
    need what = need::any;
    value needed = any;  // of `is` and `is_not`
    std::optional<value> becomes{};
    moment invoked = 0;
    moment returned = never;
    const operation* origin = nullptr;

    bool holds(value now) const noexcept
    {
        switch (what) {
            case need::any:
                return true;
            case need::is:
                return now == needed;
            case need::is_not:
                return now != needed;
            case need::present:
                return now != nothing;
        }
        return false;
    }
};

// Steps of unknown outcome that do the same, and which nobody needs to have happened: by when they began.
struct spare {
    step like;
    std::vector<moment> begun;
};

// All of one key.
struct problem {
    std::vector<step> steps;  // by when they began
    std::vector<spare> spares;
};

class reader {
public:
    explicit reader(const history& all)
    {
        for (const auto& each : all.operations) {
            last_ = std::max(last_, each.returned == never ? each.invoked : each.returned);
            see(each);
        }
        for (const auto& [key, there] : all.last) {
            versions_.try_emplace({key, there.version}, there.text);
            observe(there.text, last_ + 1);
        }
        for (const auto& each : all.operations) {
            if (each.what != deed::read && each.came != outcome::failed) {
                take(each);
            }
        }
        for (auto& [key, of_it] : keys) {
            const auto there = all.last.find(key);
            const auto at_end = there == all.last.end() ? nothing : number(there->second.text);
            of_it.steps.push_back({need::is, at_end, {}, last_ + 1, never, nullptr});
            std::ranges::sort(of_it.steps, {}, &step::invoked);
            for (auto& each : of_it.spares) {
                std::ranges::sort(each.begun);
            }
        }
    }

    std::map<std::string, problem> keys;

private:
    void see(const operation& each)
    {
        if (each.done() && each.version != 0 && each.what != deed::remove) {
            versions_.try_emplace({each.key, each.version}, each.text);
        }
        if (each.done() && each.reads() && each.version != 0) {
            observe(each.text, each.returned);
        }
    }

    void observe(const std::string& text, moment at)
    {
        const auto [there, added] = observed_.try_emplace(text, at);
        there->second = std::min(there->second, at);
    }

    value number(const std::string& text)
    {
        return text.empty() ? nothing
                            : numbers_.try_emplace(text, static_cast<value>(numbers_.size()) + 1).first->second;
    }

    value expected(const operation& each)
    {
        if (!each.if_version) {
            return any;
        }
        const auto known = versions_.find({each.key, *each.if_version});
        return *each.if_version == 0 ? nothing : number(known == versions_.end() ? each.key + "?" : known->second);
    }

    void take(const operation& each)
    {
        const auto expects = expected(each);
        step made{need::any, expects, {}, each.invoked, each.returned, &each};
        if (each.reads()) {
            made.what = need::is;
            made.needed = each.version == 0 ? nothing : number(each.text);
        } else if (each.came == outcome::conflict) {
            made.what = need::is_not;
        } else if (each.came == outcome::absent) {
            made.what = need::is;
            made.needed = nothing;
        } else {
            made.what = each.if_version ? need::is : each.what == deed::remove ? need::present : need::any;
            made.becomes = each.what == deed::remove ? nothing : number(each.text);
        }
        auto& of_key = keys[each.key];
        if (each.came != outcome::unknown) {
            of_key.steps.push_back(made);
        } else if (const auto seen = observed_.find(each.text); each.what == deed::write && seen != observed_.end()) {
            made.returned = seen->second;
            of_key.steps.push_back(made);
        } else if (!each.reads()) {
            made.becomes = each.what == deed::remove ? nothing : unseen;
            keep_spare(of_key, made);
        }
    }

    static void keep_spare(problem& of_key, const step& made)
    {
        for (auto& each : of_key.spares) {
            if (each.like.needed == made.needed && each.like.becomes == made.becomes) {
                each.begun.push_back(made.invoked);
                return;
            }
        }
        of_key.spares.push_back({made, {made.invoked}});
    }

    moment last_ = 0;
    std::map<std::pair<std::string, std::uint64_t>, std::string> versions_;
    std::unordered_map<std::string, moment> observed_;  // when a text was seen for the first time
    std::unordered_map<std::string, value> numbers_;
};

// So far.
struct position {
    std::size_t first = 0;             // all before it have their place
    std::vector<std::uint32_t> ahead;  // and these behind it
    value now = nothing;
    std::vector<std::uint16_t> used;  // of the spares of each kind

    bool has(std::size_t which) const noexcept
    {
        return which < first || std::ranges::find(ahead, which) != ahead.end();
    }

    void add(std::size_t which)
    {
        ahead.push_back(static_cast<std::uint32_t>(which));
        std::ranges::sort(ahead);
        while (!ahead.empty() && ahead.front() == first) {
            ahead.erase(ahead.begin());
            ++first;
        }
    }

    std::string key() const
    {
        std::string text = std::to_string(first) + ':' + std::to_string(now);
        for (const auto each : ahead) {
            text += ',' + std::to_string(each - first);
        }
        return text;
    }
};

class search {
public:
    explicit search(const problem& of)
        : of_{of}
    {
    }

    // Empty: there is an order.
    std::string find()
    {
        position begin;
        begin.used.resize(of_.spares.size());
        open_.push_back(std::move(begin));
        for (std::size_t tried = 0; !open_.empty(); ++tried) {
            const auto at = std::move(open_.back());
            open_.pop_back();
            furthest_ = std::max(furthest_, at.first);
            if (at.first == of_.steps.size()) {
                return {};
            }
            if (tried == most_tried) {
                return "too many orders to try, from ";
            }
            if (is_new(at)) {
                expand(at);
            }
        }
        return "no order has a place for ";
    }

    const step& furthest() const { return of_.steps[std::min(furthest_, of_.steps.size() - 1)]; }

private:
    // Whoever has used fewer spares can do all that one with more can.
    bool is_new(const position& at)
    {
        auto& known = tried_[at.key()];
        for (const auto& each : known) {
            if (std::ranges::equal(each, at.used, [](auto of_known, auto now) { return of_known <= now; })) {
                return false;
            }
        }
        known.push_back(at.used);
        return true;
    }

    void expand(const position& at)
    {
        std::vector<std::size_t> next;
        auto by = never;
        for (auto i = at.first; i < of_.steps.size() && of_.steps[i].invoked <= by; ++i) {
            if (!at.has(i)) {
                next.push_back(i);
                by = std::min(by, of_.steps[i].returned);
            }
        }
        std::erase_if(next, [&](auto i) { return of_.steps[i].invoked > by; });
        // The last one that is put there is tried first: the one that ends first, without a spare.
        std::ranges::sort(next, std::ranges::greater{}, [&](auto i) { return of_.steps[i].returned; });
        for (const auto each : next) {
            if (!of_.steps[each].holds(at.now)) {
                use_spare(at, each, by);
            }
        }
        for (const auto each : next) {
            if (of_.steps[each].holds(at.now)) {
                go(at, each, at.now);
            }
        }
    }

    // A spare is used but directly before a step that needs what it does.
    void use_spare(const position& at, std::size_t which, moment by)
    {
        for (std::size_t i = 0; i < of_.spares.size(); ++i) {
            const auto& each = of_.spares[i];
            const std::size_t used = at.used[i];
            const bool begun = used < each.begun.size() && each.begun[used] <= by;
            if (begun && each.like.holds(at.now) && of_.steps[which].holds(*each.like.becomes)) {
                auto with_it = at;
                ++with_it.used[i];
                go(std::move(with_it), which, *each.like.becomes);
            }
        }
    }

    void go(position from, std::size_t which, value now)
    {
        from.now = of_.steps[which].becomes.value_or(now);
        from.add(which);
        open_.push_back(std::move(from));
    }

    const problem& of_;
    std::vector<position> open_;
    std::unordered_map<std::string, std::vector<std::vector<std::uint16_t>>> tried_;
    std::size_t furthest_ = 0;
};

}  // namespace

verdict check_registers(const history& all)
{
    verdict problems;
    for (const auto& [key, of_it] : reader{all}.keys) {
        search order{of_it};
        if (auto failed = order.find(); !failed.empty()) {
            const auto* const origin = order.furthest().origin;
            problems.push_back(
                key + ": " + failed + (origin == nullptr ? "what was there in the end" : shown(*origin))
            );
        }
    }
    return problems;
}

}  // namespace replicas
