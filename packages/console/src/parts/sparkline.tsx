/** Points of a line through values, in a box of `width` x `height`, the lowest at the bottom. Used by pages and, as text, by mails. */
export function linePoints(values: readonly number[], width: number, height: number): string {
  const most = Math.max(1, ...values);
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  return values
    .map((value, at) => `${(at * step).toFixed(1)},${(height - 1 - (value / most) * (height - 2)).toFixed(1)}`)
    .join(' ');
}

/** A small line beside a figure. The figure says it in words, so the line is not read out. */
export function Sparkline({
  values,
  width = 92,
  height = 20,
}: {
  values: readonly number[];
  width?: number;
  height?: number;
}) {
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true" focusable="false">
      <polyline
        points={linePoints(values, width, height)}
        fill="none"
        stroke="var(--series-1)"
        strokeWidth="1.5"
        strokeLinejoin="round"
      />
    </svg>
  );
}

/** Bars side by side, each with its own label for whoever points at it; `label` says the whole to whoever cannot see it. */
export function Bars({
  values,
  label,
  height = 40,
}: {
  values: readonly { label: string; value: number }[];
  label: string;
  height?: number;
}) {
  const most = Math.max(1, ...values.map(({ value }) => value));
  const width = 100 / Math.max(1, values.length);
  return (
    <svg
      width="100%"
      height={height}
      viewBox={`0 0 100 ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {values.map(({ label: name, value }, at) => {
        const tall = value === 0 ? 0 : Math.max(1, (value / most) * height);
        return (
          <rect
            key={name}
            x={at * width + width * 0.1}
            y={height - tall}
            width={width * 0.8}
            height={tall}
            fill="var(--series-1)"
          >
            <title>{name}</title>
          </rect>
        );
      })}
    </svg>
  );
}
