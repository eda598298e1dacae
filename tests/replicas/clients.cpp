#include "tests/replicas/clients.hpp"

#include <algorithm>
#include <utility>

namespace replicas {
namespace {

using core::json;

std::string params_of(const std::string& key, std::optional<std::uint64_t> if_version, std::string_view more)
{
    std::string text = R"({"id":")" + key + '"';
    if (if_version) {
        text += R"(,"ifVersion":)" + std::to_string(*if_version);
    }
    return text.append(more) += '}';
}

content content_of(const json& agent)
{
    return {agent.at("stored").at("version").get<std::uint64_t>(), agent.at("url").get<std::string>()};
}

bool is_stored(const json& agent)
{
    const auto* stored = core::member(agent, "stored");
    return stored != nullptr && stored->is_object();
}

}  // namespace

moment recorder::now() const
{
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin_).count();
}

void recorder::add(operation each)
{
    const std::lock_guard guard{mutex_};
    operations_.push_back(std::move(each));
}

void recorder::surprise(std::string what)
{
    const std::lock_guard guard{mutex_};
    surprises_.push_back(std::move(what));
}

client::client(recorder& into, const fleet& replicas, int number)
    : into_{into},
      replicas_{replicas},
      number_{number}
{
    for (const auto& each : replicas_) {
        managers_.emplace_back(each->admin());
    }
}

operation client::begin(std::size_t at, const std::string& key, deed what) const
{
    operation each;
    each.client = number_;
    each.replica = static_cast<int>(at) + 1000 * replicas_[at]->life();
    each.key = key;
    each.what = what;
    each.invoked = into_.now();
    return each;
}

void client::end(operation& each, const told& answer)
{
    each.returned = into_.now();
    if (answer.code.empty()) {
        each.came = outcome::done;
    } else if (answer.code == "version_conflict") {
        each.came = outcome::conflict;
    } else if (answer.code == "agent_not_found") {
        each.came = each.reads() ? outcome::done : outcome::absent;
    } else if (answer.code == "store_unreachable" || answer.code == "unreached" || answer.code == "overloaded") {
        each.came = outcome::failed;
    } else if (answer.code == "write_unknown" || answer.code == "lost") {
        each.came = outcome::unknown;
        each.returned = never;
    } else {
        into_.surprise(answer.code + ": " + shown(each));
    }
    if (!each.done()) {
        known_.erase(each.key);
    }
}

void client::keep(operation each)
{
    if (each.done()) {
        known_[each.key] = each.what == deed::remove ? 0 : each.version;
    }
    into_.add(std::move(each));
}

bool client::write(std::size_t at, const std::string& key, std::optional<std::uint64_t> if_version)
{
    auto each = begin(at, key, deed::write);
    each.if_version = if_version;
    each.text = into_.new_text();
    const auto agent = R"(,"agent":{"url":")" + each.text + R"(","card":{"name":"A"}})";
    const auto answer = managers_[at].ask("agents/upsert", params_of(key, if_version, agent));
    end(each, answer);
    if (each.done()) {
        each.version = answer.result.at("version").get<std::uint64_t>();
    }
    const bool done = each.done();
    keep(std::move(each));
    return done;
}

void client::remove(std::size_t at, const std::string& key, std::optional<std::uint64_t> if_version)
{
    auto each = begin(at, key, deed::remove);
    each.if_version = if_version;
    const auto answer = managers_[at].ask("agents/delete", params_of(key, if_version, {}));
    end(each, answer);
    if (each.done()) {
        each.version = answer.result.at("version").get<std::uint64_t>();
    }
    keep(std::move(each));
}

void client::read(std::size_t at, const std::string& key, bool fresh)
{
    auto each = begin(at, key, fresh ? deed::fresh_read : deed::read);
    const auto answer = managers_[at].ask("agents/get", params_of(key, std::nullopt, fresh ? R"(,"fresh":true)" : ""));
    end(each, answer);
    if (!answer.result.is_null()) {
        const auto seen = content_of(answer.result);
        each.version = seen.version;
        each.text = seen.text;
    }
    keep(std::move(each));
}

void client::list_fresh(std::size_t at, const std::vector<std::string>& keys)
{
    const auto first = begin(at, {}, deed::fresh_read);
    const auto answer = managers_[at].ask("agents/list", R"({"limit":1000,"fresh":true})");
    std::map<std::string, content> there;
    if (!answer.result.is_null()) {
        for (const auto& agent : answer.result.at("agents")) {
            if (is_stored(agent)) {
                there[agent.at("id").get<std::string>()] = content_of(agent);
            }
        }
    }
    for (const auto& key : keys) {
        auto each = first;
        each.key = key;
        end(each, answer);
        each.version = there[key].version;
        each.text = there[key].text;
        keep(std::move(each));
    }
}

void client::act(std::mt19937_64& random, const std::vector<std::string>& keys)
{
    const auto at = random() % replicas_.size();
    const auto& key = keys[random() % keys.size()];
    const auto how = random() % 100;
    std::optional<std::uint64_t> if_version;
    if (const auto known = known_.find(key); known != known_.end() && random() % 2 == 0) {
        if_version = known->second;
    }
    if (how < 35) {
        write(at, key, if_version);
    } else if (how < 45) {
        remove(at, key, if_version == 0 ? std::nullopt : if_version);
    } else if (how < 97) {
        read(at, key, how >= 70);
    } else {
        list_fresh(at, keys);
    }
}

crowd::crowd(recorder& into, const fleet& replicas, std::vector<std::string> keys, std::uint64_t seed)
    : into_{into},
      replicas_{replicas},
      keys_{std::move(keys)}
{
    for (int i = 1; i <= size; ++i) {
        threads_.emplace_back([this, i, seed] { run(i, seed + static_cast<std::uint64_t>(i)); });
    }
}

void crowd::run(int number, std::uint64_t seed)
{
    std::mt19937_64 random{seed};
    client each{into_, replicas_, number};
    while (!over_) {
        if (!held_) {
            each.act(random, keys_);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{random() % 60});
    }
}

void crowd::stop()
{
    over_ = true;
    for (auto& each : std::exchange(threads_, {})) {
        each.join();
    }
}

std::optional<std::map<std::string, content>> list_of(const replica& at, bool fresh)
{
    const auto answer =
        manager{at.admin(), 2s}.ask("agents/list", fresh ? R"({"limit":1000,"fresh":true})" : R"({"limit":1000})");
    if (answer.result.is_null()) {
        return std::nullopt;
    }
    std::map<std::string, content> there;
    for (const auto& agent : answer.result.at("agents")) {
        if (is_stored(agent)) {
            there[agent.at("id").get<std::string>()] = content_of(agent);
        }
    }
    return there;
}

std::vector<trail_line> trail_of(const replica& at)
{
    manager asking{at.admin()};
    std::vector<trail_line> all;
    for (bool more = true; more;) {
        const auto after = all.empty() ? 0 : all.back().version;
        const auto answer = asking.ask("agents/changes", R"({"limit":1000,"after":)" + std::to_string(after) + "}");
        more = false;
        for (const auto& each : answer.result.at("changes")) {
            all.push_back(
                {each.at("version").get<std::uint64_t>(),
                 each.at("action").get<std::string>(),
                 each.at("agent").get<std::string>()}
            );
            more = true;
        }
    }
    return all;
}

}  // namespace replicas
