#include "mcp/calls/client_capabilities.hpp"

#include "mcp/protocol/raw_json.hpp"

#include <initializer_list>
#include <utility>

namespace mcp {
namespace {

using enum client_capability;

struct member_bit {
    std::string_view name;
    client_capability bit;
};

constexpr std::initializer_list<member_bit> sampling_bits{{"context", sampling_context}, {"tools", sampling_tools}};
constexpr std::initializer_list<member_bit> elicitation_bits{{"form", elicitation_form}, {"url", elicitation_url}};
constexpr std::initializer_list<member_bit> task_bits{{"list", tasks_list}, {"cancel", tasks_cancel}};

class capability_reader {
public:
    client_capabilities read(std::string_view raw)
    {
        const auto declared = members_of(raw);
        if (const auto given = declared.object("roots"); !given.empty()) {
            found_.add(roots);
            if (members_of(given).find("listChanged") == "true") {
                found_.add(roots_list_changed);
            }
        }
        read_group(declared.object("sampling"), sampling, sampling_bits);
        read_group(declared.object("elicitation"), elicitation, elicitation_bits);
        if (const auto given = declared.object("tasks"); !given.empty()) {
            read_group(given, tasks, task_bits);
            const auto requests = members_of(members_of(given).object("requests"));
            read_member(requests.object("sampling"), {"createMessage", tasks_sampling});
            read_member(requests.object("elicitation"), {"create", tasks_elicitation});
        }
        return found_;
    }

private:
    void read_group(std::string_view group, client_capability bit, std::initializer_list<member_bit> members)
    {
        if (group.empty()) {
            return;
        }
        found_.add(bit);
        for (const auto& member : members) {
            read_member(group, member);
        }
    }

    void read_member(std::string_view group, const member_bit& member)
    {
        if (!members_of(group).object(member.name).empty()) {
            found_.add(member.bit);
        }
    }

    client_capabilities found_;
};

// Opened by its first member, so that a group without any stays empty.
class object_text {
public:
    object_text& add(bool wanted, std::string_view name, std::string_view raw = "{}")
    {
        if (wanted) {
            append_member(members_, name, raw);
        }
        return *this;
    }

    bool empty() const noexcept { return members_.empty(); }

    std::string done() &&
    {
        if (members_.empty()) {
            return "{}";
        }
        close(members_, '}');
        return "{" + std::move(members_);
    }

private:
    std::string members_;
};

}  // namespace

client_capabilities client_capabilities::read(std::string_view raw)
{
    return capability_reader{}.read(raw);
}

client_capabilities client_capabilities::missing_from(client_capabilities declared) const noexcept
{
    // Up to 2025-06-18 elicitation had no modes; `{}` has meant forms since.
    if (declared.has(elicitation) && !declared.has(elicitation_url)) {
        declared.add(elicitation_form);
    }
    client_capabilities missing;
    missing.bits_ = bits_ & ~declared.bits_;
    return missing;
}

std::string client_capabilities::to_text() const
{
    const auto group = [this](
                           client_capability bit,
                           std::initializer_list<member_bit> members,
                           object_text& all,
                           std::string_view name
                       ) {
        object_text text;
        for (const auto& member : members) {
            text.add(has(member.bit), member.name);
        }
        const bool wanted = has(bit) || !text.empty();
        all.add(wanted, name, std::move(text).done());
    };
    object_text all;
    const bool changes = has(roots_list_changed);
    all.add(has(roots) || changes, "roots", changes ? R"({"listChanged":true})" : "{}");
    group(sampling, sampling_bits, all, "sampling");
    group(elicitation, elicitation_bits, all, "elicitation");
    object_text requests;
    requests.add(has(tasks_sampling), "sampling", R"({"createMessage":{}})")
        .add(has(tasks_elicitation), "elicitation", R"({"create":{}})");
    object_text task;
    task.add(has(tasks_list), "list").add(has(tasks_cancel), "cancel");
    const bool asks = !requests.empty();
    task.add(asks, "requests", std::move(requests).done());
    const bool wanted = has(tasks) || !task.empty();
    all.add(wanted, "tasks", std::move(task).done());
    return std::move(all).done();
}

std::string further_capabilities(std::string_view capabilities)
{
    std::string further;
    const auto declared = members_of(capabilities);
    for (const std::string_view name : {"experimental", "extensions"}) {
        if (const auto given = declared.object(name); !given.empty()) {
            append_member(further, name, compact(given));
        }
    }
    if (!further.empty()) {
        further.pop_back();  // the comma
    }
    return further;
}

std::string capabilities_text(const client_capabilities& declared, std::string_view further)
{
    auto text = declared.to_text();
    if (!further.empty()) {
        text.insert(1, declared.none() ? std::string{further} : std::string{further} + ',');
    }
    return text;
}

std::vector<std::string> capability_names(std::string_view capabilities)
{
    std::vector<std::string> names;
    const auto object = members_of(capabilities);
    for (const auto& each : object.members()) {
        if (is_object(each.value)) {
            names.push_back(each.name);
        }
    }
    return names;
}

}  // namespace mcp
