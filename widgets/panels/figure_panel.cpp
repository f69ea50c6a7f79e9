// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_panel.h"

#include "../window_style.h"
#include "core/json_writer.h"
#include "field_row.h"
#include "section.h"
#include "segmented_control.h"
#include "value_slider.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QEvent>
#include <QPushButton>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace ropewalk {

/// Text in, text out: what stands in the table of settings and what is a member of FigureOptions look alike.
struct FigurePanel::Row
{
    FigureSettingInfo info;
    std::function<std::string(const FigureOptions&)> text;
    std::function<void(FigureOptions&, const std::string&)> set;
    std::function<bool(const FigureOptions&, const std::string& figure)> counts; ///< empty: always
    std::optional<SliderScale> scale; ///< where the handy range is not all that is allowed
    bool isTokens = false;
};

namespace {

constexpr double kPad = 16.0;
constexpr std::size_t kMostSegments = 4;

/// Names of the contents for people, by their words; one that is not here is named by its word.
constexpr std::array<SettingWord, 7> kContentTitles{{{"ones", "ones"},
                                                     {"gaussian", "random"},
                                                     {"same", "q = k, random"},
                                                     {"correlation", "correlated"},
                                                     {"needle", "a needle"},
                                                     {"clusters", "two clusters"},
                                                     {"file", "from a file"}}};

std::vector<SettingWord> contentWords()
{
    std::vector<SettingWord> words;
    for (const Content content : contents()) {
        const auto titled = std::find_if(kContentTitles.begin(), kContentTitles.end(),
                                         [&](const SettingWord& each) { return each.word == word(content); });
        words.push_back(titled == kContentTitles.end() ? SettingWord{word(content), word(content)} : *titled);
    }
    return words;
}

/// A title or help of a table, in the language of the program.
QString translated(std::string_view text)
{
    return QCoreApplication::translate("ropewalk", std::string(text).c_str());
}

std::string numberText(double value)
{
    std::string text;
    appendDouble(text, value);
    return text;
}

std::string truthText(bool isTrue)
{
    return isTrue ? "true" : "false";
}

bool isRandom(Content content)
{
    return content != Content::Ones && content != Content::File;
}

/// Settings that one content alone reads, by the beginning of their keys.
bool countsForContent(std::string_view key, Content content, std::string_view figure)
{
    constexpr std::array<std::pair<std::string_view, Content>, 4> kOwners{{{"needle_", Content::Needle},
                                                                           {"cluster_mean", Content::Clusters},
                                                                           {"cluster_sigma", Content::Clusters},
                                                                           {"correlation_", Content::Correlation}}};
    // That figure is of two clouds unless it is of a file.
    const Content read =
        figure == "clusters" && content != Content::File ? Content::Clusters : content;
    return std::none_of(kOwners.begin(), kOwners.end(), [&](const auto& owner) {
        return key.starts_with(owner.first) && read != owner.second;
    });
}

} // namespace

/// In the order in which they stand: first what several figures share, then the table of settings.
const std::vector<FigurePanel::Row>& FigurePanel::tableRows()
{
    static const std::vector<Row> made = [] {
        constexpr std::string_view kWithContent = "plane scores pairs channels";
        const auto hasContent = [kWithContent](const std::string& figure) {
            FigureSettingInfo row;
            row.figures = kWithContent;
            return row.isOf(figure);
        };
        const FigureOptions usual;
        std::vector<Row> rows;
        rows.push_back({{"content", "content of q, k", "how the queries and keys are made before they are rotated",
                         kWithContent, SettingKind::Choice, word(usual.content), contentWords()},
                        [](const FigureOptions& options) { return std::string(word(options.content)); },
                        [](FigureOptions& options, const std::string& value) {
                            options.content = findContent(value).value_or(options.content);
                        },
                        {},
                        {}});
        rows.push_back({{"rho", "correlation ρ", "of the key with the query", "decay plane scores pairs channels",
                         SettingKind::Number, "1", {}, -1.0, 1.0},
                        [](const FigureOptions& options) { return numberText(options.rho); },
                        [](FigureOptions& options, const std::string& value) { options.rho = std::stod(value); },
                        [hasContent](const FigureOptions& options, const std::string& figure) {
                            return !hasContent(figure) || options.content == Content::Correlation;
                        },
                        {}});
        rows.push_back({{"seed", "seed", "of the random queries and keys", kWithContent, SettingKind::Whole, "1", {},
                         0.0, static_cast<double>(kLargestSeed)},
                        [](const FigureOptions& options) { return std::to_string(options.seed); },
                        [](FigureOptions& options, const std::string& value) { options.seed = std::stoull(value); },
                        [](const FigureOptions& options, const std::string&) { return isRandom(options.content); },
                        SliderScale{SliderScale::Kind::Linear, 0.0, 100.0, 1.0, 0.0,
                                    static_cast<double>(kLargestSeed)}});
        rows.push_back(
            {{"max_distance", "longest distance", "right end of the curves, in tokens", "decay", SettingKind::Whole,
              "131072", {}, 1.0, static_cast<double>(kLongestDistance), true},
             [](const FigureOptions& options) { return std::to_string(options.maxDistance); },
             [](FigureOptions& options, const std::string& value) { options.maxDistance = std::stoll(value); },
             {},
             SliderScale{SliderScale::Kind::Logarithmic, 64.0, static_cast<double>(kLongestDistance), 1.0, 1.0,
                         static_cast<double>(kLongestDistance)},
             true});
        rows.push_back({{"is_distance_logarithmic", "logarithmic distance", "the axis of the distance", "decay",
                         SettingKind::Switch, "true"},
                        [](const FigureOptions& options) { return truthText(options.isDistanceLogarithmic); },
                        [](FigureOptions& options, const std::string& value) {
                            options.isDistanceLogarithmic = value == "true";
                        },
                        {},
                        {}});
        rows.push_back({{"show_bound", "bound of RoFormer", "the factor that bounds the score of any q and k", "decay",
                         SettingKind::Switch, "false"},
                        [](const FigureOptions& options) { return truthText(options.showBound); },
                        [](FigureOptions& options, const std::string& value) { options.showBound = value == "true"; },
                        {},
                        {}});
        for (const FigureSettingInfo& info : figureSettings()) {
            const std::string key(info.key);
            rows.push_back(
                {info,
                 [key](const FigureOptions& options) { return std::string(options.settings.text(key)); },
                 [key](FigureOptions& options, const std::string& value) {
                     static_cast<void>(options.settings.set(key, value)); // a control offers what the table allows
                 },
                 [key](const FigureOptions& options, const std::string& figure) {
                     return countsForContent(key, options.content, figure);
                 },
                 {},
                 info.kind == SettingKind::Whole && info.upper >= 4096.0});
        }
        return rows;
    }();
    return made;
}

FigurePanel::FigurePanel(QWidget* parent)
    : QScrollArea(parent)
    , m_body(new QWidget)
    , m_section(new Section({}, SectionTitle::Kind::Section, m_body))
    , m_tensors(new QPushButton(tr("open tensors…")))
{
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWidgetResizable(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    setFocusPolicy(Qt::NoFocus); // its controls have the focus
    auto* layout = new QVBoxLayout(m_body);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_section);
    layout->addStretch(1);
    m_body->setAutoFillBackground(true);
    m_body->setBackgroundRole(QPalette::AlternateBase);
    viewport()->setBackgroundRole(QPalette::AlternateBase);
    setWidget(m_body);
    m_section->setOpen(false);
    m_tensors->setAutoDefault(false);
    m_tensors->setToolTip(tr("queries and keys of a .npy, .npz or .safetensors file"));
    m_section->content()->addWidget(m_tensors);
    connect(m_tensors, &QPushButton::clicked, this, &FigurePanel::openTensorsRequested);
    connect(m_section, &Section::toggled, this, [this](bool isOpen) {
        updateGeometry();
        emit toggled(isOpen);
    });
    restyle();
}

QWidget* FigurePanel::control(const std::string& key) const
{
    const auto found = m_widgets.find(key);
    if (found == m_widgets.end() || found->second->isHidden())
        return nullptr;
    auto* row = qobject_cast<FieldRow*>(found->second);
    return row ? row->control() : found->second;
}

void FigurePanel::setFigure(const std::string& id, const QString& title, const FigureOptions& options)
{
    m_figure = id;
    m_options = options;
    m_hasSettings = false;
    int place = 0;
    QWidget* before = m_section->title();
    for (const Row& row : tableRows()) {
        const std::string key(row.info.key);
        const bool isShown = row.info.isOf(id) && (!row.counts || row.counts(options, id));
        auto found = m_widgets.find(key);
        if (isShown && found == m_widgets.end()) {
            found = m_widgets.emplace(key, makeRow(row)).first;
            m_section->content()->insertWidget(place, found->second);
        }
        if (found == m_widgets.end())
            continue;
        ++place;
        // A control that was turned and then counts no more hands the focus on instead of losing it.
        found->second->setVisible(isShown);
        if (!isShown)
            continue;
        showRow(row, found->second);
        m_hasSettings = true;
        QWidget* control = found->second;
        if (auto* line = qobject_cast<FieldRow*>(control))
            control = line->control();
        setTabOrder(before, control);
        before = control;
    }
    FigureSettingInfo content;
    content.figures = "plane scores pairs channels clusters decay";
    m_tensors->setVisible(options.content == Content::File && content.isOf(id));
    m_section->title()->setText(tr("Figure: %1").arg(title));
    m_section->title()->setAccessibleName(tr("settings of the figure %1").arg(title));
    setVisible(m_hasSettings);
    updateGeometry();
}

QWidget* FigurePanel::makeRow(const Row& row)
{
    const std::string key(row.info.key);
    const QString title = translated(row.info.title);
    const std::string preset(row.info.preset);
    if (row.info.kind == SettingKind::Whole || row.info.kind == SettingKind::Number) {
        const bool isWhole = row.info.kind == SettingKind::Whole;
        SliderScale scale = row.scale.value_or(SliderScale{});
        if (!row.scale) {
            scale.lowest = scale.hardLowest = row.info.lower;
            scale.highest = scale.hardHighest = row.info.upper;
            scale.unit = isWhole ? 1.0 : 0.0;
            if (row.info.isLogarithmic)
                scale.kind = row.info.lower > 0.0 ? SliderScale::Kind::Logarithmic : SliderScale::Kind::LogOnePlus;
        }
        auto* slider = new ValueSlider(title, scale);
        if (row.isTokens)
            slider->setSuffix(Suffix::Tokens);
        slider->setToolTip(translated(row.info.help));
        slider->setOriginal(std::stod(preset));
        connect(slider, &ValueSlider::valueChanged, this,
                [this, key](double value) { edit(key, numberText(value)); });
        return slider;
    }
    QWidget* control = nullptr;
    if (row.info.kind == SettingKind::Switch) {
        auto* box = new QCheckBox(title);
        box->setAccessibleName(title);
        connect(box, &QCheckBox::toggled, this, [this, key](bool isOn) { edit(key, truthText(isOn)); });
        control = box;
    } else {
        QStringList titles;
        std::vector<std::string> words;
        for (const SettingWord& each : row.info.words) {
            titles += translated(each.title);
            words.emplace_back(each.word);
        }
        auto* segments =
            words.size() <= kMostSegments ? new SegmentedControl(titles) : static_cast<SegmentedControl*>(nullptr);
        // Words that would be cut short stand in a list instead.
        if (segments && segments->sizeHint().width() > scaledPixels(292.0 - 2.0 * kPad)) {
            delete segments;
            segments = nullptr;
        }
        if (segments) {
            connect(segments, &SegmentedControl::chosen, this, [this, key, words](int index) {
                edit(key, words[static_cast<std::size_t>(index)]);
            });
            control = segments;
        } else {
            auto* box = new QComboBox;
            for (std::size_t i = 0; i < words.size(); ++i)
                box->addItem(titles[static_cast<qsizetype>(i)], QString::fromStdString(words[i]));
            box->setFocusPolicy(Qt::StrongFocus);
            box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
            box->setMinimumContentsLength(6);
            box->installEventFilter(this);
            connect(box, &QComboBox::activated, this, [this, key, box](int index) {
                edit(key, box->itemData(index).toString().toStdString());
            });
            control = box;
        }
    }
    auto* line = new FieldRow(row.info.kind == SettingKind::Switch ? QString() : title, control);
    line->allowTwoLines();
    connect(line, &FieldRow::restoreRequested, this, [this, key, preset] { edit(key, preset); });
    return line;
}

void FigurePanel::showRow(const Row& row, QWidget* widget)
{
    const std::string text = row.text(m_options);
    if (auto* slider = qobject_cast<ValueSlider*>(widget)) {
        slider->setValue(std::stod(text));
        return;
    }
    auto* line = static_cast<FieldRow*>(widget);
    const QSignalBlocker blocker(line->control());
    const bool isChanged = text != row.info.preset;
    if (auto* box = qobject_cast<QCheckBox*>(line->control())) {
        box->setChecked(text == "true");
    } else if (auto* combo = qobject_cast<QComboBox*>(line->control())) {
        combo->setCurrentIndex(combo->findData(QString::fromStdString(text)));
    } else if (auto* segments = qobject_cast<SegmentedControl*>(line->control())) {
        const auto& words = row.info.words;
        const auto at = std::find_if(words.begin(), words.end(),
                                     [&](const SettingWord& each) { return each.word == text; });
        segments->setCurrent(static_cast<int>(at - words.begin()));
    }
    line->setChanged(isChanged);
    const QString help = translated(row.info.help);
    line->setToolTip(isChanged ? tr("%1\ndouble-click on the name restores it").arg(help) : help);
}

void FigurePanel::edit(const std::string& key, const std::string& value)
{
    for (const Row& row : tableRows()) {
        if (row.info.key != key)
            continue;
        FigureOptions options = m_options;
        row.set(options, value);
        if (options == m_options)
            return;
        m_options = options;
        emit optionsEdited(options);
        return;
    }
}

int FigurePanel::openHeight() const
{
    int height = m_section->title()->sizeHint().height();
    for (const auto& [key, widget] : m_widgets)
        if (!widget->isHidden())
            height += widget->sizeHint().height();
    return height + (m_tensors->isHidden() ? 0 : m_tensors->sizeHint().height());
}

QSize FigurePanel::sizeHint() const
{
    return {scaledPixels(260),
            m_section->isOpen() ? openHeight() + scaledPixels(6) : m_section->title()->sizeHint().height()};
}

QSize FigurePanel::minimumSizeHint() const
{
    // Open, at least a control and a half: the rest scrolls.
    return {scaledPixels(120), std::min(sizeHint().height(), scaledPixels(100))};
}

void FigurePanel::restyle()
{
    m_tensors->setFont(windowFont(TextRole::Control));
    m_tensors->setContentsMargins(scaledPixels(kPad), 0, scaledPixels(kPad), 0);
    updateGeometry();
}

/// The wheel scrolls the column, the choice under the pointer stays.
bool FigurePanel::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Wheel && !static_cast<QWidget*>(watched)->hasFocus()) {
        event->ignore();
        return true;
    }
    return QScrollArea::eventFilter(watched, event);
}

void FigurePanel::changeEvent(QEvent* event)
{
    QScrollArea::changeEvent(event);
    if (event->type() == QEvent::StyleChange)
        restyle();
}

} // namespace ropewalk
