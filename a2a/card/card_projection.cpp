#include "a2a/card/card_projection.hpp"

#include "a2a/card/card_repair.hpp"

#include <algorithm>
#include <utility>

namespace a2a {
namespace {

using core::json;

class projection {
public:
    explicit projection(std::vector<std::string>& lost)
        : lost_{lost}
    {
    }

    json object(json value, const object_rule& rule, const std::string& path)
    {
        json::object_t kept;
        kept.reserve(std::min(value.size(), rule.members.size()));
        for (auto& [key, each] : value.get_ref<json::object_t&>()) {
            const auto here = dotted(path, key);
            const auto* known = find_member(rule, key);
            auto fitting = known == nullptr ? json{} : member(std::move(each), *known, here);
            if (fitting.is_null()) {
                lost_.push_back(here);
            } else {
                kept.emplace_back(key, std::move(fitting));
            }
        }
        return kept;
    }

private:
    // Null: it does not fit.
    json member(json value, const member_rule& rule, const std::string& path)
    {
        switch (rule.kind) {
            case value_kind::text:
            case value_kind::url:
                return value.is_string() ? std::move(value) : json{};
            case value_kind::flag:
                return value.is_boolean() ? std::move(value) : json{};
            case value_kind::open:
                return value.is_object() ? std::move(value) : json{};
            case value_kind::texts:
                return strings(std::move(value));
            case value_kind::text_map:
                return value.is_object() ? strings(std::move(value)) : json{};
            case value_kind::one:
                return value.is_object() ? object(std::move(value), *rule.of, path) : json{};
            case value_kind::list:
                return list(std::move(value), *rule.of, path);
            case value_kind::map:
                return map(std::move(value), *rule.of, path);
            case value_kind::schemes:
            case value_kind::demands:
                return {};  // 1.0 has none of these
        }
        return {};
    }

    static json strings(json value)
    {
        const bool fits = (value.is_array() || value.is_object()) &&
                          std::ranges::all_of(value, [](const json& item) { return item.is_string(); });
        return fits ? std::move(value) : json{};
    }

    json list(json value, const object_rule& rule, const std::string& path)
    {
        if (!value.is_array()) {
            return {};
        }
        json::array_t kept;
        kept.reserve(value.size());
        for (std::size_t i = 0; i < value.size(); ++i) {
            if (value[i].is_object()) {
                kept.push_back(object(std::move(value[i]), rule, indexed(path, i)));
            } else {
                lost_.push_back(indexed(path, i));
            }
        }
        return kept;
    }

    json map(json value, const object_rule& rule, const std::string& path)
    {
        if (!value.is_object()) {
            return {};
        }
        json::object_t kept;
        kept.reserve(value.size());
        for (auto& [key, each] : value.get_ref<json::object_t&>()) {
            if (each.is_object()) {
                kept.emplace_back(key, object(std::move(each), rule, dotted(path, key)));
            } else {
                lost_.push_back(dotted(path, key));
            }
        }
        return kept;
    }

    std::vector<std::string>& lost_;
};

}  // namespace

json projected(json value, const object_rule& rule, std::vector<std::string>& lost)
{
    return projection{lost}.object(std::move(value), rule, "");
}

}  // namespace a2a
