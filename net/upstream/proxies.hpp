// The HTTP proxies of this process: where a connection goes that does not go to its server itself. Any thread.
#pragma once

#include "core/error.hpp"
#include "core/proxy.hpp"
#include "core/secret.hpp"
#include "core/url.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace net {

struct proxy {
    core::proxy_address at;
    std::string field;  // the line of Proxy-Authorization (RFC 9110 section 11.7.2), a credential; empty: none
    std::string key;    // different for different proxies, and for different credentials of one; holds none
};

// Since then connections take this proxy, which core::agent::proxy describes, unless their request says otherwise; but to `direct`.
// The environment is read here. Fails with config_invalid: the proxy, or one that the environment names.
core::result<> use_proxies(const core::secret& text, std::vector<std::string> direct);

// The proxy to `url`. `own`: as core::agent::proxy, instead of that of the process; empty: that one. Null: none, as always to this machine
// itself, where a proxy would lead elsewhere. Fails as use_proxies().
core::result<std::shared_ptr<const proxy>> proxy_to(const core::http_url& url, const core::secret& own);

// may_connect() for what a proxy is asked to connect to: of a host that is written as an address; a name may be any. Null: any host.
bool may_ask_for(const core::address_rule* rule, std::string_view host, std::string_view port);

}  // namespace net
