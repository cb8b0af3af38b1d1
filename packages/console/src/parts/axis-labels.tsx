/**
 * Axis labels below evenly spaced points of a chart. Each label is centered below its point.
 * @param most the maximum number of labels
 */
export function AxisLabels({ labels, most }: { labels: readonly string[]; most: number }) {
  const step = Math.max(1, Math.ceil(labels.length / most));
  // Half the width of a long label, so that the first and last labels do not extend beyond the chart.
  const edge = '3.5em';
  return (
    <div className="axis-labels hint" aria-hidden="true">
      {labels.map((label, at) => {
        const place = `${((at + 0.5) / labels.length) * 100}%`;
        return (
          at % step === 0 && (
            // biome-ignore lint/suspicious/noArrayIndexKey: an hour occurs twice when clocks are put back
            <span key={at} style={{ insetInlineStart: `clamp(${edge}, ${place}, calc(100% - ${edge}))` }}>
              {label}
            </span>
          )
        );
      })}
    </div>
  );
}
