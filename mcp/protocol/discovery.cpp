#include "mcp/protocol/discovery.hpp"

#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace mcp {
namespace {

constexpr core::duration longest_time_to_live = std::chrono::hours{24};

// In the order of their keys.
std::vector<const listed_item*> sorted(const std::vector<listed_item>& items)
{
    std::vector<const listed_item*> all;
    all.reserve(items.size());
    for (const auto& each : items) {
        all.push_back(&each);
    }
    std::ranges::sort(all, {}, &listed_item::key);
    return all;
}

// Whether both have the same items, in any order. Keys are of one item each. Sorted, not hashed: a server can choose names whose hashes
// collide.
bool same_items(const std::vector<listed_item>& a, const std::vector<listed_item>& b)
{
    if (a.size() != b.size()) {
        return false;
    }
    return std::ranges::equal(sorted(a), sorted(b), [](const listed_item* one, const listed_item* other) {
        return one->key == other->key && one->raw == other->raw;
    });
}

std::string said_of(const rpc_failure& failure)
{
    auto said = "answered with the error " + std::to_string(failure.code);
    return failure.text.empty() ? said : said + ": " + failure.text;
}

}  // namespace

bool same_content(const server_lists& a, const server_lists& b) noexcept
{
    return a.server == b.server && a.lists == b.lists && a.shareable == b.shareable;
}

left_out_items joined(const std::array<left_out_items, list_kinds>& lists)
{
    left_out_items all;
    for (const auto& each : lists) {
        all.count += each.count;
        all.first.insert(all.first.end(), each.first.begin(), each.first.end());
    }
    return all;
}

list_reader::list_reader(list_set wanted, era speaks, discovery_limits limits, tool_headers headers)
    : wanted_{wanted},
      speaks_{speaks},
      limits_{limits},
      check_headers_{headers == tool_headers::checked && speaks == era::modern}
{
    while (at_ < list_kinds && !wanted_[at_]) {
        ++at_;
    }
}

std::optional<list_question> list_reader::next() const
{
    if (at_ == list_kinds) {
        return std::nullopt;
    }
    return list_question{static_cast<list_kind>(at_), cursor_};
}

core::result<> list_reader::accept(std::string_view result)
{
    auto opened = open(result);
    return opened ? take_some(std::string_view::npos) : opened;
}

core::result<> list_reader::open(std::string_view result)
{
    if (at_ == list_kinds) {
        return failed("an answer to no question");
    }
    const auto read = raw_object::read(result);
    if (!read) {
        return failed("the result: " + read.error().detail);
    }
    if (auto begun = begin_page(read->find("resultType")); !begun) {
        return begun;
    }
    const auto items = read->find(member_of(static_cast<list_kind>(at_)));
    if (!is_array(items)) {
        return failed("the result has no list");
    }
    page_ = std::make_unique<page>(page{
        .items = std::string{items},
        .time_to_live = std::string{read->find("ttlMs")},
        .scope = std::string{read->find("cacheScope")},
        .cursor = std::string{read->find("nextCursor")}
    });
    return find_items();
}

core::result<> list_reader::open(list_page& result)
{
    if (at_ == list_kinds) {
        return failed("an answer to no question");
    }
    if (result.problem) {
        return failed("the result: " + result.problem->detail);
    }
    if (auto begun = begin_page(result.type); !begun) {
        return begun;
    }
    auto list = std::exchange(result.lists[at_], std::nullopt);
    if (!list) {
        return failed("the result has no list");
    }
    if (list->problem) {
        return failed("the list: " + list->problem->detail);
    }
    page_ = std::make_unique<page>(page{
        .read = std::move(list->read),
        .time_to_live = std::move(result.time_to_live),
        .scope = std::move(result.scope),
        .cursor = std::move(result.cursor)
    });
    return count_items(page_->read.size() < list->count ? std::string_view::npos : list->count);
}

core::result<> list_reader::begin_page(std::string_view type)
{
    // A server of an earlier version has no such member (2026-07-28, basic).
    if (!type.empty() && text_of(type) != "complete") {
        return failed("a result that is not complete");
    }
    if (++pages_ > limits_.pages) {
        return failed("over " + std::to_string(limits_.pages) + " pages");
    }
    return {};
}

core::result<> list_reader::take_some(std::size_t most_bytes)
{
    if (page_ == nullptr) {
        return {};
    }
    auto& under_way = *page_;
    const bool known = !under_way.read.empty();
    const auto count = known ? under_way.read.size() : under_way.each.size();
    for (std::size_t bytes = 0; under_way.taken < count;) {
        const auto at = under_way.taken;
        const auto size = known ? under_way.read[at].bytes : under_way.each[at].size();
        if (bytes > 0 && bytes + size > most_bytes) {
            return {};
        }
        ++under_way.taken;
        bytes += size;
        auto item = known ? std::move(under_way.read[at])
                          : read_list_item(under_way.each[at], static_cast<list_kind>(at_), check_headers_);
        if (auto taken = take_item(std::move(item)); !taken) {
            return taken;
        }
    }
    const auto ended = std::move(page_);
    take_freshness(ended->time_to_live, ended->scope);
    return turn_page(ended->cursor);
}

core::result<> list_reader::refuse(const rpc_failure& failure)
{
    if (at_ == list_kinds) {
        return failed("an answer to no question");
    }
    const auto list = static_cast<list_kind>(at_);
    if (failure.code == method_not_found && pages_ == 0) {
        next_list();
    } else if (list == list_kind::tools && !doubted_[at_]) {
        return failed(said_of(failure));
    } else {
        skip(std::string{method(list)} + ": " + said_of(failure));
    }
    return {};
}

void list_reader::skip(std::string why)
{
    if (at_ == list_kinds) {
        return;
    }
    page_.reset();
    if (doubted_[at_]) {
        items_ = items_before_;
        bytes_ = bytes_before_;
        found_[at_].clear();
    } else {
        if (left_.none()) {
            first_left_ = std::move(why);
        }
        left_.set(at_);
    }
    next_list();
}

void list_reader::skip_rest(const std::string& why)
{
    while (at_ < list_kinds) {
        skip(why);
    }
}

core::result<> list_reader::find_items()
{
    const auto room = limits_.items - items_;
    auto elements = core::scan_elements(page_->items, room);
    if (!elements) {
        return failed("the list: " + elements.error().detail);
    }
    page_->each = std::move(elements->raw);
    return count_items(elements->count);
}

core::result<> list_reader::count_items(std::size_t count)
{
    if (count > limits_.items - items_) {
        return failed("over " + std::to_string(limits_.items) + " items in all lists");
    }
    items_ += count;
    return {};
}

core::result<> list_reader::take_item(list_item item)
{
    bytes_ += item.bytes;
    if (bytes_ > limits_.bytes) {
        return failed("over " + std::to_string(limits_.bytes) + " bytes in all lists");
    }
    if (!item.problem.empty()) {
        leave_out(item.key, item.problem);
    } else if (check_headers_ && !item.headers.empty()) {
        leave_out(item.key, item.headers);
    } else if (const auto [known, is_new] = keys_.try_emplace(item.key, found_[at_].size()); is_new) {
        found_[at_].push_back({std::move(item.key), std::move(item.raw)});
    } else if (pages_ == 1 || found_[at_][known->second].raw != item.raw) {  // else a page that comes again
        leave_out(item.key, "has the key of another");
    }
    return {};
}

core::result<> list_reader::turn_page(std::string_view cursor)
{
    if (cursor.empty() || cursor == "null") {
        next_list();
        return {};
    }
    auto text = text_of(cursor);
    if (!text) {
        return failed("nextCursor is not a string");
    }
    if (cursor.size() > limits_.cursor_bytes) {
        return failed("a cursor over " + std::to_string(limits_.cursor_bytes) + " bytes");
    }
    if (!cursors_.insert(std::move(*text)).second) {
        end_list("nextCursor is one that came before, so the list ends there");
    } else {
        cursor_ = cursor;
    }
    return {};
}

void list_reader::take_freshness(std::string_view ttl, std::string_view scope)
{
    if (speaks_ == era::legacy) {
        return;
    }
    const core::duration said{std::clamp(
        integer_of<std::int64_t>(ttl).value_or(0),
        std::int64_t{0},
        std::int64_t{longest_time_to_live.count()}
    )};
    time_to_live_ = std::min(time_to_live_.value_or(longest_time_to_live), said);
    shareable_ = shareable_ && text_of(scope) == "public";
}

void list_reader::leave_out(std::string_view key, std::string_view why)
{
    auto words = std::string{method(static_cast<list_kind>(at_))};
    note(words.append(": ").append(key.empty() ? "an item" : key).append(": ").append(why));
}

void list_reader::end_list(std::string_view why)
{
    note(std::string{method(static_cast<list_kind>(at_))}.append(": ").append(why));
    next_list();
}

void list_reader::note(std::string words)
{
    auto& these = left_out_[at_];
    if (++these.count <= most_told_items) {
        these.first.push_back(std::move(words));
    }
}

void list_reader::next_list()
{
    if (undeclared_[at_] && !found_[at_].empty()) {
        const auto name = std::string{member_of(static_cast<list_kind>(at_))};
        note("declares no " + name + ", but lists " + std::to_string(found_[at_].size()));
    }
    cursor_.clear();
    cursors_.clear();
    keys_.clear();
    pages_ = 0;
    items_before_ = items_;
    bytes_before_ = bytes_;
    do {
        ++at_;
    } while (at_ < list_kinds && !wanted_[at_]);
}

core::error list_reader::failed(std::string_view why)
{
    auto detail = at_ == list_kinds ? std::string{"discovery"} : std::string{method(static_cast<list_kind>(at_))};
    detail.append(": ").append(why);
    skip(detail);
    return core::upstream_error(core::errc::upstream_protocol, std::move(detail));
}

server_lists list_reader::onto(server_lists base) &&
{
    for (std::size_t i = 0; i < list_kinds; ++i) {
        if (wanted_[i] && !left_[i]) {
            // Some servers keep their tools in a set, and list them in another order each time.
            if (!same_items(base.lists[i], found_[i])) {
                base.lists[i] = std::move(found_[i]);
            }
            base.left_out[i] = std::move(left_out_[i]);
            if (undeclared_[i]) {
                base.server.offers[i] = !base.lists[i].empty();
            }
        } else if (left_[i] && base.lists[i].empty()) {
            base.lists[i] = std::move(found_[i]);
            base.left_out[i] = std::move(left_out_[i]);
        }
    }
    if (time_to_live_) {
        base.time_to_live = time_to_live_;
        base.shareable = base.shareable && shareable_;
    }
    return base;
}

list_set changed_by(std::string_view notification) noexcept
{
    list_set changed;
    if (notification == "notifications/tools/list_changed") {
        changed.set(index_of(list_kind::tools));
    } else if (notification == "notifications/resources/list_changed") {
        // There is no such notification for templates.
        changed.set(index_of(list_kind::resources));
        changed.set(index_of(list_kind::templates));
    } else if (notification == "notifications/prompts/list_changed") {
        changed.set(index_of(list_kind::prompts));
    }
    return changed;
}

bool change_tracker::note(std::string_view notification, const list_set& offers) noexcept
{
    const bool first = changed_.none();
    changed_ |= changed_by(notification) & offers;
    return first && changed_.any();
}

list_set change_tracker::take() noexcept
{
    return std::exchange(changed_, {});
}

}  // namespace mcp
