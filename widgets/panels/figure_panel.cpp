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
#include <QFileInfo>
#include <QHBoxLayout>
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

/// The figures that show q and k of some content: those that read where the needle lies.
std::string_view contentFigures()
{
    const FigureSettingInfo* row = findFigureSetting("needle_position");
    return row ? row->figures : std::string_view();
}

bool hasContent(std::string_view figure)
{
    FigureSettingInfo row;
    row.figures = contentFigures();
    return row.isOf(figure);
}

/// The content that alone reads a setting, by the beginning of the key; empty: all do.
std::optional<Content> ownerOf(std::string_view key)
{
    constexpr std::array<std::pair<std::string_view, Content>, 4> kOwners{
        {{"needle_", Content::Needle},
         {"cluster_mean", Content::Clusters},
         {"cluster_sigma", Content::Clusters},
         {"correlation_", Content::Correlation}}};
    for (const auto& [beginning, content] : kOwners)
        if (key.starts_with(beginning))
            return content;
    return std::nullopt;
}

bool countsForContent(std::string_view key, Content content, std::string_view figure)
{
    const std::optional<Content> owner = ownerOf(key);
    if (!owner || !hasContent(figure))
        return true;
    // That figure is of two clouds unless it is of a file.
    const Content read = figure == "clusters" && content != Content::File ? Content::Clusters : content;
    return read == *owner;
}

/// The part of a map that is in view is set by looking closer; it stands here once it is not the whole.
bool countsForView(std::string_view key, const FigureOptions& options)
{
    constexpr std::array<std::string_view, 4> kView{"first_row", "last_row", "first_column", "last_column"};
    return std::find(kView.begin(), kView.end(), key) == kView.end() ||
           std::any_of(kView.begin(), kView.end(),
                       [&](std::string_view each) { return options.settings.stated().contains(each); });
}

/// What says more about a file of Transformer-XL stands here once there is one.
bool needsVectorFile(std::string_view key)
{
    return key == "transformer_xl_r_file" || key == "transformer_xl_head";
}

} // namespace

/// In the order in which they stand: first the figure's own, then the content and what it reads, then ranges.
const std::vector<FigurePanel::Row>& FigurePanel::tableRows()
{
    static const std::vector<Row> made = [] {
        const std::string_view withContent = contentFigures();
        static const std::string withRho = "decay " + std::string(withContent);
        const FigureOptions usual;
        std::vector<Row> rows;
        const auto addTable = [&](bool isOfContent) {
            for (const FigureSettingInfo& info : figureSettings()) {
                if (ownerOf(info.key).has_value() != isOfContent)
                    continue;
                const std::string key(info.key);
                rows.push_back(
                    {info,
                     [key](const FigureOptions& options) { return std::string(options.settings.text(key)); },
                     [key](FigureOptions& options, const std::string& value) {
                         static_cast<void>(
                             options.settings.set(key, value)); // a control offers what the table allows
                     },
                     [key](const FigureOptions& options, const std::string& figure) {
                         return countsForContent(key, options.content, figure) &&
                                countsForView(key, options) &&
                                (!needsVectorFile(key) ||
                                 !options.settings.text("transformer_xl_file").empty());
                     },
                     {},
                     info.kind == SettingKind::Whole && info.upper >= 4096.0});
            }
        };
        addTable(false);
        rows.push_back(
            {{"content", "Content of q, k", "How the queries and keys are made before they are rotated",
              withContent, SettingKind::Choice, word(usual.content), contentWords()},
             [](const FigureOptions& options) { return std::string(word(options.content)); },
             [](FigureOptions& options, const std::string& value) {
                 options.content = findContent(value).value_or(options.content);
             },
             {},
             {}});
        addTable(true);
        rows.push_back(
            {{"rho",
              "Correlation ρ",
              "Of the key with the query",
              withRho,
              SettingKind::Number,
              "1",
              {},
              -1.0,
              1.0},
             [](const FigureOptions& options) { return numberText(options.rho); },
             [](FigureOptions& options, const std::string& value) { options.rho = std::stod(value); },
             [](const FigureOptions& options, const std::string& figure) {
                 return figure == "decay" || options.content == Content::Correlation;
             },
             {}});
        rows.push_back(
            {{"seed",
              "Seed",
              "Of the random queries and keys",
              withContent,
              SettingKind::Whole,
              "1",
              {},
              0.0,
              static_cast<double>(kLargestSeed)},
             [](const FigureOptions& options) { return std::to_string(options.seed); },
             [](FigureOptions& options, const std::string& value) { options.seed = std::stoull(value); },
             [](const FigureOptions& options, const std::string&) { return isRandom(options.content); },
             SliderScale{SliderScale::Kind::Linear, 0.0, 100.0, 1.0, 0.0,
                         static_cast<double>(kLargestSeed)}});
        rows.push_back(
            {{"max_distance",
              "Longest distance",
              "Right end of the curves, in tokens",
              "decay channels range",
              SettingKind::Whole,
              "131072",
              {},
              1.0,
              static_cast<double>(kLongestDistance),
              true},
             [](const FigureOptions& options) { return std::to_string(options.maxDistance); },
             [](FigureOptions& options, const std::string& value) {
                 options.maxDistance = std::stoll(value);
             },
             {},
             SliderScale{SliderScale::Kind::Logarithmic, 64.0, static_cast<double>(kLongestDistance), 1.0,
                         1.0, static_cast<double>(kLongestDistance)},
             true});
        rows.push_back({{"is_distance_logarithmic", "Logarithmic distance", "The axis of the distance",
                         "decay channels range", SettingKind::Switch, "true"},
                        [](const FigureOptions& options) { return truthText(options.isDistanceLogarithmic); },
                        [](FigureOptions& options, const std::string& value) {
                            options.isDistanceLogarithmic = value == "true";
                        },
                        {},
                        {}});
        rows.push_back(
            {{"show_bound", "Bound of RoFormer", "The factor that bounds the score of any q and k", "decay",
              SettingKind::Switch, "false"},
             [](const FigureOptions& options) { return truthText(options.showBound); },
             [](FigureOptions& options, const std::string& value) { options.showBound = value == "true"; },
             {},
             {}});
        return rows;
    }();
    return made;
}

FigurePanel::FigurePanel(QWidget* parent)
    : QScrollArea(parent)
    , m_body(new QWidget)
    , m_section(new Section({}, SectionTitle::Kind::More, m_body))
    , m_line(new QWidget(m_body))
    , m_lineLayout(new QHBoxLayout)
    , m_tensorsLayout(new QHBoxLayout)
    , m_tensors(new QPushButton(tr("Open tensors…")))
{
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWidgetResizable(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    setFocusPolicy(Qt::NoFocus); // its controls have the focus
    auto* layout = new QVBoxLayout(m_body);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    m_line->setFixedHeight(1);
    m_line->setAutoFillBackground(true);
    m_line->setBackgroundRole(QPalette::Mid);
    m_lineLayout->addWidget(m_line);
    layout->addLayout(m_lineLayout);
    layout->addWidget(m_section);
    layout->addStretch(1);
    m_body->setAutoFillBackground(true);
    m_body->setBackgroundRole(QPalette::AlternateBase);
    viewport()->setBackgroundRole(QPalette::AlternateBase);
    setWidget(m_body);
    m_section->setOpen(false);
    m_tensors->setAutoDefault(false);
    m_tensors->setToolTip(tr("queries and keys of a .npy, .npz or .safetensors file"));
    m_tensorsLayout->addWidget(m_tensors);
    m_section->content()->addLayout(m_tensorsLayout);
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
    m_tensors->setVisible(options.content == Content::File && hasContent(id));
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
                scale.kind =
                    row.info.lower > 0.0 ? SliderScale::Kind::Logarithmic : SliderScale::Kind::LogOnePlus;
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
    } else if (row.info.kind == SettingKind::File) {
        auto* button = new QPushButton;
        button->setAutoDefault(false);
        button->setAccessibleName(title);
        connect(button, &QPushButton::clicked, this, [this, key, title] {
            m_askingKey = key;
            emit fileRequested(title);
        });
        control = button;
    } else {
        QStringList titles;
        std::vector<std::string> words;
        for (const SettingWord& each : row.info.words) {
            titles += translated(each.title);
            words.emplace_back(each.word);
        }
        auto* segments = words.size() <= kMostSegments ? new SegmentedControl(titles)
                                                       : static_cast<SegmentedControl*>(nullptr);
        // Words that would be cut short stand in a list instead.
        if (segments && segments->sizeHint().width() > scaledPixels(292.0 - 2.0 * kPad)) {
            delete segments;
            segments = nullptr;
        }
        if (segments) {
            connect(segments, &SegmentedControl::chosen, this,
                    [this, key, words](int index) { edit(key, words[static_cast<std::size_t>(index)]); });
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
    } else if (auto* button = qobject_cast<QPushButton*>(line->control())) {
        const QString name = QFileInfo(QString::fromStdString(text)).fileName();
        button->setText(isChanged ? button->fontMetrics().elidedText(name, Qt::ElideMiddle, scaledPixels(120))
                                  : tr("Open…"));
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

void FigurePanel::giveFile(const QString& path)
{
    edit(m_askingKey, path.toStdString());
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
    int height = m_line->height() + m_section->title()->sizeHint().height();
    for (const auto& [key, widget] : m_widgets)
        if (!widget->isHidden())
            height += widget->sizeHint().height();
    return height + (m_tensors->isHidden() ? 0 : m_tensorsLayout->sizeHint().height());
}

QSize FigurePanel::sizeHint() const
{
    return {scaledPixels(260), m_section->isOpen()
                                   ? openHeight() + scaledPixels(6)
                                   : m_line->height() + m_section->title()->sizeHint().height()};
}

QSize FigurePanel::minimumSizeHint() const
{
    // Open, at least a control and a half: the rest scrolls.
    return {scaledPixels(120), std::min(sizeHint().height(), scaledPixels(100))};
}

void FigurePanel::restyle()
{
    m_tensors->setFont(windowFont(TextRole::Control));
    const int pad = scaledPixels(kPad);
    m_lineLayout->setContentsMargins(pad, 0, pad, 0);
    m_tensorsLayout->setContentsMargins(pad, scaledPixels(3), pad, scaledPixels(3));
    updateGeometry();
}

/// The wheel scrolls the column, the choice under the pointer stays. Only of boxes: the scroll bar comes
/// here, too.
bool FigurePanel::eventFilter(QObject* watched, QEvent* event)
{
    const auto* box = event->type() == QEvent::Wheel ? qobject_cast<QComboBox*>(watched) : nullptr;
    if (box && !box->hasFocus()) {
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
