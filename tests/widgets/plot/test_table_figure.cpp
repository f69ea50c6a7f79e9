// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_figures.h"
#include "widgets/plot/figure_layout.h"
#include "widgets/plot/table_figure.h"

#include <QImage>
#include <QtTest>

using namespace ropewalk;

namespace {

QStringList textsOf(const FigureSpec& figure, const QSizeF& size, double scale = 1.0)
{
    RenderOptions options;
    options.scale = scale;
    QStringList found;
    for (const DrawnText& text : figureTexts(QRectF(QPointF(), size), figure, options))
        found.append(text.text);
    return found;
}

} // namespace

class TestTableFigure : public QObject
{
    Q_OBJECT
private slots:
    void cellsTileTheTable();
    void everyCellIsHit();
    void narrowCellsKeepTheirColours();
    void linksEndAtTheirCells();
    void longTablesSayWhatIsMissing();
    void numbersStandBelowEachOther();
    void spareColumnGivesWay();
    void survivesOddTables();
};

void TestTableFigure::cellsTileTheTable()
{
    for (const int channels : {16, 64, 128, 256})
        for (const double width : {300.0, 700.0, 1900.0}) {
            const FigureSpec figure = sampleTable(channels);
            const QRectF content(5, 7, width, 300);
            const TableLayout layout = layoutTable(FigureStyle{RenderOptions()}, content, *figure.table);
            QCOMPARE(layout.rows, 2);
            QCOMPARE(layout.columnEdges.size(), static_cast<std::size_t>(channels + 1));
            QVERIFY(layout.columnEdges.back() <= content.right() + 1e-6);
            QVERIFY(layout.rowTops.back() + layout.rowHeight <= content.bottom() + 1e-6);
            for (std::size_t i = 1; i < layout.columnEdges.size(); ++i)
                QVERIFY(layout.columnEdges[i] - layout.columnEdges[i - 1] > 0.5);
        }
}

void TestTableFigure::everyCellIsHit()
{
    const FigureSpec figure = sampleTable(64);
    const QRectF rect(0, 0, 700, 400);
    const FigureStyle style{RenderOptions()};
    const TableLayout layout =
        layoutTable(style, layoutFigure(style, rect, figure).plots.front().content, *figure.table);
    for (int row = 0; row < 2; ++row)
        for (int column = 0; column < 64; ++column) {
            const FigureHit hit = hitFigure(layout.cell(row, column).center(), rect, figure, {});
            QVERIFY(hit.cell && hit.cell->row == row && hit.cell->column == column);
            QCOMPARE(hit.pair, row == 0 ? column / 2 : column % 32);
        }
    QVERIFY(!hitFigure({2, 2}, rect, figure, {}).cell);
}

void TestTableFigure::narrowCellsKeepTheirColours()
{
    const FigureSpec figure = sampleTable(256);
    const QSize size(480, 320);
    QImage image(size, QImage::Format_RGB32);
    QPainter painter(&image);
    paintFigure(painter, QRectF(QPointF(), QSizeF(size)), figure, {});
    painter.end();
    const FigureStyle style{RenderOptions()};
    const TableLayout layout =
        layoutTable(style, layoutFigure(style, QRectF(QPointF(), QSizeF(size)), figure).plots.front().content,
                    *figure.table);
    QVERIFY(!layout.showsTexts);
    const auto& pairs = style.colours().pairs;
    for (const int column : {0, 100, 200, 255}) {
        const QPointF at = layout.cell(0, column).center();
        QCOMPARE(image.pixelColor(at.toPoint()), pairs[column / 2 * 8 / 128]);
    }
    // Of the numbers above it every k-th is written, and none in the cells.
    const QStringList texts = textsOf(figure, size);
    QVERIFY(texts.contains("0") && texts.contains("128"));
    QVERIFY(texts.size() < 20);
    QVERIFY(textsOf(sampleTable(16), size).count("3") >= 3); // a head and two cells
}

void TestTableFigure::linksEndAtTheirCells()
{
    FigureSpec figure = sampleTable(16);
    const QSize size(480, 320);
    const FigureStyle style{RenderOptions()};
    const TableLayout layout =
        layoutTable(style, layoutFigure(style, QRectF(QPointF(), QSizeF(size)), figure).plots.front().content,
                    *figure.table);
    figure.table->links = {{0, 1, 1, 8, CellFill::Query}};
    QImage image(size, QImage::Format_RGB32);
    QPainter painter(&image);
    paintFigure(painter, QRectF(QPointF(), QSizeF(size)), figure, {});
    painter.end();
    const QColor query = style.colours().query;
    const auto isNear = [&](const QPointF& at) {
        for (int y = -2; y <= 2; ++y)
            for (int x = -2; x <= 2; ++x) {
                const QColor seen = image.pixelColor(at.toPoint() + QPoint(x, y));
                if (std::abs(seen.red() - query.red()) + std::abs(seen.blue() - query.blue()) < 60)
                    return true;
            }
        return false;
    };
    const QRectF from = layout.cell(0, 1);
    const QRectF to = layout.cell(1, 8);
    QVERIFY(isNear({from.center().x(), from.bottom() + 4.0}));
    QVERIFY(isNear({to.center().x(), to.top() - 4.0}));
    QVERIFY(!isNear({layout.cell(0, 3).center().x(), from.bottom() + 4.0}));
}

void TestTableFigure::longTablesSayWhatIsMissing()
{
    FigureSpec figure = sampleMatrix();
    const QSizeF size(700, 260);
    const QStringList texts = textsOf(figure, size);
    int shown = 0;
    for (const QString& text : texts)
        shown += text.startsWith("rule of row");
    QVERIFY(shown > 3 && shown < 30);
    QVERIFY2(texts.contains(QString("… %1 more rows").arg(30 - shown)), qPrintable(texts.join('|')));
    QVERIFY(!textsOf(figure, {900, 1000}).join('|').contains("more rows"));
}

void TestTableFigure::numbersStandBelowEachOther()
{
    std::vector<double> rights;
    for (const DrawnText& text : figureTexts(QRectF(0, 0, 900, 700), sampleMatrix(), {}))
        if (text.text.size() <= 2 && text.box.left() > 600.0 && text.text != QStringLiteral("4k"))
            rights.push_back(std::round(text.box.right()));
    QVERIFY(rights.size() > 30);
    std::sort(rights.begin(), rights.end());
    rights.erase(
        std::unique(rights.begin(), rights.end(), [](double a, double b) { return std::fabs(a - b) < 2.0; }),
        rights.end());
    QCOMPARE(rights.size(), std::size_t(2)); // two columns, each with one edge
}

/// A column that can be spared is left out where all together would be written small; the others are not cut.
void TestTableFigure::spareColumnGivesWay()
{
    FigureSpec figure;
    TableSpec table;
    table.columnHeads = {"how", "past 0.01 from"};
    table.rowHeads = {"running product (ggml CPU)", "bf16"};
    table.rows = table.columns = 2;
    table.cells = {
        {"a long formula, far longer than all else"}, {"160 983"}, {"another one as long as it"}, {"257"}};
    table.spareColumn = 0;
    figure.table = table;
    const QStringList wide = textsOf(figure, {900, 300});
    QVERIFY(wide.contains("how") && wide.contains("another one as long as it"));
    const QStringList narrow = textsOf(figure, {340, 200});
    QVERIFY2(!narrow.contains("how") && narrow.filter("long").isEmpty(), qPrintable(narrow.join('|')));
    for (const char* text : {"running product (ggml CPU)", "past 0.01 from", "160 983", "257"})
        QVERIFY2(narrow.contains(text), text);
    figure.table->spareColumn = -1;
    QVERIFY(textsOf(figure, {340, 200}).filter("h").size() > narrow.filter("h").size());
}

void TestTableFigure::survivesOddTables()
{
    for (const QSizeF size : {QSizeF(1, 1), QSizeF(60, 60), QSizeF(2000, 30), QSizeF(30, 2000)})
        for (const double scale : {0.5, 1.0, 2.5}) {
            textsOf(sampleTable(256), size, scale);
            textsOf(sampleMatrix(), size, scale);
        }
    FigureSpec figure = sampleTable(16);
    figure.table->cells.pop_back();
    textsOf(figure, {480, 320});
    figure = sampleTable(16);
    figure.table->links = {
        {0, 99, 1, -1, CellFill::Pair}, {7, 0, 0, 0, CellFill::Key}, {0, 1, 0, 9, CellFill::Key}};
    textsOf(figure, {480, 320});
}

QTEST_MAIN(TestTableFigure)
#include "test_table_figure.moc"
