#include "mcp/bundle/pages.hpp"

#include "core/json/json_writer.hpp"
#include "jose/base64url.hpp"
#include "mcp/calls/list_edit.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <array>

namespace mcp {
namespace {

// The last entry of a page. `member` and `index` tell where it was, for the case that it has gone.
struct page_end {
    list_kind list = list_kind::tools;
    std::size_t member = 0;
    std::size_t index = 0;
    std::string as;
    std::string own;
};

constexpr char cursor_break = '\0';

std::string cursor_of(const page_end& end)
{
    std::string text;
    for (const auto number : {index_of(end.list), end.member, end.index}) {
        text.append(std::to_string(number)) += cursor_break;
    }
    return jose::base64url(text.append(end.as).append(1, cursor_break).append(end.own));
}

core::error unknown_cursor()
{
    return core::caller_error(core::errc::invalid_params, "a cursor that no page of this list had");
}

core::result<page_end> read_cursor(std::string_view cursor, list_kind list)
{
    const auto text = jose::from_base64url(cursor);
    if (!text) {
        return unknown_cursor();
    }
    std::array<std::string_view, 5> fields;
    std::string_view rest = *text;
    for (std::size_t i = 0; i + 1 < fields.size(); ++i) {
        const auto end = rest.find(cursor_break);
        if (end == std::string_view::npos) {
            return unknown_cursor();
        }
        fields[i] = rest.substr(0, end);
        rest.remove_prefix(end + 1);
    }
    fields.back() = rest;
    const auto of_list = integer_of<std::size_t>(fields[0]);
    const auto member = integer_of<std::size_t>(fields[1]);
    const auto index = integer_of<std::size_t>(fields[2]);
    if (of_list != index_of(list) || !member || !index || fields[4].empty()) {
        return unknown_cursor();
    }
    return page_end{list, *member, *index, std::string{fields[3]}, std::string{fields[4]}};
}

struct page_start {
    std::size_t member = 0;
    std::size_t index = 0;
};

// An entry that has gone leaves its place to the next one, and so does a member.
page_start start_behind(const page_end& end, const bundle_catalog& catalog)
{
    const auto& members = catalog.members();
    const auto found = std::ranges::find(members, end.as, [](const auto& each) { return each->as(); });
    if (found == members.end()) {
        return {end.member, 0};
    }
    const auto place = (*found)->place_of(end.list, end.own);
    return {static_cast<std::size_t>(found - members.begin()), place ? *place + 1 : end.index};
}

// Writes entries until the page is full.
class page_writer {
public:
    page_writer(std::string& out, const bundle_catalog& catalog, list_kind list, const bundle_sight& sight)
        : out_{out},
          catalog_{catalog},
          list_{list},
          sight_{sight},
          begin_{out.size()}
    {
    }

    void write_front(std::string_view entries) { out_ += entries; }

    // The cursor of the next page; empty: there is none.
    std::string write_from(page_start start)
    {
        std::string cursor;
        for (auto member = start.member; member < catalog_.members().size() && cursor.empty(); ++member) {
            if (!sight_.member || sight_.member(member, list_)) {
                cursor = write_member(member, member == start.member ? start.index : 0);
            }
        }
        return cursor;
    }

private:
    std::string write_member(std::size_t member, std::size_t from)
    {
        const auto size = (*catalog_.members()[member])[list_].size();
        for (auto index = from; index < size; ++index) {
            const auto* const entry = catalog_.at(member, list_, index);
            if (entry == nullptr || (sight_.entry && !sight_.entry(member, list_, *entry))) {
                continue;
            }
            const auto used = out_.size() - begin_;
            if (used > 0 && used + entry->raw.size() > largest_bundle_page) {
                return cursor_of(last_);
            }
            out_.append(used > 0 ? "," : "").append(entry->raw);
            last_ = {list_, member, index, catalog_.members()[member]->as(), entry->own};
        }
        return {};
    }

    std::string& out_;
    const bundle_catalog& catalog_;
    list_kind list_;
    const bundle_sight& sight_;
    std::size_t begin_;
    page_end last_;
};

void write_meta(core::json_writer& result, const page_additions& additions, era speaks)
{
    const auto info = speaks == era::modern ? additions.server_info : std::string_view{};
    if (info.empty() && additions.unavailable.empty()) {
        return;
    }
    result.name("_meta");
    result.open('{');
    result.raw_member_if_any("io.modelcontextprotocol/serverInfo", info);
    if (!additions.unavailable.empty()) {
        result.name("cardea/unavailable");
        result.open('[');
        for (const auto& id : additions.unavailable) {
            result.value(id);
        }
        result.close(']');
    }
    result.close('}');
}

}  // namespace

core::result<> append_page(
    std::string& out,
    const bundle_catalog& catalog,
    const page_question& question,
    const bundle_sight& sight,
    const page_additions& additions
)
{
    page_start start;
    if (question.cursor) {
        const auto end = read_cursor(*question.cursor, question.list);
        if (!end) {
            return end.error();
        }
        start = start_behind(*end, catalog);
    }
    core::json_writer result{out, '{'};
    result.name(list_member(question.list));
    result.open('[');
    page_writer page{out, catalog, question.list, sight};
    if (!question.cursor) {
        page.write_front(additions.front);
    }
    const auto next = page.write_from(start);
    result.close(']');
    result.member_if_any("nextCursor", next);
    if (question.speaks == era::modern) {
        result.member("resultType", "complete");
        result.member("ttlMs", 0);
        result.member("cacheScope", "private");
    }
    write_meta(result, additions, question.speaks);
    result.close('}');
    return {};
}

}  // namespace mcp
