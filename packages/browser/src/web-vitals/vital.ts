export type VitalName = 'LCP' | 'CLS' | 'FCP' | 'INP';

/** From when a value is not good any more, and from when it is poor; milliseconds, of CLS a score. */
export const vitalLimits: Record<VitalName, [number, number]> = {
  CLS: [0.1, 0.25],
  FCP: [1800, 3000],
  INP: [200, 500],
  LCP: [2500, 4000],
};

export type TellVital = (name: VitalName, value: number, attribution?: Record<string, string | number>) => void;

/** Good, or worse. */
export function rate(name: VitalName, value: number): string {
  const [good, poor] = vitalLimits[name];
  return value > poor ? 'poor' : value > good ? 'needs-improvement' : 'good';
}
