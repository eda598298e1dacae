// Where this process listens, so that an address which a caller or a registration names never leads back to it. Any thread.
#pragma once

#include "core/ip.hpp"
#include "net/loop/types.hpp"

#include <sys/socket.h>

#include <string_view>

namespace net {

// Since then `at` is one of its addresses; one for each call, until it is removed.
void add_own_listener(const tcp::endpoint& at);
void remove_own_listener(const tcp::endpoint& at);

// Whether a connection to the address can arrive at one of them: of a listener at 0.0.0.0 or :: each address of this machine counts.
// `port` is that of a core::http_url.
bool is_own_listener(const core::ip_address& address, std::string_view port);

// 0.0.0.0, which no rule allows by itself, if it is of neither family.
core::ip_address ip_of(const ::sockaddr& address) noexcept;

// Whether somebody else than an operator may have the gateway connect there: `rule` allows it, and the gateway does not listen there.
// Null: an operator has named it, and any address is right.
bool may_connect(const core::address_rule* rule, const ::sockaddr& to);

}  // namespace net
