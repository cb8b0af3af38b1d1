// Draws a chart as SVG, and converts it to PNG for emails and messages, because email clients do not show SVG.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  computeTicks,
  formatAxisLabels,
  otherColor,
  type SeriesColor,
  seriesColors,
  splitAtGaps,
} from '@millrace/contracts/chart';
import { computeChange, formatPercent, formatTick, formatValue, isGoodChange } from '@millrace/contracts/numbers';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import type { Chart } from './chart.ts';
import type { Figure } from './figures.ts';
import { formatFigureChange, formatRange } from './text.ts';

const width = 640;
const padding = 24;
/** Pixels per SVG unit. With a factor of two, pictures are sharp on high-density screens. */
const scale = 2;
/** The background is always white, because email clients in dark mode do not invert pictures. */
const colours = {
  ground: '#ffffff',
  ink: '#1b2127',
  quiet: '#5b6670',
  line: '#e3e7ea',
  good: '#1e7a4c',
  bad: '#b3372f',
};
const tones = seriesColors.light;
const toneOf = (color: SeriesColor) =>
  color === 'bad' ? colours.bad : color === 'other' ? otherColor.light : tones[color];

interface Pictured {
  name: string;
  date_from: string | null;
  date_to: string | null;
  figures: readonly Figure[];
  chart: Chart | null;
}

interface Drawing {
  svg: string;
  height: number;
}

export const hasPicture = ({ figures, chart }: Pick<Pictured, 'figures' | 'chart'>) =>
  chart !== null || figures.length === 1;

/** Returns an SVG, or null if there is nothing to draw. */
export function drawInsight({ name, figures, chart, ...range }: Pictured): string | null {
  if (!hasPicture({ figures, chart })) return null;
  const [figure] = figures;
  const title =
    write(padding, 34, cut(name, 62), { size: 17, isBold: true }) +
    write(padding, 54, formatRange(range), { size: 12, colour: colours.quiet });
  const head = figures.length === 1 && figure !== undefined ? headline(figure, 100) : { svg: '', height: 66 };
  const drawn = chart === null ? { svg: '', height: 0 } : drawChart(chart, head.height + 10);
  const height = head.height + drawn.height + padding;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="Inter">
<rect width="${width}" height="${height}" fill="${colours.ground}"/>${title}${head.svg}${drawn.svg}</svg>`;
}

function headline(figure: Figure, y: number): Drawing {
  const change = computeChange(figure.value, figure.before, figure.format);
  const shown = formatValue(figure.value, figure.format);
  const colour = isGoodChange(change, figure.format) === false ? colours.bad : colours.good;
  return {
    svg:
      write(padding, y, shown, { size: 34, isBold: true }) +
      (change === null
        ? ''
        : write(padding + 24 + shown.length * 20, y, formatFigureChange(figure), { size: 14, isBold: true, colour })),
    height: y + 14,
  };
}

function drawChart(chart: Chart, top: number): Drawing {
  switch (chart.shape) {
    case 'lines':
    case 'bars':
      return drawSeries(chart, top);
    case 'rows':
      return drawRows(chart, top);
    case 'heat':
      return drawHeat(chart, top);
    default:
      return chart satisfies never;
  }
}

const plotHeight = 190;
const axisWidth = 44;

function drawSeries({ shape, times, open, format, series }: Extract<Chart, { times: string[] }>, top: number): Drawing {
  const current = series.filter(({ isBefore }) => !isBefore);
  const sumsAt = (pick: (value: number) => number) =>
    times.map((_, at) => current.reduce((sum, { data }) => sum + pick(data[at] ?? 0), 0));
  const values =
    shape === 'bars'
      ? [...sumsAt((value) => Math.max(0, value)), ...sumsAt((value) => Math.min(0, value))]
      : series.flatMap(({ data }) => data.filter((value) => value !== null));
  const ticks = computeTicks(values, format);
  const [least = 0, most = 1] = [ticks[0], ticks.at(-1)];
  const left = padding + axisWidth;
  const room = (width - left - padding) / Math.max(1, times.length);
  const x = (at: number) => left + (at + 0.5) * room;
  const y = (value: number) => top + plotHeight - ((value - least) / (most - least)) * plotHeight;
  const grid = ticks.map(
    (tick) =>
      `<line x1="${left}" x2="${width - padding}" y1="${y(tick)}" y2="${y(tick)}" stroke="${colours.line}"/>${write(
        left - 8,
        y(tick) + 4,
        formatTick(tick, format),
        { size: 11, colour: colours.quiet, anchor: 'end' },
      )}`,
  );
  const drawn =
    shape === 'bars'
      ? bars(current, { x, y, room, open, count: times.length })
      : series.map(({ color, isBefore, data }) => {
          const tone = toneOf(color);
          const runs = (from: number, to: number) => splitAtGaps((at) => data[at] ?? null, { from, to });
          const place = (at: number) => `${round(x(at))},${round(y(data[at] ?? 0))}`;
          const line = (from: number, to: number, dashes: string) =>
            runs(from, to)
              .filter(({ length }) => length > 1)
              .map(
                (run) =>
                  `<polyline points="${run.map(place).join(' ')}" fill="none" stroke="${tone}" stroke-width="2" stroke-linejoin="round"${dashes}/>`,
              )
              .join('');
          const points = runs(0, data.length)
            .filter(({ length }) => length === 1)
            .map(([at = 0]) => `<circle cx="${round(x(at))}" cy="${round(y(data[at] ?? 0))}" r="3" fill="${tone}"/>`)
            .join('');
          if (isBefore) return line(0, data.length, ' stroke-dasharray="2 4" opacity="0.6"');
          const unfinished = open < data.length ? line(open - 1, data.length, ' stroke-dasharray="6 5"') : '';
          return line(0, open, '') + unfinished + points;
        });
  const labels = formatAxisLabels(times);
  const days = dayPlaces(times.length).map((at, place, places) =>
    write(x(at), top + plotHeight + 20, labels[at] ?? '', {
      size: 11,
      colour: colours.quiet,
      anchor: places.length === 1 ? 'middle' : place === 0 ? 'start' : place === places.length - 1 ? 'end' : 'middle',
    }),
  );
  const legend = drawLegend(current, top + plotHeight + 44);
  return { svg: [...grid, ...drawn, ...days, legend.svg].join(''), height: plotHeight + 34 + legend.height };
}

function bars(
  series: readonly { color: SeriesColor; data: (number | null)[] }[],
  { x, y, room, open, count }: Record<'x' | 'y', (value: number) => number> & Record<'room' | 'open' | 'count', number>,
): string[] {
  const drawn = [];
  for (let at = 0; at < count; at += 1) {
    let [up, down] = [0, 0];
    for (const { color, data } of series) {
      const value = data[at] ?? 0;
      if (value === 0) continue;
      const from = value > 0 ? up : down;
      if (value > 0) up += value;
      else down += value;
      const [top, bottom] = [y(Math.max(from, from + value)), y(Math.min(from, from + value))];
      const box = `x="${round(x(at) - room * 0.35)}" y="${round(top)}" width="${round(room * 0.7)}" height="${round(bottom - top)}"`;
      // The outline separates the segments of a stacked bar.
      drawn.push(
        `<rect ${box} fill="${toneOf(color)}" stroke="${colours.ground}" stroke-width="0.5"${at >= open ? ' fill-opacity="0.45"' : ''}/>`,
      );
    }
  }
  return drawn;
}

/** Draws a legend, in several lines if necessary. */
function drawLegend(series: readonly { label: string; color: SeriesColor }[], top: number): Drawing {
  let [x, line, svg] = [padding + axisWidth, 0, ''];
  for (const { label, color } of series) {
    const shown = cut(label, 40);
    const room = 22 + shown.length * 6.6;
    if (x + room > width - padding && x > padding + axisWidth) [x, line] = [padding + axisWidth, line + 1];
    const y = top + line * 20;
    svg += `<rect x="${x}" y="${y - 9}" width="10" height="10" rx="2" fill="${toneOf(color)}"/>${write(x + 15, y, shown, { size: 12 })}`;
    x += room + 10;
  }
  return { svg, height: series.length === 0 ? 0 : (line + 1) * 20 };
}

function drawRows({ rows, format }: Extract<Chart, { shape: 'rows' }>, top: number): Drawing {
  const most = Math.max(1, ...rows.map(({ value }) => Math.abs(value)));
  const [first] = rows;
  const svg = rows.map(({ label, value }, at) => {
    const y = top + at * 40;
    const length = (Math.abs(value) / most) * (width - 2 * padding);
    const isStep = /^\d+\. /.test(label) && at > 0 && first !== undefined && first.value > 0;
    const share = isStep ? ` · ${formatPercent((value / first.value) * 100)}` : '';
    return (
      write(padding, y + 12, cut(label, 60), { size: 12 }) +
      write(width - padding, y + 12, formatValue(value, format) + share, { size: 12, isBold: true, anchor: 'end' }) +
      `<rect x="${padding}" y="${y + 18}" width="${width - 2 * padding}" height="10" rx="2" fill="${colours.line}"/>` +
      `<rect x="${padding}" y="${y + 18}" width="${round(Math.max(1, length))}" height="10" rx="2" fill="${tones[0]}"/>`
    );
  });
  return { svg: svg.join(''), height: rows.length * 40 };
}

function drawHeat({ columns, rows }: Extract<Chart, { shape: 'heat' }>, top: number): Drawing {
  const left = padding + 130;
  const room = (width - left - padding) / Math.max(1, columns.length);
  const style = { size: 11, colour: colours.quiet, anchor: 'middle' as const };
  const head = columns.map((label, at) => write(left + (at + 0.5) * room, top + 10, cut(label, 9), style)).join('');
  const body = rows.map(({ label, size, shares, open }, row) => {
    const y = top + 18 + row * 24;
    const cells = shares.map((share, at) => {
      const x = left + at * room;
      const shade = `<rect x="${round(x + 1)}" y="${y + 1}" width="${round(room - 2)}" height="22" rx="2" fill="${tones[0]}" opacity="${round(0.06 + share * 0.5)}"/>`;
      return size === 0
        ? ''
        : shade +
            write(x + room / 2, y + 16, `${Math.round(share * 100)}%${at < open ? '' : '*'}`, {
              size: 11,
              anchor: 'middle',
            });
    });
    return (
      write(padding, y + 16, label, { size: 11 }) +
      write(left - 12, y + 16, formatValue(size), { size: 11, isBold: true, anchor: 'end' }) +
      cells.join('')
    );
  });
  const end = top + 18 + rows.length * 24;
  const note = write(left, end + 16, '* interval in progress', { size: 11, colour: colours.quiet });
  const hasOpen = rows.some(({ shares, open, size }) => size > 0 && open < shares.length);
  return { svg: head + body.join('') + (hasOpen ? note : ''), height: 26 + rows.length * 24 + (hasOpen ? 18 : 0) };
}

const dayPlaces = (count: number) =>
  count === 0 ? [] : [...new Set([0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(share * (count - 1))))];
const round = (number: number) => Math.round(number * 100) / 100;
const cut = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

interface Style {
  size: number;
  isBold?: boolean;
  colour?: string;
  anchor?: 'start' | 'middle' | 'end';
}

function write(x: number, y: number, text: string, { size, isBold, colour, anchor }: Style): string {
  const weight = isBold ? ' font-weight="600"' : '';
  const place = anchor === undefined || anchor === 'start' ? '' : ` text-anchor="${anchor}"`;
  return `<text x="${round(x)}" y="${round(y)}" font-size="${size}"${weight}${place} fill="${colour ?? colours.ink}">${escaped(text)}</text>`;
}

/** Escapes text for XML. Replaces control characters with spaces, because XML does not allow most of them. */
function escaped(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: matches the characters to remove
      .replace(/[\u0000-\u001f\ufffe\uffff]/g, ' ')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
  );
}

let drawing: Promise<Uint8Array[]> | undefined;

/** Converts an SVG from `drawInsight` to a PNG with a width of 1,280 pixels. */
export async function toPng(svg: string): Promise<Buffer> {
  drawing ??= prepare().catch((error: unknown) => {
    // Discard the failed attempt, so that the next picture starts the renderer again.
    drawing = undefined;
    throw error;
  });
  const fontBuffers = await drawing;
  // Let pending requests run first, because rendering a picture blocks the process for tens of milliseconds.
  await setImmediate();
  const picture = new Resvg(svg, {
    fitTo: { mode: 'width', value: width * scale },
    font: { fontBuffers, defaultFontFamily: 'Inter', sansSerifFamily: 'Inter' },
  });
  try {
    const rendered = picture.render();
    const png = Buffer.from(rendered.asPng());
    rendered.free();
    return png;
  } finally {
    picture.free();
  }
}

async function prepare(): Promise<Uint8Array[]> {
  const wasm = await readFile(createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm'));
  const fonts = await Promise.all(['Regular', 'SemiBold'].map((name) => readFile(`${fontFolder()}/Inter-${name}.ttf`)));
  // Call `initWasm` last, because it can be called only once.
  await initWasm(wasm);
  return fonts;
}

/**
 * Finds the folder that contains the fonts. After a build (build.ts in packages/stack), it is next to the programs. In
 * the repository, it is next to this package's sources.
 */
function fontFolder(): string {
  const folders = ['./fonts', '../fonts'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const found = folders.find((folder) => existsSync(folder));
  if (found === undefined) throw new Error(`The fonts for reports were not found in ${folders.join(', ')}.`);
  return found;
}
