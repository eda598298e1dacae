#include "tests/replicas/version_check.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <unordered_set>

namespace replicas {
namespace {

constexpr std::size_t most_problems = 8;

// Version `n` is there from place n on; place 0 is before everything.
using place = std::uint64_t;

// Which places were surely reached at a moment.
class reached {
public:
    // In the order of moments.
    void add(moment at, place where)
    {
        places_.emplace_back(at, places_.empty() ? where : std::max(where, places_.back().second));
    }

    place before(moment at) const
    {
        const auto behind = std::ranges::lower_bound(places_, at, {}, &std::pair<moment, place>::first);
        return behind == places_.begin() ? 0 : std::prev(behind)->second;
    }

private:
    std::vector<std::pair<moment, place>> places_;
};

class judge {
public:
    explicit judge(const history& all)
        : all_{all}
    {
    }

    verdict take()
    {
        if (read_trail()) {
            find_owners();
            find_texts();
            check_order();
            give_the_rest();
            check_end();
            check_refusals_and_reads();
        }
        return std::move(problems_);
    }

private:
    void complain(std::string what)
    {
        if (problems_.size() < most_problems) {
            problems_.push_back(std::move(what));
        }
    }

    const trail_line& line(place at) const { return all_.trail[at - 1]; }

    bool read_trail()
    {
        for (std::size_t i = 0; i < all_.trail.size(); ++i) {
            const auto& each = all_.trail[i];
            if (each.version != i + 1) {
                complain(
                    "the trail has " + std::to_string(each.version) + " where " + std::to_string(i + 1) + " belongs"
                );
                return false;
            }
            auto& lines = lines_[each.key];
            const bool was_there = !lines.empty() && line(lines.back()).action != "deleted";
            if (was_there == (each.action == "created")) {
                complain("version " + std::to_string(each.version) + " of " + each.key + " cannot be " + each.action);
            }
            before_.push_back(was_there ? lines.back() : 0);
            lines.push_back(each.version);
        }
        owners_.resize(all_.trail.size() + 1);
        return true;
    }

    bool fits(const operation& each, place at) const
    {
        return line(at).key == each.key && (line(at).action == "deleted") == (each.what == deed::remove) &&
               (!each.if_version || before_[at - 1] == *each.if_version);
    }

    void own(place at, const operation& each)
    {
        if (owners_[at] == &each) {
            return;
        }
        if (owners_[at] != nullptr) {
            complain("version " + std::to_string(at) + " is of " + shown(each) + " and of " + shown(*owners_[at]));
        } else if (!owning_.insert(&each).second) {
            complain("applied twice, also as version " + std::to_string(at) + ": " + shown(each));
        } else if (!fits(each, at)) {
            complain("version " + std::to_string(at) + " of the trail does not fit " + shown(each));
        }
        owners_[at] = &each;
    }

    void find_owners()
    {
        for (const auto& each : all_.operations) {
            if (each.what == deed::write && !texts_.emplace(each.text, &each).second) {
                complain("the history has this text twice: " + shown(each));
            }
            if (each.reads() || !each.done()) {
                continue;
            }
            if (each.version == 0 || each.version > all_.trail.size()) {
                complain("acknowledged and not in the trail: " + shown(each));
            } else {
                own(each.version, each);
            }
        }
    }

    // What was read tells whose version it is.
    void find_text(const std::string& key, const content& seen, const std::string& by)
    {
        if (seen.version == 0) {
            return;
        }
        const auto writer = texts_.find(seen.text);
        if (seen.version > all_.trail.size() || line(seen.version).key != key ||
            line(seen.version).action == "deleted") {
            complain("a version that the trail does not have for it: " + by);
        } else if (writer == texts_.end()) {
            complain("a text that nobody wrote: " + by);
        } else if (!writer->second->done() && writer->second->came != outcome::unknown) {
            complain("it was refused and is there: " + shown(*writer->second) + "; " + by);
        } else {
            own(seen.version, *writer->second);
        }
    }

    void find_texts()
    {
        for (const auto& each : all_.operations) {
            if (each.reads() && each.done()) {
                find_text(each.key, {each.version, each.text}, shown(each));
            }
        }
        for (const auto& [key, seen] : all_.last) {
            find_text(key, seen, "in the end " + key);
        }
    }

    // A write that began after another was acknowledged has a higher number.
    void check_order()
    {
        deadlines_.assign(owners_.size(), never);
        auto earliest = never;
        for (place at = owners_.size() - 1; at > 0; --at) {
            deadlines_[at] = earliest;
            const auto* const owner = owners_[at];
            if (owner == nullptr) {
                continue;
            }
            if (owner->invoked > earliest) {
                complain("a later version was acknowledged before this began: " + shown(*owner));
            }
            if (owner->done()) {
                earliest = std::min(earliest, owner->returned);
            }
        }
        for (place at = owners_.size() - 1; at > 0; --at) {
            if (owners_[at] != nullptr) {
                begun_.emplace_back(owners_[at]->invoked, at);
            }
        }
        std::ranges::sort(begun_);
        auto lowest = static_cast<place>(owners_.size());
        for (auto each = begun_.rbegin(); each != begun_.rend(); ++each) {
            lowest = std::min(lowest, each->second);
            each->second = lowest;
        }
    }

    // The last place that may have been reached at a moment: writes that began later are behind it.
    place latest_at(moment at) const
    {
        const auto later = std::ranges::upper_bound(begun_, at, {}, &std::pair<moment, place>::first);
        return later == begun_.end() ? owners_.size() - 1 : later->second - 1;
    }

    // Lines that nobody owns yet are of writes of unknown outcome, each of one of its own.
    void give_the_rest()
    {
        std::unordered_map<std::string, std::vector<const operation*>> unknown;
        for (const auto& each : all_.operations) {
            if (!each.reads() && each.came == outcome::unknown && !owning_.contains(&each)) {
                unknown[each.key].push_back(&each);
            }
        }
        for (place at = 1; at < owners_.size(); ++at) {
            std::unordered_set<const operation*> tried;
            if (owners_[at] == nullptr && !give(at, unknown[line(at).key], tried)) {
                complain(
                    "nobody asked for version " + std::to_string(at) + ": " + line(at).key + ' ' + line(at).action
                );
            }
        }
    }

    bool give(place at, const std::vector<const operation*>& to, std::unordered_set<const operation*>& tried)
    {
        for (const auto* each : to) {
            if (!fits(*each, at) || each->invoked > deadlines_[at] || !tried.insert(each).second) {
                continue;
            }
            const auto given = given_.find(each);
            if (given == given_.end() || give(given->second, to, tried)) {
                given_[each] = at;
                return true;
            }
        }
        return false;
    }

    void check_end()
    {
        std::size_t there = 0;
        for (const auto& [key, lines] : lines_) {
            if (line(lines.back()).action == "deleted") {
                continue;
            }
            ++there;
            const auto found = all_.last.find(key);
            if (found == all_.last.end() || found->second.version != lines.back()) {
                complain("in the end " + key + " is not at version " + std::to_string(lines.back()));
            }
        }
        if (there != all_.last.size()) {
            complain("in the end there is something that the trail does not have");
        }
    }

    // The place of the latest line of a key at a place, and that of the next one.
    std::pair<place, place> around(const std::string& key, place at) const
    {
        const auto found = lines_.find(key);
        if (found == lines_.end()) {
            return {0, owners_.size()};
        }
        const auto next = std::ranges::upper_bound(found->second, at);
        return {
            next == found->second.begin() ? 0 : *std::prev(next),
            next == found->second.end() ? owners_.size() : *next
        };
    }

    std::uint64_t version_at(const std::string& key, place at) const
    {
        const auto latest = around(key, at).first;
        return latest == 0 || line(latest).action == "deleted" ? 0 : latest;
    }

    // The first place from `from` on, up to `to`, at which the key has this version, or has another one.
    std::optional<place>
    find_place(const std::string& key, std::pair<place, place> within, std::uint64_t version, bool is) const
    {
        for (auto at = within.first; at <= within.second; at = around(key, at).second) {
            if ((version_at(key, at) == version) == is) {
                return at;
            }
        }
        return std::nullopt;
    }

    void check_refusal(const operation& each, const reached& so_far)
    {
        const std::pair within{so_far.before(each.invoked), latest_at(each.returned)};
        const bool of_version = each.came == outcome::conflict;
        if (of_version && !find_place(each.key, within, each.if_version.value_or(0), /*is=*/false)) {
            complain("refused although the version was there: " + shown(each));
        } else if (!of_version && !find_place(each.key, within, 0, /*is=*/true)) {
            complain("refused although it was there: " + shown(each));
        }
    }

    void check_read(const operation& each, reached& so_far)
    {
        const std::pair within{so_far.before(each.invoked), latest_at(each.returned)};
        if (const auto at = find_place(each.key, within, each.version, /*is=*/true)) {
            so_far.add(each.returned, *at);
        } else {
            complain("at no moment of it the right answer: " + shown(each));
        }
    }

    void check_refusals_and_reads()
    {
        std::vector<const operation*> in_order;
        for (const auto& each : all_.operations) {
            if (each.came != outcome::unknown && each.came != outcome::failed) {
                in_order.push_back(&each);
            }
        }
        std::ranges::sort(in_order, {}, [](const auto* each) { return each->returned; });
        reached everywhere;
        std::map<std::pair<int, std::string>, reached> at_replica;
        for (const auto* each : in_order) {
            if (!each->done()) {
                check_refusal(*each, everywhere);
                continue;
            }
            auto& here = at_replica[{each->replica, each->key}];
            if (!each->reads()) {
                everywhere.add(each->returned, each->version);
                if (each->returned - each->invoked < all_.patience) {
                    here.add(each->returned, each->version);
                }
                continue;
            }
            check_read(*each, here);
            if (each->what == deed::fresh_read) {
                check_read(*each, everywhere);
            }
        }
    }

    const history& all_;
    verdict problems_;
    std::unordered_map<std::string, std::vector<place>> lines_;  // of a key
    std::vector<place> before_;                                  // of a line: the version that it replaced
    std::vector<const operation*> owners_;                       // of a place
    std::unordered_set<const operation*> owning_;
    std::unordered_map<std::string, const operation*> texts_;
    std::vector<moment> deadlines_;                // of a place: its write began before
    std::vector<std::pair<moment, place>> begun_;  // by moments: the lowest place of a write that began then or later
    std::unordered_map<const operation*, place> given_;
};

}  // namespace

verdict check_versions(const history& all)
{
    return judge{all}.take();
}

}  // namespace replicas
