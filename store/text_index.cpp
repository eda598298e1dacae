#include "store/text_index.hpp"

#include "store/sqlite_connection.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <utility>

namespace store {
namespace {

// The constants that are used for BM25 since TREC-3, as in FTS5's own function.
constexpr double saturation = 1.2;
constexpr double length_share = 0.75;

constexpr std::string_view select =
    "SELECT rowid FROM documents WHERE documents MATCH ?1 ORDER BY relevance(documents) DESC, rowid";

// What FTS5 keeps for one question: how rare each of its phrases is, and how long texts are on average.
struct question_facts {
    std::vector<double> rarity;
    std::array<double, text_index::most_texts> mean{};
    std::vector<double> count;  // of each phrase in the document under way
};

int count_row(const Fts5ExtensionApi*, Fts5Context*, void* count)
{
    ++*static_cast<std::int64_t*>(count);
    return SQLITE_OK;
}

int read_facts(const Fts5ExtensionApi& fts, Fts5Context* context, question_facts& facts)
{
    sqlite3_int64 rows = 0;
    int code = fts.xRowCount(context, &rows);
    const auto columns = std::min<int>(fts.xColumnCount(context), text_index::most_texts);
    for (int column = 0; code == SQLITE_OK && column < columns; ++column) {
        sqlite3_int64 size = 0;
        code = fts.xColumnTotalSize(context, column, &size);
        facts.mean[static_cast<std::size_t>(column)] =
            std::max(1.0, static_cast<double>(size) / static_cast<double>(std::max<sqlite3_int64>(rows, 1)));
    }
    const int phrases = fts.xPhraseCount(context);
    for (int phrase = 0; code == SQLITE_OK && phrase < phrases; ++phrase) {
        std::int64_t having = 0;
        code = fts.xQueryPhrase(context, phrase, &having, count_row);
        const auto with = static_cast<double>(having);
        facts.rarity.push_back(std::log1p((static_cast<double>(rows) - with + 0.5) / (with + 0.5)));
    }
    facts.count.resize(facts.rarity.size());
    return code;
}

// Null: no memory, or SQLite's error in `code`.
question_facts* facts_of(const Fts5ExtensionApi& fts, Fts5Context* context, int& code)
{
    if (auto* const known = static_cast<question_facts*>(fts.xGetAuxdata(context, 0))) {
        return known;
    }
    auto facts = std::make_unique<question_facts>();
    code = read_facts(fts, context, *facts);
    if (code != SQLITE_OK) {
        return nullptr;
    }
    auto* const kept = facts.get();
    // FTS5 deletes it also if it fails to keep it.
    code = fts.xSetAuxdata(context, facts.release(), [](void* its) { delete static_cast<question_facts*>(its); });
    return code == SQLITE_OK ? kept : nullptr;
}

core::error has_none()
{
    return core::gateway_error(core::errc::store_failed, "this SQLite has no FTS5");
}

void append_quoted(std::string& to, std::string_view word)
{
    to += '"';
    for (const char c : word) {
        to += c;
        if (c == '"') {
            to += c;
        }
    }
    to += '"';
}

}  // namespace

struct text_index::ranking {
    std::vector<double> weights;
    std::vector<std::size_t> thing_of;  // by phrase
    std::size_t things = 0;

    int add_counts(const Fts5ExtensionApi& fts, Fts5Context* context, question_facts& facts) const;
    double relevance(const question_facts& facts) const;

    static void
    call(const Fts5ExtensionApi* fts, Fts5Context* context, sqlite3_context* result, int, sqlite3_value**) noexcept;
};

int text_index::ranking::add_counts(const Fts5ExtensionApi& fts, Fts5Context* context, question_facts& facts) const
{
    std::ranges::fill(facts.count, 0.0);
    std::array<double, most_texts> worth{};  // of a word in each text
    int code = SQLITE_OK;
    for (std::size_t text = 0; code == SQLITE_OK && text < weights.size(); ++text) {
        int size = 0;
        code = fts.xColumnSize(context, static_cast<int>(text), &size);
        worth[text] = weights[text] / (1 - length_share + length_share * size / facts.mean[text]);
    }
    int places = 0;
    if (code == SQLITE_OK) {
        code = fts.xInstCount(context, &places);
    }
    for (int i = 0; code == SQLITE_OK && i < places; ++i) {
        int phrase = 0;
        int text = 0;
        int offset = 0;
        code = fts.xInst(context, i, &phrase, &text, &offset);
        if (code == SQLITE_OK) {
            facts.count.at(static_cast<std::size_t>(phrase)) += worth.at(static_cast<std::size_t>(text));
        }
    }
    return code;
}

double text_index::ranking::relevance(const question_facts& facts) const
{
    double sum = 0;
    std::bitset<most_things> had;
    for (std::size_t i = 0; i < facts.count.size(); ++i) {
        const double count = facts.count[i];
        if (count > 0) {
            sum += facts.rarity[i] * count * (saturation + 1) / (count + saturation);
            had.set(i < thing_of.size() ? thing_of[i] : 0);
        }
    }
    return sum * std::sqrt(static_cast<double>(had.count()) / static_cast<double>(std::max<std::size_t>(things, 1)));
}

void text_index::ranking::call(
    const Fts5ExtensionApi* fts,
    Fts5Context* context,
    sqlite3_context* result,
    int /*arguments*/,
    sqlite3_value** /*values*/
) noexcept
{
    const auto& its = *static_cast<const ranking*>(fts->xUserData(context));
    int code = SQLITE_OK;
    auto* const facts = facts_of(*fts, context, code);
    if (facts != nullptr) {
        code = its.add_counts(*fts, context, *facts);
    }
    if (code != SQLITE_OK) {
        sqlite3_result_error_code(result, code);
        return;
    }
    sqlite3_result_double(result, its.relevance(*facts));
}

text_index::text_index(std::unique_ptr<sqlite_connection> db, std::span<const double> weights)
    : ranking_{std::make_unique<ranking>()},
      db_{std::move(db)}
{
    ranking_->weights.assign(weights.begin(), weights.end());
    ranking_->weights.resize(std::min(weights.size(), most_texts));
}

text_index::~text_index() = default;

core::result<std::unique_ptr<text_index>> text_index::make(std::span<const double> weights)
{
    auto db = sqlite_connection::open(":memory:", {});
    if (!db) {
        return std::move(db).error();
    }
    std::unique_ptr<text_index> made{new text_index{std::move(*db), weights}};
    if (auto done = made->set_up(); !done) {
        return std::move(done).error();
    }
    return made;
}

core::result<> text_index::set_up()
{
    std::string columns;
    insert_ = "INSERT INTO documents(rowid";
    std::string values = "?1";
    for (std::size_t text = 0; text < ranking_->weights.size(); ++text) {
        const auto name = "text" + std::to_string(text);
        columns += name + ",";
        insert_ += "," + name;
        values += ",?" + std::to_string(text + 2);
    }
    insert_ += ") VALUES(" + values + ")";
    auto done = db_->run(
        "PRAGMA secure_delete=OFF;PRAGMA journal_mode=OFF;PRAGMA temp_store=MEMORY;"
        "CREATE VIRTUAL TABLE documents USING fts5(" +
        columns + "content='',tokenize='porter unicode61');BEGIN"
    );
    if (!done) {
        return done;
    }
    auto* const fts = db_->full_text();
    const bool added =
        fts != nullptr && fts->xCreateFunction(fts, "relevance", ranking_.get(), &ranking::call, nullptr) == SQLITE_OK;
    return added ? core::result<>{} : core::result<>{has_none()};
}

core::result<> text_index::add(std::int64_t number, std::span<const std::string> texts)
{
    query insert{*db_, insert_};
    insert.with(number);
    for (std::size_t text = 0; text < ranking_->weights.size(); ++text) {
        insert.with(text < texts.size() ? std::string_view{texts[text]} : std::string_view{});
    }
    return insert.done();
}

core::result<> text_index::finish()
{
    return db_->run("INSERT INTO documents(documents) VALUES('optimize');COMMIT;PRAGMA shrink_memory");
}

core::result<> text_index::find(std::span<const sought_thing> things, const std::function<bool(std::int64_t)>& take)
    const
{
    std::string expression;
    ranking_->thing_of.clear();
    ranking_->things = std::min(things.size(), most_things);
    for (std::size_t thing = 0; thing < ranking_->things; ++thing) {
        for (const auto& word : things[thing]) {
            expression += expression.empty() ? "" : " OR ";
            append_quoted(expression, word);
            ranking_->thing_of.push_back(thing);
        }
    }
    if (expression.empty()) {
        return {};
    }
    query asked{*db_, select};
    asked.with(expression);
    for (;;) {
        auto row = asked.step();
        if (!row) {
            return std::move(row).error();
        }
        if (!*row || !take(asked.number(0))) {
            return {};
        }
    }
}

std::size_t text_index::bytes() const
{
    const auto pages = db_->number("PRAGMA page_count");
    const auto size = db_->number("PRAGMA page_size");
    return pages && size ? static_cast<std::size_t>(*pages) * static_cast<std::size_t>(*size) : 0;
}

}  // namespace store
