import type { ComponentType } from 'react';
import { words } from '../../words.ts';

/** A section of the settings: in their list, at `/projects/<id>/settings/<path>`, loaded when it is first opened. */
export interface SectionEntry {
  path: string;
  title: string;
  /** Whose it is: sections of one group stand together, below its name. */
  group: 'own' | 'project' | 'organization';
  load: () => Promise<{ Section: ComponentType }>;
}

const { sections: titles } = words;

/** In the order of the list. A section is a folder whose `section.tsx` exports `Section`. */
export const sections: readonly SectionEntry[] = [
  {
    path: 'account',
    title: titles.account,
    group: 'own',
    load: () => import('./account/section.tsx'),
  },
  {
    path: 'keys',
    title: titles.keys,
    group: 'own',
    load: () => import('./keys/section.tsx'),
  },
  {
    path: 'project',
    title: titles.project,
    group: 'project',
    load: () => import('./project/section.tsx'),
  },
  {
    path: 'data',
    title: titles.data,
    group: 'project',
    load: () => import('./data/section.tsx'),
  },
  {
    path: 'access',
    title: titles.access,
    group: 'project',
    load: () => import('./access/section.tsx'),
  },
  {
    path: 'exports',
    title: titles.exports,
    group: 'project',
    load: () => import('./exports/section.tsx'),
  },
  {
    path: 'subscriptions',
    title: titles.subscriptions,
    group: 'project',
    load: () => import('./subscriptions/section.tsx'),
  },
  {
    path: 'organization',
    title: titles.organization,
    group: 'organization',
    load: () => import('./organization/section.tsx'),
  },
  {
    path: 'members',
    title: titles.members,
    group: 'organization',
    load: () => import('./members/section.tsx'),
  },
  {
    path: 'domains',
    title: titles.domains,
    group: 'organization',
    load: () => import('./domains/section.tsx'),
  },
];
