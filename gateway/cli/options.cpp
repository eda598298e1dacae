#include "gateway/cli/options.hpp"

#include "config/schema.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace gateway::cli {
namespace {

std::string objection_to_empty(const std::string& value)
{
    return value.empty() ? "expected a value, got ''" : "";
}

std::string objection_to(const std::string& argument, const CLI::App& verb)
{
    const bool option = argument.starts_with('-');
    std::vector<std::string> known;
    for (const auto* each : verb.get_subcommands({})) {
        known.push_back(each->get_name());
    }
    if (known.empty() && !option) {
        return "unexpected argument '" + argument + "'";
    }
    for (const auto* each : verb.get_options()) {
        for (const auto& name : each->get_lnames()) {
            known.push_back("--" + name);
        }
    }
    const auto name = argument.substr(0, argument.find('='));
    const auto nearest = config::nearest_key(name, {known.begin(), known.end()});
    return (option ? "unknown option '" : "unknown verb '") + argument + "'" +
           (nearest.empty() ? "" : " (did you mean " + std::string{nearest} + "?)");
}

std::string text_of(const CLI::ParseError& error, const CLI::App& verb)
{
    std::string text = error.what();
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
        return text.substr(0, text.find(':')) + " needs a value";
    }
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !verb.get_subcommands({}).empty()) {
        return "a verb is required";
    }
    constexpr std::string_view excludes = " excludes ";
    if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
        text.replace(text.find(excludes), excludes.size(), " cannot be combined with ");
    }
    return text;
}

}  // namespace

CLI::Option* add(CLI::App& verb, std::string_view words, const char* help, CLI::callback_t read)
{
    const auto space = words.find(' ');
    const auto value = space == words.npos ? "" : words.substr(space + 1);
    return verb.add_option(std::string{words.substr(0, space)}, std::move(read), help)->type_name(std::string{value});
}

CLI::Option* add_text(CLI::App& verb, std::string_view words, const char* help, std::string& text)
{
    return add(verb, words, help, [&text](const CLI::results_t& values) {
        text = values.back();
        return true;
    });
}

CLI::Option* add_nonempty(CLI::App& verb, std::string_view words, const char* help, std::string& text)
{
    return add_text(verb, words, help, text)->check(objection_to_empty);
}

void add_list(CLI::App& verb, std::string_view words, const char* help, std::vector<std::string>& list)
{
    const auto read = [&list](const CLI::results_t& values) {
        list = values;
        return true;
    };
    add(verb, words, help, read)->check(objection_to_empty)->take_all();
}

void add_number(CLI::App& verb, std::string_view words, const char* help, std::optional<std::uint64_t>& number)
{
    add(verb, words, help, [words, &number](const CLI::results_t& values) {
        const auto& text = values.back();
        const auto* const end = text.data() + text.size();
        const auto result = std::from_chars(text.data(), end, number.emplace());
        if (result.ec != std::errc{} || result.ptr != end) {
            const std::string name{words.substr(0, words.find(' '))};
            throw CLI::ValidationError(name, "expected a whole number, got '" + text + "'");
        }
        return true;
    });
}

std::string problem_of(const CLI::ParseError& error, const CLI::App& root)
{
    const auto* verb = &root;
    for (auto name = root.get_name();; name.append(" ").append(verb->get_name())) {
        const auto unknown = verb->remaining();
        const auto argument = std::ranges::find_if(unknown, [](const auto& each) { return each != "--"; });
        const auto inner = verb->get_subcommands();
        if (argument != unknown.end() || inner.empty()) {
            auto text = argument == unknown.end() ? text_of(error, *verb) : objection_to(*argument, *verb);
            return text.append("; see ").append(name).append(" --help");
        }
        verb = inner.front();
    }
}

std::vector<std::string> reversed(std::vector<std::string> arguments)
{
    if (arguments.empty()) {
        return {"--help"};
    }
    if (arguments.front() == "help") {
        arguments.front() = "--help";
    }
    std::vector<std::string> out;
    for (; !arguments.empty(); arguments.pop_back()) {
        auto& argument = arguments.back();
        if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) {
            argument.pop_back();
            out.emplace_back();
        }
        out.push_back(std::move(argument));
    }
    return out;
}

}  // namespace gateway::cli
