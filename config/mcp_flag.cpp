#include "config/mcp_flag.hpp"

#include "config/agents.hpp"
#include "config/expand.hpp"
#include "config/problem.hpp"
#include "config/url.hpp"
#include "core/ascii.hpp"
#include "core/json/json.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace config {
namespace {

constexpr std::string_view expected_flag =
    "ID=COMMAND such as 'files=npx -y @modelcontextprotocol/server-filesystem /srv', or ID=URL";

// A shell would set a variable for `NAME=value program`.
bool sets_variable(std::string_view word)
{
    const auto equals = word.find('=');
    return equals != word.npos && is_variable_name(word.substr(0, equals));
}

core::result<core::json> at_url(const std::string& id, std::string_view text)
{
    const auto url = parse_http_url(text, query::allowed);
    if (!url) {
        return invalid(
            "the URL of " + id + ' ' + url.error().detail +
            "; expected an http or https URL such as https://mcp.example.com/mcp"
        );
    }
    return core::json{{"protocol", "mcp"}, {"url", *url}};
}

core::result<core::json> of_program(const std::string& id, std::string_view text)
{
    auto words = split_words(text);
    if (!words) {
        return invalid("the command of " + id + ' ' + words.error().detail);
    }
    if (words->empty() || words->front().empty()) {
        return invalid("the command of " + id + " is empty; expected " + std::string{expected_flag});
    }
    if (std::ranges::any_of(words->front(), core::is_control)) {
        return invalid("the program of " + id + " has a control character in its name; expected its path or name");
    }
    if (sets_variable(words->front())) {
        return invalid(
            "the command of " + id +
            " begins with a variable, and no shell sets it; expected `env` in a configuration file, or the program env"
        );
    }
    core::json definition{{"protocol", "mcp"}, {"command", std::move(words->front())}};
    words->erase(words->begin());
    definition["args"] = std::move(*words);
    return definition;
}

constexpr std::string_view blanks = " \t";
// Each stands for more than itself wherever it is without quotes.
constexpr std::string_view operators = "|&;<>()\n$`*?[";
// These do at the beginning of a word: a home directory, a comment.
constexpr std::string_view word_openers = "~#";

class word_splitter {
public:
    explicit word_splitter(std::string_view line)
        : line_{line}
    {
    }

    core::result<std::vector<std::string>> split()
    {
        while (problem_.empty() && at_ < line_.size()) {
            take(line_[at_]);
        }
        if (!problem_.empty()) {
            return core::gateway_error(core::errc::config_invalid, std::move(problem_));
        }
        end_word();
        return std::move(words_);
    }

private:
    void take(char c)
    {
        if (blanks.find(c) != blanks.npos) {
            end_word();
            ++at_;
        } else if (c == '\'') {
            take_single_quoted();
        } else if (c == '"') {
            take_double_quoted();
        } else if (c == '\\') {
            take_escaped();
        } else if (operators.find(c) != operators.npos || (!in_word_ && word_openers.find(c) != word_openers.npos)) {
            refuse_operator();
        } else if (c == '\0') {
            refuse("has a NUL", at_, "text without it");
        } else {
            add(c);
            ++at_;
        }
    }

    void add(char c)
    {
        in_word_ = true;
        word_ += c;
    }

    // Quotes make a word also where there is nothing in them.
    void end_word()
    {
        if (in_word_) {
            words_.push_back(std::exchange(word_, {}));
            in_word_ = false;
        }
    }

    void take_escaped()
    {
        if (at_ + 1 == line_.size()) {
            refuse("ends with a backslash", at_, "a character behind it, or two of them");
            return;
        }
        if (line_[at_ + 1] != '\n') {  // which continues the line
            add(line_[at_ + 1]);
        }
        at_ += 2;
    }

    void take_single_quoted()
    {
        const auto end = line_.find('\'', at_ + 1);
        if (end == line_.npos) {
            refuse("has a ' that nothing closes", at_, "another one, or \\'");
            return;
        }
        in_word_ = true;
        word_ += line_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
    }

    void take_double_quoted()
    {
        constexpr std::string_view escapable = "$`\"\\";
        const auto begin = at_++;
        in_word_ = true;
        while (at_ < line_.size() && line_[at_] != '"') {
            const char c = line_[at_];
            const char next = at_ + 1 < line_.size() ? line_[at_ + 1] : '\0';
            if (c == '$' || c == '`') {
                return refuse_operator();
            }
            if (c == '\\' && (next == '\n' || escapable.find(next) != escapable.npos)) {
                if (next != '\n') {
                    word_ += next;
                }
                at_ += 2;
            } else {
                word_ += c;
                ++at_;
            }
        }
        if (at_ == line_.size()) {
            return refuse("has a \" that nothing closes", begin, "another one, or \\\"");
        }
        ++at_;
    }

    void refuse_operator()
    {
        const char c = line_[at_];
        const bool twice =
            (c == '&' || c == '|' || c == '>' || c == '<' || c == ';') && at_ + 1 < line_.size() && line_[at_ + 1] == c;
        const auto shown = c == '\n' ? std::string{"a line break"} : "'" + std::string(twice ? 2 : 1, c) + "'";
        refuse(
            "has " + shown + " that a shell would act on, and none runs it",
            at_,
            c == '\n' ? "a blank" : "a backslash before it if it is text, or else a script as the program"
        );
    }

    void refuse(std::string predicate, std::size_t where, std::string_view expected)
    {
        problem_ =
            std::move(predicate) + " (column " + std::to_string(where + 1) + "); expected " + std::string{expected};
    }

    std::string_view line_;
    std::size_t at_ = 0;
    bool in_word_ = false;
    std::string word_;
    std::vector<std::string> words_;
    std::string problem_;
};

}  // namespace

core::result<core::agent> parse_mcp_flag(std::string_view flag)
{
    const auto equals = flag.find('=');
    if (equals == std::string_view::npos) {
        return invalid("has no '='; expected " + std::string{expected_flag});
    }
    const std::string id{flag.substr(0, equals)};
    if (!core::valid_agent_id(id)) {
        return invalid("what is before the first '=' is not an agent's id; expected " + std::string{expected_flag});
    }
    const auto rest = flag.substr(equals + 1);
    const bool url = rest.substr(0, rest.find_first_of(" \t\"'\\=?")).find("://") != rest.npos;
    const auto definition = url ? at_url(id, rest) : of_program(id, rest);
    if (!definition) {
        return definition.error();
    }
    auto read = read_agent(id, *definition, "", {});
    if (!read.problems.empty()) {
        return invalid("the " + read.problems.front().key + " of " + id + ' ' + read.problems.front().what);
    }
    return std::move(read.agent);
}

core::result<std::vector<std::string>> split_words(std::string_view line)
{
    return word_splitter{line}.split();
}

}  // namespace config
