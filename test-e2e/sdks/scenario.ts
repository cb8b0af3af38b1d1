import type { ApiEvent, ApiGroup, ApiPerson } from '../support/management-client.ts';
import type { Call, Sdk } from './sdk.ts';

/** The stored data that an administrator sees after a call. */
export interface View {
  /** The call's stored events, in the order they were sent. */
  rows: ApiEvent[];
  person(distinctId: string): Promise<ApiPerson | undefined>;
  groups(): Promise<ApiGroup[]>;
}

export interface Scene {
  /** Returns the names of the events that the call must send, and the number of events. */
  sends(kind: Sdk['kind']): { names: readonly string[]; count: number };
  /** Checks the call's result. @returns a short description for the matrix */
  check(view: View, kind: Sdk['kind']): Promise<string>;
}

/** The calls for every SDK, with the same values in all languages (node-sdks.ts, python/, go/, rust/, …). */
export const scenes: Record<Call, Scene> = {
  capture: {
    sends: () => ({ names: ['order placed'], count: 1 }),
    async check({ rows, person }) {
      const [row] = rows;
      expect(row?.properties).toMatchObject({
        total: 42,
        currency: 'EUR',
        nested: { list: [1, 'zwei', null, true] },
        text: 'Grüße 👋',
      });
      // Newer browser SDKs do not create persons for anonymous visitors.
      const isAnonymous = row?.properties.$process_person_profile === false;
      const found = await person(row?.distinct_id ?? '');
      expect(found?.distinct_ids ?? []).toEqual(isAnonymous ? [] : [row?.distinct_id]);
      return isAnonymous ? 'event, no person' : 'event, person';
    },
  },
  identify: {
    sends: () => ({ names: ['$identify', '$set'], count: 1 }),
    async check({ rows, person }, kind) {
      const [row] = rows;
      const ada = await person('ada');
      expect(row).toMatchObject({ distinct_id: 'ada' });
      expect(ada?.properties).toMatchObject({ email: 'ada@example.com', plan: 'pro' });
      const visitor = row?.properties.$anon_distinct_id;
      expect(ada).toMatchObject({ is_identified: kind === 'browser', name: 'ada@example.com' });
      expect(ada?.distinct_ids.toSorted()).toEqual(kind === 'browser' ? [visitor, 'ada'].sort() : ['ada']);
      return `${row?.event} → ada${kind === 'browser' ? ' + visitor' : ''}`;
    },
  },
  alias: {
    sends: (kind) =>
      kind === 'browser'
        ? { names: ['$create_alias'], count: 1 }
        : { names: ['seen before', '$create_alias'], count: 2 },
    async check({ person }, kind) {
      const main = await person('main-id');
      const before = kind === 'browser' ? 'ada' : 'old-id';
      expect(main).toMatchObject({ is_identified: true, distinct_ids: expect.arrayContaining(['main-id', before]) });
      expect(await person(before)).toEqual(main);
      if (kind === 'server') expect(main?.properties).toMatchObject({ kept: 1 });
      return `$create_alias → ${before} = main-id`;
    },
  },
  'group identify': {
    sends: () => ({ names: ['$groupidentify', 'seat used'], count: 2 }),
    async check({ rows, groups }) {
      expect(await groups()).toEqual([
        {
          group_type: 'company',
          group_type_index: 0,
          group_key: 'acme',
          group_properties: { name: 'Acme', seats: 5 },
          created_at: expect.any(String),
        },
      ]);
      const used = rows.find(({ event }) => event === 'seat used');
      expect(used?.properties).toMatchObject({ $groups: { company: 'acme' }, $group_0: 'acme' });
      return '$groupidentify → acme';
    },
  },
  batch: {
    sends: () => ({ names: ['tick'], count: 50 }),
    async check({ rows, person }, kind) {
      expect(rows.map(({ properties }) => properties.n)).toEqual(Array.from({ length: 50 }, (_, n) => n));
      if (kind === 'server') {
        for (const id of ['ticker-0', 'ticker-1', 'ticker-2']) expect(await person(id)).toBeDefined();
      }
      return `event × ${rows.length}`;
    },
  },
  'historical migration': {
    sends: () => ({ names: ['imported'], count: 12 }),
    async check({ rows, person }) {
      expect(rows.map(({ timestamp }) => timestamp.slice(0, 7))).toEqual(
        Array.from({ length: 12 }, (_, n) => `2016-${String(n + 1).padStart(2, '0')}`),
      );
      // Expect the last import, because events are processed in order.
      expect(await person('veteran')).toMatchObject({ properties: { last_import: 11 } });
      return `old event × ${rows.length}`;
    },
  },
  unload: {
    sends: () => ({ names: ['last words', '$pageleave'], count: 2 }),
    async check({ rows }) {
      expect(rows.map(({ event }) => event).sort()).toEqual(['$pageleave', 'last words']);
      return 'queue and $pageleave by beacon';
    },
  },
};
