export type VitalName = 'LCP' | 'CLS' | 'FCP' | 'INP';

export interface Vital {
  name: VitalName;
  /** Milliseconds; of CLS a score. */
  value: number;
  rating: 'good' | 'needs-improvement' | 'poor';
  /** What was added since it was told last. */
  delta: number;
  attribution?: Record<string, string | number>;
}

/** From when a value is not good any more, and from when it is poor. */
const limits: Record<VitalName, [number, number]> = {
  LCP: [2500, 4000],
  CLS: [0.1, 0.25],
  FCP: [1800, 3000],
  INP: [200, 500],
};

export type TellVital = (name: VitalName, value: number, attribution?: Vital['attribution']) => void;

/** Rates values, and leaves out those that were told already. */
export function createTellVital(report: (vital: Vital) => void): TellVital {
  const told: Partial<Record<VitalName, number>> = {};
  return (name, value, attribution) => {
    const delta = value - (told[name] ?? 0);
    if (told[name] === value) return;
    told[name] = value;
    const [good, poor] = limits[name];
    const rating = value > poor ? 'poor' : value > good ? 'needs-improvement' : 'good';
    report({ name, value, rating, delta, ...(attribution && { attribution }) });
  };
}
