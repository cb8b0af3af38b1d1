// A project's pages with their navigation order, URLs and code.

import type { ComponentType } from 'react';
import type { IconName } from './parts/icon.tsx';
import { words } from './words.ts';

/** A page in the navigation, with the URL `/projects/<id>/<path>`. Its code is loaded when a user first opens it. */
export interface PageEntry {
  path: string;
  title: string;
  /** The user question that the page answers, such as `What happened, and when?`. */
  question: string;
  icon: IconName;
  /** Pages of the same group are adjacent in the navigation. */
  group: 'data' | 'product' | 'operation' | 'settings';
  load: () => Promise<{ Page: ComponentType }>;
}

/** All pages in navigation order. Each page is a folder in `pages/`, whose `page.tsx` exports `Page`. */
export const pages: readonly PageEntry[] = [
  {
    path: 'home',
    ...words.pages.home,
    icon: 'home',
    group: 'data',
    load: () => import('./pages/home/page.tsx'),
  },
  {
    path: 'live',
    ...words.pages.live,
    icon: 'live',
    group: 'data',
    load: () => import('./pages/live/page.tsx'),
  },
  {
    path: 'events',
    ...words.pages.events,
    icon: 'events',
    group: 'data',
    load: () => import('./pages/events/page.tsx'),
  },
  {
    path: 'persons',
    ...words.pages.persons,
    icon: 'persons',
    group: 'data',
    load: () => import('./pages/persons/page.tsx'),
  },
  {
    path: 'groups',
    ...words.pages.groups,
    icon: 'groups',
    group: 'data',
    load: () => import('./pages/groups/page.tsx'),
  },
  {
    path: 'cohorts',
    ...words.pages.cohorts,
    icon: 'cohorts',
    group: 'data',
    load: () => import('./pages/cohorts/page.tsx'),
  },
  {
    path: 'definitions',
    ...words.pages.definitions,
    icon: 'definitions',
    group: 'data',
    load: () => import('./pages/definitions/page.tsx'),
  },
  {
    path: 'insights',
    ...words.pages.insights,
    icon: 'insights',
    group: 'product',
    load: () => import('./pages/insights/page.tsx'),
  },
  {
    path: 'sql',
    ...words.pages.sql,
    icon: 'sql',
    group: 'product',
    load: () => import('./pages/sql/page.tsx'),
  },
  {
    path: 'dashboards',
    ...words.pages.dashboards,
    icon: 'dashboards',
    group: 'product',
    load: () => import('./pages/dashboards/page.tsx'),
  },
  {
    path: 'flags',
    ...words.pages.flags,
    icon: 'flags',
    group: 'product',
    load: () => import('./pages/flags/page.tsx'),
  },
  {
    path: 'warnings',
    ...words.pages.warnings,
    icon: 'warnings',
    group: 'operation',
    load: () => import('./pages/warnings/page.tsx'),
  },
  {
    path: 'health',
    ...words.pages.health,
    icon: 'health',
    group: 'operation',
    load: () => import('./pages/health/page.tsx'),
  },
  {
    path: 'activity',
    ...words.pages.activity,
    icon: 'activity',
    group: 'operation',
    load: () => import('./pages/activity/page.tsx'),
  },
  {
    path: 'settings',
    ...words.pages.settings,
    icon: 'settings',
    group: 'settings',
    load: () => import('./pages/settings/page.tsx'),
  },
];
