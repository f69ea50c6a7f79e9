// SPDX-License-Identifier: GPL-3.0-or-later
#include "config_panel.h"

#include "../message_text.h"
#include "../window_style.h"
#include "channel_strip.h"
#include "core/config_keys.h"
#include "core/temperature.h"
#include "core/validate.h"
#include "field_row.h"
#include "number_edit.h"
#include "number_list_edit.h"
#include "section.h"
#include "segmented_control.h"
#include "slider_track.h"
#include "value_slider.h"

#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QLabel>
#include <QPainter>
#include <QScrollBar>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ropewalk {
namespace {

constexpr double kPad = 16.0;
constexpr std::int64_t kLongestLength = std::int64_t{1} << 40; // as validate() has it
constexpr int kLargestHeadDim = 8192;
const std::string kTrainingLength = "training_length";

/// Parameters that few people turn; they lie folded.
constexpr std::array<std::string_view, 9> kSecondary{"low_freq_factor",  "high_freq_factor", "truncate",
                                                     "attention_factor", "mscale",           "mscale_all_dim",
                                                     "short_mscale",     "long_mscale",      "spacing"};

bool isSecondary(std::string_view key)
{
    return std::find(kSecondary.begin(), kSecondary.end(), key) != kSecondary.end();
}

QString asText(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

SliderScale scaleOf(const RuleParameterInfo& parameter)
{
    SliderScale scale;
    scale.kind = parameter.isLogarithmic ? SliderScale::Kind::Logarithmic : SliderScale::Kind::Linear;
    scale.lowest = parameter.lowest;
    scale.highest = parameter.highest;
    scale.hardLowest = parameter.key == "factor" ? 1.0
                       : parameter.isLogarithmic ? std::numeric_limits<double>::min()
                                                 : 0.0;
    scale.hardHighest = 1e9;
    return scale;
}

} // namespace

ConfigPanel::ConfigPanel(QWidget* parent)
    : QScrollArea(parent)
    , m_body(new QWidget)
    , m_bodyLayout(new QVBoxLayout(m_body))
    , m_frequencies(new Section(tr("Frequencies"), SectionTitle::Kind::Section, m_body))
    , m_channels(new Section(tr("Channels"), SectionTitle::Kind::Section, m_body))
    , m_score(new Section(tr("more: temperature, xPos"), SectionTitle::Kind::More, m_body))
    , m_rule(new QComboBox)
    , m_parameters(new QVBoxLayout)
    , m_temperature(new QComboBox)
    , m_perQuery(new SegmentedControl({tr("query"), tr("call")}))
    , m_floor(new QCheckBox(tr("not below 1")))
    , m_xpos(new QCheckBox(tr("damps with distance")))
    , m_scheme(new QComboBox)
    , m_layout(new SegmentedControl({tr("half"), tr("interleaved")}))
    , m_strip(new ChannelStrip)
    , m_general(new QLabel)
    , m_bar(new QScrollBar(Qt::Vertical, this))
{
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    // The bar lies over the column's padding, so that nothing is pushed aside when it appears.
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    QScrollBar* hidden = verticalScrollBar();
    connect(hidden, &QScrollBar::rangeChanged, this, &ConfigPanel::placeScrollBar);
    connect(hidden, &QScrollBar::valueChanged, m_bar, &QScrollBar::setValue);
    connect(m_bar, &QScrollBar::valueChanged, hidden, &QScrollBar::setValue);
    setWidgetResizable(true);
    setWidget(m_body);
    m_body->setAutoFillBackground(true);
    m_body->setBackgroundRole(QPalette::AlternateBase);
    viewport()->setBackgroundRole(QPalette::AlternateBase);
    setFocusPolicy(Qt::NoFocus); // its controls have the focus

    m_bodyLayout->setSpacing(0);
    m_general->setWordWrap(true);
    m_general->setTextFormat(Qt::PlainText);
    m_general->hide();
    m_bodyLayout->addWidget(m_general);
    m_bodyLayout->addWidget(m_frequencies);
    m_bodyLayout->addWidget(m_channels);
    m_bodyLayout->addWidget(m_score);
    m_bodyLayout->addStretch(1);

    QVBoxLayout* frequencies = m_frequencies->content();
    ValueSlider* base = addSlider(frequencies, "base", tr("base"));
    base->setScale({SliderScale::Kind::Logarithmic, 1e3, 1e9, 0.0, std::nextafter(1.0, 2.0),
                    std::numeric_limits<double>::max()});
    base->setExpectation(tr("a number above 1"));
    connect(base, &ValueSlider::valueChanged, this, [this](double value) {
        RopeConfig config = m_config;
        config.base = value;
        edit(config, tr("base"));
    });

    ValueSlider* headDim = addSlider(frequencies, "head_dim", tr("head_dim"));
    headDim->setScale({SliderScale::Kind::Linear, 2.0, 512.0, 2.0, 2.0, kLargestHeadDim});
    connect(headDim, &ValueSlider::valueChanged, this,
            [this](double value) { edit(withHeadDim(m_config, static_cast<int>(value)), tr("head_dim")); });

    for (const FrequencyRuleInfo& rule : frequencyRules()) {
        m_rule->addItem(asText(rule.title), static_cast<int>(rule.rule));
        m_rule->setItemData(m_rule->count() - 1, asText(rule.formula) + u'\n' + asText(rule.source),
                            Qt::ToolTipRole);
    }
    const std::array<std::pair<const char*, QString>, 8> schemes{{{"all", tr("all")},
                                                                  {"first", tr("first")},
                                                                  {"last", tr("last")},
                                                                  {"quarters_1_3", tr("quarters 1 and 3")},
                                                                  {"half_rope", tr("HalfRoPE")},
                                                                  {"two_blocks", tr("two blocks")},
                                                                  {"custom", tr("by hand")},
                                                                  {"none", tr("none")}}};
    for (const auto& [schemeWord, name] : schemes)
        m_scheme->addItem(name, QString::fromLatin1(schemeWord));
    for (QComboBox* box : {m_rule, m_scheme, m_temperature}) {
        box->setFocusPolicy(Qt::StrongFocus);
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box->setMinimumContentsLength(6);
        box->installEventFilter(this);
    }
    m_ruleRow = new FieldRow(tr("rule"), m_rule, m_body);
    frequencies->addWidget(m_ruleRow);
    connect(m_rule, &QComboBox::activated, this,
            [this](int row) { chooseRule(static_cast<FrequencyRule>(m_rule->itemData(row).toInt())); });
    frequencies->addLayout(m_parameters);

    ValueSlider* training = addSlider(frequencies, kTrainingLength, tr("training length"));
    training->setScale(
        {SliderScale::Kind::Logarithmic, 128.0, 1048576.0, 1.0, 1.0, static_cast<double>(kLongestLength)});
    training->setSuffix(Suffix::Tokens);
    training->setExpectation(tr("a whole number of tokens, 1 or more"));
    training->setOptional(true);
    const auto setTraining = [this](std::optional<std::int64_t> length) {
        RopeConfig config = m_config;
        const bool isOriginal = config.originalMaxPositionEmbeddings && config.rule != FrequencyRule::Dynamic;
        (isOriginal ? config.originalMaxPositionEmbeddings : config.maxPositionEmbeddings) = length;
        edit(config, tr("training length"));
    };
    connect(training, &ValueSlider::valueChanged, this,
            [setTraining](double value) { setTraining(static_cast<std::int64_t>(value)); });
    connect(training, &ValueSlider::cleared, this, [setTraining] { setTraining(std::nullopt); });

    ValueSlider* length = addSlider(frequencies, "length", tr("length N"));
    length->setScale(
        {SliderScale::Kind::Logarithmic, 128.0, 1048576.0, 1.0, 1.0, static_cast<double>(kLongestLength)});
    length->setSuffix(Suffix::Tokens);
    length->setExpectation(tr("a whole number of tokens, 1 or more"));
    length->setOptional(true);
    const auto setLength = [this](std::optional<std::int64_t> tokens) {
        RopeConfig config = m_config;
        config.length = tokens;
        edit(config, tr("length"));
    };
    connect(length, &ValueSlider::valueChanged, this,
            [setLength](double value) { setLength(static_cast<std::int64_t>(value)); });
    connect(length, &ValueSlider::cleared, this, [setLength] { setLength(std::nullopt); });

    QVBoxLayout* channels = m_channels->content();
    // It stands in the title line: the column has no line to spare at 768 pixels.
    m_scheme->setParent(m_channels->title());
    m_scheme->setAccessibleName(tr("which channels turn"));
    m_channels->title()->installEventFilter(this);
    connect(m_scheme, &QComboBox::activated, this,
            [this](int row) { chooseChannels(m_scheme->itemData(row).toString().toStdString()); });
    connect(m_strip, &ChannelStrip::pairClicked, this, &ConfigPanel::togglePair);
    ValueSlider* rotated = addSlider(channels, "rotary_dim", tr("rotated"));
    connect(rotated, &ValueSlider::valueChanged, this, [this](double value) {
        RopeConfig config = m_config;
        config.rotaryDim = static_cast<int>(value);
        edit(config, tr("rotated channels"));
    });
    channels->addWidget(m_strip);
    m_layoutRow = new FieldRow(tr("layout"), m_layout, m_body);
    channels->addWidget(m_layoutRow);
    connect(m_layout, &SegmentedControl::chosen, this, [this](int index) {
        RopeConfig config = m_config;
        config.layout = index == 0 ? Layout::Half : Layout::Interleaved;
        editAtOnce(config, tr("layout"));
    });
    buildScore();
    restyle();
    showConfig();
}

void ConfigPanel::buildScore()
{
    m_score->setOpen(false);
    // It is the last one, and what opens below the edge would not be noticed.
    const auto bringIntoView = [this] {
        QTimer::singleShot(0, this, [this] {
            if (m_score->isOpen())
                ensureWidgetVisible(m_score, 0, 0);
        });
    };
    connect(m_score->title(), &QAbstractButton::clicked, this, bringIntoView);
    QVBoxLayout* layout = m_score->content();
    const auto addRow = [&](const QString& name, QWidget* control) {
        auto* row = new FieldRow(name, control, m_body);
        layout->addWidget(row);
        return row;
    };
    for (const TemperatureInfo& rule : temperatureRules()) {
        m_temperature->addItem(asText(rule.title), static_cast<int>(rule.rule));
        m_temperature->setItemData(m_temperature->count() - 1,
                                   asText(rule.formula) + u'\n' + asText(rule.source), Qt::ToolTipRole);
    }
    m_temperatureRow = addRow(tr("temperature"), m_temperature);
    connect(m_temperature, &QComboBox::activated, this, [this, bringIntoView](int row) {
        const auto rule = static_cast<TemperatureRule>(m_temperature->itemData(row).toInt());
        if (rule == m_config.temperature.rule)
            return;
        RopeConfig config = m_config;
        config.temperature.rule = rule;
        editAtOnce(config, tr("temperature"));
        bringIntoView();
    });
    const auto addOptional = [&](const std::string& key, const QString& name, auto set) {
        ValueSlider* slider = addSlider(layout, key, name);
        slider->setOptional(true);
        const auto change = [this, set, name](std::optional<double> value) {
            RopeConfig config = m_config;
            set(config, value);
            edit(config, name);
        };
        connect(slider, &ValueSlider::valueChanged, this, [change](double value) { change(value); });
        connect(slider, &ValueSlider::cleared, this, [change] { change(std::nullopt); });
        return slider;
    };
    addOptional(
        "temperature_coefficient", tr("coefficient"),
        [](RopeConfig& config, std::optional<double> value) { config.temperature.coefficient = value; })
        ->setScale({SliderScale::Kind::Linear, 0.0, 1.0, 0.0, 0.0, 100.0});
    ValueSlider* length = addOptional(
        "temperature_length", tr("its length T"), [](RopeConfig& config, std::optional<double> value) {
            config.temperature.referenceLength =
                value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
        });
    length->setScale(
        {SliderScale::Kind::Logarithmic, 128.0, 1048576.0, 1.0, 1.0, static_cast<double>(kLongestLength)});
    length->setSuffix(Suffix::Tokens);
    length->setExpectation(tr("a whole number of tokens, 1 or more"));
    m_perQueryRow = addRow(tr("N of each"), m_perQuery);
    m_perQuery->setToolTip(tr("N is the number of keys that a query sees, or the length for the whole call"));
    connect(m_perQuery, &SegmentedControl::chosen, this, [this](int index) {
        RopeConfig config = m_config;
        config.temperature.isPerQuery = index == 0;
        editAtOnce(config, tr("temperature"));
    });
    m_floorRow = addRow(tr("floor"), m_floor);
    m_floor->setToolTip(tr("no temperature below 1 within the training length"));
    connect(m_floor, &QCheckBox::clicked, this, [this](bool isOn) {
        RopeConfig config = m_config;
        config.temperature.hasFloor = isOn;
        editAtOnce(config, tr("temperature"));
    });
    m_xposRow = addRow(tr("xPos"), m_xpos);
    m_xpos->setToolTip(tr("xPos, arXiv:2212.10554: pair i of the score is multiplied by ζ_i^(r/scale_base), "
                          "ζ_i = (2i/d + γ)/(1 + γ)"));
    connect(m_xpos, &QCheckBox::clicked, this, [this, bringIntoView](bool isOn) {
        RopeConfig config = m_config;
        config.xpos =
            isOn ? std::optional(m_original ? m_original->xpos.value_or(XPos{}) : XPos{}) : std::nullopt;
        editAtOnce(config, tr("xPos"));
        bringIntoView();
    });
    const auto addXPos = [&](const std::string& key, const QString& name, double XPos::*member,
                             const SliderScale& scale) {
        ValueSlider* slider = addSlider(layout, key, name);
        slider->setScale(scale);
        slider->setExpectation(tr("a number above 0"));
        connect(slider, &ValueSlider::valueChanged, this, [this, member, name](double value) {
            RopeConfig config = m_config;
            if (!config.xpos)
                return;
            (*config.xpos).*member = value;
            edit(config, name);
        });
    };
    constexpr double kLeast = std::numeric_limits<double>::min();
    addXPos("xpos_gamma", tr("γ"), &XPos::gamma, {SliderScale::Kind::Linear, 0.0, 4.0, 0.0, kLeast, 1e9});
    addXPos("xpos_scale_base", tr("scale_base"), &XPos::scaleBase,
            {SliderScale::Kind::Logarithmic, 16.0, 65536.0, 0.0, kLeast, 1e12});
}

void ConfigPanel::showScore()
{
    const Temperature& temperature = m_config.temperature;
    const Temperature original = m_original ? m_original->temperature : temperature;
    const TemperatureInfo& rule = info(temperature.rule);
    m_temperature->setCurrentIndex(m_temperature->findData(static_cast<int>(temperature.rule)));
    m_temperature->setToolTip(asText(rule.formula) + u'\n' + asText(rule.source));
    static_cast<FieldRow*>(m_temperatureRow)->setChanged(original.rule != temperature.rule);
    ValueSlider* coefficient = m_sliders["temperature_coefficient"];
    // YaRN's is in A already where its frequency rule is on.
    coefficient->setVisible(rule.coefficient && !isInAttentionFactor(m_config));
    coefficient->setOriginal(original.coefficient);
    if (temperature.coefficient)
        coefficient->setValue(*temperature.coefficient);
    else
        coefficient->setUnstated(rule.coefficient.value_or(0.0));
    ValueSlider* length = m_sliders["temperature_length"];
    const auto asNumber = [](const std::optional<std::int64_t>& tokens) {
        return tokens ? std::optional(static_cast<double>(*tokens)) : std::nullopt;
    };
    length->setVisible(rule.needsLength);
    length->setOriginal(asNumber(original.referenceLength));
    if (temperature.referenceLength)
        length->setValue(static_cast<double>(*temperature.referenceLength));
    else
        length->setUnstated(asNumber(temperatureLength(m_config)));
    m_perQueryRow->setVisible(!rule.isConstant);
    m_perQuery->setCurrent(temperature.isPerQuery ? 0 : 1);
    static_cast<FieldRow*>(m_perQueryRow)->setChanged(original.isPerQuery != temperature.isPerQuery);
    m_floorRow->setVisible(rule.hasFloorChoice);
    m_floor->setChecked(temperature.hasFloor);
    static_cast<FieldRow*>(m_floorRow)->setChanged(original.hasFloor != temperature.hasFloor);

    const XPos xpos = m_config.xpos.value_or(XPos{});
    const std::optional<XPos> originalXPos = m_original ? m_original->xpos : m_config.xpos;
    m_xpos->setChecked(m_config.xpos.has_value());
    static_cast<FieldRow*>(m_xposRow)->setChanged(originalXPos.has_value() != m_config.xpos.has_value());
    for (const auto& [key, member] :
         {std::pair{"xpos_gamma", &XPos::gamma}, {"xpos_scale_base", &XPos::scaleBase}}) {
        m_sliders[key]->setVisible(m_config.xpos.has_value());
        m_sliders[key]->setOriginal(originalXPos.value_or(XPos{}).*member);
        m_sliders[key]->setValue(xpos.*member);
    }
    const bool hasScore = m_config.xpos || temperature.rule != TemperatureRule::None;
    if (hasScore && !m_hadScore)
        m_score->setOpen(true);
    m_hadScore = hasScore;
}

void ConfigPanel::enterList(const RuleParameterInfo& parameter, const QString& text)
{
    const std::string key(parameter.key);
    std::vector<FigureConfiguration> one{{m_config, {}, 0}};
    FigureOptions options;
    const QString value = text.trimmed();
    const Result<void> applied =
        applySettings({{"", key, value.isEmpty() ? "null" : value.toStdString()}}, one, options);
    if (!applied) {
        m_general->setText(messageText(applied.error().message));
        m_general->setVisible(true);
        QPalette palette = m_general->palette();
        palette.setColor(QPalette::WindowText, errorColour());
        m_general->setPalette(palette);
        return;
    }
    if (one.front().config.parameters.*parameter.list != m_config.parameters.*parameter.list)
        editAtOnce(one.front().config, asText(parameter.key));
    else
        showIssues(m_issues);
}

ValueSlider* ConfigPanel::addSlider(QVBoxLayout* layout, const std::string& key, const QString& name)
{
    auto* slider = new ValueSlider(name, SliderScale{}, m_body);
    layout->addWidget(slider);
    m_sliders[key] = slider;
    connect(slider, &ValueSlider::editingStarted, this, [this, name] { emit editingStarted(name); });
    connect(slider, &ValueSlider::editingFinished, this, [this, name] { emit editingFinished(name); });
    return slider;
}

void ConfigPanel::setConfig(const RopeConfig& config, const std::optional<RopeConfig>& original,
                            const std::vector<Issue>& issues)
{
    m_config = config;
    m_original = original;
    m_issues = issues;
    showConfig();
    showIssues(issues);
}

ValueSlider* ConfigPanel::slider(const std::string& key) const
{
    const auto found = m_sliders.find(key);
    return found == m_sliders.end() ? nullptr : found->second;
}

QString ConfigPanel::generalIssue() const
{
    return m_general->text();
}

QSize ConfigPanel::sizeHint() const
{
    const int width = scaledPixels(292);
    return {width, m_bodyLayout->hasHeightForWidth() ? m_bodyLayout->totalHeightForWidth(width)
                                                     : m_bodyLayout->totalSizeHint().height()};
}

QSize ConfigPanel::minimumSizeHint() const
{
    return {m_body->minimumSizeHint().width(), scaledPixels(120)};
}

void ConfigPanel::buildParameters()
{
    for (const std::string& key : m_parameterKeys) {
        ValueSlider* slider = m_sliders[key];
        slider->hide();
        slider->deleteLater();
        m_sliders.erase(key);
    }
    m_parameterKeys.clear();
    while (QLayoutItem* item = m_parameters->takeAt(0))
        delete item;
    if (m_more) {
        m_more->hide();
        m_more->deleteLater();
    }
    m_more = nullptr;
    for (const auto& [key, row] : m_parameterRows) {
        row->hide();
        row->deleteLater();
    }
    m_parameterRows.clear();
    m_lists.clear();
    m_truncate = nullptr;
    m_spacing = nullptr;
    m_builtRule = m_config.rule;

    const FrequencyRuleInfo& rule = info(m_config.rule);
    QStringList folded;
    for (const RuleParameterInfo& parameter : rule.parameters)
        if (isSecondary(parameter.key))
            folded += asText(parameter.key);
    if (!folded.isEmpty()) {
        m_more = new Section(tr("more: %1").arg(folded.join(QStringLiteral(", "))), SectionTitle::Kind::More,
                             m_body);
        m_more->title()->setAccessibleName(tr("more parameters of %1").arg(asText(rule.title)));
        m_more->title()->setToolTip(tr("more parameters of %1").arg(asText(rule.title)));
        m_more->setOpen(false);
    }
    for (const RuleParameterInfo& parameter : rule.parameters) {
        const std::string key(parameter.key);
        const QString name = asText(parameter.key);
        QVBoxLayout* layout = isSecondary(parameter.key) ? m_more->content() : m_parameters;
        if (!parameter.number) {
            m_parameterRows[key] = addParameterRow(layout, parameter);
            continue;
        }
        ValueSlider* slider = addSlider(layout, key, name);
        m_parameterKeys.push_back(key);
        slider->setScale(scaleOf(parameter));
        slider->setExpectation(key == "factor"           ? tr("a number of 1 or more")
                               : parameter.isLogarithmic ? tr("a number above 0")
                                                         : tr("a number of 0 or more"));
        slider->setOptional(true);
        const auto set = [this, member = parameter.number, name](std::optional<double> value) {
            RopeConfig config = m_config;
            config.parameters.*member = value;
            edit(config, name);
        };
        connect(slider, &ValueSlider::valueChanged, this, [set](double value) { set(value); });
        connect(slider, &ValueSlider::cleared, this, [set] { set(std::nullopt); });
    }
    if (m_more)
        m_parameters->addWidget(m_more);
    // A layout shows what it is given only when the event loop comes round; the new controls stand at once.
    for (const std::string& key : m_parameterKeys)
        m_sliders[key]->show();
    for (const auto& [key, row] : m_parameterRows)
        row->show();
    if (m_more)
        m_more->show();
    updateTabOrder();
}

QWidget* ConfigPanel::addParameterRow(QVBoxLayout* layout, const RuleParameterInfo& parameter)
{
    const std::string key(parameter.key);
    const QString name = asText(parameter.key);
    QWidget* control = nullptr;
    if (parameter.truth) {
        m_truncate = new QCheckBox(tr("to whole pairs"));
        control = m_truncate;
        connect(m_truncate, &QCheckBox::clicked, this, [this, member = parameter.truth, name](bool isOn) {
            RopeConfig config = m_config;
            config.parameters.*member = isOn;
            editAtOnce(config, name);
        });
    } else if (parameter.spacing) {
        m_spacing = new SegmentedControl({tr("geometric"), tr("linear")});
        control = m_spacing;
        connect(m_spacing, &SegmentedControl::chosen, this,
                [this, member = parameter.spacing, name](int index) {
                    RopeConfig config = m_config;
                    config.parameters.*member = index == 0 ? Spacing::Geometric : Spacing::Linear;
                    editAtOnce(config, name);
                });
    } else {
        m_lists[key] = new NumberListEdit;
        control = m_lists[key];
        connect(m_lists[key], &NumberListEdit::textEntered, this,
                [this, &parameter](const QString& text) { enterList(parameter, text); });
    }
    auto* row = new FieldRow(name, control, m_body);
    layout->addWidget(row);
    return row;
}

void ConfigPanel::showParameter(const RuleParameterInfo& parameter)
{
    const std::string key(parameter.key);
    // A parameter of a rule that the original does not have cannot have been changed from it.
    const bool isComparable = m_original && m_original->rule == m_config.rule;
    bool isChanged = false;
    if (parameter.truth) {
        m_truncate->setChecked(effectiveParameter(m_config, parameter) == 1.0);
        isChanged = isComparable &&
                    effectiveParameter(*m_original, parameter) != effectiveParameter(m_config, parameter);
    } else if (parameter.spacing) {
        const auto spacing = [&](const RopeConfig& config) {
            return (config.parameters.*parameter.spacing).value_or(Spacing::Geometric);
        };
        m_spacing->setCurrent(spacing(m_config) == Spacing::Geometric ? 0 : 1);
        isChanged = isComparable && spacing(*m_original) != spacing(m_config);
    } else {
        const std::vector<double>& list = m_config.parameters.*parameter.list;
        m_lists[key]->setNumbers(list);
        isChanged = isComparable && m_original->parameters.*parameter.list != list;
    }
    static_cast<FieldRow*>(m_parameterRows[key])->setChanged(isChanged);
}

NumberListEdit* ConfigPanel::list(const std::string& key) const
{
    const auto found = m_lists.find(key);
    return found == m_lists.end() ? nullptr : found->second;
}

void ConfigPanel::showConfig()
{
    if (m_builtRule != m_config.rule)
        buildParameters();

    const auto show = [this](const std::string& key, double value, std::optional<double> original) {
        m_sliders[key]->setOriginal(original);
        m_sliders[key]->setValue(value);
    };
    const auto ofOriginal = [this](auto member) {
        return m_original ? std::optional<double>(static_cast<double>((*m_original).*member)) : std::nullopt;
    };
    show("base", m_config.base, ofOriginal(&RopeConfig::base));
    show("head_dim", m_config.headDim, ofOriginal(&RopeConfig::headDim));

    ValueSlider* rotated = m_sliders["rotary_dim"];
    const double width = std::clamp(m_config.headDim, 2, kLargestHeadDim);
    rotated->setScale({SliderScale::Kind::Linear, 0.0, width, 2.0, 0.0, width});
    rotated->setShownTemplate(tr("%1 of %2").arg(QStringLiteral("%1"), QString::number(m_config.headDim)));
    std::optional<double> originalRotated;
    if (m_original) // what the preset rotates at the present head_dim
        originalRotated = m_original->headDim == m_config.headDim
                              ? m_original->rotaryDim
                              : withHeadDim(*m_original, m_config.headDim).rotaryDim;
    show("rotary_dim", m_config.rotaryDim, originalRotated);

    ValueSlider* training = m_sliders[kTrainingLength];
    const auto length = trainingLength(m_config);
    const auto originalLength = m_original ? trainingLength(*m_original) : length;
    training->setOriginal(originalLength ? std::optional<double>(static_cast<double>(*originalLength))
                                         : std::nullopt);
    if (length)
        training->setValue(static_cast<double>(*length));
    else
        training->setUnstated(std::nullopt);

    ValueSlider* inference = m_sliders["length"];
    inference->setVisible(info(m_config.rule).dependsOnLength);
    const auto asNumber = [](const std::optional<std::int64_t>& tokens) {
        return tokens ? std::optional(static_cast<double>(*tokens)) : std::nullopt;
    };
    inference->setOriginal(asNumber(m_original ? m_original->length : m_config.length));
    if (m_config.length)
        inference->setValue(static_cast<double>(*m_config.length));
    else
        inference->setUnstated(asNumber(length));

    const QString scheme = asText(channelsWord(m_config));
    m_scheme->setCurrentIndex(m_scheme->findData(scheme));
    const bool hasWidth =
        m_config.channels == ChannelScheme::First || m_config.channels == ChannelScheme::Last;
    // How many turn is said by partial_rotary_factor there; the width over which pairs are formed is all.
    const bool isAllFormed =
        m_config.rule == FrequencyRule::Proportional && m_config.rotaryDim == m_config.headDim;
    m_sliders["rotary_dim"]->setVisible(hasWidth && !isAllFormed);

    m_rule->setCurrentIndex(m_rule->findData(static_cast<int>(m_config.rule)));
    m_rule->setToolTip(asText(info(m_config.rule).formula) + u'\n' + asText(info(m_config.rule).source));
    static_cast<FieldRow*>(m_ruleRow)->setChanged(m_original && m_original->rule != m_config.rule);
    for (const RuleParameterInfo& parameter : info(m_config.rule).parameters) {
        if (!parameter.number) {
            showParameter(parameter);
            continue;
        }
        ValueSlider* slider = m_sliders[std::string(parameter.key)];
        const std::optional<double>& stated = m_config.parameters.*parameter.number;
        // A parameter of a rule that the original does not have cannot have been changed from it.
        const bool isComparable = m_original && m_original->rule == m_config.rule;
        slider->setOriginal(isComparable ? m_original->parameters.*parameter.number : stated);
        if (stated) {
            slider->setValue(*stated);
            continue;
        }
        std::optional<double> fallback = effectiveParameter(m_config, parameter);
        if (!fallback && parameter.key == "attention_factor" && !hasError(validate(m_config)))
            fallback = frequencyTable(m_config).attentionFactor;
        slider->setUnstated(fallback);
    }
    m_layout->setCurrent(m_config.layout == Layout::Half ? 0 : 1);
    static_cast<FieldRow*>(m_layoutRow)->setChanged(m_original && m_original->layout != m_config.layout);
    m_strip->setConfig(m_config);
    showScore();
}

void ConfigPanel::showIssues(const std::vector<Issue>& issues)
{
    struct Shown
    {
        QStringList texts;
        bool isError = false;
    };
    std::map<std::string, Shown> byKey;
    Shown general;
    for (const Issue& issue : issues) {
        if (issue.severity == Severity::Read || issue.severity == Severity::Assumed)
            continue;
        const bool isLength =
            issue.field == "original_max_position_embeddings" || issue.field == "max_position_embeddings";
        const std::string key = isLength ? kTrainingLength : issue.field;
        Shown& shown = m_sliders.contains(key) && !m_sliders[key]->isHidden() ? byKey[key] : general;
        shown.texts += messageText(issue.text);
        shown.isError = shown.isError || issue.severity == Severity::Error;
    }
    for (const auto& [key, slider] : m_sliders) {
        const auto found = byKey.find(key);
        if (found == byKey.end()) {
            slider->setIssue({}, false);
            continue;
        }
        slider->setIssue(found->second.texts.join(u'\n'), found->second.isError);
        // What is wrong must not lie folded away.
        for (Section* section : {m_frequencies, m_channels, m_score, m_more})
            if (section && section->isAncestorOf(slider))
                section->setOpen(true);
    }
    m_general->setText(general.texts.join(u'\n'));
    m_general->setVisible(!general.texts.isEmpty());
    QPalette palette = m_general->palette();
    palette.setColor(QPalette::WindowText, general.isError ? errorColour() : windowColours().mark);
    m_general->setPalette(palette);
}

void ConfigPanel::edit(const RopeConfig& config, const QString& what)
{
    m_config = config;
    showConfig();
    emit configEdited(config, what);
}

void ConfigPanel::editAtOnce(const RopeConfig& config, const QString& what)
{
    emit editingStarted(what);
    edit(config, what);
    emit editingFinished(what);
}

void ConfigPanel::chooseRule(FrequencyRule rule)
{
    if (rule == m_config.rule)
        return;
    RopeConfig config = withRule(m_config, rule);
    const auto parameters = info(rule).parameters;
    // A rule without its factor would only draw an error; the usual one is a better start.
    if (!parameters.empty() && parameters.front().key == "factor" &&
        !effectiveParameter(config, parameters.front()))
        config.parameters.factor = rule == FrequencyRule::Llama3 ? 8.0 : 4.0;
    // An empty list too; what is drawn now is what a person would change from.
    if (rule == FrequencyRule::Explicit && config.parameters.invFreq.empty() && !hasError(validate(m_config)))
        config.parameters.invFreq = frequencyTable(m_config).scaled;
    editAtOnce(config, tr("rule"));
}

void ConfigPanel::chooseChannels(const std::string& word)
{
    if (word == channelsWord(m_config))
        return;
    RopeConfig config = m_config;
    if (config.rule == FrequencyRule::None)
        config.rule = FrequencyRule::Default;
    config.channels = schemeOfWord(word);
    const bool isPart = m_config.rotaryDim > 0 && m_config.rotaryDim < m_config.headDim;
    if (word == "none")
        config.rotaryDim = 0;
    else if (word != "first" && word != "last")
        config.rotaryDim = config.headDim;
    else if (!isPart) // half of the head, since some part has to be meant
        config.rotaryDim = config.headDim / 4 * 2;
    if (config.channels == ChannelScheme::Custom && config.customPairs.empty())
        for (int pair = 0; pair < pairCount(m_config); ++pair)
            if (isTurningPair(m_config, pair))
                config.customPairs.push_back(pair);
    editAtOnce(config, tr("channels"));
}

void ConfigPanel::togglePair(int pair)
{
    if (m_config.channels != ChannelScheme::Custom)
        return;
    RopeConfig config = m_config;
    std::vector<int>& pairs = config.customPairs;
    const auto at = std::lower_bound(pairs.begin(), pairs.end(), pair);
    if (at != pairs.end() && *at == pair)
        pairs.erase(at);
    else
        pairs.insert(at, pair);
    editAtOnce(config, tr("channels"));
}

void ConfigPanel::updateTabOrder()
{
    QList<QWidget*> order{m_frequencies->title()};
    const auto add = [&](const std::string& key) {
        order << m_sliders[key]->track() << m_sliders[key]->box();
    };
    add("base");
    add("head_dim");
    order << m_rule;
    for (const std::string& key : m_parameterKeys)
        if (!isSecondary(key))
            add(key);
    if (m_more)
        order << m_more->title();
    if (m_truncate)
        order << m_truncate;
    if (m_spacing)
        order << m_spacing;
    for (const auto& [key, list] : m_lists)
        order << list;
    for (const std::string& key : m_parameterKeys)
        if (isSecondary(key))
            add(key);
    add(kTrainingLength);
    add("length");
    order << m_channels->title() << m_scheme;
    add("rotary_dim");
    order << m_layout << m_score->title() << m_temperature;
    add("temperature_coefficient");
    add("temperature_length");
    order << m_perQuery << m_floor << m_xpos;
    add("xpos_gamma");
    add("xpos_scale_base");
    for (qsizetype i = 1; i < order.size(); ++i)
        setTabOrder(order[i - 1], order[i]);
}

void ConfigPanel::restyle()
{
    m_bodyLayout->setContentsMargins(0, 0, 0, scaledPixels(4));
    m_general->setFont(windowFont(TextRole::Small));
    m_scheme->setFont(windowFont(TextRole::Control));
    placeScheme();
    m_general->setContentsMargins(scaledPixels(kPad), scaledPixels(4), scaledPixels(kPad), 0);
    verticalScrollBar()->setSingleStep(scaledPixels(20));
    updateGeometry();
}

void ConfigPanel::placeScheme()
{
    // Between the title's words and its sign, in the controls' column where there is room for that, and above
    // the title's rule.
    const QWidget* title = m_channels->title();
    const int left = std::min(scaledPixels(96), title->width() / 3);
    m_scheme->setGeometry(left, scaledPixels(2), title->width() - left - scaledPixels(kPad + 20.0),
                          title->height() - scaledPixels(9));
}

void ConfigPanel::placeScrollBar()
{
    const QScrollBar* hidden = verticalScrollBar();
    m_bar->setRange(hidden->minimum(), hidden->maximum());
    m_bar->setPageStep(hidden->pageStep());
    m_bar->setSingleStep(hidden->singleStep());
    m_bar->setValue(hidden->value());
    m_bar->setVisible(hidden->maximum() > hidden->minimum());
    m_bar->setGeometry(width() - scaledPixels(10), 0, scaledPixels(10), height());
    m_bar->raise();
}

void ConfigPanel::resizeEvent(QResizeEvent* event)
{
    QScrollArea::resizeEvent(event);
    placeScrollBar();
}

void ConfigPanel::changeEvent(QEvent* event)
{
    QScrollArea::changeEvent(event);
    if (event->type() == QEvent::StyleChange)
        restyle();
}

bool ConfigPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_channels->title() && event->type() == QEvent::Resize)
        placeScheme();
    const bool isBox = watched == m_rule || watched == m_scheme || watched == m_temperature;
    if (isBox && event->type() == QEvent::Wheel && !static_cast<QComboBox*>(watched)->hasFocus()) {
        event->ignore(); // the column scrolls, the rule stays
        return true;
    }
    return QScrollArea::eventFilter(watched, event);
}

} // namespace ropewalk
