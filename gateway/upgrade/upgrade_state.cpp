#include "gateway/upgrade/upgrade_state.hpp"

#include "gateway/upgrade/upgrade_messages.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace gateway::upgrade {
namespace {

void add(handover_writer& out, const std::vector<std::string>& texts)
{
    out.number(texts.size());
    for (const auto& each : texts) {
        out.text(each);
    }
}

void add(handover_writer& out, const ::mcp::server_facts& server)
{
    out.number(static_cast<std::uint64_t>(server.speaks)).text(server.protocol_version).text(server.name);
    out.text(server.title).text(server.version).text(server.description).text(server.website);
    out.text(server.instructions).text(server.info).text(server.capabilities);
    out.number(server.offers.to_ulong()).number(server.announces.to_ulong());
    add(out, server.icons);
}

// A count allocates nothing: only elements that really come take memory.
std::vector<std::string> texts_in(handover_content& from)
{
    std::vector<std::string> all;
    for (auto left = from.number(); left > 0 && from.good(); --left) {
        all.push_back(from.text());
    }
    return all;
}

std::vector<::mcp::listed_item> items_in(handover_content& from)
{
    std::vector<::mcp::listed_item> all;
    for (auto left = from.number(); left > 0 && from.good(); --left) {
        auto key = from.text();
        all.push_back({std::move(key), from.text()});
    }
    return all;
}

::mcp::server_facts server_in(handover_content& from)
{
    ::mcp::server_facts server;
    server.speaks =
        from.number() == static_cast<std::uint64_t>(::mcp::era::modern) ? ::mcp::era::modern : ::mcp::era::legacy;
    for (auto* each :
         {&server.protocol_version,
          &server.name,
          &server.title,
          &server.version,
          &server.description,
          &server.website,
          &server.instructions,
          &server.info,
          &server.capabilities}) {
        *each = from.text();
    }
    server.offers = ::mcp::list_set{from.number()};
    server.announces = ::mcp::list_set{from.number()};
    server.icons = texts_in(from);
    return server;
}

constexpr std::size_t tasks_in_message = 64 * 1024;
constexpr std::uint64_t max_signed = std::numeric_limits<std::int64_t>::max();

std::uint64_t number_of(core::wall_time at)
{
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count()
    );
}

// A time beyond the years that any clock shows would overflow where ages are computed.
core::wall_time time_of(std::uint64_t number)
{
    constexpr std::chrono::milliseconds latest = std::chrono::years{200};
    return core::wall_time{std::min(std::chrono::milliseconds{static_cast<std::int64_t>(number & max_signed)}, latest)};
}

std::string content_of(const store::record& each)
{
    handover_writer out;
    return out.text(each.id).text(each.definition).number(each.version).number(number_of(each.written)).take();
}

std::string content_of(const store::change& each)
{
    handover_writer out;
    out.number(each.version).number(number_of(each.at)).text(each.who);
    return out.number(static_cast<std::uint64_t>(each.what)).text(each.agent).take();
}

std::string content_of(const store::kept_delivery& each)
{
    handover_writer out;
    out.number(each.number).text(each.id).text(each.agent).text(each.lane).text(each.address).text(each.body);
    return out.number(number_of(each.received)).take();
}

std::string content_of(const store::kept_document& each)
{
    handover_writer out;
    return out.text(each.kind).text(each.name).text(each.agent).text(each.text).take();
}

std::string content_of(const handover_counts& counts)
{
    handover_writer out;
    return out.number(counts.completed).number(counts.failed).number(counts.refused).take();
}

// Frames up to a number of bytes.
class frame_list {
public:
    explicit frame_list(std::size_t most)
        : most_{most}
    {
    }

    void add(handover_word word, std::string content)
    {
        if (!outcome_) {
            return;
        }
        auto frame = framed({word, std::move(content)});
        if (!frame) {
            outcome_ = std::move(frame).error();
        } else if (!has_added(std::move(*frame))) {
            outcome_ = core::gateway_error(
                core::errc::too_large,
                "what has to be passed is over " + std::to_string(most_) + " bytes"
            );
        }
    }

    // Leaves out a content that is too large, or too much.
    void add_if_room(handover_word word, std::string content)
    {
        if (auto frame = framed({word, std::move(content)})) {
            has_added(std::move(*frame));
        }
    }

    core::result<std::vector<std::string>> take()
    {
        if (!outcome_) {
            return std::move(outcome_).error();
        }
        return std::move(frames_);
    }

private:
    bool has_added(std::string frame)
    {
        if (frame.size() > most_ - bytes_) {
            return false;
        }
        bytes_ += frame.size();
        frames_.push_back(std::move(frame));
        return true;
    }

    std::size_t most_;
    std::size_t bytes_ = 0;
    core::result<> outcome_;
    std::vector<std::string> frames_;
};

void add_record(store::memory_contents& to, handover_content from)
{
    store::record each;
    each.id = from.text();
    each.definition = from.text();
    each.version = from.number();
    each.written = time_of(from.number());
    if (from.good()) {
        to.records.push_back(std::move(each));
    }
}

void add_change(store::memory_contents& to, handover_content from)
{
    store::change each;
    each.version = from.number();
    each.at = time_of(from.number());
    each.who = from.text();
    const auto what = from.number();
    each.agent = from.text();
    if (from.good() && what <= static_cast<std::uint64_t>(store::action::deleted)) {
        each.what = static_cast<store::action>(what);
        to.trail.push_back(std::move(each));
    }
}

void add_delivery(store::memory_contents& to, handover_content from)
{
    store::kept_delivery each;
    each.number = from.number();
    each.id = from.text();
    each.agent = from.text();
    each.lane = from.text();
    each.address = from.text();
    each.body = from.text();
    each.received = time_of(from.number());
    if (from.good()) {
        to.deliveries.push_back(std::move(each));
    }
}

void add_counts(handover_counts& to, handover_content from)
{
    const handover_counts counts{from.number(), from.number(), from.number()};
    if (from.good()) {
        to = counts;
    }
}

store::memory_contents& memory_of(upgrade_state& state)
{
    return state.memory ? *state.memory : state.memory.emplace();
}

void add_address(handover_writer& out, const std::optional<config::endpoint>& address)
{
    out.number(address ? 1 : 0).text(address ? address->host : "").number(address ? address->port : 0);
}

std::optional<config::endpoint> address_in(handover_content& from)
{
    const bool there = from.number() == 1;
    auto host = from.text();
    const auto port = static_cast<std::uint16_t>(from.number());
    return there ? std::optional{config::endpoint{std::move(host), port}} : std::nullopt;
}

}  // namespace

std::string content_of(const sessions::passed_lists& lists)
{
    handover_writer out;
    const auto& all = *lists.lists;
    out.text(lists.agent).text(lists.made_of);
    add(out, all.server);
    for (const auto& items : all.lists) {
        out.number(items.size());
        for (const auto& each : items) {
            out.text(each.key).text(each.raw);
        }
    }
    for (const auto& each : all.left_out) {
        out.number(each.count);
        add(out, each.first);
    }
    const auto life = all.time_to_live.value_or(core::duration{0});
    out.number(all.time_to_live ? 1 : 0);
    out.number(static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(life).count()));
    return out.number(all.shareable ? 1 : 0).take();
}

std::optional<sessions::passed_lists> lists_in(std::string_view content)
{
    handover_content from{content};
    sessions::passed_lists out{from.text(), from.text(), nullptr};
    ::mcp::server_lists all;
    all.server = server_in(from);
    for (auto& items : all.lists) {
        items = items_in(from);
    }
    for (auto& each : all.left_out) {
        each.count = static_cast<std::size_t>(from.number());
        each.first = texts_in(from);
    }
    const bool has_life = from.number() == 1;
    const std::chrono::milliseconds life{static_cast<std::int64_t>(from.number())};
    all.time_to_live = has_life ? std::optional<core::duration>{life} : std::nullopt;
    all.shareable = from.number() == 1;
    if (!from.good()) {
        return std::nullopt;
    }
    out.lists = std::make_shared<const ::mcp::server_lists>(std::move(all));
    return out;
}

core::result<std::vector<std::string>> frames_of(const upgrade_state& state, std::size_t most)
{
    frame_list out{most};
    out.add(handover_word::counts, content_of(state.counts));
    if (!state.tickets.empty()) {
        out.add(handover_word::ticket_keys, state.tickets);
    }
    if (state.memory) {
        out.add(handover_word::session_key, state.memory->key.reveal());
        for (const auto& each : state.memory->records) {
            out.add(handover_word::record, content_of(each));
        }
        for (const auto& each : state.memory->trail) {
            out.add(handover_word::change, content_of(each));
        }
        for (const auto& each : state.memory->deliveries) {
            out.add(handover_word::delivery, content_of(each));
        }
        for (const auto& each : state.memory->documents) {
            out.add(handover_word::document, content_of(each));
        }
    }
    for (const auto& each : state.unwritten) {
        out.add(handover_word::unwritten, content_of(each));
    }
    for (const auto& each : state.lists) {
        out.add_if_room(handover_word::lists, content_of(each));
    }
    return out.take();
}

std::vector<std::string> frames_of(const model::known_tasks& tasks)
{
    std::vector<std::string> frames;
    for (std::size_t at = 0; at < tasks.tasks.size(); at += tasks_in_message) {
        handover_writer out;
        out.number(tasks.key);
        for (auto i = at; i < std::min(at + tasks_in_message, tasks.tasks.size()); ++i) {
            const auto& each = tasks.tasks[i];
            out.number(each.name).number(each.word).number(number_of(each.seen));
        }
        if (auto frame = framed({handover_word::tasks, out.take()})) {  // 1.5 MiB at most
            frames.push_back(std::move(*frame));
        }
    }
    return frames;
}

std::optional<model::known_tasks> tasks_in(std::string_view content)
{
    handover_content from{content};
    model::known_tasks out{from.number(), {}};
    while (from.good() && !from.empty()) {
        const auto name = from.number();
        const auto word = from.number();
        out.tasks.push_back({name, word, time_of(from.number())});
    }
    return from.good() ? std::optional{std::move(out)} : std::nullopt;
}

std::string frame_of_unwritten(const store::kept_document& document)
{
    auto frame = framed({handover_word::unwritten, content_of(document)});
    return frame ? std::move(*frame) : std::string{};  // it has a few kilobytes
}

std::optional<store::kept_document> document_in(std::string_view content)
{
    handover_content from{content};
    store::kept_document out;
    for (auto* const each : {&out.kind, &out.name, &out.agent, &out.text}) {
        *each = from.text();
    }
    return from.good() ? std::optional{std::move(out)} : std::nullopt;
}

void add_to(upgrade_state& state, const handover_message& message)
{
    const handover_content content{message.content};
    switch (message.word) {
        case handover_word::ticket_keys:
            state.tickets = message.content;
            break;
        case handover_word::session_key:
            memory_of(state).key = core::secret{message.content};
            break;
        case handover_word::record:
            add_record(memory_of(state), content);
            break;
        case handover_word::change:
            add_change(memory_of(state), content);
            break;
        case handover_word::delivery:
            add_delivery(memory_of(state), content);
            break;
        case handover_word::document:
            if (auto document = document_in(message.content)) {
                memory_of(state).documents.push_back(std::move(*document));
            }
            break;
        case handover_word::unwritten:
            if (auto document = document_in(message.content)) {
                state.unwritten.push_back(std::move(*document));
            }
            break;
        case handover_word::counts:
            add_counts(state.counts, content);
            break;
        case handover_word::lists:
            if (auto lists = lists_in(message.content)) {
                state.lists.push_back(std::move(*lists));
            }
            break;
        default:
            break;
    }
}

std::string content_of(const handover_hello& hello)
{
    handover_writer out;
    out.number(hello.speaks);
    for (const auto* each : {&hello.configured.listen, &hello.configured.admin, &hello.configured.metrics}) {
        add_address(out, *each);
    }
    return out.take();
}

std::optional<handover_hello> hello_in(std::string_view content)
{
    handover_content from{content};
    handover_hello out;
    out.speaks = from.number();
    for (auto* each : {&out.configured.listen, &out.configured.admin, &out.configured.metrics}) {
        *each = address_in(from);
    }
    return from.good() ? std::optional{std::move(out)} : std::nullopt;
}

std::string content_of(const handover_prepared& prepared)
{
    handover_writer out;
    return out.number(prepared.schema).text(prepared.version).take();
}

std::optional<handover_prepared> prepared_in(std::string_view content)
{
    handover_content from{content};
    handover_prepared out{from.number(), from.text()};
    return from.good() ? std::optional{std::move(out)} : std::nullopt;
}

}  // namespace gateway::upgrade
