// Filters that users set by clicking a row of a breakdown. In the URL, a filter has the form `Browser:Firefox`, or
// `Browser` for sessions without a value.

import { text } from './words.ts';

export type Dimension = keyof typeof text.names;

const properties: Record<Dimension, { type: 'event' | 'session'; key: string }> = {
  Page: { type: 'event', key: '$pathname' },
  InitialPage: { type: 'session', key: '$entry_pathname' },
  ExitPage: { type: 'session', key: '$end_pathname' },
  InitialReferringDomain: { type: 'session', key: '$entry_referring_domain' },
  InitialUTMSource: { type: 'session', key: '$entry_utm_source' },
  InitialUTMMedium: { type: 'session', key: '$entry_utm_medium' },
  InitialUTMCampaign: { type: 'session', key: '$entry_utm_campaign' },
  InitialUTMTerm: { type: 'session', key: '$entry_utm_term' },
  InitialUTMContent: { type: 'session', key: '$entry_utm_content' },
  Country: { type: 'event', key: '$geoip_country_code' },
  DeviceType: { type: 'event', key: '$device_type' },
  Browser: { type: 'event', key: '$browser' },
  OS: { type: 'event', key: '$os' },
};

export interface RowFilter {
  dimension: Dimension;
  value: string | null;
}

const isDimension = (name: string): name is Dimension => Object.hasOwn(properties, name);

/** Parses a filter in the URL. @returns null if the filter is invalid */
export function readFilter(written: string): RowFilter | null {
  const at = written.indexOf(':');
  const dimension = at < 0 ? written : written.slice(0, at);
  return isDimension(dimension) ? { dimension, value: at < 0 ? null : written.slice(at + 1) } : null;
}

export const writeFilter = ({ dimension, value }: RowFilter) => (value === null ? dimension : `${dimension}:${value}`);

export function toPropertyFilter({ dimension, value }: RowFilter) {
  const { type, key } = properties[dimension];
  return value === null ? { type, key, operator: 'is_not_set' } : { type, key, operator: 'exact', value };
}

const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

export function formatRowFilterValue({ dimension, value }: RowFilter): string {
  if (value === null) return text.none;
  if (dimension === 'InitialReferringDomain' && value === '$direct') return text.direct;
  if (dimension !== 'Country' || !/^[A-Z]{2}$/.test(value)) return value;
  return countries.of(value) ?? value;
}
