// SPDX-License-Identifier: GPL-3.0-or-later
#include "../published_results.h"
#include "figures.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace ropewalk {
namespace {

/// "rope_id_scaled" of "RoPE-ID (scaled)".
std::string seriesName(std::string_view method)
{
    std::string name;
    for (const char c : method)
        if (std::isalnum(static_cast<unsigned char>(c)))
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (c != ')' && !name.empty() && name.back() != '_')
            name += '_';
    return name;
}

} // namespace

/// Published scores as bars grouped by length or model, and the numbers themselves. Nothing here is computed.
FigureSpec buildResults(const FigureResults& results)
{
    FigureSpec figure;
    const PublishedTable& published = *findPublishedTable(results.options.settings.text("results_table"));
    TableSpec table;
    table.rows = static_cast<int>(published.rows.size());
    for (const PublishedRow& row : published.rows)
        table.rowHeads.push_back(std::string(row.label));
    double greatest = 0.0;
    std::vector<std::vector<TableCell>> columns;
    for (std::size_t method = 0; method < published.methods.size(); ++method) {
        if (published.methods[method].empty())
            continue;
        Series bars;
        bars.name = seriesName(published.methods[method]);
        bars.unit = "percent";
        bars.xUnit = "row";
        bars.style = SeriesStyle::Bars;
        bars.colour = static_cast<int>(method);
        bars.label = std::string(published.methods[method]);
        std::vector<double> x, y;
        std::vector<TableCell> column;
        for (std::size_t row = 0; row < published.rows.size(); ++row) {
            const std::optional<double>& score = published.rows[row].scores[method];
            x.push_back(static_cast<double>(row));
            y.push_back(score.value_or(std::numeric_limits<double>::quiet_NaN()));
            greatest = std::max(greatest, score.value_or(0.0));
            TableCell cell{score ? Message(shortNumber(*score, 4)) : Message()};
            const auto& all = published.rows[row].scores;
            cell.isStrong = score && std::all_of(all.begin(), all.end(), [&](const auto& other) {
                                return !other || *other <= *score;
                            });
            column.push_back(std::move(cell));
        }
        bars.x = makeValues(std::move(x));
        bars.y = makeValues(std::move(y));
        figure.series.push_back(std::move(bars));
        table.columnHeads.push_back(std::string(published.methods[method]));
        columns.push_back(std::move(column));
    }
    table.columns = static_cast<int>(columns.size());
    for (std::size_t row = 0; row < published.rows.size(); ++row)
        for (std::vector<TableCell>& column : columns)
            table.cells.push_back(std::move(column[row]));

    figure.xAxis = {published.word == "longbench" ? "model" : "length (tokens)", AxisKind::Categories, false,
                    -0.5, static_cast<double>(published.rows.size()) - 0.5};
    for (const PublishedRow& row : published.rows)
        figure.xAxis.categories.push_back(std::string(row.label));
    figure.yAxis = {"score (%)", AxisKind::Plain, false, 0.0, std::ceil(greatest * 1.25 / 5.0) * 5.0};
    PlotSpec numbers;
    numbers.row = 1;
    numbers.table = std::move(table);
    numbers.plotTitle = "the highest of a row is bold";
    figure.more.push_back(std::move(numbers));
    figure.rowShares = {3.0, 1.0};

    figure.title = {"Published: {table}", {{"table", std::string(published.title)}}};
    figure.source = std::string(published.source);
    figure.caption = {published.mark == ResultMark::SecondHand
                          ? "as published, second-hand, not computed here · {caveat}"
                          : "as an article prints it, not computed here · {caveat}",
                      {{"caveat", std::string(published.mainCaveat)}}};
    for (const std::string_view caveat : published.caveats)
        figure.notes.push_back({Severity::Read, "results_table", std::string(caveat)});
    std::string numbersRead;
    for (const PublishedRow& row : published.rows) {
        numbersRead += numbersRead.empty() ? "" : "; ";
        numbersRead += std::string(row.label) + ":";
        for (std::size_t method = 0; method < published.methods.size(); ++method)
            if (row.scores[method])
                numbersRead +=
                    " " + std::string(published.methods[method]) + " " + shortNumber(*row.scores[method], 4);
    }
    figure.summary = {"{table}, percent. {numbers}.",
                      {{"table", std::string(published.title)}, {"numbers", numbersRead}}};
    return figure;
}

} // namespace ropewalk
