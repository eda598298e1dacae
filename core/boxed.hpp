// A value that few owners have, kept apart, so that the others pay for a pointer only. Used like std::optional.
#pragma once

#include <memory>
#include <utility>

namespace core {

// Copies are deep. Two are equal if both are empty, or if their values are equal. Reading an empty one is a bug.
template <class T>
class boxed {
public:
    boxed() noexcept = default;
    boxed(T value)  // NOLINT(google-explicit-constructor): it is assigned to as the value itself
        : value_{std::make_unique<T>(std::move(value))}
    {
    }
    boxed(const boxed& other)
        : value_{other.value_ ? std::make_unique<T>(*other.value_) : nullptr}
    {
    }
    boxed(boxed&&) noexcept = default;
    boxed& operator=(const boxed& other) { return *this = boxed{other}; }
    boxed& operator=(boxed&&) noexcept = default;
    ~boxed() = default;

    bool has_value() const noexcept { return value_ != nullptr; }
    explicit operator bool() const noexcept { return has_value(); }

    T& operator*() noexcept { return *value_; }
    const T& operator*() const noexcept { return *value_; }
    T* operator->() noexcept { return value_.get(); }
    const T* operator->() const noexcept { return value_.get(); }
    T value_or(T other) const { return value_ ? *value_ : std::move(other); }

    T& emplace()
    {
        value_ = std::make_unique<T>();
        return *value_;
    }
    void reset() noexcept { value_.reset(); }

    friend bool operator==(const boxed& a, const boxed& b)
    {
        return a.has_value() == b.has_value() && (!a.has_value() || *a.value_ == *b.value_);
    }

private:
    std::unique_ptr<T> value_;
};

}  // namespace core
