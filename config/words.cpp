#include "config/words.hpp"

#include <cstddef>
#include <utility>

namespace config {
namespace {

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

core::result<std::vector<std::string>> split_words(std::string_view line)
{
    return word_splitter{line}.split();
}

}  // namespace config
