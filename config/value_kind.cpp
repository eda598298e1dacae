#include "config/value_kind.hpp"

#include "config/url.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"
#include "core/ip.hpp"
#include "core/proxy.hpp"

#include <algorithm>
#include <string>

namespace config {
namespace {

using core::json;

json text_or_null(const std::string& text)
{
    return text.empty() ? json{} : json(text);
}

std::string range(const std::string& least, const std::string& most)
{
    return least + " to " + most;
}

template <class T>
json listed_values(const T& values, auto print)
{
    auto list = json::array();
    for (const auto& each : values) {
        list.push_back(print(each));
    }
    return list;
}

template <class Mark>
std::optional<std::array<Mark, 3>>
read_marks(const field& f, std::string_view expected, const reading& with, const value_kind<Mark>& mark)
{
    const auto before = with.problems.size();
    const auto elements = read_list(f, expected, with.problems);
    std::array<Mark, 3> marks{};
    for (std::size_t i = 0; i < std::min(elements.size(), marks.size()); ++i) {
        marks[i] = mark.parse(elements[i], with).value_or(Mark{});
    }
    if (with.problems.size() != before) {
        return std::nullopt;
    }
    if (elements.size() != marks.size()) {
        refuse(f, "is not three marks", expected, with.problems);
        return std::nullopt;
    }
    if (!std::ranges::is_sorted(marks)) {
        refuse(f, "has a mark below the one before", expected, with.problems);
        return std::nullopt;
    }
    return marks;
}

template <class Mark>
value_kind<std::array<Mark, 3>> three_marks(value_kind<Mark> mark, const std::string& of)
{
    auto described = "a list of three " + of + ", none below the one before";
    return {
        {described, [mark] { return schema::three_of(mark.schema()); }},
        [mark, described](const field& f, const reading& with) { return read_marks(f, described, with, mark); },
        [mark](const std::array<Mark, 3>& marks) { return listed_values(marks, mark.print); }
    };
}

}  // namespace

value_kind<core::duration> duration_in(core::duration least, core::duration most)
{
    return {
        {"a duration, " + range(to_text(least), to_text(most)), schema::duration},
        [=](const field& f, const reading& with) { return read_duration(f, least, most, with.problems); },
        [](const core::duration& time) { return json(to_text(time)); }
    };
}

value_kind<std::uint64_t> size_in(std::uint64_t least, std::uint64_t most)
{
    return {
        {"a size, " + range(size_text(least), size_text(most)), [=] { return schema::size(least, most); }},
        [=](const field& f, const reading& with) {
            return read_size(f, "a size such as 512, 16KiB or 1MiB", {least, most}, with.problems);
        },
        [](const std::uint64_t& bytes) { return json(size_text(bytes)); }
    };
}

value_kind<std::uint64_t> count_in(std::uint64_t least, std::uint64_t most)
{
    const auto described = "a whole number, " + range(std::to_string(least), std::to_string(most));
    return {
        {described, [=] { return schema::count(least, most); }},
        [=](const field& f, const reading& with) { return read_count(f, described, {least, most}, with.problems); },
        [](const std::uint64_t& count) { return json(count); }
    };
}

value_kind<double> share_in(double least, double most)
{
    return {
        {"a number, " + range(share_text(least), share_text(most)), [=] { return schema::share(least, most); }},
        [=](const field& f, const reading& with) { return read_share(f, {least, most}, with.problems); },
        [](const double& share) { return json(share); }
    };
}

value_kind<bool> on_or_off()
{
    return {
        {"true or false", schema::on_or_off},
        [](const field& f, const reading& with) { return read_switch(f, with.problems); },
        [](const bool& on) { return json(on); }
    };
}

value_kind<std::array<core::duration, 3>> duration_marks(core::duration least, core::duration most)
{
    return three_marks(duration_in(least, most), "durations, " + range(to_text(least), to_text(most)));
}

value_kind<std::array<std::uint64_t, 3>> percent_marks()
{
    auto mark = count_in(1, 100);
    mark.parse = [](const field& f, const reading& with) {
        return read_count(f, "a whole number", {1, 100}, with.problems);
    };
    return three_marks(std::move(mark), "whole numbers, 1 to 100");
}

value_kind<std::string> line(std::string_view described, std::string_view noun)
{
    return {
        {std::string{described}, schema::any_text},
        [noun = std::string{noun}](const field& f, const reading& with) { return read_line(f, noun, with.problems); },
        text_or_null
    };
}

value_kind<std::string> url()
{
    return {
        {"an http or https URL", schema::url, masked_part::query},
        [](const field& f, const reading& with) { return read_url(f, with.problems); },
        [](const std::string& text) { return text_or_null(shown_url(text)); }
    };
}

value_kind<std::string> base_url()
{
    return parsed_text({"an http or https URL without query and fragment", schema::url}, parse_base_url, false);
}

value_kind<std::string> file(file_kind kind)
{
    return {
        {std::string{expected_of(kind)}, schema::any_text},
        [kind](const field& f, const reading& with) {
            return std::optional{read_checked_file(f, kind, with.tls, with.problems)};
        },
        text_or_null
    };
}

value_kind<core::secret> proxy()
{
    return {
        {std::string{expected_proxy}, schema::any_text, masked_part::proxy},
        [](const field& f, const reading& with) { return read_proxy(f, with.problems); },
        [](const core::secret& proxy) { return text_or_null(core::shown_proxy(proxy.reveal())); }
    };
}

value_kind<core::secret> secret_text()
{
    return {
        {"text", schema::any_text, masked_part::whole},
        [](const field&, const reading&) { return std::optional<core::secret>{}; },
        [](const core::secret& value) { return value.empty() ? json{} : json(core::masked); }
    };
}

value_kind<std::string> parsed_text(value_form form, text_parser parse, bool shown)
{
    const auto expected = form.described;
    return {
        std::move(form),
        [=](field f, const reading& with) {
            f.secret = f.secret || !shown;  // whoever puts a password into a URL does not want it on the screen
            return read_parsed(f, expected, parse, with.problems);
        },
        text_or_null
    };
}

value_kind<std::vector<std::string>> list_of(list_words words, list_parser parse)
{
    return {
        {std::string{words.list}, [] { return schema::list_of(schema::any_text()); }},
        [words, parse](const field& f, const reading& with) {
            std::vector<std::string> parsed;
            for (const auto& element : read_list(f, words.list, with.problems)) {
                const auto* text = read_text(element, words.noun, with.problems);
                if (text == nullptr) {
                    continue;
                }
                if (auto value = parse(*text)) {
                    parsed.push_back(std::move(*value));
                } else {
                    const auto predicate = text->empty() ? "is empty" : "is not " + std::string{words.noun};
                    refuse(element, predicate, words.element, with.problems);
                }
            }
            return std::optional{std::move(parsed)};
        },
        [](const std::vector<std::string>& list) { return json(list); }
    };
}

value_kind<std::vector<std::string>> header_names()
{
    return list_of({"a list of header names", "a header name", "a name such as X-Timeout-Ms"}, [](const auto& text) {
        return core::is_token(text) ? std::optional{text} : std::nullopt;
    });
}

value_kind<std::vector<std::string>> networks()
{
    return list_of(
        {"a list of IP addresses or blocks (CIDR)",
         "an IP address or block",
         "an address such as 192.0.2.1 or 2001:db8::1, or a block such as 10.0.0.0/8"},
        [](const auto& text) { return core::parse_ip_block(text) ? std::optional{text} : std::nullopt; }
    );
}

value_kind<std::vector<std::string>> https_origins()
{
    return kind<std::vector<std::string>>(
        {std::string{expected_origins}, [] { return schema::list_of(schema::url()); }},
        read_origins,
        [](const std::vector<std::string>& list) { return json(list); }
    );
}

std::string text_of(const core::json& printed)
{
    if (printed.is_array()) {
        std::string text;
        for (const auto& each : printed) {
            text += (text.empty() ? "" : ", ") + text_of(each.is_object() ? each.front() : each);
        }
        return text;
    }
    if (printed.is_number_float()) {
        return share_text(printed.get<double>());
    }
    return printed.is_string()                            ? printed.get<std::string>()
           : printed.is_null() || printed.is_structured() ? std::string{}
                                                          : core::to_text(printed);
}

}  // namespace config
