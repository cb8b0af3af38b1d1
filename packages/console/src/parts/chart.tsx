/**
 * Small charts of a single series. Pure functions compute the shapes without React or a browser, so that reports and
 * emails can draw the same chart as SVG.
 */

export interface Size {
  width: number;
  height: number;
}

/**
 * Computes a bar for each number. Bars of numbers other than 0 are always visible.
 * @param most maximum of the axis; the largest value by default
 */
export function computeBars(values: readonly number[], { width, height }: Size, most = Math.max(0, ...values)) {
  const room = width / Math.max(1, values.length);
  return values.map((value, at) => {
    const tall = value <= 0 || most <= 0 ? 0 : Math.max(2, (value / most) * height);
    return { x: at * room + room * 0.1, y: height - tall, width: room * 0.8, height: tall };
  });
}

/** Adds up counts in `spans` intervals of equal length, so that the chart does not have too many bars. */
export function groupIntoSpans(
  counts: readonly { start: string; count: number }[],
  { from, to, spans }: { from: number; to: number; spans: number },
): number[] {
  const sums = Array.from({ length: spans }, () => 0);
  const length = (to - from) / spans;
  for (const { start, count } of counts) {
    // Include a count that began before the first interval in the first interval.
    const at = Math.min(spans - 1, Math.max(0, Math.floor((Date.parse(start) - from) / length)));
    sums[at] = (sums[at] ?? 0) + count;
  }
  return sums;
}

interface BarsProps extends Size {
  values: readonly number[];
  label: string;
  /** Maximum of the axis, for charts that must have the same axis. */
  most?: number | undefined;
  /** A CSS class that sets `color`. */
  tone?: string | undefined;
}

/** A bar chart that is as wide as its container. */
export function Bars({ values, width, height, label, most, tone }: BarsProps) {
  return (
    <svg
      className={tone ? `bars ${tone}` : 'bars'}
      width="100%"
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {computeBars(values, { width, height: height - 1 }, most).map(
        (bar) => bar.height > 0 && <rect key={bar.x} {...bar} />,
      )}
      <line x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} className="bars-line" />
    </svg>
  );
}

const sparkSize = { width: 96, height: 32 };

/** A line chart without axes that is as wide as its container. */
export function LineChart({ values, label }: { values: readonly number[]; label: string }) {
  const { width, height } = sparkSize;
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const points = values.map((value, at) => {
    const x = (at / (values.length - 1)) * (width - 2) + 1;
    const y = height - 2 - ((value - least) / (most - least || 1)) * (height - 4);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg
      className="spark"
      {...sparkSize}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polyline points={points.join(' ')} />
    </svg>
  );
}
