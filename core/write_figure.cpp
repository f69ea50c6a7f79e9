// SPDX-License-Identifier: GPL-3.0-or-later
#include "write_figure.h"

#include "channel_map.h"
#include "frequency_rules.h"
#include "json_writer.h"
#include "temperature.h"
#include "validate.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ropewalk {
namespace {

using Style = JsonWriter::Style;

void writeNotes(JsonWriter& json, const std::vector<Issue>& notes)
{
    json.beginArray();
    for (const Issue& note : notes) {
        json.beginObject(Style::Inline);
        json.member("severity", word(note.severity));
        json.member("field", note.field);
        json.member("text", toEnglish(note.text));
        json.endObject();
    }
    json.endArray();
}

void writeRuleParameters(JsonWriter& json, const RopeConfig& config)
{
    json.beginObject(Style::Inline);
    if (pairCount(config) != 0)
        for (const RuleParameterInfo& parameter : info(config.rule).parameters) {
            json.key(parameter.key);
            if (parameter.number)
                json.value(effectiveParameter(config, parameter));
            else if (parameter.truth)
                json.value(effectiveParameter(config, parameter) != 0.0);
            else if (parameter.list)
                json.value(config.parameters.*parameter.list);
            else
                json.value(word((config.parameters.*parameter.spacing).value_or(Spacing::Geometric)));
        }
    if (config.xpos) {
        json.member("xpos_gamma", config.xpos->gamma);
        json.member("xpos_scale_base", config.xpos->scaleBase);
    }
    json.endObject();
}

void writeTemperature(JsonWriter& json, const RopeConfig& config)
{
    const Temperature& temperature = config.temperature;
    const TemperatureInfo& rule = info(temperature.rule);
    const bool isOn = temperature.rule != TemperatureRule::None;
    const auto length = inferenceLength(config);
    json.beginObject(Style::Inline);
    json.member("rule", rule.word);
    json.member("coefficient", rule.coefficient
                                   ? std::optional(temperature.coefficient.value_or(*rule.coefficient))
                                   : std::nullopt);
    json.member("reference_length", temperatureLength(config));
    json.member("per_query", isOn && !rule.isConstant ? std::optional(temperature.isPerQuery) : std::nullopt);
    json.member("floor", rule.hasFloorChoice ? std::optional(temperature.hasFloor) : std::nullopt);
    // What a query at the end of the length sees.
    json.member("value", length || rule.isConstant
                             ? temperatureAt(config, static_cast<double>(length.value_or(1)))
                             : std::nullopt);
    json.member("in_attention_factor", isInAttentionFactor(config));
    json.endObject();
}

/// How the pairs share three positions; with text alone this is rotation by one.
Message mropeText(const RopeConfig& config)
{
    std::string sections;
    for (const int section : config.mropeSection)
        sections += (sections.empty() ? "" : ", ") + std::to_string(section);
    return {config.isMropeInterleaved ? "{sections} pairs follow time, height and width in turn; drawn for "
                                        "text, where all three are alike"
                                      : "{sections} pairs in a row follow time, height and width; drawn for "
                                        "text, where all three are alike",
            {{"sections", sections}}};
}

void writeConfiguration(JsonWriter& json, const RopeConfig& config)
{
    std::vector<Issue> notes = config.notes;
    const std::vector<Issue> found = validate(config);
    // The reader has put what it found into the notes already.
    for (const Issue& issue : found)
        if (std::find(notes.begin(), notes.end(), issue) == notes.end())
            notes.push_back(issue);
    if (!config.mropeSection.empty())
        notes.push_back({Severity::Read, "mrope_section", mropeText(config)});
    const bool isPossible = !hasError(found);
    const bool turns = pairCount(config) != 0;
    const FrequencyTable table = isPossible ? frequencyTable(config) : FrequencyTable{};

    json.beginObject();
    json.member("name", config.name);
    json.member("layer_type", config.layerType);
    json.member("head_dim", config.headDim);
    json.member("rotary_dim", formedWidth(config));
    json.member("rotated_channels", isPossible ? 2 * table.turningPairs() : formedWidth(config));
    json.key("pairs");
    json.beginArray(Style::Inline);
    if (isPossible)
        for (const auto& [a, b] : channelMap(config).formed) {
            json.beginArray(Style::Inline);
            json.value(a);
            json.value(b);
            json.endArray();
        }
    json.endArray();
    json.member("channels", channelsWord(config));
    json.member("layout", turns ? std::optional(word(config.layout)) : std::nullopt);
    json.member("base", turns ? std::optional(config.base) : std::nullopt);
    json.member("rule", turns ? info(config.rule).word : std::string_view("none"));
    json.key("rule_parameters");
    writeRuleParameters(json, config);
    json.member("attention_factor", isPossible ? std::optional(table.attentionFactor) : std::nullopt);
    json.member("softmax_factor", config.softmaxFactor);
    json.key("temperature");
    writeTemperature(json, config);
    json.member("max_position_embeddings", config.maxPositionEmbeddings);
    json.member("original_max_position_embeddings", config.originalMaxPositionEmbeddings);
    json.member("training_length", trainingLength(config));
    json.member("length", inferenceLength(config));
    json.key("inv_freq");
    if (isPossible)
        json.value(table.scaled);
    else
        json.null();
    json.key("notes");
    writeNotes(json, notes);
    json.endObject();
}

void writeSeries(JsonWriter& json, const Series& series)
{
    json.beginObject();
    json.member("configuration", series.configuration);
    json.member("name", series.name);
    json.member("unit", series.unit);
    json.member("x_unit", series.xUnit);
    json.key("x");
    json.value(series.x ? std::span<const double>(*series.x) : std::span<const double>());
    json.key("y");
    json.value(series.y ? std::span<const double>(*series.y) : std::span<const double>());
    json.endObject();
}

void writeMap(JsonWriter& json, const MapSpec& map)
{
    json.beginObject();
    json.member("configuration", map.configuration);
    json.member("name", map.name);
    json.member("unit", map.unit);
    json.member("rows", map.rows);
    json.member("columns", map.columns);
    json.member("block", map.block);
    json.member("pooling", map.pooling);
    json.key("values");
    json.value(map.values ? std::span<const double>(*map.values) : std::span<const double>());
    json.endObject();
}

void writePhasor(JsonWriter& json, const Phasor& phasor)
{
    json.beginObject(Style::Inline);
    json.member("configuration", phasor.configuration);
    json.member("pair", phasor.pair);
    json.member("position", phasor.position);
    json.member("name", phasor.name);
    json.member("re", phasor.re);
    json.member("im", phasor.im);
    json.endObject();
}

void writeMarker(JsonWriter& json, const Marker& marker)
{
    json.beginObject(Style::Inline);
    json.member("configuration", marker.configuration);
    json.member("name", marker.name);
    json.member("x", marker.x);
    json.member("value", marker.value);
    json.endObject();
}

template<class T, class Write>
void writeList(JsonWriter& json, std::string_view name, const std::vector<T>& items, Write write)
{
    json.key(name);
    json.beginArray();
    for (const T& item : items)
        write(json, item);
    json.endArray();
}

/// A cell of RFC 4180.
std::string csvCell(std::string_view text)
{
    if (text.find_first_of(",\"\r\n") == std::string_view::npos)
        return std::string(text);
    std::string cell = "\"";
    for (const char c : text) {
        if (c == '"')
            cell += '"';
        cell += c;
    }
    return cell += '"';
}

void appendCell(std::string& csv, double value)
{
    if (std::isfinite(value))
        appendDouble(csv, value);
}

std::string letterOf(const FigureSpec& figure, int configuration)
{
    const auto at = static_cast<std::size_t>(configuration);
    return configuration >= 0 && at < figure.configurations.size() ? figure.configurations[at].letter
                                                                   : std::string();
}

/// The series whose x counts the same thing, beside one column of x: all x of all of them, ascending.
struct CsvBlock
{
    std::string xUnit;
    std::vector<const Series*> series;
    std::vector<double> x;
    const std::vector<Message>* names = nullptr; ///< of x = 0, 1, 2, … where it counts names
};

/// Rows on their way to a sink, about a megabyte at a time.
class CsvText
{
public:
    explicit CsvText(const TextSink& sink)
        : m_sink(sink)
    {
    }
    void endRow()
    {
        constexpr std::size_t kPiece = std::size_t{1} << 20;
        text += '\n';
        if (text.size() >= kPiece)
            flush();
    }
    void flush()
    {
        m_sink(text);
        text.clear();
    }

    std::string text;

private:
    const TextSink& m_sink;
};

/// The name of x, or nothing.
std::string nameAt(const std::vector<Message>& names, double x)
{
    return x >= 0.0 && x < static_cast<double>(names.size()) && x == std::floor(x)
               ? toEnglish(names[static_cast<std::size_t>(x)])
               : std::string();
}

bool hasExportedSeries(const FigureSpec& figure)
{
    const std::vector<const PlotSpec*> plots = figure.plots();
    return std::any_of(plots.begin(), plots.end(), [](const PlotSpec* plot) {
        return std::any_of(plot->series.begin(), plot->series.end(),
                           [](const Series& series) { return series.x && series.y && series.isExported; });
    });
}

void addToBlocks(std::vector<CsvBlock>& blocks, const PlotSpec& plot, const Series& series)
{
    auto block = std::find_if(blocks.begin(), blocks.end(),
                              [&](const CsvBlock& candidate) { return candidate.xUnit == series.xUnit; });
    if (block == blocks.end())
        block = blocks.insert(block, CsvBlock{series.xUnit, {}, {}});
    block->series.push_back(&series);
    // What is drawn along an axis of names counts them.
    if (plot.xAxis.kind == AxisKind::Categories && series.style != SeriesStyle::DataOnly)
        block->names = &plot.xAxis.categories;
    if (block->x == *series.x)
        return;
    std::vector<double> merged;
    merged.reserve(std::max(block->x.size(), series.x->size()));
    std::set_union(block->x.begin(), block->x.end(), series.x->begin(), series.x->end(),
                   std::back_inserter(merged));
    block->x = std::move(merged);
}

std::vector<CsvBlock> csvBlocks(const FigureSpec& figure)
{
    std::vector<CsvBlock> blocks;
    for (const PlotSpec* plot : figure.plots())
        for (const Series& series : plot->series)
            if (series.x && series.y && series.isExported)
                addToBlocks(blocks, *plot, series);
    return blocks;
}

void appendSeriesRows(CsvText& csv, const FigureSpec& figure)
{
    const std::vector<CsvBlock> blocks = csvBlocks(figure);
    std::size_t rows = 0;
    std::string separator;
    for (const CsvBlock& block : blocks) {
        rows = std::max(rows, block.x.size());
        csv.text += separator + csvCell(block.xUnit);
        separator = ",";
        if (block.names)
            csv.text += "," + csvCell(block.xUnit + "_name");
        for (const Series* series : block.series)
            csv.text += separator + csvCell(letterOf(figure, series->configuration) + "." + series->name);
    }
    csv.endRow();
    // Where each series has got to; a series has no cell at an x that is not its own.
    std::vector<std::vector<std::size_t>> next;
    for (const CsvBlock& block : blocks)
        next.emplace_back(block.series.size(), 0);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            const CsvBlock& block = blocks[b];
            if (b > 0)
                csv.text += ',';
            const bool hasRow = row < block.x.size();
            if (hasRow)
                appendCell(csv.text, block.x[row]);
            if (block.names)
                csv.text += "," + (hasRow ? csvCell(nameAt(*block.names, block.x[row])) : std::string());
            for (std::size_t s = 0; s < block.series.size(); ++s) {
                csv.text += ',';
                const Series& series = *block.series[s];
                std::size_t& at = next[b][s];
                if (hasRow && at < series.x->size() && at < series.y->size() &&
                    (*series.x)[at] == block.x[row])
                    appendCell(csv.text, (*series.y)[at++]);
            }
        }
        csv.endRow();
    }
}

void appendMapRows(CsvText& csv, const FigureSpec& figure)
{
    csv.text += "configuration,name,row,column,value\n";
    for (const PlotSpec* plot : figure.plots())
        for (const MapSpec& map : plot->maps) {
            if (!map.values)
                continue;
            const std::string start =
                csvCell(letterOf(figure, map.configuration)) + "," + csvCell(map.name) + ",";
            for (std::int64_t row = 0; row < map.rows; ++row)
                for (std::int64_t column = 0; column < map.columns; ++column) {
                    csv.text += start + std::to_string(row) + "," + std::to_string(column) + ",";
                    appendCell(csv.text, (*map.values)[static_cast<std::size_t>(row * map.columns + column)]);
                    csv.endRow();
                }
        }
}

void appendPhasorRows(CsvText& csv, const FigureSpec& figure)
{
    csv.text += "configuration,pair,position,name,re,im\n";
    for (const Phasor& phasor : figure.phasors) {
        csv.text += csvCell(letterOf(figure, phasor.configuration)) + "," + std::to_string(phasor.pair) + ",";
        appendCell(csv.text, phasor.position);
        csv.text += "," + csvCell(phasor.name) + ",";
        appendCell(csv.text, phasor.re);
        csv.text += ',';
        appendCell(csv.text, phasor.im);
        csv.endRow();
    }
}

void writeInspected(JsonWriter& json, const InspectedFile& file)
{
    json.beginObject();
    json.member("schema", "ropewalk.inspect/1");
    json.member("file", file.file);
    json.key("notes");
    writeNotes(json, file.notes);
    writeList(json, "configurations", file.configurations, writeConfiguration);
    json.endObject();
}

} // namespace

void writeFigureJson(const FigureSpec& figure, const TextSink& sink)
{
    JsonWriter json(sink);
    json.beginObject();
    json.member("schema", "ropewalk.figure/1");
    json.member("figure", figure.id);
    writeList(json, "configurations", figure.configurations,
              [](JsonWriter& writer, const FigureConfiguration& shown) {
                  writeConfiguration(writer, shown.config);
              });
    json.key("series");
    json.beginArray();
    for (const PlotSpec* plot : figure.plots())
        for (const Series& series : plot->series)
            if (series.isExported)
                writeSeries(json, series);
    json.endArray();
    json.key("maps");
    json.beginArray();
    for (const PlotSpec* plot : figure.plots())
        for (const MapSpec& map : plot->maps)
            writeMap(json, map);
    json.endArray();
    writeList(json, "phasors", figure.phasors, writePhasor);
    json.key("markers");
    json.beginArray();
    for (const PlotSpec* plot : figure.plots())
        for (const Marker& marker : plot->markers)
            writeMarker(json, marker);
    json.endArray();
    json.key("notes");
    writeNotes(json, figure.notes);
    json.key("provenance");
    json.beginObject(Style::Inline);
    const Provenance& provenance = figure.provenance;
    json.member("version", version());
    json.member("backend", provenance.backend);
    json.member("device", provenance.device);
    json.member("precision", provenance.precision);
    json.member("fallback_reason", provenance.fallbackReason.isEmpty()
                                       ? std::nullopt
                                       : std::optional(toEnglish(provenance.fallbackReason)));
    json.endObject();
    json.endObject();
    sink(json.take());
}

std::string figureToJson(const FigureSpec& figure)
{
    std::string text;
    writeFigureJson(figure, [&](std::string_view piece) { text += piece; });
    return text;
}

void writeFigureCsv(const FigureSpec& figure, const TextSink& sink)
{
    CsvText csv(sink);
    // One table a file: the maps where there are any, since they are what cannot be read off a picture.
    const std::vector<const PlotSpec*> plots = figure.plots();
    if (std::any_of(plots.begin(), plots.end(), [](const PlotSpec* plot) { return !plot->maps.empty(); }))
        appendMapRows(csv, figure);
    else if (hasExportedSeries(figure))
        appendSeriesRows(csv, figure);
    else
        appendPhasorRows(csv, figure);
    csv.flush();
}

std::string figureToCsv(const FigureSpec& figure)
{
    std::string text;
    writeFigureCsv(figure, [&](std::string_view piece) { text += piece; });
    return text;
}

std::string inspectToJson(const std::vector<InspectedFile>& files)
{
    JsonWriter json;
    if (files.size() == 1) {
        writeInspected(json, files.front());
        return json.take();
    }
    json.beginArray();
    for (const InspectedFile& file : files)
        writeInspected(json, file);
    json.endArray();
    return json.take();
}

} // namespace ropewalk
