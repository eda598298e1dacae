#include "tests/replicas/made_history.hpp"

#include <algorithm>
#include <queue>
#include <set>
#include <tuple>

namespace replicas {
namespace {

class maker {
public:
    maker(std::uint64_t seed, const made_size& size)
        : random_{seed},
          size_{size},
          known_(static_cast<std::size_t>(size.clients)),
          views_(static_cast<std::size_t>(size.replicas))
    {
    }

    made_history make()
    {
        for (int i = 0; i < size_.clients; ++i) {
            events_.emplace(below(1000), begins, i);
        }
        while (!events_.empty()) {
            const auto [at, what, whom] = events_.top();
            events_.pop();
            if (what == acts) {
                act(static_cast<std::size_t>(whom), at);
            } else if (at < size_.length) {
                begin(whom, at);
            }
        }
        for (const auto& [key, lines] : lines_) {
            if (const auto there = at_place(key, made_.all.trail.size()); there.version != 0) {
                made_.all.last[key] = there;
            }
        }
        return std::move(made_);
    }

private:
    enum kind : std::uint8_t { acts, begins };
    using event = std::tuple<moment, kind, int>;

    std::int64_t below(std::int64_t end)
    {
        return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(end));
    }
    bool happens(int percent) { return below(100) < percent; }

    void begin(int client, moment at)
    {
        operation each;
        each.client = client;
        each.replica = static_cast<int>(below(size_.replicas));
        each.key = 'k' + std::to_string(below(size_.keys));
        each.invoked = at;
        const auto how = below(100);
        each.what = how < 35 ? deed::write : how < 45 ? deed::remove : how < 70 ? deed::read : deed::fresh_read;
        if (each.what == deed::write) {
            each.text = "t" + std::to_string(++texts_);
        }
        auto& known = known_[static_cast<std::size_t>(client)];
        if (!each.reads() && happens(50) && known.contains(each.key)) {
            each.if_version = known[each.key];
        }
        const auto acted = at + 50 + below(3000);
        const auto back = acted + 20 + below(2000);
        each.came = happens(3) ? outcome::failed : !each.reads() && happens(5) ? outcome::unknown : outcome::done;
        each.returned = each.came == outcome::unknown ? never : back;
        made_.all.operations.push_back(each);
        const auto index = static_cast<int>(made_.all.operations.size()) - 1;
        if (each.came == outcome::done || (each.came == outcome::unknown && happens(75))) {
            const bool late = each.came == outcome::unknown && happens(30);
            events_.emplace(late ? acted + below(200'000) : acted, acts, index);
        }
        events_.emplace(back + 1 + below(2000), begins, client);
    }

    content at_place(const std::string& key, std::uint64_t place)
    {
        const auto& lines = lines_[key];
        const auto behind = std::ranges::upper_bound(lines, place, {}, &content::version);
        return behind == lines.begin() || std::prev(behind)->text.empty() ? content{} : *std::prev(behind);
    }

    void act(std::size_t index, moment at)
    {
        auto& each = made_.all.operations[index];
        const auto now = at_place(each.key, made_.all.trail.size());
        auto& view = views_[static_cast<std::size_t>(each.replica)];
        if (each.reads()) {
            view = std::max(view, place_at(each.what == deed::read ? at - below(100'000) : at));
            const auto seen = at_place(each.key, view);
            each.version = seen.version;
            each.text = seen.text;
        } else if (each.what == deed::remove && now.version == 0) {
            refuse(each, outcome::absent);
        } else if (each.if_version && *each.if_version != now.version) {
            refuse(each, outcome::conflict);
        } else {
            apply(each, now, at);
            made_.writers.push_back(index);
            view = each.came == outcome::done ? std::max(view, each.version) : view;
        }
        if (each.done()) {
            known_[static_cast<std::size_t>(each.client)][each.key] = each.what == deed::remove ? 0 : each.version;
        }
    }

    static void refuse(operation& each, outcome with)
    {
        each.came = each.came == outcome::unknown ? outcome::unknown : with;
    }

    void apply(operation& each, const content& now, moment at)
    {
        const auto version = made_.all.trail.size() + 1;
        const bool removes = each.what == deed::remove;
        made_.all.trail.push_back({version, removes ? "deleted" : now.version == 0 ? "created" : "updated", each.key});
        lines_[each.key].push_back({version, each.text});
        times_.push_back(at);
        each.version = each.came == outcome::done ? version : 0;
    }

    std::uint64_t place_at(moment at) const
    {
        return static_cast<std::uint64_t>(std::ranges::upper_bound(times_, at) - times_.begin());
    }

    std::mt19937_64 random_;
    made_size size_;
    std::vector<std::map<std::string, std::uint64_t>> known_;  // of clients
    std::vector<std::uint64_t> views_;                         // of replicas: the place that they have applied
    std::priority_queue<event, std::vector<event>, std::greater<>> events_;
    std::map<std::string, std::vector<content>> lines_;  // of a key; an empty text: removed
    std::vector<moment> times_;                          // of the lines of the trail
    std::uint64_t texts_ = 0;
    made_history made_;
};

}  // namespace

made_history make_history(std::uint64_t seed, const made_size& size)
{
    return maker{seed, size}.make();
}

}  // namespace replicas
