// The sections of the settings: their place in the menu, their addresses and their code.

import type { ComponentType } from 'react';
import { words } from '../../words.ts';

/**
 * A section of the settings. It is in the settings menu, has the address `/projects/<id>/settings/<path>`, and its code is loaded when it is first
 * opened.
 */
interface SectionEntry {
  path: string;
  title: string;
  /** Sections in the same group are next to each other, below the name of the group. */
  group: 'own' | 'project' | 'organization';
  load: () => Promise<{ Section: ComponentType }>;
}

const { sections: titles } = words;

/** All sections in the order of the menu. Each section is a folder in which `section.tsx` exports `Section`. */
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
