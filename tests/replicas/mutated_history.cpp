#include "tests/replicas/made_history.hpp"

#include <algorithm>
#include <ranges>

namespace replicas {
namespace {

class mutator {
public:
    mutator(made_history& made, std::mt19937_64& random)
        : made_{made},
          operations_{made.all.operations}
    {
        for (std::size_t i = 0; i < operations_.size(); ++i) {
            order_.push_back(i);
        }
        std::ranges::shuffle(order_, random);
    }

    bool apply(mutation which)
    {
        switch (which) {
            case mutation::lost_write:
                return lose_write();
            case mutation::stale_read:
                return age_read(deed::write);
            case mutation::comes_back:
                return age_read(deed::remove);
            case mutation::refused_is_there:
                return show_refused();
            case mutation::phantom:
                return show_phantom();
            case mutation::two_winners:
                return let_both_win();
            case mutation::twice:
                return apply_again();
            case mutation::gone:
                return hide();
            case mutation::gap:
                return leave_gap();
            case mutation::swapped:
                return swap();
            case mutation::extra_line:
                return add_line();
            case mutation::wrong_end:
                return change_end();
            case mutation::goes_back:
                return go_back();
            case mutation::needless_refusal:
                return refuse_needlessly();
        }
        return false;
    }

private:
    // In an order of chance, until `with` has done it.
    template <class With>
    bool any(With with)
    {
        return std::ranges::any_of(order_, [&](auto i) { return with(operations_[i]); });
    }

    template <class Is>
    operation* find(Is is)
    {
        for (const auto i : order_) {
            if (is(operations_[i])) {
                return &operations_[i];
            }
        }
        return nullptr;
    }

    static bool wrote(const operation& each) { return each.what == deed::write && each.done(); }
    static bool read(const operation& each) { return each.what == deed::fresh_read && each.done(); }

    // The operation of the line before or behind a version, of the same key.
    operation* beside(std::uint64_t version, int step)
    {
        const auto& trail = made_.all.trail;
        for (auto at = static_cast<std::int64_t>(version) - 1 + step; at >= 0 && at < std::ssize(trail); at += step) {
            const auto i = static_cast<std::size_t>(at);
            if (trail[i].key == trail[version - 1].key) {
                return &operations_[made_.writers[i]];
            }
        }
        return nullptr;
    }

    // What an acknowledged write had written when this one, which replaced it, began.
    const operation* replaced_by(const operation& each)
    {
        const auto* const before = beside(each.version, -1);
        return before != nullptr && wrote(*before) && before->returned < each.invoked ? before : nullptr;
    }

    bool lose_write()
    {
        return any([&](const operation& each) {
            auto& last = made_.all.last;
            const auto* const before = wrote(each) ? replaced_by(each) : nullptr;
            if (before == nullptr || !last.contains(each.key) || last[each.key].version != each.version) {
                return false;
            }
            last[each.key] = {before->version, before->text};
            return true;
        });
    }

    bool age_read(deed by)
    {
        return any([&](const operation& each) {
            const auto* const before = each.what == by && each.done() ? replaced_by(each) : nullptr;
            auto* const reader = before == nullptr ? nullptr : find([&](const auto& other) {
                return read(other) && other.key == each.key && other.invoked > each.returned;
            });
            if (reader == nullptr) {
                return false;
            }
            reader->version = before->version;
            reader->text = before->text;
            return true;
        });
    }

    bool show_refused()
    {
        return any([&](const operation& each) {
            const bool refused =
                each.what == deed::write && (each.came == outcome::failed || each.came == outcome::conflict);
            auto* const reader = !refused ? nullptr : find([&](const auto& other) {
                return read(other) && other.key == each.key && other.invoked > each.invoked && other.version != 0;
            });
            if (reader == nullptr) {
                return false;
            }
            reader->text = each.text;
            return true;
        });
    }

    bool show_phantom()
    {
        auto* const reader = find([](const auto& each) { return read(each) && each.version != 0; });
        if (reader != nullptr) {
            reader->text = "nobody's";
        }
        return reader != nullptr;
    }

    bool let_both_win()
    {
        return any([&](operation& each) {
            if (each.what != deed::write || each.came != outcome::conflict || *each.if_version == 0) {
                return false;
            }
            const auto* const winner = beside(*each.if_version, 1);
            if (winner == nullptr || !winner->done() || winner->if_version != each.if_version) {
                return false;
            }
            each.came = outcome::done;
            each.version = winner->version;
            return true;
        });
    }

    bool apply_again()
    {
        return any([&](const operation& first) {
            const auto* const writer =
                read(first) && first.version != 0 ? &operations_[made_.writers[first.version - 1]] : nullptr;
            if (writer == nullptr || writer->came != outcome::unknown) {
                return false;
            }
            const auto* const next = find([&](const auto& each) {
                return wrote(each) && each.key == first.key && each.invoked > first.returned;
            });
            auto* const reader = next == nullptr ? nullptr : find([&](const auto& each) {
                return read(each) && each.key == first.key && each.invoked > next->returned;
            });
            if (reader == nullptr) {
                return false;
            }
            reader->version = first.version;
            reader->text = first.text;
            return true;
        });
    }

    bool hide()
    {
        return any([&](const operation& each) {
            auto* const reader = !wrote(each) ? nullptr : find([&](const auto& other) {
                return read(other) && other.key == each.key && other.version != 0 && other.invoked > each.returned;
            });
            const bool removed = reader == nullptr || std::ranges::any_of(operations_, [&](const auto& other) {
                                     return other.what == deed::remove && other.key == each.key &&
                                            other.returned > each.invoked && other.invoked < reader->returned;
                                 });
            if (removed) {
                return false;
            }
            reader->version = 0;
            reader->text.clear();
            return true;
        });
    }

    bool leave_gap()
    {
        auto& trail = made_.all.trail;
        if (trail.size() < 2) {
            return false;
        }
        trail.erase(trail.begin() + static_cast<std::ptrdiff_t>(order_.front() % (trail.size() - 1)));
        return true;
    }

    bool swap()
    {
        return any([&](operation& first) {
            auto* const second = first.reads() || !first.done() ? nullptr : find([&](const auto& each) {
                return !each.reads() && each.done() && each.key != first.key && each.invoked > first.returned &&
                       each.invoked < first.returned + 50'000;
            });
            if (second == nullptr) {
                return false;
            }
            auto& trail = made_.all.trail;
            std::swap(trail[first.version - 1].key, trail[second->version - 1].key);
            std::swap(trail[first.version - 1].action, trail[second->version - 1].action);
            std::swap(first.version, second->version);
            return true;
        });
    }

    bool add_line()
    {
        for (const auto& [key, there] : made_.all.last) {
            const bool explained = std::ranges::any_of(operations_, [&](const auto& each) {
                return each.key == key && each.what == deed::remove && each.came == outcome::unknown;
            });
            if (!explained) {
                made_.all.trail.push_back({made_.all.trail.size() + 1, "deleted", key});
                made_.all.last.erase(key);
                return true;
            }
        }
        return false;
    }

    bool change_end()
    {
        if (made_.all.last.empty()) {
            return false;
        }
        ++made_.all.last.begin()->second.version;
        return true;
    }

    bool go_back()
    {
        return any([&](const operation& first) {
            const auto* const before =
                first.what == deed::read && first.done() && first.version != 0 ? beside(first.version, -1) : nullptr;
            auto* const second = before == nullptr || !wrote(*before) ? nullptr : find([&](const auto& each) {
                return each.what == deed::read && each.done() && each.key == first.key &&
                       each.replica == first.replica && each.invoked > first.returned;
            });
            if (second == nullptr) {
                return false;
            }
            second->version = before->version;
            second->text = before->text;
            return true;
        });
    }

    bool refuse_needlessly()
    {
        return any([&](operation& each) {
            if (!read(each) || each.version == 0) {
                return false;
            }
            const auto& writer = operations_[made_.writers[each.version - 1]];
            const auto* const next = beside(each.version, 1);
            if (!writer.done() || writer.returned >= each.invoked ||
                (next != nullptr && (!next->done() || next->invoked <= each.returned))) {
                return false;
            }
            each.what = deed::write;
            each.came = outcome::conflict;
            each.if_version = each.version;
            each.text = "needless";
            each.version = 0;
            return true;
        });
    }

    made_history& made_;
    std::vector<operation>& operations_;
    std::vector<std::size_t> order_;
};

}  // namespace

bool mutate(made_history& made, mutation which, std::mt19937_64& random)
{
    return mutator{made, random}.apply(which);
}

}  // namespace replicas
