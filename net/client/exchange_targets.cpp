#include "net/client/exchange_targets.hpp"

#include "core/url.hpp"

#include <sys/stat.h>

#include <array>
#include <utility>

namespace net {
namespace {

using core::errc;

// Of a file that is not there, or not named, nothing.
std::string state_of(const std::string& file)
{
    struct ::stat found{};
    if (file.empty() || ::stat(file.c_str(), &found) != 0) {
        return "-";
    }
    std::string out;
    for (const auto each :
         {static_cast<long long>(found.st_ino),
          static_cast<long long>(found.st_size),
          static_cast<long long>(found.st_mtim.tv_sec),
          static_cast<long long>(found.st_mtim.tv_nsec)}) {
        out += std::to_string(each) + ' ';
    }
    return out;
}

std::string states_of(const tls_client_files& files)
{
    return state_of(files.ca_file) + '\n' + state_of(files.cert_file) + '\n' + state_of(files.key_file);
}

std::string names_of(const tls_client_files& files)
{
    return files.ca_file + '\n' + files.cert_file + '\n' + files.key_file;
}

}  // namespace

core::result<exchange_target> exchange_targets::find(const exchange_request& request)
{
    auto url = core::with_parameters(request.url, request.query);
    const auto found = known_.find(url);
    if (found != known_.end() && found->second.tls == request.tls && found->second.addresses == request.addresses &&
        found->second.proxy == request.proxy) {
        return found->second.target;
    }
    if (!core::http_url::parse(url)) {
        return core::upstream_error(errc::upstream_protocol, "exchange: not an http or https URL");
    }
    auto made = make_target(url, request.tls, contexts_, request.addresses, request.proxy);
    if (!made) {
        return core::upstream_error(errc::upstream_tls, std::move(made).error().detail);
    }
    if (known_.size() >= most) {
        known_.clear();
    }
    auto target = std::make_shared<const upstream_target>(std::move(*made));
    known_.insert_or_assign(std::move(url), known{request.tls, request.addresses, request.proxy, target});
    return target;
}

core::result<exchange_target> exchange_targets::find_for_new(const exchange_request& request, core::steady_time now)
{
    auto found = find(request);
    if (!found || (*found)->tls == nullptr) {
        return found;
    }
    auto states = states_of(request.tls);
    auto [read, first] = readings_.try_emplace(names_of(request.tls), reading{states, now});
    if (first || (read->second.files == states && now - read->second.at < longest_trust)) {
        return found;
    }
    readings_.clear();
    known_.clear();
    contexts_.renew();
    readings_.try_emplace(names_of(request.tls), reading{std::move(states), now});
    return find(request);
}

}  // namespace net
