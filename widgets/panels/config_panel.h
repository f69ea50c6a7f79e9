// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/frequency_rules.h"

#include <QScrollArea>

#include <map>
#include <string>

class QCheckBox;
class QComboBox;
class QLabel;
class QScrollBar;
class QVBoxLayout;

namespace ropewalk {

class ChannelStrip;
class NumberListEdit;
class Section;
class SegmentedControl;
class ValueSlider;

/// Everything about one configuration that can be turned. Given a configuration, its original and what is
/// wrong with it; emits the changed configuration. Each edit lies between one editingStarted and one
/// editingFinished, also one that changes nothing in the end.
class ConfigPanel : public QScrollArea
{
    Q_OBJECT
public:
    explicit ConfigPanel(QWidget* parent = nullptr);

    /// `original` is what double-click restores; without one nothing counts as changed.
    void setConfig(const RopeConfig& config, const std::optional<RopeConfig>& original,
                   const std::vector<Issue>& issues);
    const RopeConfig& config() const { return m_config; }

    /// The slider of a key as files spell it ("base", "beta_fast", "training_length"), or null where the rule
    /// has none.
    ValueSlider* slider(const std::string& key) const;
    QComboBox* ruleBox() const { return m_rule; }
    QComboBox* channelsBox() const { return m_scheme; }
    /// The field of a list such as "short_factor", or null where the rule has none.
    NumberListEdit* list(const std::string& key) const;
    SegmentedControl* layoutControl() const { return m_layout; }
    ChannelStrip* strip() const { return m_strip; }
    Section* moreSection() const { return m_more; }
    Section* scoreSection() const { return m_score; }
    QComboBox* temperatureBox() const { return m_temperature; }
    SegmentedControl* perQueryControl() const { return m_perQuery; }
    QCheckBox* floorBox() const { return m_floor; }
    QCheckBox* xposBox() const { return m_xpos; }
    QString generalIssue() const; ///< what is wrong with fields that have no control here

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void editingStarted(const QString& what); ///< `what` names the field, for the undo text
    void configEdited(const ropewalk::RopeConfig& config, const QString& what); ///< live, also during a drag
    void editingFinished(const QString& what);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    ValueSlider* addSlider(QVBoxLayout* layout, const std::string& key, const QString& name);
    void buildParameters();
    void buildScore();
    void showScore();
    void enterList(const RuleParameterInfo& parameter, const QString& text);
    void showConfig();
    void showIssues(const std::vector<Issue>& issues);
    void edit(const RopeConfig& config, const QString& what);
    void editAtOnce(const RopeConfig& config, const QString& what);
    void chooseRule(FrequencyRule rule);
    void chooseChannels(const std::string& word);
    void togglePair(int pair);
    QWidget* addParameterRow(QVBoxLayout* layout, const RuleParameterInfo& parameter);
    void showParameter(const RuleParameterInfo& parameter);
    void restyle();
    void updateTabOrder();
    void placeScrollBar();
    void placeScheme();

    RopeConfig m_config;
    std::vector<Issue> m_issues;
    std::optional<RopeConfig> m_original;
    std::optional<FrequencyRule> m_builtRule; ///< whose parameters the sliders are
    std::map<std::string, ValueSlider*> m_sliders;
    std::vector<std::string> m_parameterKeys;
    QWidget* m_body;
    QVBoxLayout* m_bodyLayout;
    Section* m_frequencies;
    Section* m_channels;
    Section* m_score; ///< what multiplies the score beside the rotation
    Section* m_more = nullptr;
    QComboBox* m_rule;
    QVBoxLayout* m_parameters;
    QCheckBox* m_truncate = nullptr;
    SegmentedControl* m_spacing = nullptr;
    std::map<std::string, NumberListEdit*> m_lists;
    std::map<std::string, QWidget*> m_parameterRows; ///< of what has no slider
    QComboBox* m_temperature;
    SegmentedControl* m_perQuery;
    QCheckBox* m_floor;
    QCheckBox* m_xpos;
    bool m_hadScore = false; ///< so that the section opens when there is something to see in it
    QComboBox* m_scheme;
    SegmentedControl* m_layout;
    ChannelStrip* m_strip;
    QLabel* m_general;
    QScrollBar* m_bar;
    QWidget* m_ruleRow;
    QWidget* m_layoutRow;
    QWidget *m_temperatureRow, *m_perQueryRow, *m_floorRow, *m_xposRow;
};

} // namespace ropewalk
