import type { ComponentType } from 'react';
import type { IconName } from './parts/icon.tsx';
import { words } from './words.ts';

/** A page of a project: in the rail, at `/projects/<id>/<path>`, loaded when it is first opened. */
export interface PageEntry {
  path: string;
  title: string;
  /** What it answers at a glance. */
  question: string;
  icon: IconName;
  /** The document that explains it. */
  help: string;
  /** Pages of one group stand together in the rail. */
  group: 'data' | 'product' | 'operation' | 'settings';
  load: () => Promise<{ Page: ComponentType }>;
}

/** In the order of the rail. A page is a folder of `pages/` whose `page.tsx` exports `Page`. */
export const pages: readonly PageEntry[] = [
  {
    path: 'live',
    ...words.pages.live,
    help: 'docs/guides/send-events.md',
    icon: 'live',
    group: 'data',
    load: () => import('./pages/live/page.tsx'),
  },
  {
    path: 'events',
    ...words.pages.events,
    help: 'docs/api/events.md',
    icon: 'events',
    group: 'data',
    load: () => import('./pages/events/page.tsx'),
  },
  {
    path: 'persons',
    ...words.pages.persons,
    help: 'docs/api/persons.md',
    icon: 'persons',
    group: 'data',
    load: () => import('./pages/persons/page.tsx'),
  },
  {
    path: 'groups',
    ...words.pages.groups,
    help: 'docs/api/groups.md',
    icon: 'groups',
    group: 'data',
    load: () => import('./pages/groups/page.tsx'),
  },
  {
    path: 'cohorts',
    ...words.pages.cohorts,
    help: 'docs/api/cohorts.md',
    icon: 'cohorts',
    group: 'data',
    load: () => import('./pages/cohorts/page.tsx'),
  },
  {
    path: 'insights',
    ...words.pages.insights,
    help: 'docs/guides/first-questions.md',
    icon: 'insights',
    group: 'product',
    load: () => import('./pages/insights/page.tsx'),
  },
  {
    path: 'dashboards',
    ...words.pages.dashboards,
    help: 'docs/api/dashboards.md',
    icon: 'dashboards',
    group: 'product',
    load: () => import('./pages/dashboards/page.tsx'),
  },
  {
    path: 'flags',
    ...words.pages.flags,
    help: 'docs/flags.md',
    icon: 'flags',
    group: 'product',
    load: () => import('./pages/flags/page.tsx'),
  },
  {
    path: 'warnings',
    ...words.pages.warnings,
    help: 'docs/ingestion-rules.md',
    icon: 'warnings',
    group: 'operation',
    load: () => import('./pages/warnings/page.tsx'),
  },
  {
    path: 'health',
    ...words.pages.health,
    help: 'docs/operations/alerts.md',
    icon: 'health',
    group: 'operation',
    load: () => import('./pages/health/page.tsx'),
  },
  {
    path: 'activity',
    ...words.pages.activity,
    help: 'docs/api/activity.md',
    icon: 'activity',
    group: 'operation',
    load: () => import('./pages/activity/page.tsx'),
  },
  {
    path: 'settings',
    ...words.pages.settings,
    help: 'docs/operations/console.md',
    icon: 'settings',
    group: 'settings',
    load: () => import('./pages/settings/page.tsx'),
  },
];
