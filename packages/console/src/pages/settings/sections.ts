// The settings sections with their menu order, URLs and code.

import type { ComponentType } from 'react';
import { words } from '../../words.ts';

/**
 * A settings section with the URL `/projects/<id>/settings/<path>`. Its code is loaded when a user first opens the
 * section.
 */
interface SectionEntry {
  path: string;
  title: string;
  /** Sections of the same group are adjacent in the menu, below the group's name. */
  group: 'own' | 'project' | 'organization';
  load: () => Promise<ComponentType>;
}

const { sections: titles } = words;

/** All sections in menu order. Each section is a folder whose `section.tsx` exports the component. */
export const sections: readonly SectionEntry[] = [
  {
    path: 'account',
    title: titles.account,
    group: 'own',
    load: async () => (await import('./account/section.tsx')).AccountSection,
  },
  {
    path: 'keys',
    title: titles.keys,
    group: 'own',
    load: async () => (await import('./keys/section.tsx')).KeysSection,
  },
  {
    path: 'project',
    title: titles.project,
    group: 'project',
    load: async () => (await import('./project/section.tsx')).ProjectSection,
  },
  {
    path: 'data',
    title: titles.data,
    group: 'project',
    load: async () => (await import('./data/section.tsx')).DataSection,
  },
  {
    path: 'access',
    title: titles.access,
    group: 'project',
    load: async () => (await import('./access/section.tsx')).AccessSection,
  },
  {
    path: 'exports',
    title: titles.exports,
    group: 'project',
    load: async () => (await import('./exports/section.tsx')).ExportsSection,
  },
  {
    path: 'subscriptions',
    title: titles.subscriptions,
    group: 'project',
    load: async () => (await import('./subscriptions/section.tsx')).SubscriptionsSection,
  },
  {
    path: 'organization',
    title: titles.organization,
    group: 'organization',
    load: async () => (await import('./organization/section.tsx')).OrganizationSection,
  },
  {
    path: 'members',
    title: titles.members,
    group: 'organization',
    load: async () => (await import('./members/section.tsx')).MembersSection,
  },
  {
    path: 'domains',
    title: titles.domains,
    group: 'organization',
    load: async () => (await import('./domains/section.tsx')).DomainsSection,
  },
];
