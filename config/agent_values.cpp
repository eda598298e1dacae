#include "config/agent_values.hpp"

#include "config/agent_parts.hpp"
#include "config/agent_table.hpp"
#include "config/choice.hpp"
#include "config/signatures.hpp"
#include "config/values.hpp"

#include <string>
#include <utility>
#include <variant>

namespace config {
namespace {

class value_reader {
public:
    value_reader(const tls_checks& tls, core::agent& into, problem_list& problems)
        : tls_{tls},
          agent_{into},
          problems_{problems}
    {
    }

    void read(const members& given)
    {
        for (const auto& row : all_agent_settings()) {
            if (const auto* f = find_field(given, row.name)) {
                std::visit([&](const auto& type) { read_value(*f, type); }, row.type);
            }
        }
    }

private:
    template <class T>
    T& value_of(const agent_member<T>& member)
    {
        return *find_member(member, agent_);
    }

    template <class T>
    void read_value(const field& f, const duration_key<T>& type)
    {
        if (const auto value = read_duration(f, type.least, type.most, problems_)) {
            value_of(type.member) = *value;
        }
    }

    void read_value(const field& f, const size_key& type)
    {
        constexpr std::string_view expected = "a size such as 512KiB or 8MiB";
        const auto* text = read_text(f, expected, problems_);
        if (text == nullptr) {
            return;
        }
        const auto size = parse_size(*text);
        if (!size) {
            refuse(f, size.error().detail, expected, problems_);
        } else if (*size < type.least || *size > type.most) {
            refuse(f, "is out of range", size_text(type.least) + " to " + size_text(type.most), problems_);
        } else {
            value_of(type.member) = *size;
        }
    }

    void read_value(const field& f, const switch_key& type)
    {
        value_of(type.member) = read_switch(f, problems_).value_or(false);
    }

    template <class T>
    void read_value(const field& f, const choice_key<T>& type)
    {
        if (const auto value = read_choice<enum_of<T>>(f, problems_)) {
            value_of(type.member) = *value;
        }
    }

    void read_value(const field& f, const url_key& type)
    {
        value_of(type.member) = read_url(f, query::allowed, problems_).value_or("");
    }

    void read_value(const field& f, const text_key& type)
    {
        value_of(type.member) = read_line(f, "a version", problems_).value_or("");
    }

    void read_value(const field& f, const key_set_key& type)
    {
        value_of(type.member) = read_checked_file(f, file_kind::key_set, tls_, problems_);
    }

    void read_value(const field& f, const pattern_list_key& type)
    {
        value_of(type.member) = read_relay_paths(f, problems_);
    }

    void read_value(const field& f, const origin_list_key& type) { value_of(type.member) = read_origins(f, problems_); }

    void read_value(const field& f, const secret_map_key& type) { value_of(type.member) = read_headers(f, problems_); }

    // What other keys depend on is read before.
    template <class T>
    void read_value(const field& /*f*/, const T& /*type*/)
    {
    }

    const tls_checks& tls_;
    core::agent& agent_;
    problem_list& problems_;
};

}  // namespace

void read_agent_values(const members& given, const tls_checks& tls, core::agent& into, problem_list& problems)
{
    members all;
    for (const auto& [name, f] : given) {
        const auto below = keys_below(name);
        const auto* map = below.empty() ? nullptr : read_map(f, "a map", problems);
        if (map != nullptr) {
            for (auto& [key, value] : read_members(*map, f.path, below, problems)) {
                all.emplace(name + '.' + key, std::move(value));
            }
        } else {
            all.emplace(name, f);
        }
    }
    value_reader{tls, into, problems}.read(all);
}

}  // namespace config
