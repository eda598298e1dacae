// A text that few objects have: for the others it takes a pointer and no more. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace core {

class rare_text {
public:
    rare_text& operator=(std::string_view text)
    {
        text_ = std::make_unique<std::string>(text);
        return *this;
    }

    // Empty: nothing was set, or an empty text. Holds until the next one is set.
    operator std::string_view() const noexcept { return text_ ? std::string_view{*text_} : std::string_view{}; }

    // Something was set.
    bool has_value() const noexcept { return text_ != nullptr; }

private:
    std::unique_ptr<std::string> text_;
};

}  // namespace core
