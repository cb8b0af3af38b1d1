// The pages of a project: their place in the navigation, their addresses and their code.

import type { ComponentType } from 'react';
import type { IconName } from './parts/icon.tsx';
import { words } from './words.ts';

/** A page of a project. It is in the navigation, has the address `/projects/<id>/<path>`, and its code is loaded when it is first opened. */
export interface PageEntry {
  path: string;
  title: string;
  /** The question that the page answers for the user. */
  question: string;
  icon: IconName;
  /** Pages in the same group are next to each other in the navigation. */
  group: 'data' | 'product' | 'operation' | 'settings';
  load: () => Promise<{ Page: ComponentType }>;
}

/** All pages in the order of the navigation. Each page is a folder of `pages/` in which `page.tsx` exports `Page`. */
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
