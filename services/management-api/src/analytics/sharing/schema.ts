import { formatDateTime, orNull } from '@millrace/http';
import { Type } from 'typebox';
import type { SharingRow } from './store.ts';

export const sharingTags: [string] = ['sharing'];

const settings = Type.Object(
  {
    noHeader: Type.Optional(
      Type.Boolean({ description: 'Whether the public page leaves out the title and description.' }),
    ),
    theme: Type.Optional(
      Type.Enum(['light', 'dark', 'system'] as const, {
        description: 'Colors of the public page. By default, the page follows the settings of the browser.',
      }),
    ),
  },
  { title: 'SharingSettings', additionalProperties: false, description: 'Settings of the public page.' },
);

const enabled = Type.Boolean({ description: 'Whether the public link works.' });

export const sharing = Type.Object(
  {
    created_at: orNull(
      Type.String({ format: 'date-time' }),
      'When the record was first shared, or null if it never was.',
    ),
    enabled,
    access_token: orNull(
      Type.String(),
      'Secret part of the public link, `/shared/<access_token>`. Null until the record is first shared.',
    ),
    settings,
    password_required: Type.Boolean({ description: 'Always false.' }),
    share_passwords: Type.Array(Type.Unknown(), { description: 'Always empty.' }),
  },
  { title: 'SharingConfiguration' },
);

export const sharingChanges = Type.Object(
  {
    enabled: Type.Optional(enabled),
    settings: Type.Optional(orNull(settings, 'Settings of the public page. They replace the stored settings.')),
  },
  { title: 'SharingConfigurationChanges' },
);

export const rejectedSharingFields = {
  password_required: {
    detail: 'Millrace does not support passwords for public links.',
    unless: [false, null],
  },
  share_passwords: { detail: 'Millrace does not support passwords for public links.', unless: [[], null] },
};

export const sharingExample = {
  created_at: '2026-11-20T09:12:00Z',
  enabled: true,
  access_token: 'pb2n8VtQ0uYxLrGk5cJdWm7HsEzA1fTi3oRqB6yNv9K',
  settings: {},
  password_required: false,
  share_passwords: [],
};

/** Converts a row to an API response. @param row the stored settings; undefined if the record was never shared */
export function toSharing(row: SharingRow | undefined) {
  return {
    created_at: row ? formatDateTime(row.created_at) : null,
    enabled: row?.enabled ?? false,
    access_token: row?.access_token ?? null,
    settings: { ...row?.settings },
    password_required: false,
    share_passwords: [],
  };
}
