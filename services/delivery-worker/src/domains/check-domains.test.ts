import { randomUUID } from 'node:crypto';
import type { ChallengeCheck } from '@millrace/accounts';
import { createTestTenant, eventually } from '@millrace/testing';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { checkDomains } from './check-domains.ts';

let fixture: WorkerFixture;
let id: string;
let owner: string;
let outcome: ChallengeCheck['outcome'];
beforeAll(async () => {
  fixture = await startWorkerFixture();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  const { organizationId, userId } = await createTestTenant(fixture.database);
  id = randomUUID();
  owner = `owner-${userId}@example.com`;
  const { sql } = fixture.database;
  await sql.query('DELETE FROM organization_domain');
  await sql.query('UPDATE "user" SET email = $2 WHERE id = $1', [userId, owner]);
  await sql.query(
    `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, verified_at)
     VALUES ($1, $2, $3, 'challenge', now() - interval '2 days')`,
    [id, organizationId, `${id}.example`],
  );
});

/** Checks the domain one day later. @returns whether a domain was due */
async function day(said: ChallengeCheck['outcome']): Promise<boolean> {
  outcome = said;
  await fixture.database.sql.query("UPDATE organization_domain SET proof_checked_at = now() - interval '25 hours'");
  return look();
}
const look = () =>
  checkDomains({
    ...fixture,
    publicApiUrl: 'https://analytics.example',
    lookUpChallenge: async (domain, challenge) => {
      expect([domain, challenge]).toEqual([`${id}.example`, 'challenge']);
      return { outcome, name: domain, servers: [], found: [], error: null };
    },
  });
const state = async () =>
  (
    await fixture.database.sql.query(
      `SELECT proof_misses AS misses, proof_missing_since IS NOT NULL AS away, verified_at IS NOT NULL AS verified
         FROM organization_domain WHERE id = $1`,
      [id],
    )
  )[0];
const mails = () => fixture.mailServer.mails.filter(({ to }) => to.includes(owner));

test('sso-168: checks domains daily, ignores failed lookups, and sends one email after three checks without the record', async () => {
  expect(await day('shown')).toBe(true);
  expect(await look()).toBe(false);
  expect(await state()).toEqual({ misses: 0, away: false, verified: true });
  await day('not shown');
  await day('no answer');
  await day('not shown');
  expect([await state(), mails()]).toEqual([{ misses: 2, away: true, verified: true }, []]);
  await day('not shown');
  await day('not shown');
  await eventually(async () => mails().length === 1, { what: 'a mail' });
  expect(mails()[0]?.headers.subject).toContain(`The TXT record of ${id}.example is missing`);
  expect(await state()).toEqual({ misses: 4, away: true, verified: true });
  await day('shown');
  expect(await state()).toEqual({ misses: 0, away: false, verified: true });
});

test('skips domains that are not verified or were verified just now', async () => {
  await fixture.database.sql.query('UPDATE organization_domain SET verified_at = now()');
  expect(await day('shown')).toBe(false);
  await fixture.database.sql.query('UPDATE organization_domain SET verified_at = NULL');
  expect(await day('shown')).toBe(false);
});
