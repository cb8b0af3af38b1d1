import { formatDateTime } from '@millrace/http';
import type { ExposureDay, ExposureQuery } from './exposure-store.ts';

interface Counts {
  variant: string;
  exposures: number;
  persons: number;
  /** Null unless a conversion event is asked for. */
  conversions: number | null;
}

export interface Exposures {
  date_from: string;
  date_to: string;
  timezone: string;
  conversion_event: string | null;
  persons: number;
  exposures: number;
  variants: Counts[];
  days: (Counts & { day: string })[];
}

/** As the API shows them: the sums of all days beside the days. */
export function toExposures(query: ExposureQuery, rows: readonly ExposureDay[]): Exposures {
  const conversionsOf = (count: number) => (query.conversionEvent === null ? null : count);
  const variants = new Map<string, { variant: string; exposures: number; persons: number; conversions: number }>();
  for (const { variant, exposures, persons, conversions } of rows) {
    const sum = variants.get(variant) ?? { variant, exposures: 0, persons: 0, conversions: 0 };
    sum.exposures += exposures;
    sum.persons += persons;
    sum.conversions += conversions;
    variants.set(variant, sum);
  }
  const sums = [...variants.values()].sort((one, other) => (one.variant < other.variant ? -1 : 1));
  return {
    date_from: formatDateTime(query.from),
    date_to: formatDateTime(query.to),
    timezone: query.timeZone,
    conversion_event: query.conversionEvent,
    persons: sums.reduce((count, { persons }) => count + persons, 0),
    exposures: sums.reduce((count, { exposures }) => count + exposures, 0),
    variants: sums.map((sum) => ({ ...sum, conversions: conversionsOf(sum.conversions) })),
    days: rows.map(({ day, variant, exposures, persons, conversions }) => ({
      day,
      variant,
      exposures,
      persons,
      conversions: conversionsOf(conversions),
    })),
  };
}
