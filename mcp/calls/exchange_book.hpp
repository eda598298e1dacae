// Who waits for what on one connection to a server that carries many exchanges at once: those of one client's session, or of
// several clients. An answer belongs to its exchange, not to its id. Sources: JSON-RPC 2.0; MCP 2025-11-25 basic/lifecycle,
// basic/utilities (cancellation, ping, progress); 2026-07-28 basic/patterns/subscriptions. Pure: no I/O, no clock; one thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/place_shares.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/calls/server_questions.hpp"
#include "mcp/calls/upstream_names.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/read_text.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

struct book_settings {
    bool shared = false;                // by clients that know nothing of one another
    bool renames = false;               // every id and token gets another name, as where it is shared
    bool numbered = false;              // each id is the call's number, as streamable HTTP has to know it
    std::vector<std::string> declared;  // the client's capabilities by name; of a shared connection none count
    bool only_declared = false;         // requests of the server that no capability is declared for are answered here
    std::size_t most_calls = 64;        // in flight
    std::size_t most_of_principal =
        0;                         // of most_calls, of one client_message::principal; 0: all, and of most_listens too
    std::size_t most_listens = 0;  // requests that stay open beside those; 0: they are among them
    std::size_t most_questions = 64;  // of the server, that nobody has answered
    std::int64_t first_question = 0;  // the first id under which the client gets them; 0: under the server's own
    message_limits messages;
    std::shared_ptr<question_tally> tally = nullptr;  // of what the server asks; null: nobody counts
    std::function<void(std::string_view why)> note =
        nullptr;  // of the first answer that says to nobody what it answers
};

// Where a message of the server goes.
enum class destination : std::uint8_t {
    call,     // to the exchange of delivery::call
    unasked,  // to whoever listens to what the server says unasked
    server,   // delivery::text is an answer, back to the server
    nobody,
};

struct delivery {
    destination to = destination::nobody;
    call_number call = 0;
    bool last = false;                        // it answers the call, which is over
    bool refused = false;                     // with an error
    bool question = false;                    // the server waits for an answer
    std::string text = {};                    // the message as its reader gets it; empty if there is `failure`
    std::optional<core::error> failure = {};  // the call's answer was malformed
};

class exchange_book {
public:
    explicit exchange_book(book_settings settings);

    struct begun {
        call_number call = 0;
        std::string text;      // for the server
        std::uint64_t id = 0;  // in the text; 0: it is no integer
    };

    // A request of a client. Fails with overloaded: most_calls are in flight, most_of_principal or most_listens, or half of those of the
    // principal.
    core::result<begun> begin(const client_message& request);

    struct cancelled {
        call_number call = 0;
        std::string text;  // for the server
    };

    // A client's `notifications/cancelled`; of several calls with this id the one that began last. Its answer is dropped if it
    // comes. Nothing: no such call of this client, or it is `initialize`.
    std::optional<cancelled> cancel(const client_message& notification);

    // The call is over; its answer is dropped if it comes. The notification that tells the server so; empty: it is `initialize`,
    // or there is no such call.
    std::string cancel(call_number call, std::string_view reason);

    // Nobody reads the call's exchange any more. It stays under way, but no question or log message goes there until somebody reads
    // it again.
    void detach(call_number call) { set_attached(call, false); }
    void attach(call_number call) { set_attached(call, true); }

    // Whether somebody listens to what the server says unasked.
    void set_listening(bool on) noexcept { listening_ = on; }

    struct answered {
        call_number asked_in = 0;  // 0: in no call that goes on
        std::string text;          // for the server
    };

    // A client's answer to a question of the server, also once the call is over in which it was asked. Nothing: nobody waits for it.
    std::optional<answered> take_answer(const client_message& answer);

    // For the book of the next connection of the same client, which may answer questions of this one late.
    std::int64_t next_question() const noexcept { return questions_.next(); }

    // The question cannot be put to anybody: the server's answer instead. Empty: it is not open.
    std::string refuse_question(std::string_view text);

    // The server's answers to questions that nobody has answered for `patience` since the first call of this that saw them. Also lets a
    // server owe no answer any more to calls that were given up answer_owed_for ago.
    std::vector<std::string> expire_questions(core::steady_time now, core::duration patience);

    // One message of the server, which is no batch. An answer belongs to the call with its id, if there is none to the one with that number
    // or that text of it; an error without an id belongs to the only call in flight, but in a
    // shared book not while the server owes an answer to one that was given up.
    delivery take(std::string_view text) { return take(text, read_message(text, settings_.messages), nullptr); }
    delivery take(const read_part& message) { return take(message.text, message.read, &message); }

    // The beginning of one that was over this limit in bytes.
    delivery take_too_long(std::string_view beginning, std::size_t limit);

    std::size_t in_flight() const noexcept { return calls_.size(); }
    std::size_t in_flight_of(std::string_view principal) const
    {
        return core::all_shares().count(core::place_shares::of_object(this), core::mark_of_principal({}, principal));
    }

    // Messages of the server that nobody waited for: late, twice, invented or malformed.
    std::uint64_t dropped() const noexcept { return dropped_; }

private:
    struct open_call {
        std::string id;     // the client's, raw
        std::string token;  // the same; empty: none
        std::string upstream_id;
        std::string upstream_token;
        std::uint64_t client = 0;
        core::place_share share;  // among its principal's calls, or what it listens to
        bool initialize = false;
        bool listens = false;  // and counts in listens_
        bool attached = true;
    };
    using open_calls = std::map<call_number, open_call>;

    void set_attached(call_number call, bool on);
    open_calls::iterator find(const call_names& in, std::string_view raw) { return calls_.find(in.find(raw)); }
    open_calls::iterator only_call();
    open_call end(open_calls::iterator call);
    open_call give_up(open_calls::iterator call);
    delivery drop(bool unnamed = false);
    delivery fail(const addressee& whom, const core::error& why);
    // `known`: what was read elsewhere; null: nothing was.
    delivery take(std::string_view text, const core::result<message>& read, const read_part* known);
    delivery take_response(std::string_view text, const message& read);
    delivery take_question(std::string_view text, const message& read);
    delivery put_question(std::string_view text, const message& read);
    delivery take_notification(std::string_view text, const message& read, const note_parts& parts);
    delivery take_progress(std::string_view text, std::string_view token);
    delivery take_withdrawn(std::string_view text, std::string_view params);
    delivery to_reader(std::string text);
    bool may_ask(std::string_view method) const;
    bool has_reader() const;

    book_settings settings_;
    upstream_names ids_;
    upstream_names tokens_;
    open_calls calls_;
    std::size_t listens_ = 0;  // of calls_
    // Ids of calls of a shared book that were given up since the last turn and before: their answers may still come.
    std::set<std::string> owed_;
    std::set<std::string> owed_before_;
    core::steady_time turned_{};
    call_names by_id_;
    call_names by_token_;
    server_questions questions_;
    call_number last_;
    std::uint64_t dropped_ = 0;
    bool listening_ = false;
};

}  // namespace mcp
