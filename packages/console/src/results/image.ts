// Draws a chart as a PNG. The chart is drawn on a canvas, because an exported SVG would lose the page's styles.

import { formatAxisLabels, splitAtGaps } from '@millrace/contracts/chart';
import { formatTick, seriesValueAt } from '@millrace/contracts/numbers';
import type { Drawn, Plot } from './plot.ts';
import type { Series } from './series.ts';

const [width, height, scale] = [960, 480, 2];
const box = { left: 64, top: 20, right: width - 20, bottom: 380 };
const font = '12px Inter Variable, system-ui, sans-serif';

interface Canvas {
  context: CanvasRenderingContext2D;
  x: (share: number) => number;
  y: (share: number) => number;
  /** Returns the value of a CSS color variable, such as `--line`, in the current theme. */
  color: (name: string) => string;
}

export async function renderImage(plot: Plot): Promise<Blob> {
  const element = document.createElement('canvas');
  [element.width, element.height] = [width * scale, height * scale];
  const context = element.getContext('2d');
  if (context === null) throw new Error('This browser cannot draw on a canvas.');
  const style = getComputedStyle(document.documentElement);
  const canvas: Canvas = {
    context,
    x: (share) => box.left + share * (box.right - box.left),
    y: (share) => box.top + share * (box.bottom - box.top),
    color: (name) => style.getPropertyValue(name).trim(),
  };
  context.scale(scale, scale);
  context.fillStyle = canvas.color('--panel');
  context.fillRect(0, 0, width, height);
  context.font = font;
  drawAxes(canvas, plot);
  if (plot.isBars) drawStacks(canvas, plot);
  else for (const one of plot.drawn) drawLines(canvas, plot, one);
  drawNames(canvas, plot.drawn);
  return new Promise((resolve, reject) =>
    element.toBlob((blob) => (blob === null ? reject(new Error('The image is empty.')) : resolve(blob)), 'image/png'),
  );
}

const colorOf = ({ color }: Canvas, { tone }: Drawn) => color(tone === 'series-bad' ? '--bad' : `--${tone}`);

function drawAxes({ context, x, y, color }: Canvas, plot: Plot): void {
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  for (const tick of plot.ticks) {
    context.fillStyle = color('--line');
    context.fillRect(box.left, y(plot.y(tick)), box.right - box.left, 1);
    context.fillStyle = color('--ink-2');
    context.fillText(formatTick(tick, plot.format), box.left - 8, y(plot.y(tick)));
  }
  context.textAlign = 'center';
  const step = Math.max(1, Math.ceil(plot.days.length / 8));
  for (const [at, label] of formatAxisLabels(plot.days).entries())
    if (at % step === 0) context.fillText(label, Math.min(x(plot.x(at)), width - 44), box.bottom + 18);
}

function drawLines(canvas: Canvas, plot: Plot, one: Drawn): void {
  const { context, x, y } = canvas;
  context.strokeStyle = colorOf(canvas, one);
  context.lineJoin = 'round';
  const place = ({ data }: Series, at: number) => [x(plot.x(at)), y(plot.y(data[at] ?? 0))] as const;
  const runs = (series: Series, from: number, to: number) =>
    splitAtGaps((at) => seriesValueAt(series, at), { from, to: Math.min(to, series.data.length) });
  const line = (series: Series, [from, to]: readonly [number, number], dash: number[]) => {
    context.setLineDash(dash);
    for (const run of runs(series, from, to)) {
      context.beginPath();
      for (const at of run) context.lineTo(...place(series, at));
      context.stroke();
    }
  };
  context.lineWidth = 1.2;
  if (one.before) line(one.before, [0, plot.days.length], [2, 4]);
  context.lineWidth = 2;
  line(one.series, [0, plot.open], []);
  line(one.series, [plot.open - 1, plot.days.length], [6, 5]);
  context.fillStyle = context.strokeStyle;
  for (const [first = 0, ...others] of runs(one.series, 0, plot.days.length)) {
    const [left, top] = place(one.series, first);
    if (others.length === 0) context.fillRect(left - 3, top - 3, 6, 6);
  }
  context.setLineDash([]);
}

function drawStacks(canvas: Canvas, { stacks, days, x, y, open }: Plot): void {
  const { context } = canvas;
  const room = (box.right - box.left) / Math.max(1, days.length);
  for (const [at, bars] of stacks.entries())
    for (const { drawn, from, to } of bars) {
      const [top, bottom] = [canvas.y(y(Math.max(from, to))), canvas.y(y(Math.min(from, to)))];
      context.fillStyle = colorOf(canvas, drawn);
      context.globalAlpha = at >= open ? 0.45 : 1;
      if (from !== to)
        context.fillRect(canvas.x(x(at)) - room * 0.35, top, room * 0.7, Math.max(1, bottom - top - 0.5));
    }
  context.globalAlpha = 1;
}

function drawNames(canvas: Canvas, drawn: readonly Drawn[]): void {
  const { context, color } = canvas;
  context.textAlign = 'left';
  let [left, top] = [box.left, box.bottom + 44];
  for (const one of drawn) {
    const name = one.name.length > 40 ? `${one.name.slice(0, 39)}…` : one.name;
    const room = context.measureText(name).width + 34;
    if (left + room > box.right && left > box.left) [left, top] = [box.left, top + 20];
    if (top > height - 8) return;
    context.fillStyle = colorOf(canvas, one);
    context.fillRect(left, top - 5, 10, 10);
    context.fillStyle = color('--ink');
    context.fillText(name, left + 15, top);
    left += room;
  }
}
