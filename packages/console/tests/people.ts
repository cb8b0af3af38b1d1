import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { type RunningConsole, runAxeInBothThemes } from './start-console.ts';

export type Level = 1 | 8 | 15;

/** Opens a page as a new member of the organization who has just signed in. */
export async function openAsMember(
  console: RunningConsole,
  level: Level,
  section: string,
  email = `${randomUUID()}@example.com`,
): Promise<Page> {
  return openWithSession(console, await createMember(console, level, email), console.address(`settings/${section}`));
}

/** Creates a member of the organization who has signed in. @returns the session secret */
async function createMember(console: RunningConsole, level: Level, email: string): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await console.query(
    `WITH project AS (SELECT p.organization_id FROM environment e JOIN project p ON p.id = e.project_id LIMIT 1),
          person AS (INSERT INTO "user" (uuid, distinct_id, email, first_name, is_email_verified)
                     VALUES ($1::text::uuid, $1::text, $2, 'Ada', true) RETURNING id),
          member AS (INSERT INTO membership (id, organization_id, user_id, level)
                     SELECT gen_random_uuid(), organization_id, person.id, $3 FROM project, person)
     INSERT INTO session (id, token_hash, user_id, method, address, browser, expires_at)
     SELECT gen_random_uuid(), $4, id, 'password', '192.0.2.7', 'Firefox', now() + interval '1 day' FROM person`,
    [randomUUID(), email, level, createHash('sha256').update(secret).digest('hex')],
  );
  return secret;
}

/** Opens a page with a session. @param secret the session secret, or null to open the page without signing in */
export async function openWithSession(console: RunningConsole, secret: string | null, address: string): Promise<Page> {
  const context = await console.newVisitor();
  const url = new URL(address).origin;
  if (secret !== null) await context.addCookies([{ name: 'millrace_session', value: secret, url }]);
  const page = await context.newPage();
  await page.goto(address);
  return page;
}

export async function addMember(console: RunningConsole, level: Level, name: string): Promise<void> {
  await createMember(console, level, `${name}@example.com`);
}

export async function checkPage(page: Page): Promise<void> {
  expect(await runAxeInBothThemes(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
}
