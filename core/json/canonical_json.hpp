// RFC 8785, the JSON Canonicalization Scheme: one text for equal documents, so that it can be signed. Pure; any thread.
#pragma once

#include "core/json/json.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace core {

// Members in the order of their names' UTF-16 code units (section 3.2.3), numbers as ECMAScript writes a double (section
// 3.2.2.3), no white space. `value` is valid UTF-8 throughout, which everything that parse_json() made is.
std::string canonical_json(const json& value);

struct canonical_form {
    bool lean = false;    // without members and elements that are null, "", [] or {}, or that become so
    bool python = false;  // as json.dumps() of sorted keys: by their bytes, numbers as to_text(), escapes beyond ASCII
    std::vector<std::string_view> without = {};  // members of the document itself
};

struct canonical_text {
    std::string text;
    bool left_out = false;  // something was, because it is lean
};

// The text of what is left of the document in this form, which itself is always there.
canonical_text canonical_json(const json& value, const canonical_form& form);

// A number as section 3.2.2.3 has it; `value` is finite.
std::string canonical_number(double value);

// Whether `a` comes before `b` as sequences of UTF-16 code units; both are UTF-8.
bool less_in_utf16(std::string_view a, std::string_view b) noexcept;

}  // namespace core
