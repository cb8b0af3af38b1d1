/**
 * Small charts of a single series. Their shapes are computed without React or a browser, so that reports and emails can
 * draw the same charts as SVG.
 */

export interface Size {
  width: number;
  height: number;
}

/**
 * Computes a bar for each number. Even the smallest positive number gets a visible bar.
 * @param most the maximum of the axis; by default, the largest number
 */
export function computeBars(values: readonly number[], { width, height }: Size, most = Math.max(0, ...values)) {
  const room = width / Math.max(1, values.length);
  return values.map((value, at) => {
    const tall = value <= 0 || most <= 0 ? 0 : Math.max(2, (value / most) * height);
    return { x: at * room + room * 0.1, y: height - tall, width: room * 0.8, height: tall };
  });
}

/** Adds up counts in `spans` intervals of equal length, which limits the number of bars. */
export function groupIntoSpans(
  counts: readonly { start: string; count: number }[],
  { from, to, spans }: { from: number; to: number; spans: number },
): number[] {
  const sums = Array.from({ length: spans }, () => 0);
  const length = (to - from) / spans;
  for (const { start, count } of counts) {
    // A count may begin before the first interval, so include it in the first interval.
    const at = Math.min(spans - 1, Math.max(0, Math.floor((Date.parse(start) - from) / length)));
    sums[at] = (sums[at] ?? 0) + count;
  }
  return sums;
}

interface BarsProps extends Size {
  values: readonly number[];
  label: string;
  /** Maximum of the axis. Charts with the same maximum can be compared. */
  most?: number | undefined;
  tone?: string | undefined;
}

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
