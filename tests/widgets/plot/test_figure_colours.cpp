// SPDX-License-Identifier: GPL-3.0-or-later
// What the colours of curves and maps promise: contrast, lightness, and that people who see fewer colours can
// tell them apart. Deficient sight is simulated with the matrices for the full deficiency of Machado,
// Oliveira and Fernandes, IEEE TVCG 15(6), 2009; lightness and distance are CIELAB's.

#include "widgets/plot/colour_tables.h"

#include <QtTest>

#include <array>

using namespace ropewalk;

namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

constexpr Matrix kNormal{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix kDeuteranopia{
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix kProtanopia{
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix kToXyz{{{0.4124564, 0.3575761, 0.1804375},
                         {0.2126729, 0.7151522, 0.0721750},
                         {0.0193339, 0.1191920, 0.9503041}}};

Triple times(const Matrix& matrix, const Triple& v)
{
    Triple out{};
    for (std::size_t i = 0; i < 3; ++i)
        out[i] = matrix[i][0] * v[0] + matrix[i][1] * v[1] + matrix[i][2] * v[2];
    return out;
}

Triple linear(const QColor& colour)
{
    Triple out{colour.redF(), colour.greenF(), colour.blueF()};
    for (double& part : out)
        part = part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
    return out;
}

Triple lab(const QColor& colour, const Matrix& sight = kNormal)
{
    Triple seen = times(sight, linear(colour));
    for (double& part : seen)
        part = std::clamp(part, 0.0, 1.0);
    const Triple xyz = times(kToXyz, seen);
    const Triple white = times(kToXyz, {1, 1, 1});
    Triple f{};
    for (std::size_t i = 0; i < 3; ++i) {
        const double t = xyz[i] / white[i];
        f[i] = t > 216.0 / 24389.0 ? std::cbrt(t) : (24389.0 / 27.0 * t + 16.0) / 116.0;
    }
    return {116.0 * f[1] - 16.0, 500.0 * (f[0] - f[1]), 200.0 * (f[1] - f[2])};
}

double distance(const Triple& a, const Triple& b)
{
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

double contrast(const QColor& a, const QColor& b)
{
    const double x = times(kToXyz, linear(a))[1] + 0.05;
    const double y = times(kToXyz, linear(b))[1] + 0.05;
    return std::max(x, y) / std::min(x, y);
}

} // namespace

class TestFigureColours : public QObject
{
    Q_OBJECT
private slots:
    void curvesAreLegible();
    void curvesAreToldApart_data();
    void curvesAreToldApart();
    void sequentialTablesGetLighter();
    void divergingTablesAreSymmetric();
    void theCyclicTableIsEven();
    void maskedCellsStandOut();
    void valuesMeetTheirColours();
};

void TestFigureColours::curvesAreLegible()
{
    for (const Theme theme : {Theme::Light, Theme::Dark, Theme::Print}) {
        const ThemeColours& c = themeColours(theme);
        QCOMPARE(c.curves.size(), 8);
        for (int i = 0; i < c.curves.size(); ++i) {
            QVERIFY2(contrast(c.curves[i], c.figure) >= 3.0, qPrintable(c.curves[i].name()));
            if (i < c.series.size())
                QCOMPARE(c.curves[i], c.series[i]);
        }
    }
}

void TestFigureColours::curvesAreToldApart_data()
{
    QTest::addColumn<int>("sight");
    QTest::addColumn<double>("least");
    QTest::newRow("normal") << 0 << 28.0;
    QTest::newRow("deuteranopia") << 1 << 18.0;
    QTest::newRow("protanopia") << 2 << 18.0;
}

void TestFigureColours::curvesAreToldApart()
{
    QFETCH(int, sight);
    QFETCH(double, least);
    const Matrix& matrix = sight == 0 ? kNormal : sight == 1 ? kDeuteranopia : kProtanopia;
    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        const ThemeColours& c = themeColours(theme);
        for (int i = 0; i < 8; ++i)
            for (int k = 0; k < i; ++k) {
                // The four of the configurations carry a marker and a letter as well.
                const double needed = i < 4 ? std::min(least, 8.0) : least;
                const double apart = distance(lab(c.curves[i], matrix), lab(c.curves[k], matrix));
                QVERIFY2(
                    apart >= needed,
                    qPrintable(
                        QString("%1 and %2: %3").arg(c.curves[i].name(), c.curves[k].name()).arg(apart)));
            }
    }
}

void TestFigureColours::sequentialTablesGetLighter()
{
    for (const ColourTable table : {ColourTable::Viridis, ColourTable::Cividis}) {
        const ColourRamp& ramp = colourRamp(table, Theme::Light);
        // A step of 1 of 255 is the finest that a screen has: over four entries no rounding hides the rise.
        for (std::size_t i = 4; i < ramp.size(); ++i)
            QVERIFY(lab(ramp[i])[0] > lab(ramp[i - 4])[0]);
        for (std::size_t i = 1; i < ramp.size(); ++i)
            QVERIFY(lab(ramp[i])[0] > lab(ramp[i - 1])[0] - 0.05);
        QVERIFY(lab(ramp.back())[0] - lab(ramp.front())[0] > 70.0);
    }
}

void TestFigureColours::divergingTablesAreSymmetric()
{
    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        const ColourRamp& ramp = colourRamp(ColourTable::Diverging, theme);
        for (std::size_t i = 0; i < 128; ++i) {
            QVERIFY(std::fabs(lab(ramp[i])[0] - lab(ramp[255 - i])[0]) < 2.0);
            if (i > 3) // from the end to the middle all one way
                QVERIFY((lab(ramp[i])[0] > lab(ramp[i - 4])[0]) == (theme == Theme::Light));
        }
        const Triple middle = lab(ramp[127]);
        QVERIFY(std::hypot(middle[1], middle[2]) < 3.0); // grey
        QVERIFY(distance(lab(ramp[0]), lab(ramp[255])) > 60.0);
        QVERIFY(distance(lab(ramp[0], kDeuteranopia), lab(ramp[255], kDeuteranopia)) > 40.0);
    }
    QCOMPARE(colourRamp(ColourTable::Diverging, Theme::Print),
             colourRamp(ColourTable::Diverging, Theme::Light));
}

void TestFigureColours::theCyclicTableIsEven()
{
    const ColourRamp& ramp = colourRamp(ColourTable::Cyclic, Theme::Light);
    double least = INFINITY;
    double greatest = -INFINITY;
    for (std::size_t i = 0; i < ramp.size(); ++i) {
        const Triple here = lab(ramp[i]);
        least = std::min(least, here[0]);
        greatest = std::max(greatest, here[0]);
        QVERIFY(distance(here, lab(ramp[(i + 1) % ramp.size()])) < 2.5); // the ends too
    }
    QVERIFY(greatest - least < 1.0);
    QVERIFY(distance(lab(ramp[0]), lab(ramp[128])) > 60.0);
}

void TestFigureColours::maskedCellsStandOut()
{
    for (const Theme theme : {Theme::Light, Theme::Dark})
        for (const ColourTable table :
             {ColourTable::Viridis, ColourTable::Cividis, ColourTable::Diverging, ColourTable::Cyclic})
            for (const QRgb colour : colourRamp(table, theme))
                QVERIFY(distance(lab(colour), lab(themeColours(theme).mask)) > 9.0);
}

void TestFigureColours::valuesMeetTheirColours()
{
    MapSpec map;
    map.lower = -2.0;
    map.upper = 2.0;
    map.colours = ColourTable::Diverging;
    const MapColours linearColours(map, Theme::Light);
    const ColourRamp& ramp = linearColours.ramp();
    QCOMPARE(linearColours(-2.0), ramp[0]);
    QCOMPARE(linearColours(2.0), ramp[255]);
    QCOMPARE(linearColours(0.0), ramp[128]);
    QCOMPARE(linearColours(1.0), ramp[192]);
    QCOMPARE(linearColours(-1e300), ramp[0]);
    QCOMPARE(linearColours(INFINITY), ramp[255]);
    QCOMPARE(linearColours(std::nan("")), themeColours(Theme::Light).mask.rgb());
    map.colours = ColourTable::Viridis;
    map.isLogarithmic = true;
    map.lower = 1e-4;
    map.upper = 1.0;
    const MapColours logarithmic(map, Theme::Light);
    QCOMPARE(logarithmic(1.001e-2), logarithmic.ramp()[128]);
    QCOMPARE(logarithmic(0.0), logarithmic.ramp()[0]);
    QCOMPARE(logarithmic(1.0), logarithmic.ramp()[255]);
    map.isLogarithmic = false;
    map.colours = ColourTable::Cyclic;
    map.lower = -3.0;
    map.upper = 3.0;
    const MapColours cyclic(map, Theme::Light);
    QCOMPARE(cyclic(-3.0), cyclic(3.0));
    QCOMPARE(cyclic(-2.0), cyclic(4.0));
}

QTEST_MAIN(TestFigureColours)
#include "test_figure_colours.moc"
