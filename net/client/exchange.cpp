#include "net/client/exchange.hpp"

#include "core/ascii.hpp"
#include "net/client/exchange_run.hpp"

#include <algorithm>
#include <utility>

namespace net {
namespace {

// Else calls that end together close what the next ones need.
constexpr std::size_t most_kept = 100;

}  // namespace

std::string_view exchange_head::field(std::string_view name) const noexcept
{
    const auto found = std::ranges::find(headers, name, &std::pair<std::string, std::string>::first);
    return found == headers.end() ? std::string_view{} : std::string_view{found->second};
}

bool exchange_head::has_type(std::string_view type) const noexcept
{
    const auto value = field("content-type");
    return core::equal_ignoring_case(core::trim(value.substr(0, value.find(';'))), type);
}

class exchange_client::engine {
public:
    engine(loop& on, std::string user_agent)
        : means_{
              .on = on,
              .user_agent = std::move(user_agent),
              .targets = {},
              .pool = upstream_pool{on, pool_settings{.idle_connections = most_kept}}
          }
    {
    }
    ~engine()
    {
        while (!runs_.empty()) {
            runs_.front().abandon();
        }
        close();
    }
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    std::shared_ptr<exchange_run> begin(exchange_request request, exchange_observer& observer)
    {
        auto begun = std::make_shared<exchange_run>(means_, std::move(request), observer);
        runs_.push_back(*begun);
        begun->begin();
        return begun;
    }

    void close() { means_.pool.close(); }

private:
    using run_list = boost::intrusive::
        list<exchange_run, boost::intrusive::base_hook<exchange_hook>, boost::intrusive::constant_time_size<false>>;

    exchange_means means_;
    run_list runs_;
};

class exchange_client::running final : public exchange {
public:
    explicit running(std::shared_ptr<exchange_run> run) noexcept
        : run_{std::move(run)}
    {
    }
    ~running() override { run_->abandon(); }
    running(const running&) = delete;
    running& operator=(const running&) = delete;

private:
    std::shared_ptr<exchange_run> run_;
};

exchange_client::exchange_client(loop& on, std::string user_agent)
    : engine_{std::make_unique<engine>(on, std::move(user_agent))}
{
}

exchange_client::~exchange_client() = default;

std::unique_ptr<exchange> exchange_client::start(exchange_request request, exchange_observer& observer)
{
    return std::make_unique<running>(engine_->begin(std::move(request), observer));
}

void exchange_client::close()
{
    engine_->close();
}

}  // namespace net
