// Parts of the verbs of the command line, over CLI11: options with one value, lists, numbers and choices, the page
// that --help prints, and messages about unusable arguments.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::cli {

// Shows an option with the name of its value only: CLI11 would also list each option that it excludes.
class help_page final : public CLI::Formatter {
public:
    help_page()
    {
        label("Positionals", "Arguments");
        label("SUBCOMMAND", "VERB");
    }

    std::string make_option_opts(const CLI::Option* option) const override
    {
        const auto value = option->get_positional() ? std::string{} : option->get_type_name();
        return value.empty() ? value : ' ' + value;
    }
};

// Adds an option that takes one value. `words` shows it as help does, such as `-c,--config FILE`; a name without a dash
// adds a positional argument.
CLI::Option* add(CLI::App& verb, std::string_view words, const char* help, CLI::callback_t read);

// Adds an option with its value in `text`; the last one counts.
CLI::Option* add_text(CLI::App& verb, std::string_view words, const char* help, std::string& text);
CLI::Option* add_nonempty(CLI::App& verb, std::string_view words, const char* help, std::string& text);

// May be repeated.
void add_list(CLI::App& verb, std::string_view words, const char* help, std::vector<std::string>& list);

void add_number(CLI::App& verb, std::string_view words, const char* help, std::optional<std::uint64_t>& number);

// One of `forms`, by its name.
template <class Form>
void add_output(CLI::App& verb, std::string_view words, const char* help, Form& form, std::map<std::string, Form> forms)
{
    add(verb, words, help, [words, &form, forms = std::move(forms)](const CLI::results_t& values) {
        const auto found = forms.find(values.back());
        if (found == forms.end()) {
            std::string known{words.substr(words.find(' ') + 1)};
            known.replace(known.find('|'), 1, " or ");
            throw CLI::ValidationError("--output", "expected " + known + ", got '" + values.back() + "'");
        }
        form = found->second;
        return true;
    });
}

// Message about wrong arguments, and where help is. An unknown argument is reported before any other error, which it
// may have caused.
std::string problem_of(const CLI::ParseError& error, const CLI::App& root);

// The arguments in the order that CLI11 expects: the last one first. It would take the argument after `--option=` for the
// value, hence the split.
std::vector<std::string> reversed(std::vector<std::string> arguments);

}  // namespace gateway::cli
