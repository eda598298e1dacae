// Kinds of values of keys. A kind reads a value, prints it, describes it and gives its JSON Schema; the tables of
// keys (schema.cpp, agent_table.cpp, access_table.cpp) bind a kind to the member that a key sets. Pure.
#pragma once

#include "config/choice.hpp"
#include "config/fields.hpp"
#include "config/json_schema.hpp"
#include "config/signatures.hpp"
#include "config/tls.hpp"
#include "core/clock.hpp"
#include "core/json/json.hpp"
#include "core/secret.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace config {

struct reading {
    const secret_reader& secrets;
    const tls_checks& tls;
    problem_list& problems;
};

// The part of a printed value that is masked. Nobody may send a mask back as a credential.
enum class masked_part : std::uint8_t { nothing, whole, members, anywhere, query, proxy, environment };

struct value_form {
    std::string described;  // "a duration, 1ms to 1d": for problems and docs/configuration.md
    std::function<core::json()> schema;
    masked_part masked = masked_part::nothing;
    std::string missing = {};  // for the problem that the key is missing; empty: `described`
};

template <class T>
struct value_kind : value_form {
    std::function<std::optional<T>(const field&, const reading&)> parse;  // nothing: it is reported
    std::function<core::json(const T&)> print;  // as `config dump` shows it; null: there is none
};

class any_key {
public:
    virtual ~any_key() = default;
    virtual const value_form& form() const = 0;
};

// A key that sets a member of `Owner`.
template <class Owner>
class key_of : public any_key {
public:
    virtual void read(const field& f, const reading& with, Owner& into) const = 0;
    virtual core::json print(const Owner& from) const = 0;  // null: there is no value
    virtual bool same(const Owner& a, const Owner& b) const = 0;
    virtual void copy(const Owner& from, Owner& into) const = 0;
};

template <class T>
struct has_kind {
    value_kind<T> kind;
};

// `Find::in(owner)` is the member's address, or null if this owner cannot have it. The member is a T or an optional of it.
template <class Owner, class T, class Find>
class member_key final : public key_of<Owner>, public has_kind<T> {
public:
    explicit member_key(value_kind<T> kind)
        : has_kind<T>{std::move(kind)}
    {
    }

    const value_form& form() const override { return this->kind; }

    void read(const field& f, const reading& with, Owner& into) const override
    {
        if (auto value = this->kind.parse(f, with)) {
            *Find::in(into) = std::move(*value);  // NOLINT(bugprone-optional-value-conversion)
        }
    }

    core::json print(const Owner& from) const override
    {
        const auto* member = Find::in(from);
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(*member)>, T>) {
            return member == nullptr ? core::json{} : this->kind.print(*member);
        } else {
            return member == nullptr || !*member ? core::json{} : this->kind.print(**member);
        }
    }

    bool same(const Owner& a, const Owner& b) const override
    {
        const auto* of_a = Find::in(a);
        const auto* of_b = Find::in(b);
        return of_a == nullptr || of_b == nullptr || *of_a == *of_b;
    }

    void copy(const Owner& from, Owner& into) const override { *Find::in(into) = *Find::in(from); }
};

// A key that is read together with others, and not into a member of its own.
class plain_key final : public any_key {
public:
    explicit plain_key(value_form form)
        : form_{std::move(form)}
    {
    }

    const value_form& form() const override { return form_; }

private:
    value_form form_;
};

template <auto... Chain>
struct member_path {
    static auto* in(auto& owner) { return &(owner.*....*Chain); }
};

template <class Class, class T>
Class owner_of(T Class::*);

// The key that sets the member at the end of a chain, such as sets<&settings::cards, &card_settings::ttl>.
template <auto First, auto... Rest, class T>
auto sets(value_kind<T> kind)
{
    using owner = decltype(owner_of(First));
    return std::shared_ptr<const key_of<owner>>{
        std::make_shared<const member_key<owner, T, member_path<First, Rest...>>>(std::move(kind))
    };
}

template <class Enum>
value_kind<Enum> choice_of()
{
    return {
        {listed<Enum>(), [] { return schema::one_of(core::choices<Enum>); }},
        [](const field& f, const reading& with) { return read_choice<Enum>(f, with.problems); },
        [](const Enum& value) { return core::json(core::chosen_name(value)); }
    };
}

// `read` returns an empty value after a problem.
template <class T>
value_kind<T> kind(value_form form, T (*read)(const field&, problem_list&), core::json (*print)(const T&))
{
    return {
        std::move(form),
        [read](const field& f, const reading& with) { return std::optional{read(f, with.problems)}; },
        print
    };
}

value_kind<core::duration> duration_in(core::duration least, core::duration most);
value_kind<std::uint64_t> size_in(std::uint64_t least, std::uint64_t most);
value_kind<std::uint64_t> count_in(std::uint64_t least, std::uint64_t most);
value_kind<double> share_in(double least, double most);
value_kind<bool> on_or_off();

// One mark for each of three levels, none below the one before; the second in percent.
value_kind<std::array<core::duration, 3>> duration_marks(core::duration least, core::duration most);
value_kind<std::array<std::uint64_t, 3>> percent_marks();

// One line. `noun` is what a problem expects.
value_kind<std::string> line(std::string_view described, std::string_view noun);
value_kind<std::string> url();       // with a query, if it has one
value_kind<std::string> base_url();  // without
value_kind<std::string> file(file_kind kind);
value_kind<core::secret> proxy();
value_kind<core::secret> secret_text();  // its reader is the caller's

// `parse` returns a core::result whose detail is a predicate.
using text_parser = core::result<std::string> (*)(std::string_view text);
value_kind<std::string> parsed_text(value_form form, text_parser parse, bool shown = true);

// Texts that `parse` accepts: a `noun`, for example `element`.
struct list_words {
    std::string_view list;
    std::string_view noun;
    std::string_view element;
};
using list_parser = std::optional<std::string> (*)(const std::string& text);
value_kind<std::vector<std::string>> list_of(list_words words, list_parser parse);
value_kind<std::vector<std::string>> header_names();
value_kind<std::vector<std::string>> networks();
value_kind<std::vector<std::string>> https_origins();

// The text of a printed value, as an operator writes it. Empty: there is none.
std::string text_of(const core::json& printed);

}  // namespace config
