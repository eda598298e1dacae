// A value that must not be shown: a credential of an agent. It has no output operator and no conversion, so that a
// secret reaches a log line or an answer only where somebody wrote reveal().
#pragma once

#include <string>
#include <utility>

namespace core {

class secret {
public:
    secret() = default;
    explicit secret(std::string value)
        : value_{std::move(value)}
    {
    }

    const std::string& reveal() const noexcept { return value_; }
    bool empty() const noexcept { return value_.empty(); }

    friend bool operator==(const secret&, const secret&) = default;

private:
    std::string value_;
};

// Replaces a secret wherever a record is shown.
inline constexpr const char* masked = "********";

}  // namespace core
