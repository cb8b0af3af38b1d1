import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { trackedFiles } from '@millrace/testing';
import { settingFields } from './projects/setting-fields.ts';

const root = join(import.meta.dirname, '../../..');

/** Tables that only this package may write to, with exceptions in `others`. */
const tables = [
  ...['organization', 'project', 'environment', 'access_rule', 'membership', 'organization_invite'],
  ...['role', 'role_membership'],
  ...[
    'user',
    'personal_api_key',
    'user_password',
    'session',
    'known_device',
    'one_time_link',
    'sign_in_step',
    'user_totp',
    'user_backup_code',
    'passkey',
    'provider_identity',
    'used_assertion',
    'kept_out_address',
    'scim_user',
    'ingestion_restriction',
    'organization_mail_hour',
    'activity_log',
  ],
];
const write = new RegExp(`(INSERT INTO|UPDATE|DELETE FROM) "?(${tables.join('|')})"?\\b(?!\\.)`);

/**
 * Statements in other packages that are allowed because they do not affect account rules, such as bookkeeping and
 * retention.
 */
const others: Record<string, string> = {
  'packages/db/src/persons/delete-persons-store.ts': 'a record for each of a thousand persons, in one statement',
  'services/delivery-worker/src/deletion/store.ts': 'how far the deletion of a person is',
  'services/delivery-worker/src/retention/store.ts': 'records of the history that are too old',
  'services/delivery-worker/src/sealing/store.ts': 'the same secret, encrypted with another key',
  'services/event-consumer/src/events/store.ts': 'that an environment has stored an event',
  'services/management-api/src/analytics/dashboards/store.ts': 'that a deleted dashboard is shown first no more',
};

test('only the accounts package writes to account tables', () => {
  const paths = trackedFiles('packages', 'services').filter(
    (path) =>
      /^\w+\/[\w-]+\/src\/.*\.ts$/.test(path) &&
      !/^packages\/(accounts|bench)\/|\.test\.ts$|\/(testing|rule-cases|generated)\//.test(path),
  );
  expect(paths.length).toBeGreaterThan(500);
  const writers = paths.filter((path) => write.test(readFileSync(join(root, path), 'utf8')));
  expect(writers.sort()).toEqual(Object.keys(others).sort());
});

/** Files that read all settings, because API responses contain all of them. */
const showsSettings = /^services\/management-api\/src\/identity\/(environments|organizations|projects)\/store\.ts$/;

test('only the accounts package reads settings that docs/settings.md declares as stored only', () => {
  const names = Object.entries(settingFields).flatMap(([name, { does }]) => (does === 'stored only' ? [name] : []));
  expect(names.length).toBeGreaterThan(5);
  const stores = trackedFiles('packages', 'services').filter(
    (path) => /[/-]store\.ts$/.test(path) && !path.startsWith('packages/accounts/') && !showsSettings.test(path),
  );
  const read = new RegExp(`\\b(${names.join('|')})\\b`);
  expect(stores.filter((path) => read.test(readFileSync(join(root, path), 'utf8')))).toEqual([]);
});
