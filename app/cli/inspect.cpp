// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"

#include "arguments.h"
#include "console.h"
#include "exit_code.h"
#include "sources.h"

#include "core/channel_map.h"
#include "core/frequency_rules.h"
#include "core/in_distribution.h"
#include "core/rope_math.h"
#include "core/temperature.h"
#include "core/validate.h"

#include <QString>

#include <array>
#include <cmath>

namespace ropewalk {
namespace {

constexpr std::array kOptions{OptionInfo{"--set", true, true}, OptionInfo{"--layer-type", true},
                              OptionInfo{"--json"}};

/// A table for a terminal: columns as wide as their widest cell, the last one ragged.
class TextTable
{
public:
    explicit TextTable(QStringList heads) { add(std::move(heads)); }

    void add(QStringList cells) { m_rows.push_back(std::move(cells)); }

    QString text(bool isRightAligned) const
    {
        std::vector<qsizetype> widths;
        for (const QStringList& row : m_rows) {
            widths.resize(std::max(widths.size(), static_cast<std::size_t>(row.size())), 0);
            for (qsizetype i = 0; i < row.size(); ++i)
                widths[static_cast<std::size_t>(i)] =
                    std::max(widths[static_cast<std::size_t>(i)], row[i].size());
        }
        QString text;
        for (const QStringList& row : m_rows) {
            QString line;
            for (qsizetype i = 0; i < row.size(); ++i) {
                const qsizetype width = widths[static_cast<std::size_t>(i)];
                const bool isLast = i + 1 == row.size();
                line += QLatin1String("  ");
                line +=
                    isRightAligned && !isLast ? row[i].rightJustified(width) : row[i].leftJustified(width);
            }
            while (line.endsWith(QLatin1Char(' ')))
                line.chop(1);
            text += line + QLatin1Char('\n');
        }
        return text;
    }

private:
    std::vector<QStringList> m_rows;
};

QString number(double value)
{
    return QString::fromStdString(shortNumber(value));
}

/// A wavelength is a number of tokens, and a long one is read more easily without an exponent.
QString wavelengthText(double tokens)
{
    return tokens >= 1e5 && tokens < 1e15 ? QString::number(std::llround(tokens)) : number(tokens);
}

QString length(const std::optional<std::int64_t>& value)
{
    return value ? QString::number(*value) : QStringLiteral("not stated");
}

QString ruleText(const RopeConfig& config)
{
    if (pairCount(config) == 0)
        return QStringLiteral("none");
    const FrequencyRuleInfo& rule = info(config.rule);
    QString text = QString::fromUtf8(rule.word.data(), static_cast<qsizetype>(rule.word.size()));
    for (const RuleParameterInfo& parameter : rule.parameters) {
        const QString key =
            QString::fromUtf8(parameter.key.data(), static_cast<qsizetype>(parameter.key.size()));
        QString shown;
        if (parameter.list) {
            shown = QStringLiteral("(%1 values)").arg((config.parameters.*parameter.list).size());
        } else if (parameter.spacing) {
            const auto spacing = word((config.parameters.*parameter.spacing).value_or(Spacing::Geometric));
            shown = QString::fromUtf8(spacing.data(), static_cast<qsizetype>(spacing.size()));
        } else {
            const std::optional<double> value = effectiveParameter(config, parameter);
            if (!value)
                continue;
            shown = parameter.number ? number(*value) : QLatin1String(*value != 0.0 ? "true" : "false");
        }
        text += QStringLiteral(", %1 %2").arg(key, shown);
    }
    return text;
}

QString temperatureText(const RopeConfig& config)
{
    const TemperatureInfo& rule = info(config.temperature.rule);
    const auto asText = [](std::string_view text) {
        return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
    };
    QString text = asText(rule.word);
    const auto length = inferenceLength(config);
    if (rule.rule == TemperatureRule::None)
        return text;
    text += QStringLiteral(", ") + asText(rule.formula);
    if (length)
        if (const auto tau = temperatureAt(config, static_cast<double>(*length)))
            text += QStringLiteral(", %1 at %2 tokens").arg(number(*tau)).arg(*length);
    return isInAttentionFactor(config) ? text + QStringLiteral(", as attention_factor²") : text;
}

QString layoutText(const RopeConfig& config)
{
    const int width = config.rotaryDim;
    const bool isHalf = config.layout == Layout::Half;
    if (config.channels == ChannelScheme::TwoBlocks)
        return isHalf ? QStringLiteral(
                            "half-split in each half of the head: channels i and i + %1, %2 + i and %3 + i")
                            .arg(width / 4)
                            .arg(width / 2)
                            .arg(width / 4 * 3)
                      : QStringLiteral("interleaved: channels 2i and 2i + 1, in each half of the head");
    const int first = config.channels == ChannelScheme::Last ? config.headDim - width : 0;
    if (first == 0)
        return isHalf ? QStringLiteral("half-split: channels i and i + %1").arg(width / 2)
                      : QStringLiteral("interleaved: channels 2i and 2i + 1");
    return isHalf ? QStringLiteral("half-split: channels %1 + i and %2 + i").arg(first).arg(first + width / 2)
                  : QStringLiteral("interleaved: channels %1 + 2i and %2 + 2i").arg(first).arg(first + 1);
}

QString settings(const RopeConfig& config, const FrequencyTable& table)
{
    const QString layout = layoutText(config);
    const auto training = trainingLength(config);
    TextTable lines({QStringLiteral("head_dim"), QString::number(config.headDim)});
    const std::string_view scheme = channelsWord(config);
    lines.add({QStringLiteral("channels"),
               QString::fromUtf8(scheme.data(), static_cast<qsizetype>(scheme.size()))});
    lines.add({QStringLiteral("rotary_dim"), QStringLiteral("%1 (%2 pairs turn, %3 stay)")
                                                 .arg(formedWidth(config))
                                                 .arg(table.turningPairs())
                                                 .arg(config.headDim / 2 - table.turningPairs())});
    if (pairCount(config) != 0) {
        lines.add({QStringLiteral("layout"), layout});
        lines.add({QStringLiteral("base"), QString::fromStdString(shortNumber(config.base, 9))});
    }
    lines.add({QStringLiteral("rule"), ruleText(config)});
    lines.add({QStringLiteral("attention_factor"), number(table.attentionFactor)});
    lines.add({QStringLiteral("softmax_factor"), number(config.softmaxFactor)});
    lines.add({QStringLiteral("temperature"), temperatureText(config)});
    if (config.xpos)
        lines.add(
            {QStringLiteral("xpos"), QStringLiteral("γ %1, scale_base %2")
                                         .arg(number(config.xpos->gamma), number(config.xpos->scaleBase))});
    lines.add({QStringLiteral("max_position_embeddings"), length(config.maxPositionEmbeddings)});
    lines.add(
        {QStringLiteral("original_max_position_embeddings"), length(config.originalMaxPositionEmbeddings)});
    lines.add({QStringLiteral("training length"), length(training)});
    lines.add({QStringLiteral("length"), length(inferenceLength(config))});
    return lines.text(false);
}

QString zone(const FrequencyTable& table, std::size_t pair)
{
    if (table.keptShare.empty()) {
        if (table.scaled[pair] == table.plain[pair])
            return QStringLiteral("kept");
        return table.scaled[pair] < table.plain[pair] ? QStringLiteral("slowed") : QStringLiteral("faster");
    }
    const double kept = table.keptShare[pair];
    if (kept == 1.0)
        return QStringLiteral("kept");
    return kept == 0.0 ? QStringLiteral("slowed") : QStringLiteral("blended");
}

QString pairs(const RopeConfig& config, const FrequencyTable& table)
{
    const ChannelMap channels = channelMap(config);
    const auto training = trainingLength(config);
    TextTable rows({QStringLiteral("pair"), QStringLiteral("channels"), QStringLiteral("θ plain"),
                    QStringLiteral("θ"), QStringLiteral("wavelength"), QStringLiteral("turns in training"),
                    QStringLiteral("zone")});
    const auto cell = [](const std::pair<int, int>& pair) {
        return QStringLiteral("%1, %2").arg(pair.first).arg(pair.second);
    };
    for (int pair = 0; pair < channels.pairCount(); ++pair) {
        const auto i = static_cast<std::size_t>(pair);
        if (!table.turns(pair)) {
            rows.add({QString::number(pair), cell(channels.pair(pair)),
                      i < table.plain.size() ? number(table.plain[i]) : QStringLiteral("0"),
                      QStringLiteral("0"), QStringLiteral("–"), QStringLiteral("0"),
                      QStringLiteral("still")});
            continue;
        }
        const double theta = table.scaled[i];
        rows.add({QString::number(pair), cell(channels.pair(pair)), number(table.plain[i]), number(theta),
                  wavelengthText(kTwoPi / theta),
                  training ? number(static_cast<double>(*training) * theta / kTwoPi) : QStringLiteral("–"),
                  zone(table, i)});
    }
    return rows.text(true);
}

QString percent(double share)
{
    return QString::fromStdString(shortNumber(100.0 * share, 4)) + QStringLiteral(" %");
}

/// What a model meets beyond its training length that it was not shown.
QString inDistribution(const RopeConfig& config, const FrequencyTable& table)
{
    const auto training = trainingLength(config);
    if (!training || table.turningPairs() == 0)
        return {};
    TextTable lines({QStringLiteral("in distribution"),
                     QStringLiteral("turns and arcs against %1 training tokens").arg(*training)});
    const InDistribution at = *inDistributionAt(config, *training);
    lines.add({QStringLiteral("full turn in training"),
               QStringLiteral("%1 of %2 pairs that turn; the slowest makes %3 turns")
                   .arg(at.fullTurnPairs)
                   .arg(at.turningPairs)
                   .arg(number(at.slowestCycles))});
    const bool isPlainSchedule =
        config.rule != FrequencyRule::RopeId && config.rule != FrequencyRule::Explicit;
    if (isPlainSchedule)
        lines.add(
            {QStringLiteral("critical dimension"),
             QStringLiteral("%1 of %2 channels")
                 .arg(criticalDimension(scheduleWidth(config), config.base, static_cast<double>(*training)))
                 .arg(scheduleWidth(config))});
    // Above this the sweep over distances would take seconds.
    constexpr std::int64_t kLongest = std::int64_t{1} << 24;
    for (const int times : {2, 8, 32}) {
        const std::int64_t length = *training * times;
        if (length > kLongest)
            continue;
        const InDistribution far = *inDistributionAt(config, length);
        lines.add({QStringLiteral("at %1 tokens (%2T)").arg(length).arg(times),
                   QStringLiteral("mean unseen arc %1, largest %2, %3 pairs; %4 of the distances unseen")
                       .arg(percent(far.meanUnseenArc), percent(far.largestUnseenArc))
                       .arg(far.unseenPairs)
                       .arg(percent(far.meanUnseenDistances))});
    }
    return lines.text(false);
}

QString notes(const std::vector<Issue>& issues)
{
    if (issues.empty())
        return {};
    TextTable rows({QStringLiteral("what was found")});
    for (const Issue& issue : issues)
        rows.add({QString::fromUtf8(word(issue.severity).data(),
                                    static_cast<qsizetype>(word(issue.severity).size())),
                  QString::fromStdString(issue.field), QString::fromStdString(toEnglish(issue.text))});
    return rows.text(false);
}

QString page(const InspectedFile& file)
{
    QString text;
    if (file.configurations.empty())
        text = QString::fromStdString(file.file) + QLatin1Char('\n') + notes(file.notes);
    for (const RopeConfig& config : file.configurations) {
        std::vector<Issue> issues = file.notes;
        issues.insert(issues.end(), config.notes.begin(), config.notes.end());
        const FrequencyTable table = frequencyTable(config);
        text += QString::fromStdString(printable(config.name)); // a stranger's words
        if (config.layerType)
            text += QStringLiteral(" · ") + QString::fromStdString(*config.layerType);
        text += QStringLiteral(" · ") + QString::fromStdString(file.file) + QLatin1Char('\n');
        text += settings(config, table) + QLatin1Char('\n') + notes(issues) + QLatin1Char('\n') +
                pairs(config, table);
        if (const QString summary = inDistribution(config, table); !summary.isEmpty())
            text += QLatin1Char('\n') + summary;
    }
    return text;
}

/// One line a configuration: what tells several files apart at a glance.
QString comparison(const std::vector<InspectedFile>& files)
{
    TextTable rows({QStringLiteral("file"), QStringLiteral("layers"), QStringLiteral("head_dim"),
                    QStringLiteral("rotary_dim"), QStringLiteral("layout"), QStringLiteral("base"),
                    QStringLiteral("rule"), QStringLiteral("A"), QStringLiteral("softmax"),
                    QStringLiteral("training"), QStringLiteral("longest wavelength"),
                    QStringLiteral("turns in training")});
    const QString none = QStringLiteral("–");
    for (const InspectedFile& file : files) {
        const QString name = QString::fromStdString(file.file);
        if (file.configurations.empty())
            rows.add({name, none, none, none, none, none, QStringLiteral("none")});
        for (const RopeConfig& config : file.configurations) {
            const FrequencyTable table = frequencyTable(config);
            const auto training = trainingLength(config);
            double slowest = 0.0;
            for (const double theta : table.scaled)
                if (theta > 0.0 && (slowest == 0.0 || theta < slowest))
                    slowest = theta;
            const bool turns = slowest > 0.0;
            const auto layout = word(config.layout);
            const auto rule = info(config.rule).word;
            // Kinds of tokens and parts of a model are told apart by the name.
            const QString layers = config.layerType ? QString::fromStdString(*config.layerType)
                                   : file.configurations.size() == 1
                                       ? QStringLiteral("all")
                                       : QString::fromStdString(printable(config.name));
            rows.add({name, layers, QString::number(config.headDim), QString::number(formedWidth(config)),
                      turns ? QString::fromUtf8(layout.data(), static_cast<qsizetype>(layout.size())) : none,
                      turns ? QString::fromStdString(shortNumber(config.base, 9)) : none,
                      QString::fromUtf8(rule.data(), static_cast<qsizetype>(rule.size())),
                      number(table.attentionFactor), number(config.softmaxFactor), length(training),
                      turns ? wavelengthText(kTwoPi / slowest) : none,
                      turns && training ? number(static_cast<double>(*training) * slowest / kTwoPi) : none});
        }
    }
    return QStringLiteral("comparison\n") + rows.text(false);
}

/// The settings on one file; what they make impossible is an error.
Result<void> applyTo(InspectedFile& file, const std::vector<Setting>& settings)
{
    std::vector<FigureConfiguration> shown;
    for (std::size_t i = 0; i < file.configurations.size(); ++i)
        shown.push_back({file.configurations[i], std::string(1, static_cast<char>('A' + i % 26)), 0});
    FigureOptions options;
    if (const Result<void> applied = applySettings(settings, shown, options); !applied)
        return applied;
    noteSettings(settings, shown);
    for (std::size_t i = 0; i < shown.size(); ++i) {
        RopeConfig& config = file.configurations[i];
        config = std::move(shown[i].config);
        const std::vector<Issue> issues = validate(config);
        if (const Issue* error = firstError(issues))
            return Error{ErrorCode::BadInput, error->text, file.file};
        for (const Issue& issue : issues)
            if (std::find(config.notes.begin(), config.notes.end(), issue) == config.notes.end())
                config.notes.push_back(issue);
    }
    return {};
}

} // namespace

int runInspect(const QStringList& arguments)
{
    const Result<Arguments> sorted = sortArguments(arguments, kOptions);
    if (!sorted)
        return printError(sorted.error());
    if (sorted->words.isEmpty())
        return printError(
            {ErrorCode::Usage, "inspect needs a FILE; expected ropewalk inspect config.json", {}});
    const Result<std::vector<Setting>> settings = settingsOf(*sorted);
    if (!settings)
        return printError(settings.error());
    std::vector<InspectedFile> files;
    // All files are read before anything is printed, so that a bad one leaves no half of an answer.
    int worst = kExitFine;
    for (const QString& path : sorted->words) {
        Result<InspectedFile> file = readConfigurationFile(path);
        Result<void> done;
        if (!file)
            done = file.error();
        else if (sorted->has("--layer-type"))
            done = keepLayerType(*file, sorted->value("--layer-type"));
        if (done)
            done = applyTo(*file, *settings);
        if (!done)
            worst = std::max(worst, printError(done.error()));
        else
            files.push_back(std::move(*file));
    }
    if (worst != kExitFine)
        return worst;
    if (sorted->has("--json"))
        return printOut(inspectToJson(files));
    QStringList pages;
    for (const InspectedFile& file : files)
        pages += page(file);
    if (files.size() > 1)
        pages += comparison(files);
    return printOut(pages.join(QLatin1Char('\n')).toStdString());
}

} // namespace ropewalk
