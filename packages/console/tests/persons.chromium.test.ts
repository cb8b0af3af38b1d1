import { eventually } from '@millrace/testing';
import { type RunningConsole, runAxe, runAxeInBothThemes, startConsole } from './start-console.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console?.stop());

it('searches persons on the server, and never replaces a newer response with an older one', async () => {
  const page = await console.open('persons');
  await page.getByRole('heading', { name: 'No persons yet' }).waitFor();
  expect(await page.getByRole('link', { name: 'Set up an SDK' }).getAttribute('href')).toMatch(/\/settings\/project$/);
  expect(await runAxe(page)).toEqual([]);
  await console.storePerson('ada-1', { email: 'ada@example.com', plan: 'pro', $browser: 'Firefox' });
  await console.storePerson('grace-1', { email: 'grace@example.com' });
  await page.reload();
  const person = (name: string) => page.getByRole('button', { name, exact: true });
  await person('ada@example.com').waitFor();
  let respond = () => {};
  const held = new Promise<void>((resolve) => {
    respond = resolve;
  });
  let isAsked = false;
  await page.route(/persons\?search=ada/, async (route) => {
    isAsked = true;
    await held;
    await route.continue().catch(() => {});
  });
  const search = page.getByRole('searchbox');
  await search.fill('ada');
  await eventually(() => isAsked);
  await search.fill('grace');
  await person('grace@example.com').waitFor();
  await person('ada@example.com').waitFor({ state: 'detached' });
  respond();
  await page.waitForLoadState('networkidle');
  expect(await person('ada@example.com').count()).toBe(0);
  expect(new URL(page.url()).search).toBe('?search=grace');
  await search.fill('no-such-person');
  await page.getByRole('heading', { name: 'No persons match your search' }).waitFor();
  await page.context().close();
});

it('shows a plus sign after a partial count of persons, and a message after a failed count', async () => {
  const page = await console.open('persons');
  const tooSlow = { type: 'server_error', code: 'query_timeout', detail: 'Use `distinct_id` or `email`.' };
  for (const [response, shown] of [
    [{ json: { count: 3, is_complete: false } }, '3+'],
    [{ status: 503, json: tooSlow }, 'The persons could not be counted in time.'],
  ] as const) {
    await page.route(/persons\/count/, (route) => route.fulfill(response));
    await page.reload();
    await page.getByRole('main').getByText(shown, { exact: true }).waitFor();
  }
  expect(await page.getByText('distinct_id').count()).toBe(0);
  await page.context().close();
});

it("shows a person's properties, IDs, events and flags next to the list", async () => {
  await console.api('POST', 'feature_flags', { key: 'seen' });
  const page = await console.open('persons?person=ada-1', { width: 360, height: 640 });
  await page.getByRole('button', { name: 'plan: pro' }).waitFor();
  await page.getByRole('button', { name: 'Browser: Firefox' }).waitFor();
  for (const [tab, shown] of [
    ['Properties', 'Firefox'],
    ['Distinct IDs', 'ada-1'],
    ['Events', 'No events'],
    ['Cohorts', 'Not in any cohort'],
    ['Feature flags', 'Matched condition set 1'],
  ] as const) {
    await page.getByRole('tab', { name: tab }).click();
    await page.getByRole('tabpanel').getByText(shown).first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    expect(await runAxeInBothThemes(page)).toEqual([]);
  }
  await page.keyboard.press('Escape');
  await eventually(async () =>
    expect(await page.evaluate('document.activeElement.textContent')).toBe('ada@example.com'),
  );
  await page.context().close();
});

it("shows whether each distinct ID came from a merge, was the person's first ID, or is of unknown origin", async () => {
  await console.query(
    `CREATE TABLE event_all PARTITION OF event FOR VALUES FROM ('2015-01-01T00:00:00Z') TO ('2100-01-01T00:00:00Z')`,
    [],
  );
  await console.query(
    `INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid, version)
     SELECT $1, id, (SELECT person_uuid FROM person_distinct_id WHERE project_id = $1 AND distinct_id = 'ada-1'), version
       FROM (VALUES ('visitor', 1), ('imported', 0)) AS given (id, version)`,
  );
  const identify = (other: string, day: number) =>
    console.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
       VALUES ($1, '2026-11-0${day}T10:00:00Z', gen_random_uuid(), '$identify', 'ada-1', gen_random_uuid(),
               '{"$anon_distinct_id": "${other}"}', now())`,
    );
  await identify('visitor', 1);
  await identify('another-id', 2);
  const page = await console.open('persons?person=ada-1&tab=ids');
  await page.getByText('ada-1 and visitor were merged into one person').waitFor();
  await page
    .getByText('ada-1 requested a merge with another-id, but another-id does not belong to this person')
    .waitFor();
  await page.getByText('No stored event shows how this ID was added to this person.').getByText('imported').waitFor();
  await page.getByText('reassigned once').waitFor();
  await page.getByRole('tabpanel').getByRole('button', { name: 'As API call' }).click();
  await page.getByRole('dialog').getByText('/merges').waitFor();
  await page.keyboard.press('Escape');
  expect(await runAxe(page)).toEqual([]);
  await page.getByRole('link', { name: '$identify' }).first().click();
  await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
  await page.context().close();
});

it('lists what deleting a person removes, requires typing the ID, and shows the progress', async () => {
  const page = await console.open('persons?person=grace-1');
  await page.getByRole('heading', { name: 'grace@example.com' }).waitFor();
  await page.getByRole('complementary').getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The person and 1 distinct ID are deleted immediately').waitFor();
  const remove = dialog.getByRole('button', { name: 'Delete person' });
  expect(await remove.isDisabled()).toBe(true);
  expect(await runAxe(page)).toEqual([]);
  await dialog.getByRole('textbox').fill('grace@example.co');
  expect(await remove.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('grace@example.com');
  await remove.click();
  await page.getByRole('heading', { name: 'This person was deleted' }).waitFor();
  await page.getByText('Waiting to start').or(page.getByText('Completed: all personal data is removed')).waitFor();
  await page.getByRole('button', { name: 'grace@example.com' }).waitFor({ state: 'detached' });
  await page.goto(console.address('persons?person=never-seen'));
  await page.locator('[data-state=gone]').waitFor();
  await page.context().close();
});

describe('a person with a name, events and a cohort', () => {
  const uuid = '0a7e1d52-9c1f-4a53-8a44-000000000077';
  beforeAll(async () => {
    const geo = { $geoip_city_name: 'Łódź', $geoip_country_name: 'Poland' };
    const properties = { name: 'Мария Curie', email: 'maria@example.com', $browser: 'Firefox', ...geo };
    await console.storePerson('maria-1', properties, { uuid, since: '2026-01-02T10:00:00Z' });
    await console.storePerson('maria-2', { name: 'Мария Curie' }, { since: '2026-03-02T10:00:00Z' });
    const event = (minutesAgo: number, session: string | null) =>
      console.query(
        `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
         VALUES ($1, now() - make_interval(mins => $2), gen_random_uuid(), 'page opened', 'maria-1', $3, $4, now())`,
        [console.tenant.environmentId, minutesAgo, uuid, { $os: 'Linux', ...(session && { $session_id: session }) }],
      );
    for (const [minutesAgo, session] of [
      [20, 'b'],
      [32, 'b'],
      [200, null],
      [300, 'a'],
    ] as const)
      await event(minutesAgo, session);
    const filters = {
      properties: { type: 'AND', values: [{ type: 'person', key: '$browser', operator: 'exact', value: 'Firefox' }] },
    };
    await console.api('POST', 'cohorts', { name: 'Firefox users', filters });
  });

  it('shows the name in the list and the details, with the email address below', async () => {
    const page = await console.open('persons?search=curie');
    const row = page.getByRole('row').filter({ hasText: 'maria@example.com' });
    await row.getByRole('button', { name: 'Мария Curie' }).click();
    const detail = page.getByRole('complementary');
    await detail.getByRole('heading', { name: 'Мария Curie maria@example.com' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'maria-2' }).getByText('Мария Curie').waitFor();
    await page.context().close();
  });

  it("shows the person's sessions and cohorts, and the time, location and device of the latest event", async () => {
    const page = await console.open(`persons?person=${uuid}`);
    const detail = page.getByRole('complementary');
    await detail.getByText('Last seen 20 minutes ago').waitFor();
    await detail.getByText('Łódź, Poland').waitFor();
    await detail.getByText('Firefox · Linux').or(detail.getByText('Device: Linux')).first().waitFor();
    await page.getByRole('tab', { name: 'Events' }).click();
    const list = page.getByRole('tabpanel').getByRole('listitem');
    await list.first().waitFor();
    const heads = (await list.allTextContents()).map((text) => (text.startsWith('Session') ? text : 'event'));
    expect(heads).toEqual([
      'Session · 12 min · 2 events',
      ...['event', 'event', 'event', 'Session · under 1 min · 1 event', 'event'],
    ]);
    expect(await runAxe(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Cohorts' }).click();
    await page.getByRole('tabpanel').getByRole('link', { name: 'Firefox users' }).click();
    await page.getByRole('heading', { name: 'Cohorts', level: 1 }).waitFor();
    await page.context().close();
  });

  it('sorts persons by the time when they were first seen, also after a reload', async () => {
    const page = await console.open('persons?search=curie');
    const rows = page.getByRole('row');
    await rows.nth(2).waitFor();
    await rows.filter({ hasText: 'maria-1' }).getByText('20 minutes ago').waitFor();
    await rows.filter({ hasText: 'maria-2' }).getByText('no events').waitFor();
    await page.locator('header.title').getByText('2', { exact: true }).waitFor();
    expect(await rows.nth(1).textContent()).toContain('maria-2');
    const head = page.getByRole('columnheader', { name: 'First seen' });
    expect(await head.getAttribute('aria-sort')).toBe('descending');
    await head.getByRole('button').press('Enter');
    await rows.nth(1).filter({ hasText: 'maria-1' }).waitFor();
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    await page.reload();
    await rows.nth(1).filter({ hasText: 'maria-1' }).waitFor();
    await page.context().close();
  });

  it('saves the search results, which include the person, as a cohort', async () => {
    const page = await console.open('persons?search=curie');
    await page.getByRole('button', { name: 'Save as cohort' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Name').inputValue()).toBe('curie');
    await dialog.getByLabel('Name').fill('Curies');
    expect(await runAxe(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create cohort' }).click();
    await dialog.getByText('The cohort Curies was created with 2 persons.').waitFor();
    await dialog.getByRole('link', { name: 'Open cohort' }).click();
    await page.getByRole('region', { name: 'Persons in this cohort' }).getByText('maria@example.com').waitFor();
    await page.context().close();
  });
});
