// What the tests of a failing disk share: a store on it, what is in it, and one of each kind of write.
#pragma once

#include "store/sqlite.hpp"
#include "tests/unit/store/failing_vfs.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace store::testing {

inline const author someone{"test", core::wall_time{}, {}};

inline std::unique_ptr<engine> opened(const std::string& path, const char* vfs, std::uint64_t ballast = 0)
{
    install_failing_vfs();
    auto made = open_sqlite({.path = path, .ballast = ballast, .vfs = vfs});
    REQUIRE_MESSAGE(made.has_value(), made.error().detail);
    return std::move(*made);
}

// Ids and what is written for them.
using content = std::map<std::string, std::string>;

inline content content_of(engine& engine)
{
    content found;
    const auto all = engine.load();
    REQUIRE_MESSAGE(all.has_value(), all.error().detail);
    for (const auto& each : *all) {
        found[each.id] = each.definition;
    }
    return found;
}

struct operation {
    const char* what;
    std::function<bool(engine&)> run;  // true: it was acknowledged
    std::function<void(content&)> means;
};

inline const std::vector<operation>& operations()
{
    static const std::vector<operation> all{
        {"create",
         [](auto& e) { return e.put("new", "created", someone).has_value(); },
         [](auto& c) { c["new"] = "created"; }},
        {"replace",
         [](auto& e) { return e.put("a", "replaced", someone).has_value(); },
         [](auto& c) { c["a"] = "replaced"; }},
        {"replace by much",
         [](auto& e) { return e.put("a", std::string(300'000, 'x'), someone).has_value(); },
         [](auto& c) { c["a"] = std::string(300'000, 'x'); }},
        {"remove", [](auto& e) { return e.remove("b", someone).has_value(); }, [](auto& c) { c.erase("b"); }},
        {"keep a card",
         [](auto& e) { return e.keep_cards({{"b", "s", "{}", "", "", "", {}, {}}}).has_value(); },
         [](auto&) {}},
        {"keep a version of a card",
         [](auto& e) { return e.keep_card_version({"b", {}, "0a", 2, {}, "{}"}).has_value(); },
         [](auto&) {}},
    };
    return all;
}

}  // namespace store::testing
