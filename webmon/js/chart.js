let loading;

/** The one library of the page, loaded when the first chart is shown. */
function load() {
  loading ??= new Promise((resolve, reject) => {
    const sheet = document.createElement('link');
    sheet.rel = 'stylesheet';
    sheet.href = 'vendor/uPlot.min.css';
    document.head.append(sheet);
    const script = document.createElement('script');
    script.src = 'vendor/uPlot.iife.min.js';
    script.addEventListener('load', () => resolve(globalThis.uPlot));
    script.addEventListener('error', () => {
      loading = undefined;
      reject(new Error('chart library not loaded'));
    });
    document.head.append(script);
  });
  return loading;
}

const charts = new Map();

/**
 * Draws or refreshes the chart in the element that carries `data-keep=<name>`. `spec`: `{x, series: [{name, values, tone,
 * kind}], height, formatX, formatY, lines: [{value, tone, name}]}`; `x` is epoch seconds, or an index where `isTime` is false. A chart is only a picture beside
 * the table of the same numbers, so a failure to draw it hurts nobody.
 */
export async function draw(name, spec) {
  const place = () => document.querySelector(`[data-keep="${CSS.escape(name)}"]`);
  if (place() === null) return;
  const UPlot = await load().catch(() => undefined);
  const element = place();
  if (UPlot === undefined || element === null) return;
  const look = `${spec.look}|${element.clientWidth}`;
  const known = charts.get(name);
  const values = [
    spec.x,
    ...spec.series.map((series) => series.values),
    ...spec.lines.map((line) => spec.x.map(() => line.value)),
  ];
  if (known !== undefined && known.element === element && known.look === look) {
    known.plot.setData(values);
    return;
  }
  known?.plot.destroy();
  charts.set(name, { element, look, plot: new UPlot(options(UPlot, spec, element), values, element) });
}

function options(UPlot, spec, element) {
  const color = (tone) => getComputedStyle(element).getPropertyValue(`--${tone}`).trim();
  const ink = color('quiet');
  const grid = { stroke: color('line'), width: 1 };
  const axis = { stroke: ink, font: '12px system-ui', grid, ticks: { show: false } };
  const paths = { bars: UPlot.paths.bars({ size: [0.7, 40], radius: 0.15 }), line: UPlot.paths.linear() };
  return {
    width: element.clientWidth,
    height: spec.height,
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    legend: { show: false },
    scales: {
      x: { time: spec.isTime, range: (_, low, high) => [low - (spec.padX ?? 0), high + (spec.padX ?? 0)] },
      y: { range: (_, low, high) => [Math.min(0, low), high <= 0 ? 1 : high * 1.1] },
    },
    axes: [
      {
        ...axis,
        size: 30,
        space: spec.isTime ? 110 : 50,
        grid: { show: false },
        values: (_, splits) => splits.map(spec.formatX),
      },
      { ...axis, size: 64, values: (_, splits) => splits.map(spec.formatY) },
    ],
    series: [
      {},
      ...spec.series.map((series) => ({
        label: series.name,
        stroke: color(series.tone),
        fill: series.kind === 'bars' ? color(series.tone) : undefined,
        width: series.kind === 'bars' ? 0 : 2,
        paths: paths[series.kind],
        points: { show: series.kind !== 'bars' && spec.x.length < 40, size: 4 },
      })),
      ...spec.lines.map((line) => ({
        label: line.name,
        stroke: color(line.tone),
        width: 1.5,
        dash: [6, 4],
        points: { show: false },
      })),
    ],
  };
}
