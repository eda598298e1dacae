#include "gateway/bundles/bundle_streams.hpp"

#include "core/json/json.hpp"
#include "gateway/bundles/bundle_sight.hpp"
#include "gateway/mcp/table/local_session_exchange.hpp"
#include "gateway/threads/turns.hpp"
#include "mcp/bundle/listen_split.hpp"
#include "mcp/bundle/names.hpp"
#include "mcp/bundle/origins.hpp"
#include "mcp/bundle/result_edit.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/list_subscription.hpp"
#include "net/loop/outbox.hpp"
#include "net/sse/sse_events.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

namespace gateway::bundles {

using core::errc;
using mcp::table::text_kind;

// The stream of one member, which is made again when it has ended, unless the member has none.
class member_stream final : private net::exchange_observer, private net::timed {
public:
    static constexpr std::size_t largest_message = 1024 * 1024;
    static constexpr core::duration first_pause = std::chrono::seconds{1};
    static constexpr core::duration longest_pause = std::chrono::seconds{30};

    struct means {
        net::loop& loop;
        model::inner_calls& calls;
        model::inner_request request;
        std::function<void(std::string text)> said;
        std::shared_ptr<std::size_t> counted;
    };

    member_stream(std::string agent, means with)
        : agent_{std::move(agent)},
          with_{std::move(with)}
    {
        ++*with_.counted;
        with_.loop.timers().add(*this);
        begin();
    }
    ~member_stream() override { --*with_.counted; }
    member_stream(const member_stream&) = delete;
    member_stream& operator=(const member_stream&) = delete;

    const std::string& agent() const noexcept { return agent_; }

private:
    void begin()
    {
        events_ = net::sse_reader{largest_message};
        headed_ = false;
        under_way_ = with_.calls.start(with_.request, *this);
    }

    void headed(const net::exchange_head& head) override
    {
        headed_ = head.status == 200 && head.has_type("text/event-stream");
        // Others pass, such as those of a rate limit.
        refused_ =
            head.status == 400 || head.status == 401 || head.status == 403 || head.status == 404 || head.status == 405;
    }

    void took(std::string_view piece) override
    {
        if (!headed_) {
            return;
        }
        events_.feed(piece);
        if (events_.too_large()) {
            with_.said({});
            under_way_.reset();
            return ended({});
        }
        const auto alive = std::weak_ptr<bool>{alive_};
        while (auto event = events_.next()) {
            pause_ = first_pause;
            with_.said(std::move(event->data));
            if (alive.expired()) {
                return;
            }
        }
    }

    void ended(core::result<> /*how*/) override
    {
        if (!refused_) {
            set_due(with_.loop.now() + pause_);
            pause_ = std::min(pause_ * 2, longest_pause);
        }
    }

    void on_due() override { begin(); }

    std::string agent_;
    means with_;
    net::sse_reader events_{largest_message};
    core::duration pause_ = first_pause;
    bool headed_ = false;
    bool refused_ = false;
    std::unique_ptr<net::exchange> under_way_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

namespace {

constexpr std::array<std::array<::mcp::list_kind, 2>, 3> lists_of_kind{
    {{::mcp::list_kind::tools, ::mcp::list_kind::tools},
     {::mcp::list_kind::prompts, ::mcp::list_kind::prompts},
     {::mcp::list_kind::resources, ::mcp::list_kind::templates}}
};

bool is_list_change(std::string_view method) noexcept
{
    return method.ends_with("/list_changed");
}

std::string scheme_of(const model::published_bundles& all, const std::string& bundle, std::string_view agent)
{
    const auto found = all.find(bundle);
    if (found == all.end()) {
        return {};
    }
    const auto place = place_of(*found->second, agent);
    return place ? found->second->catalog->members()[*place]->scheme() : std::string{};
}

// With the URI that the client has subscribed to.
std::string with_asked_uri(std::string text, const member_session& member, std::string_view scheme)
{
    if (const auto updated = ::mcp::updated_uri(text)) {
        const auto asked = member.subscriptions.find(*updated);
        if (asked != member.subscriptions.end()) {
            return ::mcp::updated_with_uri(text, asked->second).value_or(text);
        }
    }
    return ::mcp::exposed_message(text, {.scheme = scheme}).value_or(text);
}

std::string modern_listen(std::string_view raw_id, std::string_view params)
{
    auto text =
        std::string{R"({"jsonrpc":"2.0","id":)"}.append(raw_id) + R"(,"method":"subscriptions/listen","params":)";
    text.append(params.substr(0, params.size() - 1));
    return text + R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)" +
           R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
}

// A text that is equal for callers who see equal parts of one bundle.
std::string sight_key(const std::string& bundle, const core::principal* principal)
{
    const auto separate = [](std::string& out, std::string_view text) { out.append(text) += '\0'; };
    std::string key;
    separate(key, bundle);
    if (principal == nullptr) {
        return key;
    }
    for (const auto* const each : {&principal->provider, &principal->id, &principal->tenant}) {
        separate(key, *each);
    }
    for (const auto* const list : {&principal->scopes, &principal->groups}) {
        for (const auto& each : *list) {
            separate(key, each);
        }
        separate(key, {});
    }
    for (const auto& [name, value] : principal->claims) {
        separate(key, name);
        separate(key, value);
    }
    return key;
}

}  // namespace

bundle_streams::bundle_streams(
    net::loop& control,
    model::inner_calls& calls,
    bundle_plane& bundles,
    bundle_sessions& sessions
)
    : loop_{control},
      calls_{calls},
      bundles_{bundles},
      sessions_{sessions}
{
    loop_.timers().add(*this);
    bundles_.set_observer([this] { note_change(); });
    sessions_.set_observer([this](const ::mcp::session_digest& id, const member_session* begun) {
        member_changed(id, begun);
    });
}

bundle_streams::~bundle_streams()
{
    bundles_.set_observer({});
    sessions_.set_observer({});
}

std::unique_ptr<model::program_reader>
bundle_streams::open(model::program_request asked, net::executor here, net::signal& wake)
{
    const auto there = loop_.get_executor();
    auto exchange = std::make_shared<mcp::table::local_session_exchange>(there, here, wake);
    auto reader = exchange->reader(asked.answers_only);
    net::tell(here, there, [this, exchange, asked = std::move(asked)] {
        if (stopped_) {
            return exchange->finish(core::gateway_error(errc::draining));
        }
        auto queue = begin(asked);
        if (asked.act == model::program_act::listen) {
            exchange->listen(std::move(queue));
        } else {
            exchange->follow(std::move(queue));
        }
    });
    return reader;
}

net::task<core::result<>> bundle_streams::find_era(std::string /*agent_id*/)
{
    co_return core::result<>{};
}

net::task<bool> bundle_streams::translates(std::string /*agent_id*/)
{
    co_return false;
}

// That of a session, if there is one.
void bundle_streams::close_stream(const ::mcp::session_digest& id)
{
    std::erase_if(listeners_, [&id](const listener& each) {
        const bool same = each.raw_id.empty() && each.who->id == id;
        const auto reader = same ? each.reader.lock() : nullptr;
        if (reader != nullptr) {
            reader->on_left({});
            reader->close();
        }
        return same;
    });
}

std::shared_ptr<mcp::table::text_queue> bundle_streams::begin(const model::program_request& asked)
{
    auto queue = std::make_shared<mcp::table::text_queue>(loop_.get_executor());
    const bool of_session = asked.act == model::program_act::listen;
    if (of_session) {
        close_stream(asked.in_bundle->id);  // a client has one such stream: a second one takes the place of the first
    }
    auto& added = listeners_.emplace_back();
    added.who = asked.in_bundle;
    added.reader = queue;
    added.wanted.set();
    queue->on_left([this, at = std::prev(listeners_.end())](mcp::table::text_queue& /*left*/) { listeners_.erase(at); }
    );
    if (of_session) {
        listen_to_session(added);
    } else {
        const auto message = asked.message.view();
        added.raw_id = message.id;
        listen_to_resources(added, asked.read.raw(::mcp::routed::listen_to, message.text));
    }
    if (queue->closed()) {
        listeners_.pop_back();  // it was refused, and nobody tells on_left of it
        return queue;
    }
    added.known = digests_of(added);
    added.looked = change_;
    return queue;
}

void bundle_streams::listen_to_session(listener& to)
{
    const auto* const session = sessions_.find(to.who->id);
    if (session == nullptr) {
        return;
    }
    for (const auto& [agent, each] : session->members) {
        if (each->begun) {
            member_changed(to.who->id, each.get());
        }
    }
}

void bundle_streams::listen_to_resources(listener& to, std::string_view wishes)
{
    const auto reader = to.reader.lock();
    const auto found = bundles_.published()->find(to.who->bundle);
    if (found == bundles_.published()->end()) {
        reader->finish(::mcp::listened_answer(to.raw_id));
        return;
    }
    const auto& bundle = *found->second;
    auto split = ::mcp::split_listen(wishes, *bundle.catalog, sight_of(bundle, caller_of(to)));
    if (!split) {
        reader->fail(std::move(split).error());
        return;
    }
    to.wanted = split->lists;
    std::vector<std::string> acknowledged;
    for (auto& member : split->members) {
        for (const auto& [own, asked] : member.resources) {
            acknowledged.push_back(asked);
        }
    }
    reader->push(::mcp::acknowledged_text(to.raw_id, split->lists, acknowledged), text_kind::answer);
    for (auto& member : split->members) {
        const auto& agent = bundle.members[member.member].agent->record.id;
        model::inner_request request;
        request.caller = to.who->caller;
        request.target = member_target(agent);
        request.fields = {
            {"Accept", "application/json, text/event-stream"},
            {"Content-Type", "application/json"},
            {"MCP-Protocol-Version", "2026-07-28"},
            {"Mcp-Method", "subscriptions/listen"}
        };
        request.body = std::make_shared<const std::string>(modern_listen(to.raw_id, ::mcp::listen_params(member)));
        auto said = [reader_of = to.reader,
                     of = member,
                     scheme = bundle.catalog->members()[member.member]->scheme()](std::string text) {
            const auto updated = ::mcp::updated_uri(text);
            const auto into = reader_of.lock();
            if (updated && into != nullptr) {
                const auto exposed = ::mcp::exposed_uri(scheme, *updated);
                const auto uri = ::mcp::asked_uri(of, *updated, exposed);
                into->push(::mcp::updated_with_uri(text, uri).value_or(text), text_kind::notification);
            }
        };
        follow(to, agent, std::move(request), std::move(said));
    }
}

// A session with a member has begun, or begun again: whoever listens to the client's session hears it too. If that is over, so is the
// stream.
void bundle_streams::member_changed(const ::mcp::session_digest& id, const member_session* begun)
{
    if (begun == nullptr && sessions_.is_over(id)) {
        close_stream(id);
        return;
    }
    for (auto& to : listeners_) {
        if (!to.raw_id.empty() || to.who->id != id) {
            continue;
        }
        sessions_.note_listener(id, to.reader);
        if (begun == nullptr) {
            to.members.clear();
            continue;
        }
        std::erase_if(to.members, [&](const auto& each) { return each->agent() == begun->agent; });
        auto request = legacy_request(*to.who, *begun, nullptr);
        request.method = "GET";
        auto said = [this, reader = to.reader, id, bundle = to.who->bundle, agent = begun->agent, session = begun->id](
                        std::string text
                    ) {
            if (text.empty()) {
                bundles_.log().write(
                    core::log_level::warn,
                    "bundle_message_dropped",
                    {{"bundle", bundle}, {"agent", agent}, {"session", ::mcp::tag_of(id)}, {"reason", "too large"}}
                );
            }
            const auto read = ::mcp::read_message(text);
            const auto into = reader.lock();
            const auto* const in = sessions_.find(id);
            if (!read || into == nullptr || in == nullptr || is_list_change(read->method)) {
                return;
            }
            const auto kind =
                read->kind == ::mcp::message_kind::request ? text_kind::question : text_kind::notification;
            const auto member = in->members.find(agent);
            if (member == in->members.end()) {
                return;
            }
            auto shown =
                with_asked_uri(std::move(text), *member->second, scheme_of(*bundles_.published(), bundle, agent));
            into->push(::mcp::with_origin(shown, agent, session).value_or(shown), kind);
        };
        follow(to, begun->agent, std::move(request), std::move(said));
    }
}

// Each takes descriptors, which are to be left for callers. That there are too many is logged once, until there is room again.
void bundle_streams::follow(
    listener& to,
    const std::string& agent,
    model::inner_request request,
    std::function<void(std::string text)> said
)
{
    const bool full = *streams_ >= most_members;
    if (!full) {
        to.members.push_back(std::make_unique<member_stream>(
            agent,
            member_stream::means{loop_, calls_, std::move(request), std::move(said), streams_}
        ));
    } else if (!std::exchange(told_full_, true)) {
        bundles_.log().write(
            core::log_level::warn,
            "bundle_streams_full",
            {{"bundle", to.who->bundle}, {"agent", agent}, {"limit", std::uint64_t{most_members}}}
        );
    }
    told_full_ = told_full_ && full;
}

bundle_streams::digests bundle_streams::digests_of(const listener& of) const
{
    std::array<std::uint64_t, kinds> out{};
    const auto found = bundles_.published()->find(of.who->bundle);
    if (found == bundles_.published()->end()) {
        return out;
    }
    const auto& bundle = *found->second;
    const auto caller = caller_of(of);
    const auto sight = sight_of(bundle, caller);
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        const auto [first, second] = lists_of_kind[kind];
        const bool searched = bundle.tools != nullptr && first == ::mcp::list_kind::tools;
        out[kind] = searched ? listed_digest(bundle, caller) : bundle.catalog->digest(first, sight);
        out[kind] ^= first == second ? 0 : bundle.catalog->digest(second, sight) * 31;
    }
    return out;
}

bundle_caller bundle_streams::caller_of(const listener& of) const
{
    return {access_.get(), access_ == nullptr ? nullptr : of.who->caller->principal.get()};
}

void bundle_streams::set_access(std::shared_ptr<const access::access_plan> plan)
{
    access_ = std::move(plan);
    note_change();
}

void bundle_streams::note_change()
{
    ++change_;
    known_.clear();
    look_at_lists();
}

// Not many at once: others wait for the loop.
void bundle_streams::look_at_lists()
{
    constexpr auto turn = threads::turns::usual;
    const auto now = loop_.now();
    const auto over = std::chrono::steady_clock::now() + turn;
    for (auto& each : listeners_) {
        if (each.looked == change_) {
            continue;
        }
        if (std::chrono::steady_clock::now() >= over) {
            set_due(now);
            return;
        }
        tell_changes(each, now);
    }
}

// A client that was told lately is told when a second is over.
void bundle_streams::tell_changes(listener& to, core::steady_time now)
{
    if (to.told != core::steady_time{} && now - to.told < change_pause) {
        set_due(std::min(due(), to.told + change_pause));
        return;
    }
    to.looked = change_;
    // Lists are long, and most callers get the same.
    auto [found, first] = known_.try_emplace(sight_key(to.who->bundle, caller_of(to).principal));
    if (first) {
        found->second = digests_of(to);
    }
    const auto& digests = found->second;
    ::mcp::list_set changed;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        const auto list = ::mcp::index_of(lists_of_kind[kind][0]);
        changed[list] = digests[kind] != to.known[kind] && to.wanted[list];
    }
    const auto reader = to.reader.lock();
    if (changed.none() || reader == nullptr) {
        return;
    }
    to.known = digests;
    to.told = now;
    for (auto& text : ::mcp::changed_texts(to.raw_id, changed)) {
        reader->push(std::move(text), text_kind::notification);
    }
}

void bundle_streams::on_due()
{
    look_at_lists();
}

void bundle_streams::stop()
{
    stopped_ = true;
    for (auto& each : listeners_) {
        each.members.clear();
        if (const auto reader = each.reader.lock()) {
            reader->on_left({});
            each.raw_id.empty() ? reader->close() : reader->finish(::mcp::listened_answer(each.raw_id));
        }
    }
    listeners_.clear();
}

}  // namespace gateway::bundles
