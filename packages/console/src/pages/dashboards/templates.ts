// The dashboard templates and their insights.

import type { InsightQuery } from '../../results/insight-query.ts';
import type { Size } from './shapes.ts';
import { text } from './words.ts';

interface TemplateTile {
  name: string;
  size: Size;
  source: InsightQuery;
}

/** An input field in which the user enters the event, property or flag for a template. */
export interface TemplateField {
  label: string;
  of: 'events' | 'event' | 'flag';
  usual: string;
}

export interface Template {
  fields: Record<string, TemplateField>;
  /**
   * Returns the template's tiles in display order.
   * @param names a function that returns the user's input for a field
   */
  tiles: (names: (field: string) => string) => TemplateTile[];
}

type Fields = Record<string, unknown>;

const { tiles, fields } = text.template;
const half: Size = { w: 6, h: 5 };
const third: Size = { w: 4, h: 4 };
const wide: Size = { w: 12, h: 5 };

const event = (name: string, more: Fields = {}) => ({ kind: 'EventsNode', event: name, name, ...more });
const range = { dateRange: { date_from: '-30d' }, interval: 'day' };
const trend = (series: Fields[], more: Fields = {}): InsightQuery => ({
  kind: 'TrendsQuery',
  series,
  ...range,
  ...more,
});
const unique = (name: string) => event(name, { math: 'dau' });
const compared = { compareFilter: { compare: true } };
const table = { trendsFilter: { display: 'ActionsTable' } };
const by = (breakdown: string) => ({ breakdownFilter: { breakdown, breakdown_type: 'event', breakdown_limit: 10 } });
const retention = (first: string, back: string): InsightQuery => ({
  kind: 'RetentionQuery',
  retentionFilter: {
    period: 'Week',
    totalIntervals: 8,
    retentionType: 'retention_first_time',
    targetEntity: { id: first, type: 'events' },
    returningEntity: { id: back, type: 'events' },
  },
});

const website: Template = {
  fields: {},
  tiles: () => [
    { name: tiles.visitors, size: half, source: trend([unique('$pageview')], compared) },
    { name: tiles.views, size: half, source: trend([event('$pageview', { math: 'total' })], compared) },
    { name: tiles.pages, size: third, source: trend([unique('$pageview')], { ...by('$pathname'), ...table }) },
    {
      name: tiles.referrers,
      size: third,
      source: trend([unique('$pageview')], { ...by('$referring_domain'), ...table }),
    },
    { name: tiles.devices, size: third, source: trend([unique('$pageview')], { ...by('$device_type'), ...table }) },
    { name: tiles.returning, size: wide, source: retention('$pageview', '$pageview') },
  ],
};

const product: Template = {
  fields: { used: { label: fields.used, of: 'events', usual: '$pageview' } },
  tiles: (names) => {
    const used = names('used');
    return [
      { name: tiles.daily, size: half, source: trend([unique(used)], compared) },
      { name: tiles.weekly, size: half, source: trend([event(used, { math: 'weekly_active' })]) },
      { name: tiles.lifecycle, size: half, source: { kind: 'LifecycleQuery', series: [event(used)], ...range } },
      { name: tiles.newUsers, size: half, source: trend([event(used, { math: 'first_time_for_user' })], compared) },
      { name: tiles.returning, size: wide, source: retention(used, used) },
    ];
  },
};

const shop: Template = {
  fields: {
    viewed: { label: fields.viewed, of: 'events', usual: 'product viewed' },
    added: { label: fields.added, of: 'events', usual: 'product added' },
    ordered: { label: fields.ordered, of: 'events', usual: 'order placed' },
    total: { label: fields.total, of: 'event', usual: 'total' },
  },
  tiles: (names) => {
    const ordered = names('ordered');
    const total = names('total');
    const revenue = event(ordered, { math: 'sum', math_property: total });
    const average = event(ordered, { math: 'avg', math_property: total });
    return [
      { name: tiles.revenue, size: half, source: trend([revenue], compared) },
      { name: tiles.orders, size: half, source: trend([event(ordered, { math: 'total' })], compared) },
      {
        name: tiles.checkout,
        size: wide,
        source: {
          kind: 'FunnelsQuery',
          series: [event(names('viewed')), event(names('added')), event(ordered)],
          dateRange: range.dateRange,
          funnelsFilter: { funnelWindowInterval: 14 },
        },
      },
      { name: tiles.orderValue, size: half, source: trend([average]) },
      { name: tiles.buyersBack, size: half, source: retention(ordered, ordered) },
    ];
  },
};

const rollout: Template = {
  fields: {
    flag: { label: fields.flag, of: 'flag', usual: '' },
    goal: { label: fields.goal, of: 'events', usual: '$pageview' },
  },
  tiles: (names) => {
    const flag = names('flag');
    const calls = '$feature_flag_called';
    const ofFlag = { properties: [{ type: 'event', key: '$feature_flag', operator: 'exact', value: [flag] }] };
    const byVariant = by('$feature_flag_response');
    return [
      { name: tiles.exposed, size: half, source: trend([unique(calls)], { ...ofFlag, ...byVariant }) },
      { name: tiles.exposedTotal, size: half, source: trend([unique(calls)], { ...ofFlag, ...byVariant, ...table }) },
      { name: tiles.goal, size: wide, source: trend([unique(names('goal'))], by(`$feature/${flag}`)) },
    ];
  },
};

export const templates = { website, product, shop, rollout } satisfies Record<string, Template>;
export type TemplateName = keyof typeof templates;
