#include "core/json/json_patch.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace core {
namespace {

class patch_writer {
public:
    explicit patch_writer(std::size_t limit)
        : limit_{limit}
    {
    }

    bool too_long() const noexcept { return out_.size() >= limit_; }  // with the bracket that ends it
    std::string take() && { return std::move(out_) + ']'; }

    void compare(const json& before, const json& after)
    {
        if (too_long()) {
            return;
        }
        if (before.is_object() && after.is_object()) {
            compare_objects(before, after);
        } else if (before.is_array() && after.is_array()) {
            compare_arrays(before, after);
        } else if (before.is_structured() || after.is_structured() || before != after) {
            write("replace", &after);
        }
    }

private:
    using members = std::vector<const json::object_t::value_type*>;

    static members sorted(const json& object)
    {
        members all;
        all.reserve(object.size());
        for (const auto& each : object.get_ref<const json::object_t&>()) {
            all.push_back(&each);
        }
        std::ranges::sort(all, [](const auto* a, const auto* b) { return a->first < b->first; });
        return all;
    }

    void compare_objects(const json& before, const json& after)
    {
        const auto from = sorted(before);
        const auto to = sorted(after);
        auto old = from.begin();
        auto now = to.begin();
        while (old != from.end() || now != to.end()) {
            const bool gone = now == to.end() || (old != from.end() && (*old)->first < (*now)->first);
            const bool added = !gone && (old == from.end() || (*now)->first < (*old)->first);
            const auto length = enter(gone ? (*old)->first : (*now)->first);
            if (gone) {
                write("remove", nullptr);
            } else if (added) {
                write("add", &(*now)->second);
            } else {
                compare((*old)->second, (*now)->second);
            }
            path_.resize(length);
            old += added ? 0 : 1;
            now += gone ? 0 : 1;
        }
    }

    void compare_arrays(const json& before, const json& after)
    {
        const auto common = std::min(before.size(), after.size());
        for (std::size_t i = 0; i < common; ++i) {
            const auto length = enter(std::to_string(i));
            compare(before[i], after[i]);
            path_.resize(length);
        }
        // The last one first: what is behind a removed element moves.
        for (auto i = before.size(); i > common && !too_long(); --i) {
            const auto length = enter(std::to_string(i - 1));
            write("remove", nullptr);
            path_.resize(length);
        }
        for (auto i = common; i < after.size() && !too_long(); ++i) {
            const auto length = enter("-");
            write("add", &after[i]);
            path_.resize(length);
        }
    }

    // Gives the length of the path before.
    std::size_t enter(std::string_view name)
    {
        const auto length = path_.size();
        path_ += '/';
        for (const char c : name) {
            if (c == '~' || c == '/') {
                path_ += c == '~' ? "~0" : "~1";
            } else {
                path_ += c;
            }
        }
        return length;
    }

    void write(std::string_view operation, const json* value)
    {
        if (too_long()) {
            return;
        }
        out_.append(out_.size() == 1 ? "" : ",").append(R"({"op":")").append(operation).append(R"(","path":)");
        append_json_string(out_, path_);
        if (value != nullptr) {
            out_.append(R"(,"value":)").append(to_text(*value));
        }
        out_ += '}';
    }

    std::size_t limit_;
    std::string path_;
    std::string out_ = "[";
};

}  // namespace

std::string json_patch(const json& before, const json& after)
{
    auto whole = json_patch_of_whole("replace", after);
    patch_writer writer{whole.size()};
    writer.compare(before, after);
    return writer.too_long() ? whole : std::move(writer).take();
}

std::string json_patch_of_whole(std::string_view operation, const json& after)
{
    std::string out{R"([{"op":")"};
    return out.append(operation).append(R"(","path":"","value":)").append(to_text(after)).append("}]");
}

}  // namespace core
